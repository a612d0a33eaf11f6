"""Sweeps find the cheapest relaxed schedule by definition, whatever happens to full layers."""

import numpy as np
import pytest
from oracle import least_latency
from relaxed_schedules import ByDefinition, backward, drawn, many

from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling.completion_bounds import completions
from ratiolab.hindsight.labelling.label_pool import LabelPool
from ratiolab.hindsight.labelling.sweep import Swept, sweep
from ratiolab.hindsight.labelling.weights import Weights, directions
from ratiolab.hindsight.params import LabellingParams
from ratiolab.model import Instance

OFTEN = LabellingParams(crowd=1, partial=2)
"""Labels are compared and left out after each start."""


def found(*given: object, **options: object) -> Swept:
    result = sweep(*given, **options)  # type: ignore[arg-type]
    assert result is not None
    return result


def cheapest(seed: int) -> int:
    """Compare sweeps of all kinds with the definition; return how often a limit fell."""
    instance, _, potentials, multipliers = drawn(seed)
    rng = np.random.default_rng(seed)
    kinds = list(instance.requests)
    chosen = [kinds[i] for i in np.flatnonzero(rng.random(len(kinds)) < 0.5)]
    once = sum(1 << i for i, kind in enumerate(kinds) if kind in chosen)
    base = int(multipliers.sum() - potentials.capacity.sum())
    limit = least_latency(instance) * potentials.unit - base
    definition = ByDefinition(potentials, multipliers.tolist())
    right, fell = definition.least(limit, once), 0
    assert right <= limit
    relaxed = definition.least(limit, 0)
    for side in directions(potentials, multipliers, limit):
        whole = found(instance, side, limit, 10**6, overflow="lower", critical=once)
        assert whole.least == right
        assert whole.limit == limit
        free = found(instance, side, limit, 10**6, overflow="lower")
        for width in (1, 2, 3, 5):
            fallen = found(
                instance, side, limit, width, overflow="lower", critical=once, params=OFTEN
            )
            fell += fallen.limit < limit
            assert fallen.least == min(right, fallen.limit + 1)
            assert fallen.kept is not None
            everyone = 2 ** len(instance) - 1
            guide = completions(fallen.kept)
            assert guide is not None
            bounded = found(
                *(instance, side, fallen.limit, 10**6),
                overflow="lower",
                critical=everyone,
                guide=guide,
            )
            assert bounded.least == min(limit, fallen.limit + 1)
            dropped = found(
                instance, side, limit, width, overflow="drop", critical=once, params=OFTEN
            )
            assert dropped.least >= right
            merged = found(instance, side, limit, width, overflow="merge", params=OFTEN)
            assert merged.least <= relaxed == free.least
            assert merged.least == relaxed or merged.merged
            assert merged.widest <= width
    return fell


def test_sweeps_find_the_cheapest_relaxed_schedule() -> None:
    assert sum(map(cheapest, range(0, 96, 4))) > 0


@pytest.mark.long
def test_sweeps_find_the_cheapest_relaxed_schedule_of_many() -> None:
    for seed in range(1, 2_000, 2):
        cheapest(seed)


def test_without_dominance_sweeps_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [_least(*backward(seed)) for seed in range(16)]
    monkeypatch.setattr(LabelPool, "undominated", lambda self, rows, compared: rows)
    assert [_least(*backward(seed)) for seed in range(16)] == known


def _least(instance: Instance, side: object, limit: int) -> int:
    return found(instance, side, limit, 10**6, overflow="lower", critical=1).least


def test_steps_made_again_give_the_same_completion_bounds() -> None:
    for seed in range(12):
        instance, side, limit = backward(seed)
        bounds = []
        for recorded in (0, 10**9):
            swept = found(
                *(instance, side, limit, 4),
                overflow="lower",
                params=LabellingParams(most_recorded=recorded, crowd=1, partial=2),
            )
            assert swept.kept is not None
            made = completions(swept.kept)
            assert made is not None
            bounds.append([layer.tree[1].tolist() for layer in made.layers])
        assert bounds[0] == bounds[1]


def test_completion_bounds_hold_for_no_larger_limit_and_no_fewer_critical_requests() -> None:
    instance, side, limit = backward(3)
    swept = found(instance, side, limit, 10**6, overflow="lower", critical=1)
    assert swept.kept is not None
    guide = completions(swept.kept)
    for higher, critical in ((limit + 1, 1), (limit, 0)):
        with pytest.raises(ValueError, match="completion bounds hold for"):
            sweep(instance, side, higher, 9, overflow="lower", critical=critical, guide=guide)


def test_a_relaxed_diagram_takes_no_critical_requests() -> None:
    instance, side, limit = backward(3)
    with pytest.raises(ValueError, match="has no critical requests"):
        sweep(instance, side, limit, 9, overflow="merge", critical=1)


def test_a_sweep_takes_more_requests_than_a_word_has_bits() -> None:
    """Cost of its relaxed schedule: U times latency and each multiplier times 1 - starts."""
    instance = many(70)
    potentials = Weights.of(instance, cut_bound(instance, rounds=2).certificate.duals)
    limit = 40 * potentials.unit
    side = directions(potentials, potentials.least, limit)[1]
    swept = found(instance, side, limit, 2_000, overflow="drop")
    start, request = np.array(swept.paths[0]).T
    assert request.max() >= 64
    latency = int((start + instance.output[request] - instance.arrival[request]).sum())
    counts = np.bincount(request, minlength=70)
    base = int((potentials.least * counts).sum() - potentials.capacity.sum())
    assert swept.least == latency * potentials.unit - base


def test_a_sweep_that_is_stopped_or_cannot_reach_its_floor_finds_nothing() -> None:
    instance, side, limit = backward(3)
    assert sweep(instance, side, limit, 9, overflow="lower", stop=lambda: True) is None
    assert sweep(instance, side, limit, 1, overflow="lower", floor=limit) is None
    few = LabellingParams(most_labels=1)
    assert sweep(instance, side, limit, 9, overflow="lower", params=few) is None
