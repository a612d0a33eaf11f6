"""Our pages: bounds are below every run, figures are those of tables, families obey limits."""

import os
from fractions import Fraction
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.papers.ours.claims.slices import member
from ratiolab.papers.ours.tasks import ROUTERS, engine_run, fleet_run
from ratiolab.studies import Study
from ratiolab.studies.cell import Cell
from ratiolab.studies.frames import with_bounds
from ratiolab.studies.run import compute, run_study
from ratiolab.studies.store import Store
from ratiolab.studies.tasks import TASKS
from ratiolab.theory.limits.slices import gsa_cost, gsa_ratio, halving_family, staggered_optimum

EXPERIMENT = experiments()["engines"]


def test_every_engine_is_above_the_bounds_and_only_evictions_are_computed_again():
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


@pytest.mark.long
def test_the_quick_page_names_every_setting_and_draws_its_charts(tmp_path):
    frame = run_study(EXPERIMENT.study(quick=True), Store(tmp_path / "cells"), workers=1)
    text = page_text(EXPERIMENT, frame, tmp_path, quick=True)
    assert "nan" not in text
    for setting in ("conversations, 70B, load 1.2", "code, 8B, load 0.8"):
        assert setting in text
    charts = {path.stem for path in tmp_path.glob("*.png")}
    assert charts == {"engines-victims", "engines-ladder", "engines-chunks"}


WORKLOAD = {"workload": "trace-conversations", "workload.n": 60, "workload.memory": 4000}
MORE = {"workload.load": 0.0, "workload.scale": 1, "workload.label": "conversations"}


def rows() -> pd.DataFrame:
    found = []
    for seed, key, clock, load in product(
        range(2), ("svf", "vllm-fcfs", "fcfs"), ("unit", "llama3-8b-a100"), (0.9,)
    ):
        options = {"option.load": load, "option.replicas": 3, "option.each": 12}
        policy = {"policy": key, "policy.label": key}
        fields = {"task": "fleet-run", "seed": seed, **WORKLOAD, **MORE, **options, **policy}
        cell = Cell(fields | ({} if clock == "unit" else {"clock": clock}))
        found += [{**fields, "clock": clock, **row} for row in fleet_run(cell)]
    return pd.DataFrame(found)


def test_no_router_is_below_the_bound_and_the_page_names_every_setting():
    frame = rows()
    assert (frame["mean_latency"] >= frame["lower"] * (1 - 1e-12)).all()
    assert set(frame["router"]) == set(ROUTERS)
    assert (frame["requests"] == 36).all()
    page = experiments()["fleets"].page(frame)
    for name in ("svf", "vllm", "price"):
        assert "nan" not in page.slots[name]
        assert "conversations, R = 3, load 0.9, rounds" in page.slots[name]
        assert "conversations, R = 3, load 0.9, 8B" in page.slots[name]
    assert page.charts["routers"]().axes


ROOT = Path(__file__).resolve().parents[3]
TRACES = Path(os.environ.get("RATIOLAB_TRACES", ROOT.parent / "shared" / "traces"))

AT_HAND = pytest.mark.skipif(
    not (TRACES / "arxiv_summarization.csv").is_file(), reason="the traces are not at hand"
)

REAL_TRACES = experiments()["real-traces"]


@AT_HAND
def test_every_ratio_encloses_one_that_is_at_least_one(tmp_path):
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


@AT_HAND
@pytest.mark.studies
def test_rows_of_the_shipped_table_are_those_of_a_fresh_run():
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


def pipeline(law: list[tuple[int, int]], memory: int) -> float:
    """Return GSA's cost on many requests, run after run: a clock, and lengths in turn."""
    cycle = [length for length, weight in law for _ in range(weight)]
    waiting = [cycle[k % len(cycle)] for k in range(2000 * len(cycle))]
    number, clock, cost, size = len(waiting), 0.0, 0.0, 1
    while waiting:
        later = []
        for length in waiting:
            if length > size:
                later.append(length)
            else:
                cost += clock
            clock += size * (size + 1) / 2 / memory
        waiting, size = later, 2 * size
    return cost * 2 * memory / number**2


def test_the_cost_of_slices_is_that_of_a_pipeline_run_request_by_request():
    law = [(1, Fraction(1, 4)), (3, Fraction(1, 2)), (9, Fraction(1, 4))]
    run = pipeline([(1, 1), (3, 2), (9, 1)], 10**6)
    assert run == pytest.approx(float(gsa_cost(law)), rel=1e-3)


def test_the_staggered_optimum_is_what_a_feasible_schedule_of_a_large_member_tends_to():
    law = halving_family(2, 3)  # lengths 5, 9, 17
    limit = float(staggered_optimum(law))
    excess = []
    for number in (100, 400):
        instance, better = member([(o, int(4 * number * p)) for o, p in law], 4)
        excess.append(better * 2 * instance.memory / len(instance) ** 2 / limit - 1)
    assert 0 < excess[1] < excess[0] / 3  # of order 1/n


def test_gsa_grows_towards_its_limit_and_lengths_at_the_slices_cost_less():
    ratios = [gsa_ratio(halving_family(first, 20)) for first in (2, 4, 6)]
    assert ratios == sorted(ratios)
    at_the_slices = [(o - 1, share) for o, share in halving_family(6, 20)]
    assert gsa_ratio(at_the_slices) < ratios[-1] / 2
