"""The oracle agrees with optima that are known by hand."""

from itertools import product

import numpy as np
import pytest

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.model import Instance, Schedule, require_feasible, violations


def test_chen_example_1_has_optimum_5() -> None:
    # five requests of s = o = 1 in M = 10: together they hold 10 tokens at round 1
    instance = Instance("example 1", 10, [0] * 5, [1] * 5, [1] * 5)
    assert brute_force(instance).total_latency == 5


def test_chen_example_ec1_has_optimum_12() -> None:
    # o = 1, 2, 3, 4 with s = 1 in M = 7. Four at round 0 hold 8 at time 1. One of them a round
    # late: at time 2 it holds 2 and each other one with o >= 2 holds 3; two of those make 8 as
    # well. So the waits sum to two or more, on top of the outputs 10.
    instance = Instance("example EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
    assert brute_force(instance).total_latency == 12


def test_staggering_beats_batches_of_equal_requests() -> None:
    # s = 0, o = 3, M = 6. Batches of two complete at 3, 3, 6, 6, 9, 9: 36. One start a round holds
    # 1 + 2 + 3 = 6 tokens and completes at 3, 4, 5, 6, 7, 8: 33.
    instance = Instance("stagger", 6, [0] * 6, [0] * 6, [3] * 6)
    assert not violations(Schedule.from_starts(instance, range(6)))
    assert brute_force(instance).total_latency == 33


@pytest.mark.parametrize("seed", range(20))
def test_enumeration_of_every_start_finds_nothing_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    prompt, output = rng.integers(0, 3, n), rng.integers(1, 4, n)
    instance = Instance("tiny", 5, rng.integers(0, 3, n), prompt, output)
    found = require_feasible(brute_force(instance)).total_latency
    everything = product(*(range(a, 12) for a in instance.arrival.tolist()))
    schedules = (Schedule.from_starts(instance, starts) for starts in everything)
    assert found == min(s.total_latency for s in schedules if not violations(s))


def test_many_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="9 requests: brute force takes at most 8"):
        brute_force(Instance("nine", 9, [0] * 9, [0] * 9, [1] * 9))
