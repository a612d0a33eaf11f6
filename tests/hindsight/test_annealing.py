"""Annealed schedules are feasible, repeatable, never worse than the first, and good."""

import numpy as np

from ratiolab.hindsight.annealing import annealed_schedule
from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.hindsight.heuristics import list_schedule, serial_schedule
from ratiolab.model import Instance, Schedule, require_feasible


def tiny(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    n, memory = int(rng.integers(1, 7)), int(rng.integers(4, 12))
    prompt = rng.integers(0, memory // 2 + 1, n)
    output = [int(rng.integers(1, min(memory - s, 6) + 1)) for s in prompt]
    return Instance(f"tiny {seed}", memory, rng.integers(0, 4, n), prompt, output)


def drawn() -> tuple[Instance, Schedule]:
    rng = np.random.default_rng(7)
    prompt = rng.integers(1, 6, 30)
    output = [int(rng.integers(1, 40 - s + 1)) for s in prompt]
    instance = Instance("drawn", 40, rng.integers(0, 20, 30), prompt, output)
    return instance, list_schedule(instance, np.argsort(output, kind="stable"))


def test_it_is_feasible_and_nearly_always_optimal_on_tiny_instances() -> None:
    exact = 0
    for seed in range(100):
        instance = tiny(seed)
        first = list_schedule(instance, np.arange(len(instance)))
        found = require_feasible(annealed_schedule(instance, first, steps=800))
        optimum = brute_force(instance).total_latency
        assert optimum <= found.total_latency <= first.total_latency
        exact += found.total_latency == optimum
    assert exact >= 90


def test_the_same_seed_gives_the_same_schedule_and_much_better_than_the_first() -> None:
    instance, first = drawn()
    a, b = (
        annealed_schedule(instance, first, np.random.default_rng(3), steps=20_000) for _ in range(2)
    )
    assert a.starts.tolist() == b.starts.tolist()
    assert a.total_latency < 0.97 * first.total_latency


def test_no_steps_keep_the_first_schedule_or_its_serial_order() -> None:
    instance, first = drawn()
    kept = require_feasible(annealed_schedule(instance, first, steps=0))
    order = np.lexsort((instance.volume, first.starts))
    serial = serial_schedule(instance, order)
    assert kept.total_latency == min(first.total_latency, serial.total_latency)
