"""The judge in columns gives the verdict of the judge that names each fault."""

import numpy as np
import pytest

from ratiolab.model import Instance, Schedule, violations
from ratiolab.model.feasibility import is_feasible
from ratiolab.online import make, simulate

COLUMNS = ("request", "start", "stop", "lead", "unfilled")
RUNS = {
    "alpha-beta-clearing": "restart",
    "mlfq": "recompute",
    "rr": "swap",
    "vllm-fcfs": "recompute",
    "srpt": "pause",
}


def drawn(rng):
    """An instance whose requests compete for memory."""
    number, memory = int(rng.integers(1, 12)), int(rng.integers(8, 40))
    prompt = rng.integers(0, memory // 2, number)
    output = rng.integers(1, memory // 2 + 1, number)
    return Instance("drawn", memory, rng.integers(0, 20, number), prompt, output)


def served(rng, key):
    """A schedule with evictions, and with chunks where the policy prefills in chunks."""
    chunks = {"batch": 4, "tokens": 6} if key == "vllm-fcfs" else {}
    policy = make(key, chunks)
    return simulate(drawn(rng), policy, preemption=RUNS[key], seed=int(rng.integers(9))).schedule


def spoiled(rng, schedule):
    """The same schedule with a few values off by one or two."""
    columns = {name: getattr(schedule, name).copy() for name in COLUMNS}
    for _ in range(int(rng.integers(1, 3))):
        column = columns[str(rng.choice(COLUMNS))]
        column[rng.integers(len(column))] += rng.choice([-2, -1, 1, 2])
    moved = [columns.pop(name) for name in ("request", "start", "stop")]
    instance = schedule.instance.replace(
        memory=schedule.instance.memory + int(rng.choice([0, 0, 5, 50]))
    )
    return Schedule(instance, *moved, schedule.preemption, **columns)


@pytest.mark.parametrize("key", RUNS)
def test_both_judges_agree_on_schedules_that_were_served_and_on_spoiled_ones(key):
    rng = np.random.default_rng(5)
    verdicts = []
    for _ in range(60):
        schedule = served(rng, key)
        for each in (schedule, *(spoiled(rng, schedule) for _ in range(4))):
            verdicts.append(is_feasible(each))
            assert verdicts[-1] == (not violations(each))
    assert 60 <= sum(verdicts) < len(verdicts)


def test_sums_beyond_64_bits_are_left_to_python_integers():
    far = Instance("far", 10**9, [0, 0], [0, 0], [5, 5])
    late = 2**62 - 8
    assert is_feasible(Schedule(far, [0, 1], [late, late], [late + 5, late + 5]))
    assert not is_feasible(Schedule(far, [0, 1], [late, late], [late + 5, late + 6]))


def test_a_schedule_without_runs_and_one_of_unknown_requests_are_not_feasible():
    one = Instance("one", 9, [0], [1], [2])
    assert not is_feasible(Schedule(one, [], [], []))
    assert not is_feasible(Schedule(one, [0, 1], [0, 0], [2, 2]))
