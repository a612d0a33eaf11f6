"""Reports: complete, self-contained, and the same in a real browser, narrow and wide."""

import re
import shutil
import subprocess
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from itertools import cycle

import numpy as np
import pytest
from browser import browser, visit

from ratiolab.evaluation.evaluate import evaluate
from ratiolab.evaluation.result import Evaluation
from ratiolab.model import Instance
from ratiolab.online import make
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.report import evaluation_report
from ratiolab.report.evaluation_report import write_report

NAME = "<b>a & b</b>"


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    arrival = np.sort(rng.integers(0, 3000, 60))
    columns = arrival, rng.integers(1, 50, 60), rng.integers(1, 80, 60)
    instance = Instance(NAME, 600, *columns, tick_seconds=0.001)
    keys = ("fcfs", "rr", "alpha-beta-clearing", "svf")
    return evaluate(instance, [make(key) for key in keys], clock=LLAMA3_8B_A100, runs=3)


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "out.html"
    write_report(made, path, lines=["A line of its own."], provenance=[("command", "ratiolab x")])
    return path


class Parsed(HTMLParser):
    """Elements that are open, those seen, and what refers to other files."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]


def test_the_page_needs_nothing_from_elsewhere(page):
    text = page.read_text(encoding="utf-8")
    parsed = Parsed()
    parsed.feed(text)
    assert all(link.startswith("#") for link in parsed.links)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert parsed.seen.count("svg") == parsed.seen.count("figure") == 4
    assert parsed.seen.count("dl") == 4  # words, setting, rules, provenance
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids)) > 0
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= set(ids)
    assert "<text" not in text  # letters are outlines, as wide as they were laid out


def test_the_page_says_what_the_evaluation_says(made, page):
    text = page.read_text(encoding="utf-8")
    for row in made.rows:
        assert f"<td>{row.name}{' (in use)' * (row.name == made.current)}</td>" in text
    assert "A line of its own." in text
    assert all(escape(words) in text for words in (*made.situation, *made.advice))
    assert "KV cache</dt><dd>600 tokens" in text
    assert "7.88 ms" in text  # the clock's time of a batch
    for row in made.rows:
        assert f"<dt>{row.name}</dt>" in text
    assert "<dd>ratiolab x</dd>" in text
    assert made.instance.digest in text
    assert NAME not in text  # a name is text, not markup
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in text
    assert r"\begin{tabular}" in text


def test_markdown_has_its_charts_beside_it(made, tmp_path):
    write_report(made, tmp_path / "out.md")
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    for chart in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (tmp_path / chart).read_bytes().startswith(b"\x89PNG")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert len(rows) == 2 + len(made.groups) + len(made.rows) + 2  # groups, and the bound's


def test_a_pdf_has_all_that_the_page_has_and_brings_its_fonts(made, tmp_path):
    notes = [("command", "ratiolab evaluate " + "a-long-name" * 30), ("price", "$5 and $6, 100 %")]
    write_report(made, tmp_path / "out.pdf", lines=["A line of its own."], provenance=notes)
    content = (tmp_path / "out.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type /Page\b", content))
    assert 2 <= pages <= 5
    fonts = content.count(b"/Type /FontDescriptor")
    assert fonts == content.count(b"/FontFile") > 0  # none is left to the reader's machine


def test_the_table_in_latex_is_whole_and_obeys_no_name(made, tmp_path):
    write_report(made, tmp_path / "my report_1.tex")
    text = (tmp_path / "my report_1.tex").read_text(encoding="utf-8")
    assert text.count(r"\begin{") == text.count(r"\end{") == 3
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [
        line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
    ]
    assert len(rows) == 1 + len(made.rows) + 1
    assert len({row.count("&") - row.count(r"\&") for row in rows}) == 1
    assert r"\textless{}b\textgreater{}a \& b\textless{}/b\textgreater{}" in text
    assert r"\label{tab:my-report-1}" in text
    for chart in ("ratios", "distributions", "time", "gantt"):
        assert (tmp_path / f"my report_1-{chart}.pdf").read_bytes().startswith(b"%PDF")


def _renamed(made: Evaluation, *names: str) -> Evaluation:
    pairs = zip(made.rows, cycle(names), strict=False)
    rows = [replace(row, name=name.format(row.name)) for row, name in pairs]
    return replace(made, rows=tuple(rows), current=rows[0].name)


@pytest.mark.long
def test_latex_sets_the_table(made, tmp_path):
    compiler = shutil.which("pdflatex")
    if compiler is None:
        pytest.skip("there is no pdflatex on this machine")
    odd = r"50 % of $x_1^2$ \ {a & b} #3 ~ \input{x} <é> |ß| \"c\" -- ^^M «Ω» ≤ 日本 Привет 😀 −"
    every = " ".join(map(chr, (*range(0xA1, 0x180), *range(0x2010, 0x2027))))
    named = _renamed(made, "[2cm] {}", "*{}")
    named = replace(named, instance=made.instance.replace(name=f"{odd} {every}"))
    write_report(named, tmp_path / "table_1.tex")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}See "
        "\\ref{tab:table-1}.\\input{table_1}\\end{document}"
    )
    options = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    for _ in range(2):  # the second run knows the label
        done = subprocess.run(
            [compiler, *options], cwd=tmp_path, capture_output=True, encoding="latin-1", check=False
        )
        assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")
    assert "undefined" not in done.stdout
    assert "Missing character" not in done.stdout
    assert "Overfull" not in done.stdout


def test_letters_that_latex_lacks_are_numbered_and_no_name_is_an_option(
    made, tmp_path, monkeypatch
):
    monkeypatch.setattr(evaluation_report, "CHARTS", {})  # they take long to draw
    write_report(_renamed(made, "[2cm] Ω é {}"), tmp_path / "odd.tex")
    text = (tmp_path / "odd.tex").read_text(encoding="utf-8")
    assert len(re.findall(r"^\{\[\}2cm\] U\+03A9 é ", text, re.MULTILINE)) == len(made.rows)
    assert not re.search(r"(\\\\|rule)\s*[\[*]", text)


def test_other_formats_are_refused(made, tmp_path):
    with pytest.raises(ValueError, match=r"a report can be .html, .pdf, .tex, .md, not '.docx'"):
        write_report(made, tmp_path / "out.docx")


READS = """
(() => {
  const figures = [...document.querySelectorAll("figure")];
  const svgs = figures.map(figure => figure.querySelector("svg"));
  const view = svg => svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  const before = svgs.map(view), found = {};
  found.width = innerWidth;
  found.overflow = document.documentElement.scrollWidth > innerWidth;
  found.figures = document.querySelector(".wide table").getBoundingClientRect().right <= innerWidth;
  found.drawn = svgs.every(svg => svg.getBBox().width > 100);
  found.ready = document.documentElement.dataset.ready;
  const turn = {deltaY: -1, clientX: 50, clientY: 50, cancelable: true};
  svgs[0].dispatchEvent(new WheelEvent("wheel", turn));
  found.scrolls = view(svgs[0])[2] === before[0][2];
  svgs[0].dispatchEvent(new WheelEvent("wheel", {...turn, ctrlKey: true}));
  found.zooms = view(svgs[0])[2] < before[0][2];
  figures[1].querySelector("button").click();
  found.button = view(svgs[1])[2] === before[1][2] / 2;
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  found.back = svgs.every((svg, k) => view(svg).join() === before[k].join());
  const place = svgs[1].getBoundingClientRect(), own = JSON.parse(svgs[1].dataset.axes)[0];
  const scale = place.width / before[1][2];
  svgs[1].dispatchEvent(new PointerEvent("pointermove", {
    clientX: place.left + own.x[1] * scale - 0.01, clientY: place.top + own.y[0] * scale + 0.01
  }));
  found.told = figures[1].querySelector("output").textContent;
  found.end = own.from[1];
  return found;
})()
"""


@pytest.mark.long
def test_a_browser_renders_the_page_zooms_its_figures_and_reads_them_off(page, tmp_path):
    if browser() is None:
        pytest.skip("there is no chromium on this machine")
    widths = (375, 1440)
    for width, seen in zip(
        widths, visit([(page.as_uri(), width, READS) for width in widths], tmp_path), strict=True
    ):
        assert seen.faults == []
        told, end = seen.value.pop("told"), seen.value.pop("end")
        assert seen.value == {
            "width": width,
            "overflow": False,
            "figures": True,  # the table shows its figures without being moved
            "drawn": True,
            "ready": "yes",
            "scrolls": True,  # the wheel alone moves the page, as everywhere
            "zooms": True,
            "button": True,
            "back": True,
        }
        # the upper right corner of the first axes: the largest latency, all requests
        x, y = re.findall(r"[0-9.]+(?:e[-+]?[0-9]+)?", told)
        assert float(x) == pytest.approx(end, rel=0.02)
        assert float(y) == pytest.approx(1, abs=0.01)


@pytest.mark.long
def test_a_telephone_can_scroll_to_the_end_of_wide_figures_and_tables(page, tmp_path):
    if browser() is None:
        pytest.skip("there is no chromium on this machine")
    reach = """[...document.querySelectorAll(".pane, .wide")].map(pane => {
        pane.scrollLeft = 1e6;
        const end = pane.firstElementChild.getBoundingClientRect().right;
        return end <= innerWidth && getComputedStyle(pane.firstElementChild).touchAction === "auto";
    })"""
    (seen,) = visit([(page.as_uri(), 375, reach)], tmp_path)
    assert seen.value == [True] * 5
