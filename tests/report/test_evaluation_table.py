"""The table of an evaluation: the same cells in every report, whole at every width."""

import re
from dataclasses import replace
from html import escape, unescape
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from ratiolab.evaluation.evaluate import evaluate
from ratiolab.evaluation.result import Evaluation
from ratiolab.model import Instance
from ratiolab.online import make
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.ratio.compare import compare
from ratiolab.report import evaluation_report
from ratiolab.report.evaluation_report import _tex, write_report
from ratiolab.report.evaluation_table import cells, evaluation_table
from ratiolab.report.templating import plain

KEYS = ("fcfs", "rr", "alpha-beta-clearing", "svf-1bit", "svf", "srpt")


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    arrival = np.sort(rng.integers(0, 3000, 60))
    columns = arrival, rng.integers(1, 50, 60), rng.integers(1, 80, 60)
    instance = Instance("drawn", 600, *columns, tick_seconds=0.001)
    return evaluate(instance, [make(key) for key in KEYS], clock=LLAMA3_8B_A100, load=False)


@pytest.fixture(scope="module")
def table(made):
    return cells(made)


def printed(made: Evaluation, width: int) -> str:
    file = StringIO()
    Console(file=file, width=width, highlight=False).print(evaluation_table(made, width))
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_every_name_and_figure_is_whole_at_every_width(made, table, width):
    text = printed(made, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    lines = text.splitlines()
    for _, rows in table.groups:
        for row in rows:
            (line,) = [each for each in lines if each.strip().startswith(f"{row[0]} ")]
            figures = line.strip()[len(row[0]) :].split()
            assert figures[:2] == row[1:3]
            assert set(figures) <= set(row[1:])


@pytest.mark.parametrize("ending", ["html", "md", "tex"])
def test_every_report_has_the_cells_and_sentences_of_the_screen(
    made, table, ending, tmp_path, monkeypatch
):
    monkeypatch.setattr(evaluation_report, "CHARTS", {})  # they take long to draw
    write_report(made, str(tmp_path / f"r.{ending}"), log=["Times: arrival in s."])
    text = (tmp_path / f"r.{ending}").read_text(encoding="utf-8")
    written = {"html": escape, "md": plain, "tex": _tex}[ending]
    for words in (*made.situation, made.headline, *table.folded):
        assert written(words) in text
    cell = {"html": "<td[^>]*>([^<]*)</td>", "md": "", "tex": ""}[ending]
    for _, rows in table.groups:
        for row in rows:
            if ending == "html":
                (line,) = re.findall(rf"<tr[^>]*><td>{re.escape(escape(row[0]))}</td>.*</tr>", text)
                assert [unescape(value) for value in re.findall(cell, line)] == row
            else:
                divider = " | " if ending == "md" else " & "
                assert divider.join(map(written, row)).strip() in text


ODD = "</td><script>alert(2)</script>"
NAME = "x <script>alert(1)</script> $x^{$ | `a` [b](javascript:alert(1)) \\input{/etc} %x #y *z*"


def test_names_are_text_in_markdown_not_markup(made, tmp_path, monkeypatch):
    one = {"ratios": evaluation_report.CHARTS["ratios"]}  # others take long to draw
    monkeypatch.setattr(evaluation_report, "CHARTS", one)
    rows = tuple(replace(row, name=ODD) if row.name == "rr" else row for row in made.rows)
    named = replace(made, instance=made.instance.replace(name=NAME), rows=rows)
    write_report(named, tmp_path / "a (b) c.md", provenance=[("command", "ratiolab [x](y) | z")])
    text = (tmp_path / "a (b) c.md").read_text(encoding="utf-8")
    assert "<" not in text
    assert not re.search(r"(?<!\\)\]\(javascript", text)
    assert not re.search(r"(?<!\\)[`$~]", text)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert "\n".join(lines) in text  # one table, without a line between its rows
    (chart,) = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert " " not in chart
    assert len(list(tmp_path.glob("*.png"))) == 1


def test_a_comparison_and_its_report_have_the_same_ratios():
    """The proven optimum stands in the report, too, not only a weaker bound."""
    instance = Instance("four", 9, [0, 0, 1, 2], [1, 2, 1, 3], [4, 3, 5, 2])
    policies = [make(key) for key in ("fcfs", "mc-sf")]
    compared = compare(instance, policies)
    optimum = compared.optimum
    assert optimum.is_exact
    made = evaluate(instance, policies, preemption="restart", optimum=optimum)
    for row in compared.rows:
        assert made.ratio(made.row(row.policy.name)) == pytest.approx(float(row.ratio.low))
    assert f"The hindsight optimum is proven: {optimum.lower} rounds" in made.advice[-1]
    assert made.to_dict()["optimum_source"] == optimum.proof
