"""Objectives of a schedule: total latency, weighted latency, or the weight served in time.

Each objective is a cost of starts, to be minimised: a start p costs ``slope`` for each round until
completion, is possible up to ``last``, and a request without such a start costs ``late``. Goodput
is the weight of all requests less the weight that is lost: a request in time costs nothing, another
one its weight and, in a bound, no memory, since it can be served when all others are done.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from ratiolab.model import Instance, IntArray, Schedule
from ratiolab.model.fleet import FleetSchedule, runs_of
from ratiolab.model.instance import Column
from ratiolab.model.promises import (
    NO_DATE,
    goodput,
    last_starts_in_time,
    require_dates,
    weighted_latency,
    weights,
)

Aim: TypeAlias = Literal["total", "weighted", "goodput"]

NEVER_LATE = 2**62
"""A cost that no start has: the request must start."""


@dataclass(frozen=True, eq=False)
class Objective:
    """The cost of each start of each request.

    Parameters
    ----------
    slope : cost of a round from arrival to completion, shape (n,).
    last : last start, rounds, shape (n,); below the arrival where no start is in time.
    late : cost of a request that starts at none of these, shape (n,).
    """

    name: Aim
    slope: IntArray = field(repr=False)
    last: IntArray = field(repr=False)
    late: IntArray = field(repr=False)

    @classmethod
    def of(cls, instance: Instance, name: Aim) -> "Objective":
        """Return an objective by its name.

        Raises
        ------
        ValueError
            for an unknown name, and for goodput of an instance without dates.
        """
        n, worth = len(instance), np.array(weights(instance))
        whole = np.full(n, NO_DATE), np.full(n, NEVER_LATE)
        if name == "total":
            return cls(name, np.ones(n, np.int64), *whole)
        if name == "weighted":
            return cls(name, worth, *whole)
        if name != "goodput":
            raise ValueError(f"objective {name!r} must be one of total, weighted, goodput")
        require_dates(instance)
        return cls(name, np.zeros(n, np.int64), last_starts_in_time(instance), worth)

    @property
    def dropping(self) -> bool:
        """Whether a request may be late."""
        return self.name == "goodput"

    def value(self, schedule: Schedule | FleetSchedule) -> int:
        """Return the value of a schedule: its latency, weighted latency, or goodput."""
        runs = runs_of(schedule)
        if self.name == "goodput":
            return goodput(runs)
        return weighted_latency(runs) if self.name == "weighted" else runs.total_latency

    def of_cost(self, cost: int) -> int:
        """Return the value that a cost stands for: goodput is all weight less what is lost."""
        return sum(self.late.tolist()) - cost if self.dropping else cost


def with_late(instance: Instance, starts: Column) -> Schedule:
    """Return the schedule with these starts, where -1 stands for a request that is late.

    The late ones run one after another, as they arrived, when all others are done: that needs no
    memory beside that of others, so the schedule is feasible if the starts are.

    >>> two = Instance("two", 4, [0, 0], [1, 1], [3, 3])
    >>> with_late(two, [-1, 0]).starts.tolist()
    [3, 0]
    """
    chosen = np.array(starts, np.int64)
    ends = np.where(chosen < 0, 0, chosen + instance.output)
    free = int(ends.max())
    for i in np.argsort(instance.arrival, kind="stable").tolist():
        if chosen[i] < 0:
            chosen[i] = max(free, int(instance.arrival[i]))
            free = int(chosen[i] + instance.output[i])
    return Schedule.from_starts(instance, chosen)
