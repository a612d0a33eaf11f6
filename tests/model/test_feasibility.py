"""The judge of schedules: each rule has a schedule that breaks only it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratiolab.model import InfeasibleScheduleError, Instance, Schedule, require_feasible, violations
from ratiolab.model.feasibility import is_feasible
from ratiolab.online import make, simulate

TWO = Instance("two", 9, [0, 1], [1, 2], [3, 2])
"""Together they fit: 4 + 4 = 8 tokens when both end at round 3."""

FEASIBLE = {
    "together": [(0, 0, 3), (1, 1, 3)],
    "one after the other": [(0, 0, 3), (1, 3, 5)],
    "with an idle gap": [(1, 4, 6), (0, 10, 13)],
    "evicted once": [(0, 0, 2), (0, 2, 5), (1, 3, 5)],
    "evicted twice": [(1, 1, 2), (1, 2, 3), (1, 5, 7), (0, 0, 3)],
}

MUTATIONS = {
    "unknown-request": [
        [*FEASIBLE["together"], (2, 0, 1)],
        [*FEASIBLE["together"], (-1, 0, 1)],
    ],
    "duration": [
        [*FEASIBLE["together"], (0, 0, 0)],
        [(0, 0, 0), *FEASIBLE["one after the other"]],
        [(1, 5, 4), (0, 5, 8), (1, 6, 8)],
    ],
    "arrival": [[(0, 0, 3), (1, 0, 2)], [(0, 0, 3), (1, 0, 1), (1, 3, 5)]],
    "overlap": [[(0, 0, 2), (0, 1, 4), (1, 4, 6)], [(0, 1, 2), (0, 1, 4), (1, 4, 6)]],
    "completion": [
        [(0, 0, 3)],
        [(0, 0, 3), (1, 3, 4)],
        [(0, 0, 3), (0, 3, 6), (1, 6, 8)],
        [(0, 0, 3), (0, 3, 4), (1, 6, 8)],
        [],
    ],
}


KEPT = {
    "together": [(0, 0, 3), (1, 1, 3)],
    "resumed at once": [(0, 0, 2), (0, 2, 3), (1, 3, 5)],
    "evicted twice": [(0, 0, 1), (1, 1, 2), (0, 2, 3), (0, 7, 8), (1, 3, 4)],
}
"""Durations sum to the outputs 3 and 2: feasible when tokens are kept."""

KEPT_MUTATIONS = {
    "unknown-request": [[*KEPT["together"], (2, 0, 1)]],
    "duration": [[*KEPT["together"], (0, 0, 0)], [(1, 2, 2), *KEPT["resumed at once"]]],
    "arrival": [[(0, 0, 3), (1, 0, 1), (1, 3, 4)]],
    "overlap": [[(0, 0, 2), (0, 1, 2), (1, 4, 6)]],
    "completion": [[(0, 0, 3)], [(0, 0, 2), (1, 3, 5)], []],
}


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
@pytest.mark.parametrize("runs", KEPT.values(), ids=KEPT)
def test_runs_that_sum_to_the_outputs_are_feasible_when_tokens_are_kept(runs, preemption):
    assert violations(Schedule.from_runs(TWO, runs, preemption)) == []


@pytest.mark.parametrize(
    ("rule", "runs"), [(rule, runs) for rule, cases in KEPT_MUTATIONS.items() for runs in cases]
)
def test_when_tokens_are_kept_each_broken_rule_is_charged_alone(rule, runs):
    for preemption in ("recompute", "swap"):
        found = violations(Schedule.from_runs(TWO, runs, preemption))
        assert {violation.rule for violation in found} == {rule}


@pytest.mark.parametrize("runs", FEASIBLE.values(), ids=FEASIBLE)
def test_feasible_schedules_pass(runs):
    schedule = Schedule.from_runs(TWO, runs)
    assert violations(schedule) == []
    assert require_feasible(schedule) is schedule


@pytest.mark.parametrize(
    ("rule", "runs"), [(rule, runs) for rule, cases in MUTATIONS.items() for runs in cases]
)
def test_a_schedule_that_breaks_one_rule_is_charged_with_that_rule_alone(rule, runs):
    schedule = Schedule.from_runs(TWO, runs)
    assert {violation.rule for violation in violations(schedule)} == {rule}
    with pytest.raises(InfeasibleScheduleError, match=f"^two: {rule}: "):
        require_feasible(schedule)


def test_long_lists_of_violations_are_cut():
    many = Instance("many", 2, [0] * 9, [1] * 9, [1] * 9)
    schedule = Schedule.from_runs(many, [])
    with pytest.raises(InfeasibleScheduleError, match=r"\(and 6 more\)$"):
        require_feasible(schedule)


@given(st.data())
def test_the_memory_rule_is_usage_above_memory(data):
    """The sweep over stops finds an excess exactly when some round's literal sum has one."""
    n = data.draw(st.integers(1, 6))
    triples = st.tuples(st.integers(0, 5), st.integers(1, 6), st.integers(0, 10))
    rows = data.draw(st.lists(triples, min_size=n, max_size=n))
    memory = data.draw(st.integers(max(s + o for s, o, _ in rows), 30))
    instance = Instance("drawn", memory, [0] * n, [s for s, _, _ in rows], [o for _, o, _ in rows])
    schedule = Schedule.from_starts(instance, [start for _, _, start in rows])
    over = {
        t for t in range(20) if sum(s + t - p for s, o, p in rows if p + 1 <= t <= p + o) > memory
    }
    found = violations(schedule)
    assert {v.rule for v in found} <= {"memory"}
    assert bool(found) == bool(over)
    assert {v.round for v in found} <= over


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
