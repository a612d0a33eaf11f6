"""A memory limit holds for the whole process, and the result says what was left out for it."""

import json
import os
import subprocess
import sys
from math import inf

import numpy as np
import pytest

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.memory import (
    LEAST,
    LIBRARIES,
    MEGABYTE,
    cut_bytes,
    cut_horizon,
    half,
    order_bytes,
    resident,
)
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.schedules.annealing import decoded
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.hindsight.stages import Cuts
from ratiolab.hindsight.state import SolveState
from ratiolab.model import Instance
from ratiolab.workloads.generators import generate

CODE = """
import itertools, json, re, resource, sys, time
from pathlib import Path
from ratiolab.hindsight.solver import PLANS, solve
from ratiolab.hindsight.stages import Cuts
from ratiolab.workloads.generators import generate
PLANS["dp"] = (("few cuts", Cuts(rounds=2, part=1.0)), PLANS["dp"][-1])
readings = itertools.count()
time.perf_counter = lambda: next(readings) / 10_000  # the same stages on every machine
kind, seed, settings, options = json.loads(sys.argv[1])
result = solve(generate(kind, seed, **settings), **options)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
status = Path("/proc/self/status")
if status.is_file():  # there getrusage also counts what the parent held when it spawned
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
print(json.dumps([peak, result.lower, result.upper, [stage.note for stage in result.stages]]))
"""
WIDE = ("uniform", 1, {"n": 80, "memory": 150, "upper": 80})  # 1.9 million non-zeros
MANY = ("jaillet-model-1", 1, {"n_least": 24, "n_most": 24})


def solved(case: tuple[str, int, dict[str, int]], **options: object) -> tuple[float, list[str]]:
    """Peak of resident memory of a process of its own, megabytes, and the notes of the stages."""
    pytest.importorskip("resource")
    command = [sys.executable, "-c", CODE, json.dumps([*case, options])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, lower, upper, notes = json.loads(done.stdout)
    assert 0 < lower <= upper
    unit = 1 if sys.platform == "darwin" else 1024
    return peak * unit / MEGABYTE, notes


def test_a_program_that_would_exceed_the_limit_is_not_built() -> None:
    peak, notes = solved(WIDE, method="ip", memory_limit=450, steps=500)
    assert "MB of arrays are more than the memory limit leaves" in notes[-1]
    assert peak < 450


@pytest.mark.slow
def test_without_the_limit_the_same_program_exceeds_it() -> None:
    peak, notes = solved(WIDE, method="ip", node_limit=0, steps=500)
    assert "memory" not in notes[-1]
    assert peak > 450


@pytest.mark.long
def test_a_program_that_grows_to_the_limit_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ratiolab.hindsight.memory.resident", lambda: 10**12)
    instance = generate(MANY[0], MANY[1], **MANY[2])
    monkeypatch.setattr("ratiolab.hindsight.programs.highs.REPORT_EVERY", 0.0)
    result = solve(instance, method="ip", memory_limit=4000, steps=0)
    assert result.note == "HiGHS stopped before proof: memory limit"
    assert not result.interrupted


def test_the_process_holds_memory() -> None:
    assert sys.platform != "linux" or 10 * MEGABYTE < resident() < 10**6 * MEGABYTE


@pytest.mark.parametrize(("memory", "prompt"), [(30, 1), (1_000, 0), (4_096, 700)])
def test_an_annealing_allocates_what_is_estimated(memory: int, prompt: int) -> None:
    n = 3_000
    instance = Instance("many", memory, [0] * n, [prompt] * n, [20] * n)
    _, known = decoded(instance, np.arange(n))
    allocated = 2 * sum(column.nbytes for column in known)
    assert 0.8 * order_bytes(instance) < allocated < order_bytes(instance)


def test_a_limit_below_what_the_libraries_take_is_refused() -> None:
    assert LEAST > LIBRARIES
    with pytest.raises(ValueError, match=f"memory_limit {LEAST - 1} must be at least {LEAST}"):
        solve(generate(MANY[0], MANY[1], **MANY[2]), memory_limit=LEAST - 1)


@pytest.mark.parametrize("error", [ValueError, OSError, AttributeError])
def test_memory_is_not_limited_where_the_system_does_not_tell(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def unknown(name: str) -> int:
        raise error(name)

    monkeypatch.setattr(os, "sysconf", unknown)
    assert half() == inf


TOO_LITTLE = "no cuts: they take more than half of the memory of this machine"


@pytest.mark.long
def test_cuts_take_half_of_the_memory_of_the_machine_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = generate("jaillet-model-1", 0, n_least=60, n_most=60)
    makespan = best_list_schedule(instance).makespan
    needed = cut_bytes(instance, makespan)
    fixed = cut_bytes(instance, 0)
    assert cut_horizon(instance, needed) == makespan
    assert cut_horizon(instance, fixed - 1) < 0
    assert cut_horizon(instance, inf) == inf  # where a system does not tell of its memory
    room = fixed + (needed - fixed) * 0.7
    shorter = int(0.7 * makespan)
    ends = f"cuts ended: rounds; they end at time {shorter} of {makespan}"
    for held, note in ((3.0, "cuts ended: rounds"), (2 * room / needed, ends), (0.5, TOO_LITTLE)):
        sizes = {"SC_PHYS_PAGES": held * needed, "SC_PAGE_SIZE": 1}
        monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
        state = SolveState(instance, SolveOptions("auto", steps=1))
        with state.running("cuts") as call:
            found = Cuts(rounds=1, part=1.0)(state, call)
        assert found.note == note
        if found.bound is not None:
            assert certify(found.certificate, instance) == found.bound.value
