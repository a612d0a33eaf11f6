"""What the first stages do with little time, and where no labels follow."""

import pytest

from ratiolab.hindsight.bounds import best_lower_bound
from ratiolab.hindsight.certificates.certificate import dual_certificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.certificates.effort import duals_effort
from ratiolab.hindsight.cuts import cut_bound as cuts
from ratiolab.hindsight.cuts.cut_bound import CutBound
from ratiolab.hindsight.relaxation.lagrangian import DENOMINATOR
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.solver import solve
from ratiolab.hindsight.stages import Cuts, GrowthRows
from ratiolab.hindsight.state import SolveState, Work
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


def test_cuts_get_the_time_that_the_first_ones_take_and_more_where_no_labels_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []

    def bound(instance: Instance, *, horizon: int, time_limit: float, **_: object) -> CutBound:
        asked.append(time_limit)
        none = dual_certificate(instance, Duals(1, (0,) * horizon, (), ()), 1)
        return CutBound(instance, 1, 1, none, 0, 0.0, "time")

    monkeypatch.setattr(cuts, "cut_bound", bound)
    for requests, memory, left in (
        (60, 50, 2.0),
        (60, 50, 600.0),
        (150, 50, 60.0),
        (60, 150, 60.0),
    ):
        monkeypatch.setattr(SolveState, "time_left", left)
        after(Cuts(), drawn(requests).replace(memory=memory))
    assert asked == pytest.approx([2 * 0.8, 120, 60 * 0.8, 60 * 0.8])
    after(Cuts(rounds=3, part=0.1), drawn(60))
    assert asked[-1] == pytest.approx(6)


def test_no_cuts_are_looked_for_whose_proof_would_be_refused_unchecked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The most memory of a check holds for costs of starts, of which a proof has as many as fit."""
    instance, horizon = drawn(40), 500
    assert cuts.fits(instance, horizon)
    proof = cuts.cut_bound(instance, horizon=horizon, rounds=2).certificate
    taken = duals_effort(proof.duals, instance).bytes
    monkeypatch.setattr(cuts, "MOST_BYTES", taken)
    assert not cuts.fits(instance, horizon)
    longest = cuts.longest_horizon(instance, horizon)
    assert cuts.fits(instance, longest)
    assert not cuts.fits(instance, longest + 1)
    monkeypatch.setattr(cuts, "MOST_BYTES", 0)
    assert cuts.longest_horizon(instance, horizon) == 0
    monkeypatch.setattr(cuts, "MOST_BYTES", 2 * taken)
    assert cuts.fits(instance, horizon)
    assert cuts.longest_horizon(instance, horizon) == horizon


@pytest.mark.parametrize("requests", [11, pytest.param(13, marks=pytest.mark.long)])
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
