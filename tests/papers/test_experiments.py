"""The papers' experiments: each can be read, run and told, and figures come from the table."""

import os
import re
import shutil
from pathlib import Path

import jinja2
import pandas as pd
import pytest
from quick_cells import quick_store

from ratiolab.model import FormatError
from ratiolab.papers import Experiment, Finding, experiments, notebook, redraw, reproduce
from ratiolab.papers.chen2025.experiments.latency import BY_MEMORY, FIGURES, POLICY
from ratiolab.papers.experiment import page_text
from ratiolab.papers.notebook import quick
from ratiolab.papers.page import Head, Page, read_template
from ratiolab.papers.page_table import kept_columns
from ratiolab.papers.runs import Ratio, Runs, growth
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.experiments import panels
from ratiolab.report.templating import unsigned
from ratiolab.studies import Study
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store, csv_text

CHEN2025 = experiments()["chen2025"]

EXPERIMENTS = experiments()


def test_the_experiments_are_not_to_be_changed():
    with pytest.raises(TypeError):
        experiments()["mine"] = CHEN2025


RESULTS = Path(__file__).parents[2] / "results"
TRACES = Path(folder) if (folder := os.environ.get("RATIOLAB_TRACES")) else None
"""Folder of traces that are not shipped; without it studies of them are skipped."""


def study_of(experiment: Experiment, **options: bool) -> Study:
    """The study of an experiment; without a trace that is not shipped the test is skipped."""
    try:
        return experiment.study(traces=TRACES, **options)
    except ValueError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_the_quick_version_of_an_experiment_is_another_and_no_larger(experiment):
    full, quick = study_of(experiment), study_of(experiment, quick=True)
    assert full.name == quick.name == experiment.name
    assert 0 < len(quick.cells) <= len(full.cells)
    assert {cell.id for cell in quick.cells} != {cell.id for cell in full.cells}


@pytest.fixture(scope="module")
def chen(tmp_path_factory):
    store = quick_store(tmp_path_factory.mktemp("chen"), tmp_path_factory, "chen2025")
    return run_study(few_of_chen(), store, workers=1)


def few_of_chen() -> Study:
    """One number of requests; beside what is the same in all figures the largest memory alone."""
    cells = (c for c in CHEN2025.study(quick=True).cells if c["workload.n"] == 200)
    by_memory = BY_MEMORY.values()
    return Study(
        "chen2025",
        tuple(
            c for c in cells if c["workload.label"] not in by_memory or c["workload.memory"] > 6e4
        ),
    )


@pytest.mark.long
def test_a_page_states_a_verdict_on_every_statement_from_the_table_alone(chen, tmp_path):
    text = page_text(CHEN2025, chen, tmp_path, quick=False)
    assert text.startswith("# Interval predictions")
    words = ("holds", "not reproduced", "undecided")
    assert sum(text.count(f"| {word} |") for word in words) == 13
    assert "`ratiolab reproduce chen2025`" in text
    assert {p.name for p in tmp_path.iterdir()} == {
        f"chen2025-{what}.png" for what in ("latency", "vidur", "ratio")
    }
    # A_min twice as slow: what was reproduced at this load no longer is
    slow = chen.copy()
    slow.loc[slow[POLICY] == "a-min", ["mean_latency", "total_latency"]] *= 2
    row = "under [1, 1000], A_min is nearly identical"
    verdicts = [
        next(line for line in page.splitlines() if row in line).split(" | ")[3]
        for page in (text, page_text(CHEN2025, slow, tmp_path, quick=False))
    ]
    assert verdicts == ["holds", "not reproduced"]


def test_with_perfect_knowledge_predictions_change_nothing(tmp_path):
    cells = few_of_chen().cells
    known = (c for c in cells if c.fields.get(POLICY) == "svf" and c["workload.label"] in FIGURES)
    rows = run_study(Study("chen2025", tuple(known)), Store(tmp_path), workers=1)
    assert rows["workload.label"].nunique() == len(FIGURES)
    spread = rows.groupby(["seed", "clock"])["total_latency"].nunique()
    assert (spread == 1).all()


def test_reproducing_writes_page_table_and_figures_and_resumes(tmp_path, monkeypatch):
    small = Study("chen2025", tuple(c for c in _cells() if c.seed == 0))
    monkeypatch.setattr(Experiment, "study", lambda _self, **_options: small)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(Experiment, "page", lambda _self, _frame: Page())
    monkeypatch.setattr(Page, "text", lambda _self, _template, **slots: "words")
    for _ in range(2):
        page = reproduce(CHEN2025, tmp_path, workers=1, advance=lambda *pair: seen.append(pair))
    assert seen[-1] == (len(seen) - 2, len(seen) - 2)  # the second time nothing is computed
    assert f"{len(small.cells)} rows" in page.read_text()
    table = pd.read_csv(tmp_path / "chen2025.csv")
    assert len(table) == len(small.cells)
    assert {"mean_latency", "policy.label", "seed", "version", "instance"} <= set(table)
    assert not {"p99_tpot", "workload.block"} & set(table)  # not about it; the same everywhere


def test_an_extended_table_is_that_of_a_whole_run(tmp_path, monkeypatch):
    cells = tuple(c for c in _cells() if c.seed < 2)
    monkeypatch.setattr(Experiment, "page", lambda _self, _frame: Page())
    monkeypatch.setattr(Page, "text", lambda _self, _template, **slots: "words")
    seen: list[tuple[int, int]] = []

    def table(folder: str, seeds: int, *, extend: bool = False) -> str:
        study, out = Study("chen2025", tuple(c for c in cells if c.seed < seeds)), tmp_path / folder
        monkeypatch.setattr(Experiment, "study", lambda _self, **_options: study)
        shutil.rmtree(out / ".cells", ignore_errors=True)  # its table alone is left
        seen.clear()
        reproduce(CHEN2025, out, workers=1, advance=lambda *at: seen.append(at), extend=extend)
        return (out / "chen2025.csv").read_text()

    assert table("few", 1) != (whole := table("whole", 2))
    assert table("few", 2, extend=True) == whole
    known = sum(c.seed < 1 for c in cells)
    assert seen == [(done, len(cells)) for done in range(known, len(cells) + 1)]


def test_a_table_without_what_tells_cells_apart_is_not_extended(tmp_path, monkeypatch):
    small = Study("chen2025", tuple(c for c in _cells() if c.seed < 2))
    monkeypatch.setattr(Experiment, "study", lambda _self, **_options: small)
    with pytest.raises(FormatError, match=r"chen2025.csv: No such file"):
        reproduce(CHEN2025, tmp_path, extend=True)
    figures = dict.fromkeys((*CHEN2025.head.figures, "version"), 0)
    rows = [dict(c.fields) | figures for c in sorted(small.cells, key=lambda c: c.seed)]
    early = sum(c.seed == 0 for c in small.cells)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = tmp_path / "chen2025.csv"
    for kept, later, message in (
        ([name for name in columns if name != "seed"], 0, "column 'seed' is missing"),
        (columns, 1, f"line {early + 2}: is of no cell of the study"),
    ):
        shifted = [row | {"seed": int(row["seed"]) + later} for row in rows]
        table.write_text(csv_text(shifted, kept))
        before = table.read_text()
        with pytest.raises(FormatError, match=re.escape(f"chen2025.csv: {message}")):
            reproduce(CHEN2025, tmp_path, extend=True)
        assert [file.name for file in tmp_path.iterdir()] == ["chen2025.csv"]
        assert table.read_text() == before


@pytest.mark.studies
@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_the_shipped_pages_say_what_their_tables_say(experiment, tmp_path):
    study_of(experiment)
    table = f"{experiment.name}.csv"
    (tmp_path / table).write_bytes((RESULTS / table).read_bytes())
    page = redraw(experiment, tmp_path, traces=TRACES)
    assert unsigned(page.read_text()) == unsigned((RESULTS / page.name).read_text())
    assert {p.name for p in tmp_path.glob("*.png")} <= {p.name for p in RESULTS.glob("*.png")}


@pytest.mark.long
@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_a_shipped_table_is_taken_over_as_it_is(experiment, tmp_path, monkeypatch):
    """All of its cells, so that nothing is computed, and every figure to the last digit."""
    study_of(experiment)
    monkeypatch.setattr(Page, "text", lambda _self, _template, **slots: "words")
    monkeypatch.setattr(Experiment, "page", lambda _self, _frame: Page())
    monkeypatch.setattr("ratiolab.studies.run.compute", lambda work: pytest.fail(str(work[0])))
    table = f"{experiment.name}.csv"
    (tmp_path / table).write_bytes((RESULTS / table).read_bytes())
    reproduce(experiment, tmp_path, traces=TRACES, workers=1, extend=True)
    assert (tmp_path / table).read_bytes() == (RESULTS / table).read_bytes()


def _cells() -> list:
    cells = CHEN2025.study(quick=True).cells
    return [
        c for c in cells if c["workload.n"] == 200 and c["workload.label"] == next(iter(FIGURES))
    ]


@pytest.mark.studies
@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_every_experiment_runs_in_its_quick_version(experiment, tmp_path, tmp_path_factory):
    study = study_of(experiment, quick=True)
    quick_store(tmp_path / ".cells" / study.name, tmp_path_factory, study.name)
    text = reproduce(experiment, tmp_path, quick=True, traces=TRACES, workers=1).read_text()
    assert "nan" not in text.lower().replace("nan-", "").split()
    for figure in tmp_path.glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert figure.name in text
    # page, verdicts and figures do not depend on whether rows come from cells or from the table
    drawn = {file.name: file.read_bytes() for file in tmp_path.glob("*.png")}
    again = tmp_path / "table"
    again.mkdir()
    page = page_text(experiment, experiment.stored(study, tmp_path), again, quick=True)
    assert page == unsigned(text)
    assert {file.name: file.read_bytes() for file in again.iterdir()} == drawn


def test_digests_of_digits_alone_stay_words_and_in_their_order(tmp_path, monkeypatch):
    """Read as numbers they would sort by size, and intervals draw runs in the order of digests."""
    cells = CHEN2025.study().cells
    small = Study("chen2025", tuple(c for c in cells if c["workload.n"] == 200)[:3])
    monkeypatch.setattr(Experiment, "study", lambda _self, **_options: small)
    digests = ["0900", "1000", "12e1"]
    whole = pd.DataFrame([dict(c.fields) for c in small.cells])
    whole = whole.assign(**dict.fromkeys((*CHEN2025.head.figures, "version"), 0))
    whole["instance"] = digests
    whole.to_csv(tmp_path / "chen2025.csv", index=False)
    assert pd.read_csv(tmp_path / "chen2025.csv")["instance"].tolist() == [900, 1000, 120]
    assert CHEN2025.stored(small, tmp_path)["instance"].tolist() == sorted(digests) == digests


def test_a_kept_table_has_what_differs_and_the_figures_asked_for():
    frame = pd.DataFrame(
        {
            "task": "t",
            "workload.n": [1, 2],
            "workload.m": 3,
            "seed": 0,
            "x": 1,
            "y": 2,
            "version": 0,
        }
    )
    assert kept_columns(frame, ("y",)) == ["workload.n", "seed", "y", "version"]


FRAME = pd.DataFrame(
    {
        "workload.label": "w",
        "rate": [1, 1, 2, 2] * 2,
        "policy.label": ["a"] * 4 + ["b"] * 4,
        "seed": [0, 1, 0, 1, 1, 0, 1, 0],
        "cost": [2.0, 4.0, 6.0, 8.0, 2.0, 1.0, 4.0, 3.0],
    }
)


def test_ratios_are_paired_by_seed():
    runs = Runs(FRAME, ("rate", "policy.label"))
    ratio = runs.ratio((1, "a"), (1, "b"), "cost")
    assert (ratio.mean, ratio.low, ratio.high) == (2, 2, 2)
    assert ratio.side == 1
    assert runs.values((1, "b"), "cost").to_dict() == {0: 1, 1: 2}


def test_a_part_of_the_runs_has_shorter_places_and_series_over_an_axis():
    runs = Runs(FRAME, ("workload.label", "rate", "policy.label"))
    part = runs.at(**{"workload.label": "w"}, rate=2)
    assert part.by == ["policy.label"]
    assert part.mean("a", "cost") == 7
    assert runs.levels("rate") == [1, 2]
    series = Runs(FRAME, ["policy.label"]).series("a", "rate", "cost")
    assert series.to_dict() == {1: 3, 2: 7}
    assert growth(series) == pytest.approx(7 / 3)
    assert growth(series.iloc[::-1]) == pytest.approx(3 / 7)


def test_a_ratio_is_written_with_its_interval():
    ratio = Ratio(1.2345, 1.1, 1.3)
    assert str(ratio) == f"{ratio}" == "1.23 (1.10 to 1.30)"
    assert f"{ratio:.4g}" == "1.234 (1.1 to 1.3)"
    assert float(ratio) == 1.2345
    assert [Ratio(1, low, high).side for low, high in ((0.8, 0.9), (0.9, 1.1))] == [-1, 0]


FINDING = Finding("a < b|c", "1", "2", False, why="because")


def chart() -> Chart:
    return panels(1)[0]


def test_quick_runs_the_quick_version_and_keeps_its_findings_and_charts(monkeypatch):
    asked = []

    def study(_self: Experiment, *, quick: bool) -> Study:
        asked.append(quick)
        return Study("mine", ())

    def run(study: Study, store: Store) -> pd.DataFrame:
        assert study.name == "mine"
        return pd.DataFrame({"cost": [1, 2]})

    def page(frame: pd.DataFrame) -> Page:
        return Page({"rows": len(frame)}, [FINDING], {"rates": chart})

    mine = Experiment(__name__)
    monkeypatch.setattr(Experiment, "page", lambda _self, frame: page(frame))
    head = Head("mine", "A title", "a source", ("cost",))
    monkeypatch.setattr(Experiment, "head", head)
    monkeypatch.setattr(Experiment, "study", study)
    monkeypatch.setattr(notebook, "experiments", lambda: {"mine": mine})
    monkeypatch.setattr(notebook, "run_study", run)
    found = quick("mine")
    assert asked == [True]
    assert repr(found) == "A title"
    assert found.page.slots == {"rows": 2}
    assert found.page.findings == [FINDING]


TABLES_ALONE = {"shahout2025-first"}
"""Pages without pictures."""


def test_a_template_is_filled_with_slots_findings_and_formatted_numbers(tmp_path):
    template = tmp_path / "page.md"
    template.write_text(
        '+++\nname = "n"\ntitle = "t"\nsource = "s"\nfigures = ["x"]\n+++\n'
        "{{ a | fixed }} {{ a | fixed(1) }} {{ a | significant }} {{ a | percent(1) }} "
        "{{ n | thousands }}\n{% include 'part.md' %}\n\n{{ findings }}\n"
    )
    (tmp_path / "part.md").write_text("in {{ n }} parts\n")
    assert read_template(template)[0] == Head("n", "t", "s", ("x",))
    page = Page({"a": 0.125, "n": 4}, [Finding("s", "1", "2", True)])
    text = page.text(template, n=1200)
    assert text.startswith("0.12 0.1 0.125 12.5% 4\nin 4 parts\n\n| statement |")
    assert text.endswith("| s | 1 | 2 | holds |  |")
    with pytest.raises(jinja2.UndefinedError, match="'a' is undefined"):
        Page({"n": 4}).text(template)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_every_experiment_has_a_template_that_names_its_own_charts(experiment):
    with experiment.file("md") as template:
        text = template.read_text(encoding="utf-8")
        for part in re.findall(r'{% include "(.+)" %}', text):
            text += (template.parent / part).read_text(encoding="utf-8")
    text = text.replace("{{ name }}", experiment.name)
    charts = re.findall(r"!\[[^]]+]\(([^)]+)\)", text)
    assert charts or experiment.name in TABLES_ALONE
    assert all(re.fullmatch(rf"{experiment.name}-[a-z]+\.png", chart) for chart in charts)
