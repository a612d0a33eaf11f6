"""Schedules of heuristics are feasible, repeatable, and never beat the optimum."""

from itertools import permutations

import numpy as np
import pytest
from oracle import least_latency

from ratiolab.hindsight.cells.master import serial_schedule
from ratiolab.hindsight.schedules.annealing import schedule_of
from ratiolab.hindsight.schedules.heuristics import (
    best_list_schedule,
    improved_schedule,
    list_schedule,
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


def list_in_order(instance: Instance, order: list[int]) -> list[int]:
    """The schedule of a priority list by its definition: starts in its order, each the earliest."""
    starts: dict[int, int] = {}
    last = 0
    for i in order:
        starts[i] = max(last, int(instance.arrival[i]))
        while not fits(instance, starts):
            starts[i] += 1
        last = starts[i]
    return [starts[i] for i in range(len(instance))]


@pytest.mark.parametrize("seed", range(30))
def test_a_priority_list_is_scheduled_as_it_is_defined(seed: int) -> None:
    instance = random_instance(seed, most=14, memory=12, rounds=30)
    order = np.random.default_rng(seed).permutation(len(instance))
    expected = list_in_order(instance, order.tolist())
    assert schedule_of(instance, order).starts.tolist() == expected


def test_an_annealed_schedule_lies_between_the_optimum_and_every_list_schedule() -> None:
    exact = 0
    for seed in range(90):
        instance = random_instance(seed, most=6, memory=8, rounds=5)
        optimum = least_latency(instance)
        good = require_feasible(improved_schedule(best_list_schedule(instance))).total_latency
        listed = list_schedule(instance, np.argsort(instance.output, kind="stable"))
        assert optimum <= good <= require_feasible(listed).total_latency
        exact += good == optimum
    assert exact >= 86


@pytest.mark.parametrize("seed", range(12))
def test_annealed_schedules_are_feasible_repeatable_and_reported_in_falling_latency(
    seed: int,
) -> None:
    instance = random_instance(seed, most=70, memory=40, rounds=60)
    first = best_list_schedule(instance)
    told: list[int] = []
    one, two = (
        improved_schedule(first, np.random.default_rng(seed), 5_000, found=found)
        for found in (lambda s: told.append(require_feasible(s).total_latency), lambda _: None)
    )
    assert one.starts.tolist() == two.starts.tolist()
    assert one.total_latency <= first.total_latency
    assert told == sorted(set(told), reverse=True)
    assert one.total_latency == min([first.total_latency, *told])


def test_a_search_that_is_stopped_returns_a_schedule_and_one_without_moves_the_first() -> None:
    first = best_list_schedule(random_instance(5, most=20, memory=20, rounds=5))
    stopped = require_feasible(improved_schedule(first, stop=lambda: True))
    assert stopped.total_latency <= first.total_latency
    assert improved_schedule(first, steps=0) is first


def test_schedules_that_no_priority_list_gives_are_found() -> None:
    instance = Instance("held back", 8, [1, 0, 3, 1], [0, 0, 1, 2], [8, 7, 3, 4])
    orders = permutations(range(4))
    listed = min(schedule_of(instance, np.array(order)).total_latency for order in orders)
    assert (least_latency(instance), listed) == (37, 38)
    assert improved_schedule(best_list_schedule(instance)).total_latency == 37
