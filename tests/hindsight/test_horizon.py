"""Windows of starts keep every optimal schedule, and are much shorter than the paper's horizon."""

from itertools import product

import numpy as np
import pytest
from oracle import least_latency, optimal_schedule

from ratiolab.hindsight.horizon import last_starts, naive_horizon, serial_horizon
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance, Schedule, violations


def tiny(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    prompt, output = rng.integers(0, 3, n), rng.integers(1, 4, n)
    return Instance(f"tiny {seed}", 5, rng.integers(0, 7, n), prompt, output)


def optima(instance: Instance) -> list[Schedule]:
    """Every optimal schedule, by enumeration over twice the time that one after another takes."""
    optimum = least_latency(instance)
    spare = optimum - int(instance.output.sum())
    starts = product(*(range(a, a + spare + 1) for a in instance.arrival.tolist()))
    found = [Schedule.from_starts(instance, s) for s in starts if sum(s) == _total(instance, spare)]
    return [s for s in found if s.total_latency == optimum and not violations(s)]


def _total(instance: Instance, spare: int) -> int:
    return int(instance.arrival.sum()) + spare


@pytest.mark.parametrize("seed", range(60))
def test_no_optimal_schedule_leaves_its_windows(seed: int) -> None:
    instance = tiny(seed)
    all_optima = optima(instance)
    assert all_optima
    for upper in (all_optima[0].total_latency, best_list_schedule(instance).total_latency):
        last = last_starts(instance, upper)
        for schedule in all_optima:
            assert (schedule.starts <= last).all()
            assert schedule.makespan <= serial_horizon(instance)


def test_the_serial_horizon_is_attained() -> None:
    # each request fills memory at its last token, so they run one after another
    instance = Instance("serial", 3, [0, 0, 0], [2, 2, 2], [1, 1, 1])
    assert optimal_schedule(instance).makespan == serial_horizon(instance) == 3


def test_windows_are_shorter_than_the_naive_horizon() -> None:
    rng = np.random.default_rng(1)
    arrival = np.sort(rng.integers(0, 50, 30))
    instance = Instance("arrivals", 40, arrival, rng.integers(1, 6, 30), rng.integers(1, 30, 30))
    last = last_starts(instance, best_list_schedule(instance).total_latency)
    assert (last + instance.output).max() <= serial_horizon(instance)
    assert serial_horizon(instance) * 2 < naive_horizon(instance)
    assert (last >= instance.arrival).all()


def test_an_upper_bound_that_no_schedule_has_is_refused() -> None:
    with pytest.raises(ValueError, match="upper 1 is below the latency of every schedule"):
        last_starts(Instance("two", 9, [0, 0], [1, 1], [3, 4]), upper=1)
