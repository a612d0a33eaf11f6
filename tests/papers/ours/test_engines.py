"""The pages on engines: bounds are below every run, and the page says what the table holds."""

from pathlib import Path

import pytest

from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.papers.ours.tasks import against_prices, engine_run
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store
from ratiolab.studies.tasks.runs import against_bound

EXPERIMENT = experiments()["engines"]


def test_every_engine_is_above_the_bounds_and_only_evictions_are_computed_again() -> None:
    evicting = 0
    for cell in EXPERIMENT.study(quick=True).cells:
        if cell.seed or cell["clock"] != "llama3-8b-a100" or cell["option.load"] < 1:
            continue
        (row,) = engine_run(cell)
        figures = {name: float(value) for name, value in row.items() if not isinstance(value, str)}
        assert figures["lower"] <= figures["mean_latency"]
        assert figures["lower_ttft"] <= figures["mean_ttft"]
        lost = figures["evictions"] > 0 and row["preempted_as"] == "recompute"
        assert (figures["recomputed"] > 0) == (figures["recompute_tax"] > 0) == lost
        assert not (lost and str(cell["policy.label"]).startswith("knows all"))
        evicting += lost
    assert evicting > 5


def test_prices_raise_the_bound_of_a_run_under_a_clock_and_change_nothing_else() -> None:
    raised = 0
    for cell in EXPERIMENT.study(quick=True).cells:
        if cell["policy"] != "swf" or cell.seed:
            continue
        ((plain,), (priced,)) = against_bound(cell), against_prices(cell)
        assert plain | {"lower": priced["lower"]} == priced
        assert plain["lower"] <= priced["lower"] <= priced["total_latency"]
        raised += plain["lower"] < priced["lower"]
    assert raised


@pytest.mark.long
def test_the_quick_page_names_every_setting_and_draws_its_charts(tmp_path: Path) -> None:
    frame = run_study(EXPERIMENT.study(quick=True), Store(tmp_path / "cells"), workers=1)
    text = page_text(EXPERIMENT, frame, tmp_path, quick=True)
    assert "nan" not in text
    for setting in ("conversations, 70B, load 1.2", "code, 8B, load 0.8"):
        assert setting in text
    charts = {path.stem for path in tmp_path.glob("*.png")}
    assert charts == {"engines-victims", "engines-ladder", "engines-chunks"}
