"""The clock: by hand, against literal batches, against sums over the schedule, and fits."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from drawn import drawn, ended, word

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA2_70B_2XA100, BatchTime

CLOCKS = {
    "fixed": BatchTime(fixed=0.003, tick=0.001),
    "everything": BatchTime(0.0031, 0.0007, 0.0002, 0.0001, 0.0005, tick=0.002),
    "slow ticks": BatchTime(1.5, 0.25, 0.5, 0.125, 0.75, tick=3.0),
    "hardware": replace(LLAMA2_70B_2XA100, tick=0.001),
}
CASES = [
    ("fcfs", {}, ("restart", "recompute", "swap")),
    ("sjf", {}, ("restart", "recompute", "swap")),
    ("mc-sf", {"lengths": "true"}, ("restart",)),
    ("swf", {"lengths": "true"}, ("restart",)),
    ("swf", {"lengths": "upper"}, ("restart",)),
    ("swf-fit", {"lengths": "true"}, ("restart",)),
    ("swf-fit", {"lengths": "true", "ratio": "3", "candidates": "2"}, ("restart",)),
    ("a-min", {"ties": "index"}, ("restart",)),
    ("gsa", {"base": "2"}, ("restart",)),
    ("rr", {"quantum": "2"}, ("recompute", "swap")),
    ("rr-sjf", {"quantum": "3"}, ("recompute", "swap")),
    ("srpt", {}, ("recompute", "swap")),
]


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
@pytest.mark.parametrize("case", CASES, ids=word)
def test_jumps_of_the_clock_are_literal_batches(case, clock):
    key, parameters, semantics = case
    reading = {"clock": clock} if key.startswith("swf") else {}
    policy, rule = make(key, parameters), reference.rule_of(key, **parameters, **reading)
    for seed in range(8):
        for preemption in semantics:
            expected, complete, times = reference.serve_by_clock(
                drawn(seed), rule, 400, preemption, clock
            )
            assert complete
            simulation = simulate(drawn(seed), policy, preemption=preemption, clock=clock)
            assert ended(simulation) == expected, seed
            assert simulation.times == pytest.approx([float(t) for t in times], rel=1e-12)


@pytest.mark.parametrize(
    ("preemption", "last"),
    [
        # Request 1 (prompt 1) leaves at round 1 with one token and comes back at round 3.
        ("restart", [1 + 0.5 * 1]),  # its prompt again; then two more tokens
        ("recompute", [1 + 0.5 * 2]),
        ("swap", [1 + 0.25 * 1 + 0.125 * 2 + 0.75 * 2]),  # reads 2 and decodes; 2 moved back
    ],
)
def test_what_a_resumed_run_costs_by_hand(preemption, last):
    clock = BatchTime(1, 0.5, 0.25, 0.125, 0.75, tick=1)
    two = Instance("two", 5, [0, 0], [1, 1], [3, 3])
    simulation = simulate(two, make("fcfs"), preemption=preemption, clock=clock)
    durations = np.diff(simulation.times)
    assert durations[0] == 1 + 0.5 * 2
    # moved out, 1 + 1 tokens, before the batch in which request 0 decodes alone and reads 2
    assert durations[1] == 1 + 0.25 + 0.125 * 2 + (0.75 * 2 if preemption == "swap" else 0)
    assert durations[2] == 1 + 0.25 + 0.125 * 3
    assert durations[3] == last[0]


@pytest.mark.parametrize(
    ("coefficients", "message"),
    [
        ({"fixed": 0.0}, "fixed 0.0 must be at least a picosecond"),
        ({"fixed": 1, "kv": -1.0}, "kv -1.0 must be at least 0"),
        ({"fixed": 1, "tick": float("nan")}, "tick nan must be"),
        ({"fixed": float("inf")}, "fixed inf must be"),
    ],
)
def test_coefficients_that_are_none_are_named(coefficients, message):
    with pytest.raises(ValueError, match=message):
        BatchTime(**coefficients)
