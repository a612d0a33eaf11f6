"""Costs of schedules against values worked out by hand and against literal sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratiolab.model import Instance, Schedule

EC1 = Instance("example-ec1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("starts", "total"),
    [
        # Chen, Ye, Zhou (2025), Example EC.1: requests 1 to 4 have outputs 1 to 4.
        ([0, 2, 0, 3], 15),  # I1 = ({1,3}, {}, {2}, {4}): done at 1, 4, 3, 7
        ([1, 1, 0, 3], 15),  # I2 = ({3}, {1,2}, {}, {4}): done at 2, 3, 3, 7
        ([0, 0, 0, 2], 12),  # I3 = ({1,2,3}, {}, {4}): done at 1, 2, 3, 6
    ],
)
def test_total_latency_of_the_three_schedules_of_example_ec1(starts, total):
    assert Schedule.from_starts(EC1, starts).total_latency == total


def test_usage_of_the_optimal_schedule_of_example_ec1():
    # t=1: 2+2+2; t=2: 3+3; t=3: 4 and request 4 enters with 2; then 3, 4, 5 alone.
    assert Schedule.from_starts(EC1, [0, 0, 0, 2]).usage().tolist() == [0, 6, 6, 6, 3, 4, 5]


def test_every_cost_of_a_schedule_with_an_eviction():
    instance = Instance("evicted", 20, [0, 2], [3, 1], [4, 2])
    # Request 0 runs 1..3, loses two tokens, runs 5..9; request 1 runs 3..5.
    schedule = Schedule.from_runs(instance, [(0, 5, 9), (1, 3, 5), (0, 1, 3)])
    assert [tuple(run) for run in schedule.runs] == [
        (0, 1, 3, False),
        (1, 3, 5, True),
        (0, 5, 9, True),
    ]
    assert schedule.completion.tolist() == [9, 5]
    assert schedule.starts.tolist() == [5, 3]
    assert schedule.latency.tolist() == [9, 3]
    assert schedule.total_latency == 12
    assert schedule.makespan == 9
    assert schedule.ttft.tolist() == [2, 2]
    assert schedule.evictions == 1
    assert schedule.wasted_tokens == 2
    # request 0 holds 4, 5 at t = 2, 3; request 1 holds 2, 3 at t = 4, 5; then 4, 5, 6, 7
    assert schedule.usage().tolist() == [0, 0, 4, 5, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(("preemption", "wasted"), [("recompute", 1 + 3), ("swap", 0)])
def test_every_cost_of_a_schedule_that_keeps_tokens(preemption, wasted):
    instance = Instance("resumed", 20, [0, 2], [3, 1], [4, 2])
    # Request 0 runs 1..2, resumes with one token at 5..7 and with three at 8..9.
    runs = [(0, 8, 9), (0, 5, 7), (1, 3, 5), (0, 1, 2)]
    schedule = Schedule.from_runs(instance, runs, preemption)
    assert schedule.kept.tolist() == [0, 0, 1, 3]
    assert [run.completed for run in schedule.runs] == [False, True, False, True]
    assert schedule.completion.tolist() == [9, 5]
    assert schedule.starts.tolist() == [8, 3]
    assert schedule.latency.tolist() == [9, 3]
    assert schedule.ttft.tolist() == [2, 2]
    assert schedule.evictions == 2
    assert schedule.wasted_tokens == wasted
    # 3 + 1; then 1 + 1, 1 + 2; then 3 + 2, 3 + 3; then 3 + 4
    assert schedule.usage().tolist() == [0, 0, 4, 0, 2, 3, 5, 6, 0, 7]


def test_semantics_of_preemption_that_are_none_are_named():
    with pytest.raises(ValueError, match=r"preemption 'kill' must be one of restart, recompute, "):
        Schedule.from_runs(EC1, [], "kill")


def test_a_request_that_never_completes_has_completion_minus_one():
    schedule = Schedule.from_runs(EC1, [(0, 0, 1), (2, 0, 2)])
    assert schedule.completion.tolist() == [1, -1, -1, -1]


def test_a_schedule_without_runs_holds_nothing():
    empty = Schedule.from_runs(EC1, [])
    assert empty.usage().tolist() == [0]
    assert list(empty.runs) == []


def test_runs_of_unknown_requests_never_count_as_complete():
    schedule = Schedule.from_runs(EC1, [(-1, 0, 4), (4, 0, 1), (0, 0, 1)])
    assert [run.completed for run in schedule.runs] == [False, True, False]
    assert schedule.completion.tolist() == [1, -1, -1, -1]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one value for each run"):
        Schedule(EC1, [0, 1], [0], [1])


@st.composite
def schedules(draw):
    n = draw(st.integers(1, 6))
    small = st.integers(0, 6)
    prompt = draw(st.lists(small, min_size=n, max_size=n))
    output = draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    instance = Instance("drawn", 100, [0] * n, prompt, output)
    runs = draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, 12), st.integers(1, 6)), min_size=1
        )
    )
    rows = [(i, start, start + length) for i, start, length in runs]
    return Schedule.from_runs(instance, rows, draw(st.sampled_from(["restart", "swap"])))


@given(schedules())
def test_usage_is_the_literal_sum_over_runs_and_rounds(schedule):
    literal = np.zeros(int(schedule.stop.max()) + 1, dtype=np.int64)
    requests = list(schedule.instance.requests)
    produced = dict.fromkeys(range(len(requests)), 0)
    for run in schedule.runs:
        for age in range(1, run.stop - run.start + 1):
            literal[run.start + age] += requests[run.request].prompt + produced[run.request] + age
        if schedule.preemption == "swap":
            produced[run.request] += run.stop - run.start
    assert schedule.usage().tolist() == literal.tolist()
