"""Section 5.2 of Jaillet et al.: pages from tables, and laws that the tables must keep."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from quick_cells import quick_store

from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.papers.jaillet2025.experiments.section_5_2 import MC_BENCHMARK, MC_SF
from ratiolab.papers.jaillet2025.experiments.section_5_2_growth import slopes
from ratiolab.papers.jaillet2025.experiments.section_5_2_parameters import (
    BY_ALPHA,
    LEAST,
    least_alpha,
)
from ratiolab.studies import Study
from ratiolab.studies.frames import with_bounds
from ratiolab.studies.run import run_study

SECTION_5_2_TIME = experiments()["jaillet2025-section-5-2-time"]
SECTION_5_2 = experiments()["jaillet2025-section-5-2"]
SECTION_5_2_GROWTH = experiments()["jaillet2025-section-5-2-growth"]
SECTION_5_2_NOISE = experiments()["jaillet2025-section-5-2-noise"]
SECTION_5_2_PARAMETERS = experiments()["jaillet2025-section-5-2-parameters"]
SECTION_5_2_ROUNDS = experiments()["jaillet2025-section-5-2-rounds"]

EXPERIMENTS = {
    e.name.removeprefix("jaillet2025-section-5-2"): e
    for e in (
        SECTION_5_2,
        SECTION_5_2_GROWTH,
        SECTION_5_2_NOISE,
        SECTION_5_2_PARAMETERS,
        SECTION_5_2_ROUNDS,
        SECTION_5_2_TIME,
    )
}
SEEDS = 2


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    found = {}
    for name, experiment in EXPERIMENTS.items():
        full = experiment.study(quick=True)
        cells = (c for c in full.cells if c.seed < SEEDS)
        if name == "-parameters":
            cells = (c for c in cells if c["policy.alpha"] in (0.04, 0.1, 0.2, 0.3))
        study = Study(experiment.name, tuple(cells))
        store = quick_store(tmp_path_factory.mktemp("cells"), tmp_path_factory, study.name)
        found[name] = run_study(study, store, workers=1)
    return found


@pytest.mark.studies
@pytest.mark.parametrize(
    ("name", "statements"),
    [("", 4), ("-growth", 6), ("-noise", 4), ("-parameters", 15), ("-rounds", 0), ("-time", 5)],
)
def test_a_page_has_a_verdict_on_every_statement_and_all_its_figures(
    frames: dict[str, pd.DataFrame], name: str, statements: int, tmp_path: Path
) -> None:
    text = page_text(EXPERIMENTS[name], frames[name], tmp_path, quick=False)
    words = ("holds", "not reproduced", "undecided")
    assert sum(text.count(f"| {word} |") for word in words) == statements
    assert "nan" not in text
    figures = list(tmp_path.glob("*.png"))
    assert figures
    for figure in figures:
        assert figure.name in text
        assert figure.stat().st_size > 5_000


@pytest.mark.studies
def test_nobody_is_below_the_certified_bound_and_mc_sf_is_below_its_benchmark(frames):
    for name in ("", "-growth"):
        frame = frames[name]
        ended = frame[frame["outcome"] == "complete"]
        assert (ended["total_latency"] > ended["lower"]).all()
        high = frame[frame["workload.rate"] == 0.05]
        means = high.groupby(["clock", "policy.label"])["mean_latency"].mean().unstack()
        assert (means[MC_SF] < means[MC_BENCHMARK]).all()


@pytest.mark.studies
def test_runs_in_rounds_are_never_below_the_bounds_of_the_optimum(frames):
    runs = with_bounds(frames["-rounds"])
    assert (runs["ratio_high"] >= runs["ratio_low"]).all()
    assert (runs["ratio_low"] >= 1).all()  # the best schedule known is no worse than any of these


def test_slopes_of_lines_are_their_slopes():
    n = np.array([1000, 2000, 4000])
    rows = [
        {
            "clock": "c",
            "workload.label": "w",
            "policy.label": policy,
            "seed": seed,
            "workload.n": size,
            "mean_latency": 7 + seed + slope * size,
        }
        for policy, slope in (("a", 0.5), ("b", 0.125))
        for seed in range(3)
        for size in n
    ]
    found = slopes(pd.DataFrame(rows))
    assert found["mean"].tolist() == pytest.approx([0.5, 0.125])
    assert found["r2"].tolist() == pytest.approx([1, 1])


def test_the_least_alpha_is_one_step_above_the_largest_that_loops():
    loops = {0: (0.01, 0.03), 1: ()}
    rows = [
        {
            "workload.label": "w",
            "policy.label": LEAST,
            "seed": seed,
            "policy.alpha": alpha,
            "outcome": "looping" if alpha in loops[seed] else "complete",
        }
        for seed in loops
        for alpha in (0.01, 0.02, 0.03, 0.04)
    ]
    other = [{**rows[0], "policy.label": BY_ALPHA, "policy.alpha": 0.5}]
    assert least_alpha(pd.DataFrame(rows + other))["least"].tolist() == [0.04, 0.01]
