"""Machine code that is kept on disk is used for the source that it was made from, and no other."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import config, types
from numba.core.caching import _CacheLocator
from numba.core.event import Listener, install_listener

from ratiolab import borrowing, machine_code
from ratiolab.machine_code import Compiled, Often, careful, interrupts_deferred, sources
from ratiolab.model import footprint

CALL = "from ratiolab.outer import twice; print(twice(3))"

OUTER = """
from ratiolab.inner import STEP, part
from ratiolab.machine_code import compiled

@compiled
def twice(number):
    return part(number) + part(number) + STEP
"""

INNER = """
from ratiolab.machine_code import inner

STEP = {step}

@inner
def part(number):
    return {value}
"""


@pytest.mark.long
def test_what_changes_in_the_file_of_a_callee_is_compiled_anew(tmp_path: Path) -> None:
    package = tmp_path / "ratiolab"
    package.mkdir()
    for module in machine_code, borrowing:
        shutil.copy(module.__file__, package)
    (package / "__init__.py").touch()
    (package / "outer.py").write_text(OUTER)
    # without bytecode, which is taken for that of any file of the same size and second
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)

    def called(step: int, value: str) -> tuple[str, int]:
        """Return what a new process prints, and how many functions it compiles."""
        (package / "inner.py").write_text(INNER.format(step=step, value=value))
        before = {file.stat().st_mtime_ns for file in package.rglob("*.nbc")}
        command = [sys.executable, "-c", CALL]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, check=True, text=True
        )
        after = {file.stat().st_mtime_ns for file in package.rglob("*.nbc")}
        return done.stdout.strip(), len(after - before)

    assert called(0, "number") == ("6", 2)
    assert called(0, "number") == ("6", 0)
    assert called(5, "number") == ("11", 2)
    assert called(5, "number + 2") == ("15", 2)


class Pair(NamedTuple):
    """Two numbers."""

    first: int
    second: int


LIMIT = 3


def above(pair):
    """Read a constant and a function of another module."""
    return pair.first + footprint.held(pair.first, pair.second, 0, 1) > LIMIT


def test_constants_and_modules_that_are_read_count(monkeypatch):
    before = sources(above)
    assert sources(above) == before
    monkeypatch.setitem(above.__globals__, "LIMIT", 4)
    assert sources(above) != before
    monkeypatch.undo()
    monkeypatch.setattr(footprint, "held", lambda *_: 0)
    assert sources(above) != before


def test_what_has_been_compiled_before_is_told_from_disk(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))

    def half(number):
        return number // 2

    first, second, kinds = Compiled(half), Compiled(half), (types.int64,)
    assert not first.is_kept(kinds)
    assert first(6) == 3
    assert first.is_kept(kinds)
    assert second.is_kept(kinds)
    assert not second.is_kept((types.float64,))
    assert not second.overloads


def test_where_nothing_can_be_kept_functions_are_compiled_all_the_same(monkeypatch):
    def unwritable(_):
        raise PermissionError

    monkeypatch.setattr(_CacheLocator, "ensure_cache_path", unwritable)
    half = Compiled(lambda number: number // 2)
    assert half(6) == 3
    assert not Compiled(half.__wrapped__).is_kept((types.int64,))


IN_PYTHON = """
from ratiolab import Instance, make_policy, simulate, solve

instance = Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
policy = make_policy("fcfs")
type(policy).many = 0  # else few requests are never compiled
print(solve(instance, method="dp").upper, solve(instance, time_limit=5).upper)
print(simulate(instance, policy).total_latency)
"""


@pytest.mark.long
def test_all_runs_in_python_where_the_compiler_is_switched_off():
    found = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", IN_PYTHON],
            env=os.environ | {"NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
        )
        for off in "01"
    ]
    assert [(done.returncode, done.stderr) for done in found] == [(0, "")] * 2
    assert found[0].stdout == found[1].stdout


def test_division_by_zero_is_an_error_where_that_is_asked_for():
    with pytest.raises(ZeroDivisionError):
        careful(lambda a, b: a // b)(1, 0)


def test_a_function_compiles_when_it_has_taken_a_while(monkeypatch):
    @Often
    def total(values):
        found = 0
        for value in values:
            found += value
        return found

    values = np.arange(1_000_000)
    found = [total(values) for _ in range(4)]
    assert set(found) == {499_999_500_000}
    assert total.signatures


class CtrlC(Listener):
    """Ctrl-C when the compiler begins with a function, and what it has finished since."""

    def __init__(self, presses):
        self.presses, self.finished = presses, 0

    def on_start(self, event):
        for _ in range(self.presses):
            signal.raise_signal(signal.SIGINT)
        self.presses = 0

    def on_end(self, event):
        self.finished += 1


def test_ctrl_c_waits_until_a_function_is_compiled(monkeypatch, tmp_path, ctrl_c):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    half = Compiled(lambda number: number // 2)
    quarter = Compiled(lambda number: half(half(number)))
    handler = signal.getsignal(signal.SIGINT)
    pressed = CtrlC(presses=1)
    with install_listener("numba:compile", pressed), pytest.raises(KeyboardInterrupt):
        quarter(12)
    assert pressed.finished == 2  # the callee, too
    assert signal.getsignal(signal.SIGINT) is handler
    with install_listener("numba:compile", pressed):
        assert (quarter(12), half(12)) == (3, 6)
    assert pressed.finished == 2  # nothing is compiled again


def test_a_second_ctrl_c_does_not_wait(ctrl_c):
    ended = []

    @interrupts_deferred()
    def press(times):
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
            ended.append(times)

    for times in 1, 2:
        with pytest.raises(KeyboardInterrupt):
            press(times)
    assert ended == [1, 2]
