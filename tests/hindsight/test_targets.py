"""What walks come to remember next, and which order of that a proof settles on."""

from collections.abc import Callable
from math import inf

import numpy as np
import pytest

from ratiolab import Instance
from ratiolab.hindsight.paths import targets
from ratiolab.hindsight.paths.orders import Order, all_by_arrival, by_fault, by_start, orders
from ratiolab.hindsight.paths.targets import Targets
from ratiolab.hindsight.paths.walked import Table, Walked

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
