"""The page on real traces: ratios enclose the optimum, loads are what the labels say."""

import os
from pathlib import Path

import pytest

from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.studies import Study
from ratiolab.studies.frames import with_bounds
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store

ROOT = Path(__file__).resolve().parents[2]
TRACES = Path(os.environ.get("RATIOLAB_TRACES", ROOT.parent / "shared" / "traces"))

pytestmark = pytest.mark.skipif(
    not (TRACES / "arxiv_summarization.csv").is_file(), reason="the traces are not at hand"
)

REAL_TRACES = experiments()["real-traces"]


def test_the_rates_of_the_study_are_the_loads_of_its_labels() -> None:
    cells = {cell["workload.label"]: cell for cell in REAL_TRACES.study(traces=TRACES).cells}
    for label, cell in cells.items():
        if "load" in str(label) and "10,000" not in str(label):
            instance = cell.instance()
            load = float(cell["workload.rate"]) * instance.volume.mean() / instance.memory
            assert load == pytest.approx(float(str(label).rsplit(" ", 1)[-1]), rel=0.05)


def test_every_ratio_encloses_one_that_is_at_least_one(tmp_path: Path) -> None:
    study = REAL_TRACES.study(quick=True, traces=TRACES)
    wanted = ("svf", "fcfs", "srpt", "rr", "rr-sjf")
    cells = [
        cell
        for cell in study.cells
        if cell["workload.label"] in ("conversations, all at once", "code, recorded times")
        and cell.fields.get("policy", "svf") in ("mc-sf", *wanted)
    ]
    frame = run_study(Study(study.name, tuple(cells)), Store(tmp_path / "cells"), workers=1)
    runs = with_bounds(frame)
    restart = runs[runs["preempted_as"] == "restart"]
    assert (restart["ratio_high"] >= 1).all()
    assert (restart["ratio_low"] <= restart["ratio_high"]).all()
    assert runs.loc[runs["preempted_as"] != "restart", "ratio_high"].isna().all()
    text = page_text(REAL_TRACES, frame, tmp_path, quick=True)
    assert (tmp_path / "real-traces-ratio.png").is_file()
    assert "svf" in text
    assert "nan" not in text.replace("finance", "")
