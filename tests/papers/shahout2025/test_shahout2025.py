"""TRAIL's page: every statement has a verdict that follows from the table; its errors and queue."""

import pytest
from quick_cells import quick_store

from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.studies.run import run_study

SHAHOUT2025 = experiments()["shahout2025"]


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    study = SHAHOUT2025.study(quick=True)
    store = quick_store(tmp_path_factory.mktemp("shahout"), tmp_path_factory, study.name)
    return run_study(study, store, workers=1)


@pytest.mark.studies
def test_every_statement_has_a_verdict_that_follows_from_the_table(frame, tmp_path):
    text = page_text(SHAHOUT2025, frame, tmp_path, quick=False)
    verdicts = [line for line in text.splitlines() if line.startswith(("| Fig", "| Sec", "| Ab"))]
    assert len(verdicts) == 25
    words = {line.split(" | ")[3] for line in verdicts}
    assert words <= {"holds", "not reproduced", "undecided"}
    assert "nan" not in text.lower().split()
    drawn = {p.name for p in tmp_path.iterdir()}
    assert drawn == {f"shahout2025-{what}.png" for what in ("c", "rate", "burst", "queue")}
    # C = 1 three times as slow: what is undecided becomes clear
    slow = frame.copy()
    slow.loc[(slow["policy"] == "trail") & (slow["policy.c"] == 1), "mean_latency"] *= 3
    row = "with C = 1 the mean latency"
    found = [
        next(line for line in page.splitlines() if row in line).split(" | ")[3]
        for page in (text, page_text(SHAHOUT2025, slow, tmp_path, quick=False))
    ]
    assert found == ["undecided", "holds"]


@pytest.mark.studies
def test_no_run_beats_the_certified_bound_and_with_all_memory_nothing_is_computed_again(frame):
    runs = frame[frame["task"] == "against-bound"]
    assert (runs["total_latency"] >= runs["lower"]).all()
    assert (runs["peak_memory"] <= runs["workload.memory"]).all()
    free = runs[runs["workload.memory"] == runs["workload.memory"].max()]
    assert (free["evictions"] == 0).all()
    assert (free["wasted_tokens"] == 0).all()
    # what the bound takes for granted when evicted requests keep their tokens
    clock = LLAMA3_8B_A100
    assert all(clock.prefill * t >= clock.decode + clock.kv * t for t in range(2, 2000))


@pytest.mark.studies
def test_limited_preemption_saves_mean_memory_and_simulations_agree_with_the_formula(frame):
    queue = frame[frame["task"] == "limited-queue"]
    means = queue.groupby(["option.law", "option.rate", "option.fraction"]).mean(numeric_only=True)
    for _, rows in means.groupby(level=[0, 1]):
        assert rows["exact_mean_age"].is_monotonic_increasing
        assert rows["response_time"].iloc[0] > rows["response_time"].iloc[-1]
    apart = means["response_time"] / means["exact_response_time"] - 1
    assert apart.abs().max() < 0.1
    wrong = means["response_time"] / means["printed_response_time"] - 1
    assert wrong.abs().max() > 0.2
