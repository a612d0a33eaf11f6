"""The compiled search: feasible, repeatable, never worse than it began, and mostly optimal."""

import subprocess
import sys
from itertools import permutations

import numpy as np
import pytest
from oracle import least_latency

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.schedules.heuristics import (
    best_list_schedule,
    improved_schedule,
    serial_schedule,
)
from ratiolab.hindsight.schedules.order_search import search
from ratiolab.hindsight.schedules.search_kernels import Profile, earliest, place, reinsert
from ratiolab.model import Instance, Schedule, require_feasible, violations


def random_instance(seed: int, least: int, most: int, memory: int, rounds: int) -> Instance:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(least, most + 1))
    prompt = rng.integers(0, memory // 3, n)
    output = rng.integers(1, memory - prompt + 1)
    return Instance(f"random {seed}", memory, rng.integers(0, rounds, n), prompt, output)


def found(instance: Instance, steps: int, seed: int = 0) -> Schedule:
    return search(best_list_schedule(instance), np.random.default_rng(seed), steps)


def placed(instance: Instance, order: list[int], skip: list[int]) -> list[int]:
    usage = np.zeros(2000, np.int64)
    starts = np.zeros(len(instance), np.int64)
    room = Profile(usage, np.zeros(1, np.int64))
    columns = Requests.of(instance)
    total = place(room, columns, np.array(order), np.array(skip), 0, 10**6, starts)
    assert total == starts.sum()
    assert usage[: len(profile(instance, starts))].tolist() == profile(instance, starts)
    return starts.tolist()


def profile(instance: Instance, starts: np.ndarray) -> list[int]:
    return Schedule.from_starts(instance, starts).usage().tolist()


@pytest.mark.parametrize("seed", range(40))
def test_compiled_insertion_is_serial_insertion(seed: int) -> None:
    instance = random_instance(seed, 1, 15, memory=15, rounds=20)
    order = np.random.default_rng(seed).permutation(len(instance)).tolist()
    expected = serial_schedule(instance, order).starts.tolist()
    assert placed(instance, order, [0] * len(instance)) == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_request_held_back_takes_its_next_feasible_start(seed: int) -> None:
    instance = random_instance(seed, 3, 6, memory=10, rounds=5)
    n = len(instance)
    earlier = placed(instance, list(range(n)), [0] * n)
    feasible = [
        start
        for start in range(int(instance.arrival[-1]), 200)
        if not violations(Schedule.from_starts(instance, [*earlier[:-1], start]))
    ]
    for skips in range(4):
        later = placed(instance, list(range(n)), [0] * (n - 1) + [skips])
        assert later == [*earlier[:-1], feasible[skips]]


def test_the_first_start_that_fits_is_found_between_peaks() -> None:
    # memory 6: a request of prompt 1, output 2 holds 2 then 3; times 1 and 4 have room for 1 and 2
    usage = np.array([0, 5, 4, 3, 4, 0, 0, 0, 0])
    assert earliest(usage, 1, 2, 6, 0) == 1  # 2 + 4, then 3 + 3
    assert earliest(usage, 1, 2, 6, 2) == 3  # from 2: 2 + 3, but then 3 + 4


def test_reinsertion_never_raises_latency_and_keeps_the_profile() -> None:
    improved = 0
    for seed in range(20):
        instance = random_instance(seed, 20, 40, memory=20, rounds=30)
        first = best_list_schedule(instance)
        starts, usage = np.array(first.starts), np.zeros(5000, np.int64)
        usage[: len(first.usage())] = first.usage()
        draws = np.random.default_rng(seed).random((500, 5))
        by_start = np.argsort(starts, kind="stable")
        used = np.array([first.makespan])
        reinsert(Profile(usage, used), Requests.of(instance), by_start, starts, 5, 3, draws)
        last = require_feasible(Schedule.from_starts(instance, starts))
        assert last.total_latency <= first.total_latency
        assert usage[: len(last.usage())].tolist() == last.usage().tolist()
        assert last.makespan <= used[0]
        assert not usage[last.makespan + 1 :].any()
        improved += last.total_latency < first.total_latency
    assert improved >= 15


def test_no_worse_than_the_list_schedules_and_feasible_with_arrivals() -> None:
    for seed in range(15):
        instance = random_instance(seed, 17, 60, memory=40, rounds=60)
        first = best_list_schedule(instance)
        assert require_feasible(found(instance, 500)).total_latency <= first.total_latency


def test_the_search_reaches_the_optimum_of_nearly_all_tiny_instances() -> None:
    exact = 0
    for seed in range(100):
        instance = random_instance(seed, 3, 6, memory=8, rounds=5)
        optimum = least_latency(instance)
        reached = require_feasible(found(instance, 5_000)).total_latency
        assert reached >= optimum
        exact += reached == optimum
    assert exact >= 95


def test_schedules_that_no_serial_order_gives_are_found() -> None:
    instance = Instance("held back", 8, [1, 0, 3, 1], [0, 0, 1, 2], [8, 7, 3, 4])
    serial = min(serial_schedule(instance, order).total_latency for order in permutations(range(4)))
    optimum = least_latency(instance)
    assert (optimum, serial) == (37, 38)
    assert found(instance, 20_000).total_latency == optimum


def test_the_seed_decides() -> None:
    instance = random_instance(1, 40, 40, memory=40, rounds=10)
    one, two, other = (found(instance, 300, seed).starts.tolist() for seed in (3, 3, 4))
    assert one == two
    assert one != other


def test_an_annealed_schedule_is_far_below_the_list_schedules_of_a_crowded_instance() -> None:
    instance = random_instance(2, 50, 50, memory=40, rounds=1)
    listed = best_list_schedule(instance)
    assert 100 * improved_schedule(listed).total_latency <= 97 * listed.total_latency


def test_few_requests_are_searched_without_numba() -> None:
    code = (
        "import sys\n"
        "from ratiolab.hindsight.schedules.heuristics import *\n"
        "from ratiolab.model import Instance\n"
        "few = Instance('few', 9, [0] * 8, [1] * 8, range(1, 9))\n"
        "improved_schedule(best_list_schedule(few))\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_thousand_requests_get_a_better_schedule_than_any_list_schedule() -> None:
    rng = np.random.default_rng(0)
    prompt, output = rng.integers(1, 80, 1000), rng.integers(1, 300, 1000)
    instance = Instance("many", 5000, rng.integers(0, 500, 1000), prompt, output)
    listed = best_list_schedule(instance)
    reached = require_feasible(improved_schedule(best_list_schedule(instance), steps=5_000))
    assert reached.total_latency < listed.total_latency


@pytest.mark.parametrize(("arrival", "output"), [(0, 500_000), (3_000_000, 10)])
def test_millions_of_rounds_get_fewer_steps(arrival: int, output: int) -> None:
    # 17 requests, each of which needs all of memory in its last round: one after another
    n = 17
    instance = Instance("long", output, [0] + [arrival] * (n - 1), [0] * n, [output] * n)
    first = max(arrival, output)
    expected = [0, *range(first, first + (n - 1) * output, output)]
    assert sorted(improved_schedule(best_list_schedule(instance), steps=3_000).starts) == expected
