"""Spans of times that share their duals, and where to split them.

A row for the mean of several times is a relaxation of their rows: one dual for all. With duals
of its own, a part of a span could charge what the solution holds there above the cap, at first
order dual times excess for each of its times. Spans are split where that promises most, so that
the program grows only where duals change.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model.footprint import IntArray

SPANS = 40
"""About the number of spans at first."""

GROWTH = 2.0
"""The first times of spans grow with their number to this power."""

PART = 0.5
"""The spans that are split promise this part of what splitting all would."""

TOLERANCE = 0.015
"""A span gets a row when it exceeds the cap by this part."""


class Row(NamedTuple):
    """The mean of a table's rows at times begin <= t < end."""

    table: int
    begin: int
    end: int


def first_spans(horizon: int) -> list[int]:
    """Return edges of spans that grow with time: early on, more requests pay for waste.

    >>> first_spans(10)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    grown = (horizon + 1.0) * np.linspace(0.0, 1.0, SPANS + 1) ** GROWTH
    return sorted({1, horizon + 1, *np.ceil(grown[1:]).astype(int).tolist()})


def means(loads: FloatArray, edges: list[int]) -> FloatArray:
    """Return the amounts of items in each span, on average over its times, shape (spans, items)."""
    summed: FloatArray = np.add.reduceat(loads, edges[:-1], axis=0)
    return summed / np.diff(edges)[:, None]


def split(
    edges: list[int], loads: FloatArray, rows: list[Row], duals: FloatArray, weights: FloatArray
) -> tuple[list[int], list[Row]]:
    """Halve some spans; return their edges and the rows that the halves exceed.

    Parameters
    ----------
    edges : first times of the spans, rising from 1, and T + 1.
    loads : amount of each item at times 0..T, shape (T + 1, items).
    rows, duals : rows of the program and their duals, at least 0.
    weights : weights of the items in each table, over its cap, shape (tables, items).
    """
    table, begin, end = np.array(rows, np.int64).reshape(-1, 3).T
    rate = duals / (end - begin)
    promise: dict[int, float] = {}
    exceeded: dict[int, list[Row]] = {}
    for first, last in pairwise(edges):
        if last == first + 1:
            continue
        middle = (first + last) // 2
        over = np.flatnonzero((begin < last) & (end > first) & (rate > 0))
        promise[middle], exceeded[middle] = 0.0, []
        for a, b in ((first, middle), (middle, last)):
            excess = weights[table[over]] @ loads[a:b].mean(axis=0) - 1
            promise[middle] += float(np.maximum(0.0, excess) @ rate[over]) * (b - a)
            found = over[excess > TOLERANCE]
            exceeded[middle] += [Row(k, a, b) for k in sorted(set(table[found].tolist()))]
    chosen: list[int] = []
    wanted = PART * sum(promise.values())
    for middle in sorted(promise, key=lambda middle: (-promise[middle], middle)):
        chosen.append(middle)
        wanted -= promise[middle]
        # without any promise all are halved, so that spans end as single times
        if wanted <= 0 < promise[middle]:
            break
    new = {row for middle in chosen for row in exceeded[middle]} - set(rows)
    return sorted({*edges, *chosen}), sorted(new)


def single(edges: list[int]) -> bool:
    """Return whether each span is one time."""
    return len(edges) == edges[-1]


def present(rows: list[Row], edges: list[int], tables: int) -> IntArray:
    """Return which tables have a row of just a span, shape (spans, tables), of 0 and 1."""
    found = np.zeros((len(edges) - 1, tables), np.int64)
    number = {pair: span for span, pair in enumerate(pairwise(edges))}
    for table, begin, end in rows:
        if (begin, end) in number:
            found[number[begin, end], table] = 1
    return found
