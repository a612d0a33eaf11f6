"""When walks that merge states are made for the last time, and how wide."""

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.paths import bundle, proof
from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.potentials import Potentials
from ratiolab.hindsight.paths.refit import Refit
from ratiolab.hindsight.paths.widths import LAST, LastWalk
from ratiolab.workloads.generators import generate

MOST = 400_000


def clock(*left: float) -> Callable[[], float]:
    return iter(left).__next__


def test_narrow_walks_go_on_until_the_last_just_fits() -> None:
    """Steps of four seconds; the widest that fits into 24 is of 128,000 states."""
    last = LastWalk(clock(*range(40, -1, -4)), MOST)
    dues = [last.due(step, 16_000) for step in range(10)]
    longer = 4**0.6 * 2**0.9
    assert 4 * longer < 0.6 * 40 < 4 * 4**0.6 * 4**0.9
    first = next(number for number, due in enumerate(dues) if due)
    assert dues[first] == 128_000
    assert 4 * longer <= 36 - 4 * first < 4 + 4 * longer
    assert dues[-1] == 0  # nothing fits any more


def test_no_walk_is_the_last_where_nothing_merges_and_none_without_a_limit_until_they_stall() -> (
    None
):
    last = LastWalk(clock(10, 9, 8), MOST)
    assert last.due(1, 0) == last.due(2, 0) == 0
    last = LastWalk(lambda: inf, MOST)
    assert last.due(1, 16_000) == 0
    assert last.due(1, 16_000, stalled=True) == LAST[-1]
    assert LastWalk(lambda: inf, 50_000).due(1, 16_000, stalled=True) == 32_000


def test_once_narrow_walks_stall_it_takes_what_is_left() -> None:
    last = LastWalk(clock(100, 96, 26), MOST)
    assert last.due(1, 16_000) == 0
    assert last.due(1, 16_000, stalled=True) == 128_000
    assert 4 * 4**0.6 * 2**0.9 < 26 < 4 * 4**0.6 * 4**0.9


@pytest.mark.parametrize("steps", [1, 3])
def test_without_a_clock_it_comes_after_so_many_steps(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    instance = generate("jaillet-model-1", 3, n_least=40, n_most=40)
    duals = cut_bound(instance, rounds=1).certificate
    widths: list[int] = []
    merge = Passes.merge

    def noted(self: Passes, width: int, stop: Callable[[], bool]) -> object:
        walked = merge(self, width, stop)
        widths.append(width)
        return walked

    monkeypatch.setattr(Passes, "merge", noted)
    monkeypatch.setattr(proof, "MERGED", (50, 60))
    bounds: list[int] = []
    proof.prove(
        *(instance, duals, lambda: 2 * duals.bound, lambda: len(widths) > steps),
        lambda _, proven: bounds.append(proven.bound if proven else 0),
        last=(steps, 400),
    )
    assert widths[: steps + 1] == [50] * steps + [400]
    assert bounds[-1] == max(bounds) > duals.bound


def test_a_known_walk_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = tiny(9)
    upper = least_latency(instance)
    duals = cut_bound(instance, rounds=0).certificate
    potentials = Potentials.of(instance, duals.duals)
    known = Passes(potentials, potentials.least, duals, upper + 2)
    known.merge(10**5)
    monkeypatch.setattr(Passes, "merge", None)
    first = next(
        bundle.steps(
            *(Refit(instance, duals.duals), potentials.least / potentials.unit),
            *(lambda: upper, (10**5,), lambda: False),
            merges=True,
            known=known,
        )
    )
    assert first.passes is known
    assert first.width == 0
    assert np.isclose(first.value, (known.base + known.back.walked.least) / potentials.unit)
