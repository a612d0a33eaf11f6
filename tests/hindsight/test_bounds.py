"""Lower bounds hold against the brute-force optimum, and are exact integers."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.bounds import (
    BOUNDS,
    alone,
    best_lower_bound,
    mean_busy_time,
    one_machine,
    volume,
)
from ratiolab.model import Instance


@pytest.mark.parametrize("block", range(4))
def test_no_bound_exceeds_the_optimum(block: int) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        instance = tiny(seed, most=6)
        optimum = least_latency(instance)
        for bound in BOUNDS:
            assert bound(instance).value <= optimum, (seed, bound.__name__)


def test_each_bound_is_the_best_somewhere() -> None:
    best = {best_lower_bound(tiny(seed, most=6)).source for seed in range(60)}
    assert best == {"alone", "volume", "mean-busy-time"}


def test_mean_busy_time_by_hand() -> None:
    # Request 0: s=1, o=2, holds 2, 3, v = 5;
    # request 1: s=2, o=2, holds 3, 4, v = 7; M = 5. Time 1 gives 5 slots to request 0, time 2 gives
    # 5 and time 3 gives 2 slots to request 1: f = 1 and (5*2 + 2*3)/7 = 16/7.
    # o - G/v: 2 - (2 + 2*3)/5 = 2/5 and 2 - (3 + 2*4)/7 = 3/7. Sum 1 + 2/5 + 16/7 + 3/7 = 144/35.
    instance = Instance("hand", 5, [0, 0], [1, 2], [2, 2])
    exact = Fraction(144, 35)
    assert mean_busy_time(instance).value == -(-exact.numerator // exact.denominator) == 5


def test_volume_bound_by_hand_with_preemption() -> None:
    # Request 0: s=0, o=4, volume 10, at 0; request 1: s=0, o=1, volume 1, at 1; M = 4.
    # Slots 0-3 go to 0, slot 4 to 1 (complete at time 2), slots 5-10 to 0 (complete at time 3).
    # In order: max(2, 1+1), max(3, 0+4): 6, less arrivals 0 + 1.
    instance = Instance("hand", 4, [0, 1], [0, 0], [4, 1])
    assert volume(instance).value == 5
    assert alone(instance).value == 5


@pytest.mark.parametrize("rule", ["remaining", "size", "rank"])
def test_one_machine_serves_slot_by_slot_what_is_least(rule: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        n = int(rng.integers(1, 8))
        released, sizes = rng.integers(0, 20, n).tolist(), rng.integers(1, 9, n).tolist()
        ranks = rng.choice([-0.5, 0.25, 1.0], n).tolist() if rule == "rank" else None
        remaining, served = list(sizes), {}
        for slot in range(max(released) + sum(sizes)):
            least = {"remaining": remaining, "size": sizes, "rank": ranks}[rule]
            there = [i for i in range(n) if released[i] <= slot and remaining[i]]
            if there:
                served[slot] = i = min(there, key=lambda i: (least[i], i))
                remaining[i] -= 1
        pieces = list(
            one_machine(released, sizes, shortest_remaining=rule == "remaining", ranks=ranks)
        )
        assert {t: p.request for p in pieces for t in range(p.begin, p.end)} == served
        assert [p.request for p in pieces if p.last] == sorted(
            range(n), key=lambda i: max(t for t in served if served[t] == i)
        )
        for one, after in pairwise(pieces):  # a machine that goes on is one piece
            assert one.request != after.request or one.end < after.begin
