"""Runs that begin with a lead, while prompts are prefilled in chunks: by hand, and in files."""

import pytest

from ratiolab.model import Instance, Schedule, violations
from ratiolab.model.io import read_schedule, write_schedule

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


def test_memory_counts_the_lead():
    tight = Schedule(TWO.replace(memory=6), *RUNS, lead=[2, 0, 2])
    assert [str(v) for v in violations(tight)] == [
        "memory: 8 tokens at round 2 exceed memory 6",
        "memory: 10 tokens at round 4 exceed memory 6",
    ]


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
