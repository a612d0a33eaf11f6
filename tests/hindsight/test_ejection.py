"""The search over starts: feasible, repeatable, never worse, and better where requests arrive."""

import numpy as np
import pytest
from oracle import least_latency

from ratiolab.hindsight.schedules.ejection import eject
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance, Schedule, require_feasible


def random_instance(seed: int, n: int, memory: int, rounds: int) -> Instance:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(0, memory // 3, n)
    output = rng.integers(1, memory - prompt + 1)
    return Instance(f"random {seed}", memory, rng.integers(0, rounds, n), prompt, output)


def overloaded(n: int) -> Instance:
    rng = np.random.default_rng(7)
    prompt = np.clip(np.exp(2.4 + 1.6 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    output = np.clip(np.exp(3.8 + 1.1 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    arrival = np.cumsum(rng.exponential(1.7, n)).astype(np.int64)
    return Instance("overloaded", 5_000, arrival, prompt, output)


@pytest.mark.parametrize("seed", range(60))
def test_schedules_stay_feasible_and_never_get_worse(seed: int) -> None:
    instance = random_instance(seed, 2 + seed % 40, memory=15 + seed, rounds=1 + seed)
    first = best_list_schedule(instance)
    reached = require_feasible(eject(first, np.random.default_rng(seed), 500))
    assert reached.total_latency <= first.total_latency


def test_tiny_optima_are_mostly_reached_and_never_passed() -> None:
    reached = improvable = 0
    for seed in range(120):
        instance = random_instance(seed, 5, memory=12, rounds=8)
        optimum = least_latency(instance)
        first = best_list_schedule(instance)
        latency = eject(first, np.random.default_rng(0), 200).total_latency
        assert latency >= optimum
        improvable += first.total_latency > optimum
        reached += first.total_latency > latency == optimum
    assert improvable > 30
    assert reached > 0.6 * improvable


def test_the_same_seed_gives_the_same_schedule() -> None:
    first = best_list_schedule(overloaded(300))
    one, two = (eject(first, np.random.default_rng(3), 1_000) for _ in range(2))
    assert one.starts.tolist() == two.starts.tolist()


def test_under_overload_it_beats_lists_by_far() -> None:
    first = best_list_schedule(overloaded(800))
    reached = require_feasible(eject(first, np.random.default_rng(0), 20_000))
    assert 100 * reached.total_latency <= 96 * first.total_latency


def test_without_waiting_nothing_is_done() -> None:
    instance = Instance("apart", 9, [0, 10, 20], [1, 1, 1], [8, 8, 8])
    first = best_list_schedule(instance)
    assert eject(first, np.random.default_rng(0), 100).starts.tolist() == [0, 10, 20]


def test_better_schedules_are_told_and_a_stop_is_heard() -> None:
    first = best_list_schedule(overloaded(800))
    told: list[Schedule] = []
    reached = eject(first, np.random.default_rng(0), 20_000, found=told.append)
    assert told[-1].starts.tolist() == reached.starts.tolist()
    stopped = eject(first, np.random.default_rng(0), 2_000, lambda: True)
    assert stopped.starts.tolist() == first.starts.tolist()
