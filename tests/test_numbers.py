"""Numbers that a caller gives are checked where they come in, and named in the message."""

import json
from math import nan
from typing import Any

import numpy as np
import pytest

from ratiolab import (
    BatchTime,
    Fleet,
    Instance,
    Limits,
    attack,
    bound,
    certify_promises,
    compare,
    evaluate,
    evaluate_fleet,
    read_fleet,
    simulate,
    simulate_fleet,
    solve,
    solve_fleet,
    solve_promises,
    write_instance,
)

TWO = Instance("two", 9, [0, 0], [1, 1], [2, 3], weight=[1, 2])
PAIR = Fleet(TWO, 2)
NONE: Any = None
HALF: Any = 2.5
TEXT: Any = "x"
ONE: Any = np.int64(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare(TWO, ["fcfs"], runs=HALF), "runs 2.5 must be an integer"),
        (lambda: evaluate(TWO, ["fcfs"], runs=0), "runs 0 must be at least 1"),
        (lambda: evaluate(TWO, ["fcfs"], search=-1), "search -1 must be at least 0"),
        (lambda: evaluate(TWO, ["fcfs"], effort=nan), "effort nan must be a number"),
        (lambda: evaluate_fleet(PAIR, ["fcfs"], runs=0), "runs 0 must be at least 1"),
        (lambda: attack("fcfs", evaluations=2, runs=0), "runs 0 must be at least 1"),
        (lambda: solve(TWO, time_limit=nan), "time_limit nan must be a number"),
        (lambda: solve(TWO, node_limit=HALF), "node_limit 2.5 must be an integer"),
        (lambda: solve(TWO, memory_limit=TEXT), "memory_limit 'x' must be a number"),
        (lambda: solve(TWO, threads=-1), "threads -1 must be at least 1"),
        (lambda: solve(TWO, steps=TEXT), "steps 'x' must be an integer"),
        (lambda: solve(TWO, seed=TEXT), "seed 'x' must be an integer"),
        (lambda: solve_fleet(PAIR, time_limit=nan), "time_limit nan must be a number"),
        (lambda: solve_promises(TWO, "weighted", time_limit=-1), "time_limit -1 must be at least"),
        (lambda: simulate(TWO, "fcfs", patience=-1), "patience -1 must be at least 0"),
        (lambda: simulate_fleet(PAIR, "fcfs", patience=-1), "patience -1 must be at least 0"),
        (lambda: BatchTime(fixed=NONE), "clock: fixed None must be a number"),
        (lambda: BatchTime(fixed=1, kv=TEXT), "clock: kv 'x' must be a number"),
        (lambda: bound("chen2025/theorem-7", HALF, 4), "lower 2.5 must be an integer"),
        (lambda: Limits(requests=HALF), "requests 2.5 must be an integer"),
    ],
)
def test_a_number_that_is_impossible_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve_fleet(TWO), "one replica is an instance: solve takes it"),
        (lambda: evaluate_fleet(TWO), "one replica is an instance: evaluate takes it"),
        (lambda: certify_promises(solve(TWO).certificate, TWO), "bounds total latency"),
        (lambda: solve(TWO, guide=solve(TWO).certificate), "guide must be a certificate by lab"),
    ],
)
def test_what_another_function_takes_is_refused_with_its_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_results_of_numpy_integers_are_plain_data():
    found = solve(TWO, seed=np.int64(1), node_limit=np.int64(10)), simulate(TWO, "fcfs", seed=ONE)
    for each in (*found, simulate_fleet(PAIR, "fcfs", seed=ONE), solve_fleet(PAIR, seed=ONE)):
        json.dumps(each.to_dict())


@pytest.mark.parametrize("memory", ["30", []])
def test_memories_of_a_fleet_are_integers(memory, tmp_path):
    write_instance(TWO, tmp_path / "two.json")
    with pytest.raises(ValueError, match="must be an integer, or one for each replica"):
        read_fleet(tmp_path / "two.json", memory=memory)
