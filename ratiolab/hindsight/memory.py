"""What the stages of a solve allocate, estimated before they do.

Estimates are from above: from the arrays that a stage writes, and from peaks of resident memory
where HiGHS makes copies of its own; `tests/hindsight/test_memory.py` holds solves to their limit.
What HiGHS adds while it branches cannot be foreseen: it is watched instead.
"""

import os
from pathlib import Path

from ratiolab.hindsight.certificates.prices import Prices
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

ORDER_ROUND = 40
"""Bytes for a round of the profiles of the search over orders."""


def room(limit: int | None) -> int | None:
    """Bytes that a limit in megabytes leaves to arrays; None without a limit.

    >>> room(1350)
    1000000000
    """
    return None if limit is None else max(0, limit - LIBRARIES) * MEGABYTE


def order_bytes(instance: Instance) -> int:
    """What the search over orders allocates."""
    rounds = int(instance.arrival.max()) + 2 * int(instance.output.sum())
    return ORDER_ROUND * (rounds + len(instance))


def cut_bytes(instance: Instance, horizon: int) -> int:
    """What the bound by configuration cuts allocates."""
    entries = len(instance) * horizon * int(instance.output.max())
    return ENTRY * entries + TABLES * 8 * (instance.memory + 1) ** 2


def layer_width(instance: Instance, rounds: int, room: int) -> int:
    """States that each layer may keep in so many bytes, 0 when not even one fits.

    A layer is written with room for children, sorted, and taken; two columns of each remain.
    """
    from ratiolab.hindsight.layers.walk import LEAST_ROOM, ROOM

    most = min(len(instance), instance.memory // (int(instance.prompt.min()) + 1))
    state = 48 + 4 * most
    written = 4 * ROOM * 2 * state
    return max(0, (room - 8 * LEAST_ROOM * state) // (written + 16 * rounds))


def window_width(instance: Instance, prices: Prices, room: int) -> int:
    """States that each layer of a window may keep in so many bytes, 0 when not even one fits.

    Beside the states and their children stand the prices of what items hold later.
    """
    from ratiolab.hindsight.layers.walk import LEAST_ROOM, ROOM

    most = instance.memory // (int(instance.prompt.min()) + 1)
    state = 64 + 4 * most + int(instance.output.max())
    tables = 3 * 8 * (len(prices.memory) + 1) * (instance.memory + 1) ** 2
    return max(0, (room - tables - 8 * LEAST_ROOM * state) // (4 * ROOM * 2 * state))


def program_entries(room: int) -> int:
    """Non-zeros of the largest integer program that so many bytes hold."""
    return room // NONZERO


def needs(count: int) -> str:
    """Why arrays of so many bytes are not made."""
    return f"about {count // MEGABYTE} MB of arrays are more than the memory limit leaves"


class Watch:
    """Says whether the process holds more memory than a limit, megabytes, and remembers it."""

    def __init__(self, limit: int | None) -> None:
        self.limit, self.met = limit, False

    def __call__(self) -> bool:
        self.met |= self.limit is not None and resident() > self.limit * MEGABYTE
        return self.met


def resident() -> int:
    """Bytes of memory that the process holds; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
