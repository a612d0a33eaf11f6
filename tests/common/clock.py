"""Work in counts instead of seconds: a clock that passes by being read, and numbers of calls."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """A clock on which each reading takes as long as every other.

    Parameters
    ----------
    step : seconds of a reading.
    """

    step: float
    readings: int = 0

    def __call__(self) -> float:
        self.readings += 1
        return self.readings * self.step


class ClockOfThread(Clock, threading.local):
    """Such a clock for each thread, as on idle cores: none uses up the time of another."""


def let_readings_take(step, monkeypatch, kind=Clock):
    """Replace the clock of all stages of a solve for this test."""
    clock = kind(step)
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


@dataclass
class Calls:
    """Calls of functions, of Python and of C."""

    number: int = 0


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count the calls of this thread."""
    calls, before = Calls(), sys.getprofile()

    def count(_frame: object, event: str, _argument: object) -> None:
        calls.number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)
