"""Schedules of heuristics are feasible, repeatable, and never beat the optimum."""

import numpy as np
import pytest
from oracle import least_latency

from ratiolab.hindsight.schedules.heuristics import (
    best_list_schedule,
    improved_schedule,
    list_schedule,
    serial_schedule,
)
from ratiolab.model import Instance, Schedule, require_feasible, violations


def random_instance(seed: int, most: int, memory: int, rounds: int) -> Instance:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    prompt = rng.integers(0, memory // 2, n)
    output = [int(rng.integers(1, memory - s + 1)) for s in prompt]
    return Instance(f"random {seed}", memory, rng.integers(0, rounds, n), prompt, output)


def fits(instance: Instance, starts: dict[int, int]) -> bool:
    chosen = sorted(starts)
    part = Schedule.from_starts(instance.take(chosen), [starts[i] for i in chosen])
    return not violations(part)


def prefix_rule(instance: Instance, order: list[int]) -> list[int]:
    """The prefix rule round by round, by its definition and the independent checker."""
    starts: dict[int, int] = {}
    now = 0
    while len(starts) < len(instance):
        for i in order:
            if i in starts or instance.arrival[i] > now:
                continue
            if not fits(instance, starts | {i: now}):
                break
            starts[i] = now
        now += 1
    return [starts[i] for i in range(len(instance))]


def earliest_insertion(instance: Instance, order: list[int]) -> list[int]:
    """Serial insertion by its definition."""
    starts: dict[int, int] = {}
    for i in order:
        starts[i] = int(instance.arrival[i])
        while not fits(instance, starts):
            starts[i] += 1
    return [starts[i] for i in range(len(instance))]


@pytest.mark.parametrize("seed", range(30))
def test_event_driven_list_schedule_is_the_prefix_rule(seed: int) -> None:
    instance = random_instance(seed, most=14, memory=12, rounds=30)
    order = np.random.default_rng(seed).permutation(len(instance)).tolist()
    assert list_schedule(instance, order).starts.tolist() == prefix_rule(instance, order)


@pytest.mark.parametrize("seed", range(30))
def test_serial_schedule_is_earliest_insertion(seed: int) -> None:
    instance = random_instance(seed, most=12, memory=12, rounds=20)
    order = np.random.default_rng(seed).permutation(len(instance)).tolist()
    assert serial_schedule(instance, order).starts.tolist() == earliest_insertion(instance, order)


def test_an_improved_schedule_lies_between_the_optimum_and_every_list_schedule() -> None:
    exact = 0
    for seed in range(150):
        instance = random_instance(seed, most=5, memory=6, rounds=4)
        optimum = least_latency(instance)
        good = require_feasible(
            improved_schedule(best_list_schedule(instance), steps=200)
        ).total_latency
        listed = list_schedule(instance, np.argsort(instance.output, kind="stable"))
        assert optimum <= good <= require_feasible(listed).total_latency
        exact += good == optimum
    assert exact >= 145


def test_the_search_is_repeatable_and_does_not_lose_with_more_steps() -> None:
    first = best_list_schedule(random_instance(5, most=20, memory=20, rounds=5))
    one, two = (improved_schedule(first, np.random.default_rng(3), 200) for _ in range(2))
    assert one.starts.tolist() == two.starts.tolist()
    assert one.total_latency <= first.total_latency


def test_rounds_in_the_billions_take_no_profile() -> None:
    # two requests that need all of memory, one after the other
    huge = 10**9
    instance = Instance("huge", huge, [0, 0], [0, 0], [huge, huge])
    assert best_list_schedule(instance).starts.tolist() == [0, huge]


@pytest.mark.long
def test_thousands_of_requests_are_quick_and_feasible() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    instance = Instance(
        "many", 5000, rng.integers(0, 500, n), rng.integers(1, 80, n), rng.integers(1, 300, n)
    )
    by_volume = require_feasible(list_schedule(instance, np.argsort(instance.volume)))
    assert (
        improved_schedule(best_list_schedule(instance), steps=20_000).total_latency
        <= by_volume.total_latency
    )
