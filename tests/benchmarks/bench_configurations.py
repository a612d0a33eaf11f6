"""What the best row at one time would say of idle memory: a part of `bench_targets.py`.

Requests that run at one time are a configuration: what they hold, and how many rounds each has
left, must leave room to grow until each ends. Rows at one time, of whatever form, say no more than
this: when memory is full, those who run are a mixture of configurations. The least number of
configurations that cover them, a linear program over classes of tokens held and of rounds left
whose columns a dynamic program finds, therefore says how much memory the best of all such rows
leaves idle.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import highspy
import numpy as np
from bench_rows import INSTANCES, promises
from bench_traces import sampled
from numba import njit

from ratiolab.hindsight.relaxation.subgradient import FloatArray
from ratiolab.model import Instance
from ratiolab.model.footprint import IntArray

compiled: Any = njit(cache=True)

SIZES, UNITS = 16, 400
"""Classes of tokens held, each with its mean, and parts of memory in which means are counted."""

LEFT = (0, 0.12, 0.25, 0.4, 0.5, 0.65, 0.8, 1.0, 1.3, 1.6, 2.0, 2.6, 3.2, 4.0)
"""From where classes of rounds left begin, in mean times between two completions."""

MOST = 45
"""Most requests of a configuration."""

STEPS, CLOSE = 1_200, 3e-4
"""Columns at most, and how near both ends of the linear program are when it stops."""


class Classes(NamedTuple):
    """Who runs when memory is full.

    Parameters
    ----------
    held, left : units that a class of sizes holds, and rounds that a class has left.
    number : how many of each class run, shape (sizes, classes of rounds left).
    """

    held: IntArray
    left: IntArray
    number: FloatArray


def configurations(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What the best of all rows at one time would say of idle memory.

    Idle memory in percent when memory is full: as the growth row promises it, as the best row of
    any form over tokens held and rounds left of those who run at one time would (both ends of its
    linear program, with sizes and rounds rounded to the means of classes), and by the formula
    N / (2 e M), with N running and e completions a round.
    """
    yield "| instance | growth row | best row at one time | formula |"
    yield "|---|---|---|---|"
    for title, file, requests, rate in INSTANCES:
        instance = sampled(file, requests, rate, seeds[0])
        growth, _, formula = promises(instance)
        low, high = best_row(instance)
        best = f"{100 * low:.2f} to {100 * high:.2f}"
        yield f"| {title} | {100 * growth:.2f} | {best} | {100 * formula:.2f} |"


def classes(instance: Instance) -> Classes:
    """Return who runs when memory is full and all requests run equally often."""
    ages = np.concatenate([np.arange(1, o + 1) for o in instance.output.tolist()])
    held = np.repeat(instance.prompt, instance.output) + ages
    left = np.repeat(instance.output, instance.output) - ages
    between = held.sum() / (instance.memory * len(instance))
    edges = np.unique(np.quantile(held, np.linspace(0, 1, SIZES + 1)[:-1]))
    size = np.searchsorted(edges, held, side="right") - 1
    rounds = np.unique(np.round(np.array(LEFT) * between)).astype(np.int64)
    late = np.searchsorted(rounds, left, side="right") - 1
    unit = instance.memory / UNITS
    means = [held[size == k].mean() for k in range(len(edges))]
    units = np.maximum(1, np.round(np.array(means) / unit)).astype(np.int64)
    ends = np.array([left[late == k].mean() for k in range(len(rounds))]).round().astype(np.int64)
    number = np.zeros((len(edges), len(rounds)))
    np.add.at(number, (size, late), 1.0)
    return Classes(units, ends, number * UNITS / float(units @ number.sum(axis=1)))


@compiled
def richest(value, held, left, unit, most):  # type: ignore[no-untyped-def]
    """Return the largest value of a configuration, and how many of each class it has.

    Requests are added in falling order of rounds left: when one ends, those added before it and
    itself have grown so far and must fit.
    """
    sizes, rounds, units = value.shape[0], value.shape[1], UNITS
    table = np.full((most + 1, units + 1), -1.0)
    table[0, 0] = 0.0
    taken = np.zeros((rounds, sizes, most + 1, units + 1), np.bool_)
    for b in range(rounds - 1, -1, -1):
        for a in range(sizes):
            if value[a, b] <= 0:
                continue
            for n in range(most):
                room = min(units, np.int64(units - (n + 1) * left[b] / unit))
                for full in range(held[a], room + 1):
                    before = table[n, full - held[a]]
                    if before >= 0 and before + value[a, b] > table[n + 1, full] + 1e-12:
                        table[n + 1, full] = before + value[a, b]
                        taken[b, a, n + 1, full] = True
    best = table.max()
    found = np.zeros((sizes, rounds))
    for n in range(most + 1):
        for full in range(units + 1):
            if table[n, full] == best:
                b, a = 0, sizes - 1
                while n:
                    while not taken[b, a, n, full]:
                        a -= 1
                        if a < 0:
                            a, b = sizes - 1, b + 1
                    found[a, b] += 1
                    n, full = n - 1, full - held[a]
                return best, found
    return best, found


def best_row(instance: Instance) -> tuple[float, float]:
    """Return both ends of the idle memory that the best row at one time promises."""
    known = classes(instance)
    unit = instance.memory / UNITS
    active = np.argwhere(known.number > 0)
    program, infinite = highspy.Highs(), highspy.kHighsInf
    program.setOptionValue("output_flag", False)
    for a, b in active:
        program.addRow(known.number[a, b], infinite, 0, np.array([], np.int32), np.array([]))
    for row, (a, b) in enumerate(active):
        alone = max(1, min(MOST, int(UNITS / (known.held[a] + (known.left[b] + 1) / unit))))
        program.addCol(1.0, 0.0, infinite, 1, np.array([row], np.int32), np.array([float(alone)]))
    low, least = 0.0, 1.0
    for _ in range(STEPS):
        program.run()
        least = program.getObjectiveValue()
        value = np.zeros(known.number.shape)
        value[tuple(active.T)] = np.array(program.getSolution().row_dual)
        best, found = richest(value, known.held, known.left, unit, MOST)
        low = max(low, least / best)
        if least - low < CLOSE:
            break
        rows = [row for row, (a, b) in enumerate(active) if found[a, b]]
        entries = np.array([found[tuple(active[row])] for row in rows])
        program.addCol(1.0, 0.0, infinite, len(rows), np.array(rows, np.int32), entries)
    return max(0.0, 1 - 1 / low), max(0.0, 1 - 1 / least)
