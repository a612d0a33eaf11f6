"""Loops of the checker of path certificates over many states, by two threads.

A solve has two threads, too. What a loop finds of a state does not depend on those of the other
part, and the number of states alone says which part it is in, so that all results are the same on
every machine.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray

MANY = 4_000
"""States of fewer are not worth a thread, which takes a tenth of a millisecond."""

Result = TypeVar("Result")


def by_two(call: Callable[[IntArray], Result], rows: IntArray) -> list[Result]:
    """Return what a call returns of some rows: of all, or of every other one in each thread."""
    if len(rows) < MANY:
        return [call(rows)]
    return _at_once(call, rows[::2].copy(), rows[1::2].copy())


def by_two_runs(
    call: Callable[[IntArray], Result], rows: IntArray, value: NDArray[np.uint64]
) -> list[Result]:
    """Do the same with rows in an order in which those of the same value stay together."""
    half, ends = len(rows) // 2, np.zeros(0, np.int64)
    if len(rows) >= MANY:
        ends = np.flatnonzero(value[rows[half - 1 : -1]] != value[rows[half:]])
    return _at_once(call, *np.split(rows, [half + ends[0]])) if len(ends) else [call(rows)]


def by_two_for_each(call: Callable[[IntArray], IntArray], rows: IntArray) -> IntArray:
    """Return what a call returns of each row, if it goes through all or every other one."""
    found, parts = np.empty(len(rows), np.int64), by_two(call, rows)
    for first, part in enumerate(parts):
        found[first :: len(parts)] = part
    return found


def _at_once(call: Callable[[IntArray], Result], rows: IntArray, others: IntArray) -> list[Result]:
    with ThreadPoolExecutor(1) as helper:
        other = helper.submit(call, others)
        return [call(rows), other.result()]
