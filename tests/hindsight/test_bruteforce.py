"""Oracles of tiny instances agree with each other, with solvers and with optima known by hand."""

from itertools import product

import numpy as np
import pytest
from oracle import least_latency, optimal_schedule
from tiny_instances import tiny

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Instance, Schedule, require_feasible, violations


def test_chen_example_ec1_has_optimum_12() -> None:
    # o = 1, 2, 3, 4 with s = 1 in M = 7. Four at round 0 hold 8 at time 1. One of them a round
    # late: at time 2 it holds 2 and each other one with o >= 2 holds 3; two of those make 8 as
    # well. So the waits sum to two or more, on top of the outputs 10.
    instance = Instance("example EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
    assert brute_force(instance).total_latency == 12


@pytest.mark.parametrize("seed", range(12))
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


def test_the_compiled_oracle_is_the_plain_one() -> None:
    for seed in range(100):
        instance = tiny(seed, most=4, longest=6)
        found = require_feasible(optimal_schedule(instance))
        assert found.total_latency == brute_force(instance).total_latency


def test_it_finds_the_optimum_of_the_oracle_and_a_schedule_of_that_latency():
    for seed in range(192):
        instance = tiny(seed, longest=6)
        found = tiny_optimum(instance)
        assert found.latency == least_latency(instance), instance.to_dict()
        assert require_feasible(found.schedule).total_latency == found.latency


def test_a_limit_below_the_optimum_is_proved_to_be_below():
    for seed in range(96):
        instance = tiny(seed)
        optimum = tiny_optimum(instance).latency
        assert tiny_optimum(instance, optimum).latency == optimum
        below = tiny_optimum(instance, optimum - 1)
        assert below.latency is None
        assert below.above


def test_a_search_that_may_keep_few_states_ends_without_an_answer():
    instance = Instance("few kinds", 21, [0] * 15, [5] * 15, [3] * 15)
    found = tiny_optimum(instance, states=10)
    assert found.latency is None
    assert not found.above
    with pytest.raises(ValueError, match="no optimum was found"):
        _ = found.schedule


@pytest.mark.slow
def test_thousands_more_optima_agree():
    for seed in range(480, 40_000):
        instance = tiny(seed, most=6, longest=6)
        assert tiny_optimum(instance).latency == least_latency(instance), instance.to_dict()
