"""What walks come to remember next, and which order of that a proof settles on."""

from collections.abc import Callable
from itertools import islice
from math import inf

import numpy as np
import pytest
from test_merging import many

from ratiolab import Instance
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.paths import bundle, proof, targets
from ratiolab.hindsight.paths.orders import Order, all_by_arrival, by_fault, by_start, orders
from ratiolab.hindsight.paths.potentials import Potentials
from ratiolab.hindsight.paths.refit import Refit
from ratiolab.hindsight.paths.targets import Targets
from ratiolab.hindsight.paths.walk import MOST_STATES
from ratiolab.hindsight.paths.walked import Table, Walked
from ratiolab.hindsight.paths.widths import Plan
from ratiolab.hindsight.schedules.heuristics import best_list_schedule

FAULTS = np.array([0.0, 1.0, 3.0, 2.0, 0.5])


def five(arrival: list[int]) -> Instance:
    return Instance("five", 9, arrival, [1] * 5, [3, 2, 2, 1, 4])


def test_orders_begin_with_large_faults_those_that_start_first_or_those_that_arrive_first() -> None:
    starts = np.array([0, 9, 8, 3, 1])
    assert by_fault(FAULTS) == [2, 3, 1, 4]
    assert by_start(lambda: starts)(FAULTS) == [3, 2, 4, 1]
    assert all_by_arrival(five([2, 2, 0, 1, 0]))(FAULTS) == [2, 4, 3, 1, 0]


def test_a_schedule_and_arrivals_over_time_give_more_orders() -> None:
    starts = np.zeros(5, np.int64)
    assert orders(five([0] * 5), None) == [by_fault]
    assert len(orders(five([0] * 5), lambda: starts)) == 2
    assert len(orders(five([0, 1, 1, 1, 1]), lambda: starts)) == 3


class Fake:
    """Passes of one walk to a target, which takes so many states for each unit of it."""

    def __init__(self, target: int, states: int) -> None:
        self.target, self.states, self.bound, self.sets = target, states, 0, [0, 1]
        self.last, self.following, self.kinds = None, 1, [0] * 40

    @property
    def closed(self) -> bool:
        return self.bound >= self.target

    def go(self, width: int, stop: Callable[[], bool], most: int) -> Walked:
        if self.states * self.target > most:
            return Walked(0, 0, [], None, 0, False)
        self.bound = self.target
        return Walked(0, 0, [], Table(0, []), self.states * self.target, True)


def settled(costs: list[int], upper: int = 30) -> tuple[int, int, list[int]]:
    """Return the order that is left, what is proven with these costs, and all orders that began."""

    def named(k: int) -> Order:
        return lambda faults: [k]

    begun, proven = list[int](), [0]

    def make(target: int, ladder: tuple[int, ...], order: Order) -> Fake:
        begun.append(order(FAULTS)[0])
        return Fake(target, costs[begun[-1]])

    def tell(passes: Fake) -> None:
        proven[0] = max(proven[0], passes.bound)

    rising = Targets(
        *(
            make,
            [named(k) for k in range(len(costs))],
            lambda: upper,
            lambda: False,
            tell,
            2**40 - 1,
            True,
            100,
        ),  # type: ignore[arg-type]
    )
    rising.rise(0, once=False)
    return rising.orders[0](FAULTS)[0], proven[0], begun


def test_another_order_is_tried_once_targets_take_many_states_and_kept_if_it_takes_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(targets, "ENOUGH", 100)
    left, proven, begun = settled([100, 10])
    assert (left, proven) == (1, 30)
    assert begun[:2] == [0, 1]
    assert 0 not in begun[2:]


def test_an_order_that_takes_more_is_tried_once_and_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(targets, "ENOUGH", 100)
    left, proven, begun = settled([100, 1_000])
    assert (left, proven) == (0, 30)
    assert begun.count(1) == 1


def test_the_other_orders_are_tried_where_one_takes_too_many_states() -> None:
    left, proven, begun = settled([10**8, 10**8, 5])
    assert (left, proven) == (2, 30)
    assert begun[:3] == [0, 1, 2]


def test_targets_rise_in_smaller_steps_where_a_longer_one_would_not_end_in_time() -> None:
    """Each round that a target is higher it takes three percent longer."""
    aims: list[int] = []

    def proven(limit: float) -> int:
        clock, best = [limit], [100]
        aims.clear()

        def make(target: int, ladder: tuple[int, ...], order: Order) -> Fake:
            aims.append(target)
            clock[0] -= 1.03 ** (target - 100)
            return Fake(target, 1)

        def tell(passes: Fake) -> None:
            if clock[0] >= 0:
                best[0] = max(best[0], passes.bound)

        rising = Targets(
            *(make, [by_fault], lambda: 500, lambda: clock[0] < 0, tell, 2**40 - 1, True, 100),
            *([] if limit == inf else [lambda: clock[0]]),
        )  # type: ignore[arg-type]
        rising.rise(100, once=False)
        return best[0]

    assert proven(inf) == 500
    assert aims[:3] == [125, 175, 275]
    assert proven(100) == aims[2]
    assert aims[:2] == [125, 175]
    assert 230 <= aims[2] <= 250


def test_targets_rise_in_small_steps_where_walks_grow_fast_and_as_far_as_there_is_room() -> None:
    """Six rounds more of a target take twice as many states; 256 rounds are to go."""

    def reached(*most: int) -> list[int]:
        aims, best = list[int](), [100]

        def make(target: int, ladder: tuple[int, ...], order: Order) -> Fake:
            aims.append(target)
            return Fake(target, int(100 * 2 ** ((target - 100) / 6) / target))

        def tell(passes: Fake) -> None:
            best[0] = max(best[0], passes.bound)

        rising = Targets(
            *(make, [by_fault], lambda: 356, lambda: False, tell, 2**40 - 1, True, 100),
            *([lambda: inf, False, *most] if most else []),
        )  # type: ignore[arg-type]
        rising.rise(100, once=False)
        assert aims[:2] == [116, 148]
        assert 1 <= max(np.diff([aim for aim in aims[1:] if aim <= best[0]])) <= 7
        return [best[0], max(aims)]

    usual, roomier = reached(), reached(4 * MOST_STATES)
    # states double 15.6 times from 100 to the most: 193 or 194 are in reach
    assert 193 <= usual[0] <= 194
    assert usual[1] <= usual[0] + 7
    assert 205 <= roomier[0] <= 206


def test_a_walk_that_is_expected_to_take_too_many_states_first_learns_what_to_remember() -> None:
    """Four rounds more of a target take twice as many states; 48 rounds are to go."""

    def ladders(first: int) -> list[tuple[int, tuple[int, ...]]]:
        made: list[tuple[int, tuple[int, ...]]] = []

        def make(target: int, ladder: tuple[int, ...], order: Order) -> Fake:
            made.append((target, ladder))
            states = first * 2 ** ((target - 100) // 4) if len(ladder) > 1 else 1
            return Fake(target, -(-states // target))

        rising = Targets(
            *(make, [by_fault], lambda: 148, lambda: False, lambda _: None, 2**40 - 1, False, 100),
        )  # type: ignore[arg-type]
        rising.rise(100, once=False)
        return made

    everybody = (0, 2**40 - 1)
    both = [(112, everybody), (136, everybody)]
    few, more = (
        int(part * targets.EXCEEDED * targets.FIRST_STATES) // 2**12 for part in (0.9, 1.1)
    )
    assert ladders(few)[:3] == [*both, (148, everybody)]
    assert ladders(more) == [*both, (148, (0,))]


def test_better_multipliers_are_kept_where_walks_that_remember_have_proven_more() -> None:
    instance = many(14)
    duals = cut_bound(instance, rounds=1).certificate
    best = best_list_schedule(instance).total_latency
    potentials, plan = Potentials.of(instance, duals.duals), Plan(lambda: inf, 10**5)
    given = (lambda: best), (lambda: False), (lambda *found: None), 10**5, None, None
    made = proof._Proof(potentials, potentials.least, duals, *given, plan, None)
    first = potentials.least / potentials.unit
    search = bundle.steps(Refit(instance, duals.duals), first, given[0], 10**5, given[1])
    better = [passes for _, passes in islice(search, 4) if passes is not None]
    assert duals.bound < better[0].bound < better[-1].bound < best - 1
    made.bound = best - 1  # as walks that remember everybody may prove
    for passes in better:
        made._take(passes)
        assert made.multipliers is passes.multipliers
    made._take(better[0])
    assert made.multipliers is better[-1].multipliers
    assert made.bound == best - 1
