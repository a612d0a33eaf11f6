"""Estimates of what the stages of a solve allocate, and the memory budget.

Estimates are from above: from the arrays that a stage writes, and from peaks of resident memory
where HiGHS makes copies of its own; `tests/hindsight/test_memory.py` holds solves to their limit.
What HiGHS adds while it branches cannot be foreseen: it is watched instead.
"""

import os
from pathlib import Path

from ratiolab.model.instance import Instance

MEGABYTE = 10**6

LIBRARIES = 350
"""Megabytes that the interpreter, numpy, numba and HiGHS take before any array."""

LEAST = 400
"""Smallest limit that is taken, megabytes."""

ENTRY = 60
"""Bytes for a start and age in the linear program behind the cuts, all outputs the longest."""

TABLES = 400
"""Tables of cuts that are in use together, each a square matrix of 8-byte weights."""

NONZERO = 450
"""Bytes for a non-zero of the integer program, before HiGHS branches."""


def budget(limit: int | None) -> int | None:
    """Return the bytes that a limit in megabytes leaves to arrays; None without a limit.

    >>> budget(1350)
    1000000000
    """
    return None if limit is None else max(0, limit - LIBRARIES) * MEGABYTE


def order_bytes(instance: Instance) -> int:
    """Return the bytes that the annealing over priority lists allocates.

    Two lists have snapshots at every sixteenth place, of two numbers for each running request.
    """
    running = min(len(instance), instance.memory // (int(instance.prompt.min()) + 1)) + 2
    return 2 * 16 * (len(instance) // 16 + 4) * running + 64 * len(instance)


def cut_bytes(instance: Instance, horizon: int) -> int:
    """Return the bytes that the bound by configuration cuts allocates."""
    entries = len(instance) * horizon * int(instance.output.max())
    return ENTRY * entries + TABLES * 8 * (instance.memory + 1) ** 2


def cut_horizon(instance: Instance, room: float) -> float:
    """Return up to which horizon configuration cuts take at most ``room`` bytes; below 0 if none.

    Infinity where the room is.
    """
    fixed, a_time = cut_bytes(instance, 0), cut_bytes(instance, 1) - cut_bytes(instance, 0)
    return (room - fixed) / a_time  # // would make NaN of infinity


def walk_width(instance: Instance, budget: int) -> int:
    """Return the states that a layer of a sweep may keep within a budget.

    A layer is written with up to some times as many partial states, twice while its room grows;
    the layers of a sweep and of the one before stay, and the records of partial states.
    """
    state = 120 + int(instance.output.max()) + 2 * instance.memory
    return budget // (60 * state + 1_500)


def program_entries(budget: int) -> int:
    """Return the non-zeros of the largest integer program within a budget."""
    return budget // NONZERO


def needs(count: int) -> str:
    """Return a note: arrays of ``count`` bytes exceed the budget."""
    return f"about {count // MEGABYTE} MB of arrays are more than the memory limit leaves"


class MemoryWatch:
    """A predicate: has the process ever held more memory than a limit, megabytes?"""

    def __init__(self, limit: int | None) -> None:
        self.limit, self.met = limit, False

    def __call__(self) -> bool:
        self.met |= self.limit is not None and resident() > self.limit * MEGABYTE
        return self.met


def resident() -> int:
    """Return the bytes that the process holds; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def beam_width(instance: Instance, budget: int) -> int:
    """Return how many states a beam over starts may keep of a bucket and generation."""
    fixed = 2**27 + 200 * len(instance)  # tables of regrets
    return max(0, budget - fixed) // (60 * len(instance) + 500_000)
