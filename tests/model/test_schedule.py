"""Costs of schedules against values by hand and literal sums, and files of schedules."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratiolab.model import (
    FormatError,
    Instance,
    Schedule,
    read_schedule,
    violations,
    write_schedule,
)
from ratiolab.model.promises import weighted_latency

EC1 = Instance("example-ec1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])


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


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one value for each run"):
        Schedule(EC1, [0, 1], [0], [1])


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ([0.9, 1, 2, 3], "request 0: start 0.9 must be an integer"),
        (np.array([0.9, 1, 2, 3]), "start must be a list or a one-dimensional array of integers"),
        ([0, True, 2, 3], "request 1: start True must be an integer"),
        ([0, 1, "2", 3], "request 2: start '2' must be an integer"),
        ([0, 1, 2, -3], "request 3: start -3 must be between 0 and 2000000000000000"),
        ([0, 1, 2, 2**63 - 5], f"request 3: start {2**63 - 5} must be between 0 and"),
        (np.array([0, 1, 2, 2**64 - 1], np.uint64), f"request 3: start {2**64 - 1} must be"),
        ([0, 1], "starts has 2 values for 4 requests"),
    ],
)
def test_starts_that_are_no_rounds_are_refused(starts, message):
    with pytest.raises(ValueError, match=message):
        Schedule.from_starts(EC1, starts)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ((0, 0.5, 2), "run 0: start 0.5 must be an integer"),
        ((0, 0, 2**62), f"run 0: stop {2**62} must be between -2000000000000000 and"),
        ((0, 0), "run 0: \\(0, 0\\) must be a request, its start and its stop"),
    ],
)
def test_runs_that_are_none_are_refused(run, message):
    with pytest.raises(ValueError, match=message):
        Schedule.from_runs(EC1, [run])


def test_a_schedule_in_which_a_request_never_completes_has_no_total(tmp_path):
    schedule = Schedule(EC1, [0, 2, 3], [0, 0, 1], [1, 1, 5])
    assert schedule.latency.tolist() == [1, -1, -1, 5]
    assert schedule.ttft.tolist() == [1, -1, 1, 2]
    for cost in (lambda: schedule.total_latency, lambda: weighted_latency(schedule)):
        with pytest.raises(ValueError, match="example-ec1: request 1 never completes"):
            cost()
    write_schedule(schedule, tmp_path / "s.json")
    assert "total_latency" not in (tmp_path / "s.json").read_text()
    assert read_schedule(tmp_path / "s.json", EC1).stop.tolist() == [1, 1, 5]


def test_a_total_that_needs_more_than_64_bits_is_exact():
    n = 10**4
    many = Instance("many", 7, [0] * n, [1] * n, [1] * n)
    assert Schedule.from_starts(many, [10**15] * n).total_latency == n * (10**15 + 1)


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
    memory = schedule.stretches()
    assert (memory.total(), memory.most()) == (literal.sum(), literal.max())
    for tokens in range(int(literal.max()) + 2):
        assert memory.rounds_above(tokens) == (literal > tokens).sum()


def test_usage_begins_at_round_0_whatever_a_schedule_that_breaks_rules_says():
    early = Schedule.from_runs(Instance("early", 9, [0], [2], [3]), [(0, -2, 1)])
    assert early.usage().tolist() == [2 + 2, 2 + 3]
    never = Schedule.from_runs(Instance("never", 9, [4], [2], [3]), [])
    assert never.usage().tolist() == [0]


def schedule_message(folder: Path, **changes) -> str:
    instance = Instance("two", 9, [0, 1], [1, 2], [3, 2])
    path = folder / "schedule.json"
    write_schedule(Schedule.from_starts(instance, [0, 1]), path)
    data = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in data.items() if v is not None}))
    with pytest.raises(FormatError) as caught:
        read_schedule(path, instance)
    return str(caught.value).removeprefix(f"{path}: ")


def test_schedules_are_read_back(tmp_path):
    instance = Instance("two", 9, [0, 1], [1, 2], [3, 2])
    schedule = Schedule.from_runs(instance, [(0, 0, 2), (0, 2, 5), (1, 3, 5)])
    write_schedule(schedule, tmp_path / "s.json")
    again = read_schedule(tmp_path / "s.json", instance)
    assert list(again.runs) == list(schedule.runs)
    assert "preemption" not in (tmp_path / "s.json").read_text(), "as it was before there were two"
    assert again.preemption == "restart"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"start": None}, "start is missing"),
        ({"start": 5}, "start 5 must be a list"),
        ({"start": [0, 1.0]}, "run 1: start 1.0 must be an integer"),
        ({"stop": [3, True]}, "run 1: stop True must be an integer"),
        ({"stop": [10**30, 3]}, f"run 0: stop {10**30} must be at most 1000000000000"),
        ({"request": [0]}, "request, start and stop must have one value for each run"),
        ({"total_latency": 6}, "total_latency 6 is not that of the runs, 5"),
        ({"total_latency": 5.0}, "total_latency 5.0 must be an integer"),
        ({"release": [2, 3]}, "release belongs to preemption pause, not restart"),
        ({"preemption": ["swap"]}, "preemption ['swap'] must be one of restart, recompute, swap"),
        ({"extra": 1}, "unknown key 'extra'; known are instance, digest, request, start, stop, "),
        ({"digest": "0" * 12}, "digest '000000000000' is not that of instance two, "),
        ({"format": 7}, "format 7 must be 'ratiolab-schedule/1'"),
    ],
)
def test_each_broken_rule_of_a_schedule_is_named(tmp_path, changes, expected):
    assert schedule_message(tmp_path, **changes).startswith(expected)


def test_a_missing_schedule_is_named_once(tmp_path):
    with pytest.raises(FormatError) as caught:
        read_schedule(tmp_path / "no.json", Instance("a", 2, [0], [1], [1]))
    assert str(caught.value) == f"{tmp_path / 'no.json'}: No such file or directory"


TWO = Instance("two", 10, [0, 0], [4, 1], [2, 3])
# request 0 prefills in rounds 0 and 1, makes a token in each of rounds 2 and 3; request 1 starts in
# round 0, is evicted with two tokens in round 2, and prefills 1 + 2 tokens again in rounds 3 and 4
RUNS = ([0, 1, 1], [0, 0, 3], [4, 2, 6], "recompute")
CHUNKED = Schedule(TWO, *RUNS, lead=[2, 0, 2], unfilled=[0, 0, 0])


def test_a_lead_makes_no_token_and_holds_prompt_and_room_for_one():
    assert violations(CHUNKED) == []
    assert CHUNKED.made.tolist() == [2, 2, 1]
    assert CHUNKED.kept.tolist() == [0, 0, 2]
    assert CHUNKED.completion.tolist() == [4, 6]
    assert CHUNKED.ttft.tolist() == [3, 1]
    #         time 0  1      2      3  4      5  6
    assert CHUNKED.usage().tolist() == [0, 5 + 2, 5 + 3, 5, 6 + 4, 4, 4]


def test_tokens_are_computed_once_but_for_what_an_eviction_lost():
    assert CHUNKED.prefilled.tolist() == [4, 1, 3]
    # prompts and outputs are 10; the last token of each request is never computed, and of the
    # evicted run 1 + 1 tokens were
    assert CHUNKED.computed_tokens == 10 - 2 + 2


def test_an_eviction_before_the_first_token_leaves_part_of_the_prompt():
    columns = ([0, 0, 1], [0, 2, 3], [1, 4, 6], "recompute")
    early = Schedule(TWO, *columns, lead=[1, 0, 0], unfilled=[3, 0, 0])
    assert violations(early) == []
    assert early.prefilled.tolist() == [1, 4, 1]
    assert early.evictions == 1
    assert early.ttft.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("lead", "unfilled", "rule"),
    [
        ([-1, 0, 2], [0, 0, 0], "lead"),
        ([2, 0, 2], [1, 0, 0], "lead"),
        ([2, 0, 2], [0, -1, 0], "lead"),
        ([5, 0, 2], [0, 0, 0], "duration"),
        ([0, 0, 2], [0, 0, 0], "duration"),
    ],
)
def test_what_no_engine_can_do_is_named(lead, unfilled, rule):
    found = violations(Schedule(TWO.replace(memory=90), *RUNS, lead=lead, unfilled=unfilled))
    assert rule in {violation.rule for violation in found}


def test_leads_survive_a_file_and_are_left_out_where_there_are_none(tmp_path):
    path = tmp_path / "schedule.json"
    write_schedule(CHUNKED, path)
    again = read_schedule(path, TWO)
    assert again.lead.tolist() == [2, 0, 2]
    assert again.to_dict() == CHUNKED.to_dict()
    assert "lead" not in Schedule.from_starts(TWO, [0, 4]).to_dict()
