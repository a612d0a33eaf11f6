"""A memory limit holds for the whole process, and the result says what was left out for it."""

import json
import subprocess
import sys

import pytest

from ratiolab.hindsight import solve
from ratiolab.hindsight.memory import (
    LEAST,
    LIBRARIES,
    MEGABYTE,
)
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


def test_a_limit_below_what_the_libraries_take_is_refused() -> None:
    assert LEAST > LIBRARIES
    with pytest.raises(ValueError, match=f"memory_limit {LEAST - 1} must be at least {LEAST}"):
        solve(generate(MANY[0], MANY[1], **MANY[2]), memory_limit=LEAST - 1)
