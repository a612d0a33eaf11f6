"""One model of time, in ticks and in blocks: clocks convert or refuse."""

import json
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratiolab.cli import main
from ratiolab.model import Instance, Schedule, read_instance, violations, write_instance
from ratiolab.model.fleet import Fleet
from ratiolab.model.fleet_io import write_fleet
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.workloads.blocks import in_blocks
from ratiolab.workloads.traces import Trace, instance_from_trace

RNG = np.random.default_rng(7)
TRACE = Trace(
    "drawn",
    np.cumsum(RNG.exponential(0.2, 120)),
    RNG.integers(1, 300, 120),
    RNG.integers(1, 200, 120),
)
SPEEDS = (1, 20, 333, 1000, 10**6)


@pytest.mark.parametrize("speed", SPEEDS)
def test_the_same_trace_has_the_same_seconds_whatever_its_rounds(speed):
    instance = instance_from_trace(TRACE, memory=4000, rounds_per_second=speed)
    seconds = np.array(LLAMA3_8B_A100.arrivals(instance)) / 1e12
    late = seconds - TRACE.seconds
    assert (late >= -1e-6).all()
    assert (late <= 1 / speed + 1e-6).all()


def test_rounds_without_a_length_are_refused_by_a_clock_and_the_line_says_how_to_mend_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "i.json"
    write_instance(Instance("two", 9, [0, 5], [1, 1], [3, 3]), file)
    asked = ["simulate", str(file), "--policy", "fcfs", "--clock", "llama3-8b-a100", "--json"]
    with pytest.raises(SystemExit) as ended:
        main(asked)
    assert ended.value.code == 2
    assert "--tick-seconds" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--tick-seconds", "2"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["figures"]["makespan"] > 10


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_stated_tick_is_not_overruled(replicas, tmp_path, capsys):
    file = tmp_path / "i.json"
    stated = Instance("two", 9, [0, 5], [1, 1], [3, 3], tick_seconds=0.5)
    if replicas == 1:
        write_instance(stated, file)
        assert read_instance(file).tick_seconds == 0.5
    else:
        write_fleet(Fleet(stated, replicas), file)
    with pytest.raises(SystemExit) as ended:
        main(["simulate", str(file), "--policy", "fcfs", "--tick-seconds", "2"])
    assert ended.value.code == 2
    assert "states a tick of 0.5 s" in capsys.readouterr().err


def test_the_length_of_a_tick_is_no_part_of_the_digest_but_of_equality():
    bare, ticking = (Instance("one", 9, [0], [1], [3], tick_seconds=t) for t in (None, 0.1))
    assert bare.digest == ticking.digest
    assert bare != ticking
    assert ticking.take([0]) == ticking == Instance(**ticking.to_dict())


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


def test_a_request_that_no_longer_fits_is_named():
    # 17 tokens fit 20, but 1 + 16 tokens need 1 + 4 blocks of 4 and 20 // 4 = 5 hold them;
    # 2 + 17 tokens need 1 + 5.
    assert in_blocks(Instance("i", 20, [0], [1], [16]), 4).memory == 5
    with pytest.raises(ValueError, match=r"request 0: prompt\+output 6 exceeds memory 5"):
        in_blocks(Instance("i", 20, [0], [2], [17]), 4)
    with pytest.raises(ValueError, match="block 0 must be at least 1 token"):
        in_blocks(Instance("i", 20, [0], [2], [17]), 0)
