"""Instances in blocks: what they promise about the tokens behind them."""

from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratiolab.model import Instance, Schedule, violations
from ratiolab.workloads.blocks import in_blocks


def serial(instance: Instance) -> Schedule:
    """Each request in file order as early as those before it allow, by trial."""
    starts: list[int] = []
    for i, arrival in enumerate(instance.arrival.tolist()):
        start, part = arrival, instance.take(range(i + 1))
        while violations(Schedule.from_starts(part, [*starts, start])):
            start += 1
        starts.append(start)
    return Schedule.from_starts(instance, starts)


@st.composite
def tokens_and_block(draw):
    block = draw(st.integers(2, 7))
    triple = st.tuples(st.integers(0, 30), st.integers(0, 20), st.integers(1, 25))
    rows = draw(st.lists(triple, min_size=1, max_size=5))
    needed = max(ceil(s / block) + ceil(o / block) for _, s, o in rows) * block
    memory = draw(st.integers(needed, 2 * needed))
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Instance("tokens", memory, *columns), block


@settings(deadline=None)
@given(tokens_and_block())
def test_a_feasible_schedule_in_blocks_is_feasible_in_tokens_and_in_paged_blocks(case):
    tokens, block = case
    blocks = in_blocks(tokens, block)
    coarse = serial(blocks)
    fine = Schedule.from_starts(tokens, block * coarse.starts)
    assert violations(fine) == []
    for t in range(fine.makespan + 1):
        paged = [
            ceil((request.prompt + t - start) / block)
            for request, start in zip(tokens.requests, fine.starts.tolist(), strict=True)
            if start < t <= start + request.output
        ]
        assert sum(paged) <= tokens.memory // block
    early = block * coarse.completion - fine.completion
    assert ((early >= 0) & (early < block)).all()
    assert fine.total_latency <= block * coarse.total_latency + len(tokens) * (block - 1)


@given(tokens_and_block())
def test_predictions_are_rounded_with_the_outputs_and_stay_around_them(case):
    tokens, block = case
    predicted = tokens.replace(
        lower=(tokens.output + 1) // 2, upper=tokens.output + 3, predicted=tokens.output + 1
    )
    rounded = in_blocks(predicted, block)
    assert (rounded.lower <= rounded.output).all()
    assert (rounded.output <= rounded.upper).all()
    assert rounded.predicted.tolist() == [ceil((o + 1) / block) for o in tokens.output.tolist()]


def test_blocks_of_one_token_change_nothing():
    instance = Instance("i", 10, [0], [1], [2])
    assert in_blocks(instance, 1) is instance


def test_a_request_that_no_longer_fits_is_named():
    # 17 tokens fit 20, but 1 + 16 tokens need 1 + 4 blocks of 4 and 20 // 4 = 5 hold them;
    # 2 + 17 tokens need 1 + 5.
    assert in_blocks(Instance("i", 20, [0], [1], [16]), 4).memory == 5
    with pytest.raises(ValueError, match=r"request 0: prompt\+output 6 exceeds memory 5"):
        in_blocks(Instance("i", 20, [0], [2], [17]), 4)
    with pytest.raises(ValueError, match="block 0 must be at least 1 token"):
        in_blocks(Instance("i", 20, [0], [2], [17]), 0)
