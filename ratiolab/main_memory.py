"""Main memory of the machine, or of the container that processes run in."""

import os
from functools import cache
from math import inf
from pathlib import Path

CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Files that tell what a container may take, bytes or "max"."""


@cache
def half_of_memory() -> float:
    """Return half of the bytes that processes may take here; infinity where that is not known."""
    try:
        found = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # no such function, name or answer
        return inf
    for limit in CONTAINER:
        try:
            found = min(found, float(limit.read_text(encoding="ascii").replace("max", "inf")))
        except (OSError, ValueError):
            continue
    return found / 2
