"""Orders in which walks come to remember requests.

A relaxed path gains by starting some requests twice and others never. Which of them walks should
remember next decides how soon a target is proven, and differs from instance to instance: those that
the best schedule starts first are best most often, and now and then those that cheap paths start
most wrongly. Where requests arrive over time, only few are there in early rounds, and the path
makes do with the same ones again: remembering all that arrive first can be best of all.
`ratiolab.hindsight.paths.targets` chooses among these orders. States, in millions, of all walks
that remember some, four more each, at one target and the same multipliers:

| requests, seed, target | by fault | by start | all by arrival |
|---|---|---|---|
| 30, seed 1, 3040 | 5.9 | **1.6** | more than 10 |
| 30, seed 3, 1338 | 2.7 | **1.5** | 1.6 |
| 40, seed 3, 2893 | 4.0 | more than 2.7 | **1.1** |
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

Order: TypeAlias = Callable[[FloatArray], list[int]]
"""Takes how often cheap paths start each request twice or never, shape (n,), and returns requests,
those to remember next first."""

LARGE = 0.5
"""Faults of at least this part of the largest count as large."""


def by_fault(faults: FloatArray) -> list[int]:
    """Return the requests with faults, the largest first."""
    order: list[int] = np.argsort(-faults, kind="stable").tolist()
    return [i for i in order if faults[i] > 0]


def by_start(starts: Callable[[], IntArray]) -> Order:
    """Return the order of large faults by the starts of a schedule, then of all others."""

    def order(faults: FloatArray) -> list[int]:
        large = faults >= LARGE * faults.max()
        return [i for i in np.lexsort((starts(), ~large)).tolist() if faults[i] > 0]

    return order


def all_by_arrival(instance: Instance) -> Order:
    """Return the order of all requests by arrival, and then by output."""
    arrived = _arrived(instance)
    return lambda faults: arrived


def _arrived(instance: Instance) -> list[int]:
    order: list[int] = np.lexsort((instance.output, instance.arrival)).tolist()
    return order


def orders(instance: Instance, starts: Callable[[], IntArray] | None) -> list[Order]:
    """Return the orders that may be best for an instance, the one first that most often is.

    Parameters
    ----------
    starts : returns those of a schedule, shape (n,), the best one of now.
    """
    found: list[Order] = [] if starts is None else [by_start(starts)]
    if np.ptp(instance.arrival) > 0:
        found.append(all_by_arrival(instance))
    return [*found, by_fault]
