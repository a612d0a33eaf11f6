"""Loops of the checker of path certificates over many states, by two threads.

A solve has two threads, too. What a loop finds of a state does not depend on the others, so that
all results are the same on every machine.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ratiolab.model.footprint import IntArray

MANY = 4_000
"""States of fewer are not worth a thread, which takes a tenth of a millisecond."""

Result = TypeVar("Result")


def by_two(call: Callable[[IntArray], Result], rows: IntArray) -> list[Result]:
    """Return what a call returns of some rows: of all, or of every other one in each thread."""
    if len(rows) < MANY:
        return [call(rows)]
    with ThreadPoolExecutor(1) as helper:
        others = helper.submit(call, rows[1::2].copy())
        return [call(rows[::2].copy()), others.result()]
