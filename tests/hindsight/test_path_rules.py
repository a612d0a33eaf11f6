"""Each rule of walks by itself loses no schedule, and two rules that look as good do.

`two_sided_walks` has the rules that the product does not use, because they are wrong, or because
the right ones are not worth their place.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from oracle import least_latency
from test_pruning_rules import drawn_duals
from tiny_instances import tiny
from two_sided_walks import EVERYTHING, Rules, TwoSided

from ratiolab.hindsight.certificates.duals import Duals, Table
from ratiolab.hindsight.cuts.configurations import heaviest, real_items
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.paths import completions as of_completions
from ratiolab.hindsight.paths import starts
from ratiolab.hindsight.paths import walk as walks
from ratiolab.hindsight.paths.completions import completions
from ratiolab.hindsight.paths.kernels import Step
from ratiolab.hindsight.paths.partials import Partials
from ratiolab.hindsight.paths.potentials import Direction, Potentials, directions
from ratiolab.hindsight.paths.room import Room
from ratiolab.hindsight.paths.trees import planted
from ratiolab.model import Instance, IntArray


def duals_of(instance: Instance, seed: int) -> Duals:
    if seed % 2:
        return drawn_duals(instance, np.random.default_rng(seed))
    return cut_bound(instance, rounds=seed // 2 % 3).certificate.duals


def no_dominance(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Room, "undominated", lambda self, rows, compared: rows)


def no_order_of_equals(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(starts, "twins", lambda instance, remembered, forward: [-1] * len(instance))


def no_due(patch: pytest.MonkeyPatch) -> None:
    genuine = starts.Starts.step

    def step(self: starts.Starts, t: int) -> Step:
        self.due[:] = 0
        return genuine(self, t)

    patch.setattr(starts.Starts, "step", step)


SWITCHES = {"dominance": no_dominance, "equal requests": no_order_of_equals, "due": no_due}


def loses_nothing(seed: int, alone: str, patch: Callable[[], pytest.MonkeyPatch]) -> None:
    """With this rule alone, both directions find the optimum of brute force, and none below it.

    Paths that remember nobody are many without dominance: completing them takes minutes at five.
    """
    instance = tiny(seed, most=4 if alone == "completions of paths" else 5, longest=4)
    potentials = Potentials.of(instance, duals_of(instance, seed))
    everyone = 2 ** len(instance) - 1
    base = int(potentials.least.sum() - potentials.capacity.sum())
    limit = least_latency(instance) * potentials.unit - base
    assert limit >= 0, seed
    sides = directions(potentials, potentials.least, limit)
    for rule, switch_off in SWITCHES.items():
        if rule != alone:
            switch_off(patch())
    for side, other in (sides, sides[::-1]):
        table, guide = None, None
        if alone in ("join", "join to paths"):
            known = everyone if alone == "join" else 0
            table = walks.walk(instance, other, limit, 10**6, remembered=known).table
        if alone in ("completions", "completions of paths"):
            known = everyone if alone == "completions" else 0
            first = walks.walk(instance, side, limit, 10**6, remembered=known)
            assert first.kept is not None
            guide = completions(first.kept)
        found = walks.walk(
            instance, side, limit, 10**6, remembered=everyone, join=table, guide=guide
        )
        assert found.least == limit, (seed, alone)


RULES = (
    *SWITCHES,
    *("join", "join to paths", "completions", "completions of paths", "remembering"),
)


@pytest.mark.parametrize("alone", RULES)
def test_each_rule_by_itself_loses_no_optimum(alone: str) -> None:
    for seed in range(0, 16, 2):
        with pytest.MonkeyPatch.context() as patch:
            loses_nothing(seed, alone, lambda patch=patch: patch)  # type: ignore[misc]


@pytest.mark.long
@pytest.mark.parametrize("alone", RULES)
def test_each_rule_by_itself_loses_no_optimum_of_many(alone: str) -> None:
    for seed in range(1, 1_000):
        with pytest.MonkeyPatch.context() as patch:
            loses_nothing(seed, alone, lambda patch=patch: patch)  # type: ignore[misc]


def back_of(seed: int) -> tuple[Instance, Direction, int]:
    """Return a tiny instance, its walks back, and what the optimum costs them."""
    instance = tiny(seed, most=5, longest=4)
    potentials = Potentials.of(instance, duals_of(instance, seed))
    base = int(potentials.least.sum() - potentials.capacity.sum())
    limit = least_latency(instance) * potentials.unit - base
    return instance, directions(potentials, potentials.least, limit)[1], limit


Columns: TypeAlias = tuple[NDArray[np.uint64], IntArray, NDArray[np.uint64]]


def bounded_by(seed: int, spoil: Callable[[Columns], Columns], *, guided: bool) -> int:
    """How far a walk bounded by spoilt completions of another is above the cheapest path.

    The last one remembers everybody, so that the cheapest path is the optimum. The one with spoilt
    completions may be bounded itself, by one that remembered nobody.
    """
    instance, back, limit = back_of(seed)
    everyone = 2 ** len(instance) - 1
    guide = None
    if guided:
        nobody = walks.walk(instance, back, limit, 10**6)
        assert nobody.kept is not None
        guide = completions(nobody.kept)
    first = walks.walk(instance, back, limit, 10**6, remembered=1, guide=guide)
    assert first.kept is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_completions, "planted", lambda *columns: planted(*spoil(columns)))
        guide = completions(first.kept)
    found = walks.walk(instance, back, limit, 10**6, remembered=everyone, guide=guide)
    return found.least - limit


def holding_nothing(columns: Columns) -> Columns:
    """States as if they held nothing: each then bounds what holds less than it."""
    mask, value, tokens = columns
    return mask, value, np.zeros_like(tokens)


def started_nobody(columns: Columns) -> Columns:
    """States as if they had started nobody of those remembered."""
    mask, value, tokens = columns
    return np.zeros_like(mask), value, tokens


@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("spoil", [holding_nothing, started_nobody])
def test_completions_of_states_that_hold_more_or_have_started_others_lose_the_optimum(
    spoil: Callable[[Columns], Columns], guided: bool
) -> None:
    """As they are, completions lose none of the same instances."""
    assert any(bounded_by(seed, spoil, guided=guided) > 0 for seed in range(24))
    assert all(bounded_by(seed, lambda columns: columns, guided=guided) == 0 for seed in range(24))


@pytest.mark.parametrize("guided", [False, True])
def test_completions_that_forget_what_replaced_a_state_lose_the_optimum(
    guided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Partials, "replaced", lambda *found: None)
    assert any(bounded_by(seed, lambda columns: columns, guided=guided) > 0 for seed in range(48))


def test_steps_made_again_say_what_recorded_ones_do() -> None:
    """A walk that must be whole records what it makes."""
    for seed in range(12):
        instance, back, limit = back_of(seed)
        found = []
        for whole in (True, False):
            kept = walks.walk(instance, back, limit, 10**6, remembered=1, whole=whole).kept
            assert kept is not None
            assert (None in kept.history) != whole
            known = completions(kept)
            assert known is not None
            found.append([column for layer in known.layers for column in (layer[0], *layer[1])])
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.long
def test_completions_of_walks_that_are_bounded_themselves_lose_no_optimum_of_many() -> None:
    for seed in range(24, 2_000):
        assert bounded_by(seed, lambda columns: columns, guided=True) == 0, seed


def test_completions_bound_no_walk_with_a_larger_limit() -> None:
    instance = tiny(3, most=4, longest=4)
    potentials = Potentials.of(instance, duals_of(instance, 3))
    _, back = directions(potentials, potentials.least, 10**8)
    first = walks.walk(instance, back, 10**7, 10**6, remembered=1)
    assert first.kept is not None
    guide = completions(first.kept)
    for limit, remembered in ((10**8, 1), (10**7, 0)):
        with pytest.raises(ValueError, match="no larger limit"):
            walks.walk(instance, back, limit, 10**6, remembered=remembered, guide=guide)


def two_sided(seed: int) -> tuple[TwoSided, int]:
    """Walks of a tiny instance, and the cost of its optimal schedules."""
    instance = tiny(seed, most=4, longest=4)
    both = TwoSided(instance, duals_of(instance, seed))
    return both, both.limit(least_latency(instance))


NARROW = ([EVERYTHING] * 4, [2, 3, 4, EVERYTHING], [1, 2, EVERYTHING, EVERYTHING])


def proves_no_more(seed: int) -> None:
    both, optimum = two_sided(seed)
    cheapest = both.least_cost(optimum, Rules("never"), [EVERYTHING])
    for widths in NARROW:
        assert both.least_cost(optimum, Rules(), widths) == cheapest <= optimum, seed


def test_bounds_of_each_layer_prove_no_more_than_is_true() -> None:
    for seed in range(12):
        proves_no_more(seed)


@pytest.mark.long
def test_bounds_of_each_layer_prove_no_more_than_is_true_of_many() -> None:
    for seed in range(12, 1_000):
        proves_no_more(seed)


@pytest.mark.parametrize("seed", [39, 96, 267])
def test_totals_of_what_was_left_out_prove_a_bound_above_the_optimum(seed: int) -> None:
    """Brute force finds a schedule that the walks say there is none of; with what was paid, not."""
    both, optimum = two_sided(seed)
    wrong, right = Rules(left_out="total"), Rules(left_out="paid")
    assert any(both.proves(optimum, wrong, widths) for widths in NARROW)
    assert not any(both.proves(optimum, right, widths) for widths in NARROW)


def counted(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    n, memory = int(rng.integers(2, 6)), int(rng.integers(4, 9))
    prompt = rng.integers(0, 3, n)
    output = np.minimum(rng.integers(1, 5, n), memory - prompt)
    return Instance("counted", memory, [0] * n, prompt, output)


def counting_duals(instance: Instance, seed: int) -> Duals:
    """Tables drawn at random, with prices at single times: few tokens may pay much."""
    rng = np.random.default_rng([1, seed])
    items = [(int(m), int(r)) for m, r in real_items(instance)]
    tables = []
    for weights in rng.integers(0, 3, (3, len(items))).tolist():
        table = Table(1, tuple((m, r, w) for (m, r), w in zip(items, weights, strict=True) if w))
        dense = table.dense(instance.memory)
        most, _ = heaviest(items, [int(dense[m, r]) for m, r in items], instance.memory)
        if most:
            tables.append(replace(table, cap=most))
    spans = [(int(rng.integers(len(tables))), t, t + 1) for t in range(1, 9) if tables]
    cuts = tuple((k, t, e, int(rng.integers(0, 300)) // tables[k].cap) for k, t, e in spans)
    return Duals(60, (0,) * 8, tuple(tables), cuts)


def excess(seed: int, rules: Rules) -> int:
    """How far f is above what some path of cost at most the limit has paid."""
    instance = counted(seed)
    both = TwoSided(instance, counting_duals(instance, seed))
    limit = max(0, both.limit(int(instance.output.sum()) + 8))
    limit = both.least_cost(limit, Rules(), [EVERYTHING]) + both.potentials.unit
    claimed, paid = both.claimed(limit, rules), both.paid(limit)
    return max((f - least for f, least in zip(claimed, paid, strict=True)), default=0)


@pytest.mark.parametrize("seed", [223, 485, 734])
def test_dominance_by_what_is_settled_bounds_a_layer_above_what_a_path_has_paid(seed: int) -> None:
    """All paths are tried; with dominance by what is paid at each time, no bound is too high."""
    assert excess(seed, Rules("settled")) > 0
    assert excess(seed, Rules("paid")) == 0


def test_dominance_by_what_is_paid_bounds_no_layer_too_high() -> None:
    assert all(excess(seed, Rules()) == 0 for seed in range(10))


@pytest.mark.long
def test_dominance_by_what_is_paid_bounds_no_layer_too_high_of_many() -> None:
    assert all(excess(seed, Rules()) == 0 for seed in range(10, 1_000))
