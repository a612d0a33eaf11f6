"""One model of time: an instance says what a tick is, and clocks convert or refuse."""

import json
from pathlib import Path

import numpy as np
import pytest

from ratiolab.cli import main
from ratiolab.model import Instance, read_instance, write_instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.online.metrics import summary
from ratiolab.ratio.clock_bound import clock_lower_bound
from ratiolab.workloads.traces import Trace, instance_from_trace, read_trace

RNG = np.random.default_rng(7)
TRACE = Trace(
    "drawn",
    np.cumsum(RNG.exponential(0.2, 120)),
    RNG.integers(1, 300, 120),
    RNG.integers(1, 200, 120),
)
SPEEDS = (1, 20, 333, 1000, 10**6)


@pytest.mark.parametrize("speed", SPEEDS)
def test_the_same_trace_has_the_same_seconds_whatever_its_rounds(speed: float) -> None:
    instance = instance_from_trace(TRACE, memory=4000, rounds_per_second=speed)
    seconds = np.array(LLAMA3_8B_A100.arrivals(instance)) / 1e12
    late = seconds - TRACE.seconds
    assert (late >= -1e-6).all()
    assert (late <= 1 / speed + 1e-6).all()


def test_latencies_and_bounds_in_seconds_do_not_depend_on_the_rounds_of_the_trace() -> None:
    found = []
    for speed in SPEEDS[1:]:
        instance = instance_from_trace(TRACE, memory=4000, rounds_per_second=speed)
        run = simulate(instance, make("fcfs"), clock=LLAMA3_8B_A100)
        bound = clock_lower_bound(instance, LLAMA3_8B_A100)
        found.append((summary(run)["mean_latency"], bound / len(instance)))
    for latency, bound in found[:-1]:  # a request may wait a tick longer, 50 ms at most
        assert latency == pytest.approx(found[-1][0], abs=0.05)
        assert bound == pytest.approx(found[-1][1], abs=0.05)
    assert found[-1][0] > 0.5


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


def test_a_stated_tick_is_not_overruled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "i.json"
    write_instance(Instance("two", 9, [0, 5], [1, 1], [3, 3], tick_seconds=0.5), file)
    assert read_instance(file).tick_seconds == 0.5
    with pytest.raises(SystemExit) as ended:
        main(["simulate", str(file), "--policy", "fcfs", "--tick-seconds", "2"])
    assert ended.value.code == 2
    assert "states a tick of 0.5 s" in capsys.readouterr().err


def test_all_at_once_needs_no_tick_and_blocks_have_none() -> None:
    together = Instance("two", 9, [0, 0], [1, 1], [3, 3])
    assert LLAMA3_8B_A100.arrivals(together) == [0, 0]
    assert instance_from_trace(TRACE, memory=4000, block=16).tick_seconds is None
    assert instance_from_trace(TRACE, memory=4000, arrivals="zero").tick_seconds is None


@pytest.mark.parametrize("tick", [0, -1, float("nan"), True, "1", 1e7])
def test_a_tick_is_a_length(tick: object) -> None:
    with pytest.raises(ValueError, match="tick_seconds"):
        Instance("one", 9, [0], [1], [3], tick_seconds=tick)  # type: ignore[arg-type]


def test_the_length_of_a_tick_is_no_part_of_the_digest_but_of_equality() -> None:
    bare, ticking = (Instance("one", 9, [0], [1], [3], tick_seconds=t) for t in (None, 0.1))
    assert bare.digest == ticking.digest
    assert bare != ticking
    assert ticking.take([0]) == ticking == Instance(**ticking.to_dict())


def test_a_trace_file_states_its_tick(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\n")
    assert instance_from_trace(read_trace(path), memory=999).tick_seconds == 0.05
