"""What notebooks show of experiments."""

import pandas as pd
import pytest

from ratiolab.papers import Finding, notebook
from ratiolab.papers.experiment import Experiment
from ratiolab.papers.notebook import Reproduction, quick
from ratiolab.papers.page import Head, Page
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.experiments import panels
from ratiolab.studies import Study
from ratiolab.studies.store import Store

FINDING = Finding("a < b|c", "1", "2", False, why="because")


def chart() -> Chart:
    return panels(1)[0]


def test_a_reproduction_shows_its_statements_and_nothing_else() -> None:
    shown = Reproduction("A title", Page({"x": 2}, [FINDING], {"rates": chart}))
    html = shown._repr_html_()
    assert html.count("<tr>") == 2
    assert "a &lt; b|c</td>" in html
    assert "because" not in html
    assert repr(shown) == "A title"
    assert shown.picture("rates")._repr_png_() == chart()._repr_png_()


def test_quick_runs_the_quick_version_and_keeps_its_findings_and_charts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
