"""The hindsight optimum itself, for few requests, and how it differs from shortest first."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.model.footprint import held
from ratiolab.online import make, simulate
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks.bounds import POLICIES

if TYPE_CHECKING:
    from ratiolab.model.schedule import Schedule


def optimum(cell: Cell) -> list[Row]:
    """Return one row for each policy: its total latency, the optimum, and features of its schedule.

    For as many requests as can be solved to proof: the option ``limit`` ends a solve after this
    number of seconds, 0 never.
    """
    from ratiolab.hindsight import solve  # takes a second to import

    instance = cell.instance()
    found = solve(instance, time_limit=cell.option("limit") or None).uninterrupted()
    runs = {key: simulate(instance, make(key), seed=cell.seed).schedule for key in POLICIES}
    return [
        {
            "policy": key,
            "instance": instance.digest,
            "requests": len(instance),
            "total_latency": run.total_latency,
            "opt_lower": found.lower,
            "opt_upper": found.upper,
            "lower_source": found.lower_source,
            "inverted": inverted(found.schedule),
            "held_back": held_back(found.schedule),
            "opt_idle": idle(found.schedule),
            "idle": idle(run),
        }
        for key, run in runs.items()
    ]


def idle(schedule: "Schedule") -> float:
    """Return the mean share of memory that is empty up to the last start, 0 without waiting."""
    used = schedule.usage()[1 : int(schedule.starts.max()) + 1]
    return float(1 - used.mean() / schedule.instance.memory) if len(used) else 0.0


def inverted(schedule: "Schedule") -> float:
    """Return the share of pairs of different outputs whose longer request starts strictly first.

    Of pairs that both have arrived by the first of the two starts.
    """
    start, instance = schedule.starts, schedule.instance
    first = np.minimum(start[:, None], start)
    both = np.maximum(instance.arrival[:, None], instance.arrival) <= first
    shorter = (instance.output[:, None] < instance.output) & both
    return float((shorter & (start[:, None] > start)).sum() / max(1, shorter.sum()))


def held_back(schedule: "Schedule") -> float:
    """Return the share of requests that wait at a round at which MC-SF's test would let them in.

    They fit, until they complete, beside all that the schedule has running then or starts then;
    what it starts later would not.
    """
    start, instance = schedule.starts, schedule.instance
    end = start + instance.output
    late = 0
    for i, (arrival, prompt, output) in enumerate(instance.requests):
        for now in range(arrival, int(start[i])):
            beside = np.flatnonzero((start <= now) & (end > now))
            times = now + np.arange(1, output + 1)
            age = times[:, None] - start[beside]
            tokens = held(instance.prompt[beside], age) * (times[:, None] <= end[beside])
            ages: Any = np.arange(1, output + 1)
            own = held(prompt, ages)
            if (tokens.sum(axis=1) + own <= instance.memory).all():
                late += 1
                break
    return late / len(instance)
