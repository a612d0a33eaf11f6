"""What stages do, and why they decline."""

from dataclasses import replace

import pytest
from relaxed_schedules import many

from ratiolab.hindsight.bounds import best_lower_bound
from ratiolab.hindsight.certificates.certificate import dual_certificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.certificates.effort import duals_effort
from ratiolab.hindsight.cuts import cut_bound as cuts
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.params import LabellingParams, SolveParams
from ratiolab.hindsight.relaxation.lagrangian import DENOMINATOR
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.solver import solve
from ratiolab.hindsight.stages import GrowthRows, Labelling
from ratiolab.hindsight.state import Callbacks, SolveState, Work
from ratiolab.model import Instance
from ratiolab.workloads.generators import generate


def drawn(requests: int) -> Instance:
    return generate("jaillet-model-1", 0, n_least=requests, n_most=requests)


def after(stage: Work, instance: Instance, limit: float | None = 1_000.0) -> SolveState:
    """Return a solve in which this stage has run."""
    state = SolveState(instance, SolveOptions("auto", time_limit=limit, threads=1, steps=1))
    with state.running("a stage") as call:
        state.keep(stage(state, call))
    return state


@pytest.mark.parametrize(("memory", "bounded"), [(50, False), (210, True)])
def test_growth_rows_bound_where_no_cuts_are_to_come(memory: int, bounded: bool) -> None:
    instance = drawn(36).replace(memory=memory)
    state = after(GrowthRows(part=0.3), instance)
    assert (state.lower.source == "growth rows") == bounded
    if bounded:
        assert state.lower.value > 1.05 * best_lower_bound(instance).value
    assert certify(state.certificate, instance) == state.lower.value


@pytest.mark.parametrize("requests", [9, pytest.param(13, marks=pytest.mark.long)])
def test_an_optimum_is_proven_from_cuts_that_end_before_the_makespan(
    requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = drawn(requests)
    plain = solve(instance, seed=0)
    whole = duals_effort(
        Duals(DENOMINATOR, (DENOMINATOR,) * plain.schedule.makespan, (), ()), instance
    )
    monkeypatch.setattr(cuts, "MOST_BYTES", 0.8 * whole.bytes)
    short = solve(instance, seed=0)
    assert short.status == "optimal"
    assert short.upper == plain.upper
    notes = [stage.note for stage in short.stages]
    assert any("they end at time" in note for note in notes)
    assert certify(short.certificate, instance) == short.lower


SILENT = Callbacks(lambda found: None, lambda *shown: None)


def begun(limit: float | None = 600.0, **limits: int) -> SolveState:
    """Return a solve of 40 requests that has duals of cuts."""
    instance = many(40)
    options = SolveOptions("auto", time_limit=limit, threads=1, steps=1)
    state = SolveState(instance, replace(options, **limits))
    state.duals = cut_bound(instance, rounds=1).certificate
    return state


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"params": SolveParams(labelling=LabellingParams(most_requests=39))}, "more than 39"),
        ({"duals": None}, "no duals of cuts"),
        ({"duals": dual_certificate(many(40), Duals(10**9, (0,) * 9, (), ()), 1)}, "no duals"),
        ({"instance": many(40).replace(memory=128)}, "memory 128 > 127"),
        ({"options": SolveOptions("auto", memory_limit=351)}, "no room for labels"),
    ],
)
def test_the_stage_says_why_it_declines(change: dict[str, object], note: str) -> None:
    state = begun()
    for name, value in change.items():
        setattr(state, name, value)
    assert note in Labelling(part=1.0)(state, SILENT).note
