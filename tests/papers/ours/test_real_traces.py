"""The page on real traces: ratios enclose the optimum, loads are what the labels say."""

import os
from pathlib import Path
from statistics import fmean

import pytest

from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.studies import Study
from ratiolab.studies.frames import with_bounds
from ratiolab.studies.run import compute, run_study
from ratiolab.studies.store import Store
from ratiolab.studies.tasks import TASKS

ROOT = Path(__file__).resolve().parents[3]
TRACES = Path(os.environ.get("RATIOLAB_TRACES", ROOT.parent / "shared" / "traces"))

pytestmark = pytest.mark.skipif(
    not (TRACES / "arxiv_summarization.csv").is_file(), reason="the traces are not at hand"
)

REAL_TRACES = experiments()["real-traces"]


def test_the_rates_of_the_study_are_the_loads_of_its_labels() -> None:
    """In the mean over its samples: lengths are heavy-tailed, and one sample may be 8 % off."""
    loads: dict[str, list[float]] = {}
    for cell in REAL_TRACES.study(traces=TRACES).cells:
        label = str(cell["workload.label"])
        if cell["task"] == "enclosure" and "load" in label and "10,000" not in label:
            instance = cell.instance()
            load = float(cell["workload.rate"]) * instance.volume.mean() / instance.memory
            loads.setdefault(label, []).append(load)
    assert len(loads) == 4
    for label, found in loads.items():
        assert fmean(found) == pytest.approx(float(label.rsplit(" ", 1)[-1]), rel=0.02)


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


@pytest.mark.studies
def test_rows_of_the_shipped_table_are_those_of_a_fresh_run() -> None:
    """Simulations repeat exactly; today's proof is no weaker, and encloses the same optimum."""
    study = REAL_TRACES.study(traces=TRACES)
    shipped = REAL_TRACES.stored(study, ROOT / "results")
    policies = ("svf", "mc-sf, noisy prediction", "tie", "a-min", "kill-restart", "rr-sjf")
    checked = 0
    for cell in study.cells:
        task, label = str(cell["task"]), cell.fields.get("policy.label", cell.fields.get("policy"))
        if cell["workload.label"] != "code, Poisson, load 1.2" or cell.seed != 0:
            continue
        if task == "simulate" and label not in policies:
            continue
        (fresh,) = compute((cell, TASKS[task]))[1]
        row = shipped[(shipped["task"] == task) & (shipped["instance"] == fresh["instance"])]
        if task == "simulate":
            row = row[row["policy.label"] == label]
        assert len(row) == 1
        if task != "simulate":  # searches of the version that made the table found other schedules
            assert row["opt_lower"].item() <= fresh["opt_lower"] <= row["opt_upper"].item()
            assert fresh["opt_lower"] <= fresh["opt_upper"]
        for name in ("requests", "total_latency", "evictions"):
            assert fresh.get(name) == (None if row[name].isna().all() else row[name].item()), name
        checked += 1
    assert checked == 1 + len(policies)


@pytest.mark.long
def test_a_policy_that_ends_on_some_samples_only_has_no_mean(tmp_path: Path) -> None:
    frame = REAL_TRACES.stored(REAL_TRACES.study(traces=TRACES), ROOT / "results")
    loops = (frame["policy.label"] == "sept") & (frame["seed"] == 1)
    frame.loc[loops & (frame["workload.label"] == "code, recorded times"), "total_latency"] = None
    page = page_text(REAL_TRACES, frame, tmp_path, quick=False)
    assert f"| never ends on 1 of {frame['seed'].nunique()} |" in page
