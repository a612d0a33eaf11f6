"""TRAIL's page: every statement has a verdict that follows from the table; its errors and queue."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from quick_cells import quick_store

from ratiolab.online import make
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.online.policies.trail import TRAIL as POLICY
from ratiolab.online.policies.trail import Refined
from ratiolab.online.refinement.classifier import Classifier
from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.studies import Study
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store
from ratiolab.studies.tasks.refinement import mean_errors
from ratiolab.workloads.generators import generate
from ratiolab.workloads.predictions import add_predictions

SHAHOUT2025_ROUNDS = experiments()["shahout2025-rounds"]
SHAHOUT2025 = experiments()["shahout2025"]


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    study = SHAHOUT2025.study(quick=True)
    store = quick_store(tmp_path_factory.mktemp("shahout"), tmp_path_factory, study.name)
    return run_study(study, store, workers=1)


@pytest.mark.studies
def test_every_statement_has_a_verdict_that_follows_from_the_table(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
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
def test_no_run_beats_the_certified_bound_and_with_all_memory_nothing_is_computed_again(
    frame: pd.DataFrame,
) -> None:
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
def test_limited_preemption_saves_mean_memory_and_simulations_agree_with_the_formula(
    frame: pd.DataFrame,
) -> None:
    queue = frame[frame["task"] == "limited-queue"]
    means = queue.groupby(["option.law", "option.rate", "option.fraction"]).mean(numeric_only=True)
    for _, rows in means.groupby(level=[0, 1]):
        assert rows["exact_mean_age"].is_monotonic_increasing
        assert rows["response_time"].iloc[0] > rows["response_time"].iloc[-1]
    apart = means["response_time"] / means["exact_response_time"] - 1
    assert apart.abs().max() < 0.1
    wrong = means["response_time"] / means["printed_response_time"] - 1
    assert wrong.abs().max() > 0.2


def test_errors_of_refined_predictions_are_those_of_the_policys_filter() -> None:
    instance = add_predictions(
        generate("uniform", 3, n=6, memory=900, prompt=9, upper=300), "classified:0.5", 1
    )
    classifier = make("trail", {"spread": 0.4})
    assert isinstance(classifier, POLICY)
    errors = mean_errors(instance, classifier.classifier, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    order = np.argsort(-instance.output, kind="stable")
    answers = {
        i: classifier.classifier.answers(int(instance.output[i]), rng).tolist() for i in order
    }
    for name, corrected in (("filtered_error", True), ("printed_error", False)):
        refined = Refined(classifier.classifier, corrected=corrected)
        total = 0.0
        for i in order.tolist():
            for t in range(int(instance.output[i])):
                refined.update(_Saying({i: answers[i][: t + 1]}))  # type: ignore[arg-type]
                total += abs(refined.remaining(i) - (int(instance.output[i]) - t))
        assert errors[name] == pytest.approx(total / instance.output.sum())


def test_independent_answers_change_as_often_as_the_matrix_says() -> None:
    instance = generate("uniform", 3, n=200, memory=900, prompt=9, upper=300)
    instance = add_predictions(instance, "classified:0.5", 1)
    classifier = Classifier.spreading(10, 0.4, 512)
    found = mean_errors(instance, classifier, np.random.default_rng(5))["changed_mind"]
    chance = 1 - (classifier.confusion**2).sum(axis=1)  # two answers in one bin differ
    pairs: list[float] = []
    for output in instance.output.tolist():
        bins = [min(9, left * 10 // 512) for left in range(output, 0, -1)]
        pairs += [chance[b] for b, after in pairwise(bins) if b == after]
    assert found == pytest.approx(np.mean(pairs), abs=0.01)
    never = mean_errors(instance, Classifier.spreading(10, 0.0, 512), np.random.default_rng(5))
    assert never["changed_mind"] == 0


class _Saying:
    """As much of a view as a filter reads."""

    def __init__(self, signals: dict[int, list[int]]) -> None:
        self.signals, self.running = signals, dict.fromkeys(signals, 0)


@pytest.mark.studies
def test_where_preemption_is_free_sprpt_on_exact_lengths_is_the_unit_of_its_page(
    tmp_path: Path,
) -> None:
    cells = [c for c in SHAHOUT2025_ROUNDS.study(quick=True).cells if c.seed < 2]
    frame = run_study(Study("rounds", tuple(cells)), Store(tmp_path / "cells"), workers=1)
    text = page_text(SHAHOUT2025_ROUNDS, frame, tmp_path, quick=False)
    assert "| exact | 1.000 (1.000 to 1.000) |" in text
    assert (tmp_path / "shahout2025-rounds-latency.png").is_file()
    # all tokens are held once, whoever is evicted: mean memory times makespan is the total volume
    held = frame["mean_memory"] * frame["makespan"]
    assert held.groupby(frame["seed"]).std().max() < 1e-3 * held.mean()
