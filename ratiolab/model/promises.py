"""Weights and deadlines: the value of a request, and which requests a schedule serves in time."""

from fractions import Fraction
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.fleet import Fleet, fleet_of, replicas_of
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import DATES, Instance
from ratiolab.model.schedule import Schedule, require_complete

NO_DATE = 2**62
"""A date that no request misses."""


def weights(instance: Instance) -> IntArray:
    """Return the weight of each request, 1 without the column, shape (n,)."""
    given = instance.weight
    return np.ones(len(instance), np.int64) if given is None else given


def last_starts_in_time(instance: Instance) -> IntArray:
    """Return the last start with which each request is in time, when no run is evicted.

    A request that starts at p makes its first token at p + 1 and completes at p + o. A last start
    before the arrival says that no schedule serves the request in time. Requests without a date get
    `NO_DATE`. Shape (n,), rounds.

    >>> two = Instance("two", 9, [0, 3], [1, 1], [4, 2], deadline=[6, 4], first_by=[2, 9])
    >>> last_starts_in_time(two).tolist()
    [1, 2]
    """
    last = np.full(len(instance), NO_DATE)
    if instance.deadline is not None:
        last = np.minimum(last, instance.deadline - instance.output)
    if instance.first_by is not None:
        last = np.minimum(last, instance.first_by - 1)
    return last


def in_time(schedule: Schedule) -> NDArray[np.bool_]:
    """Return which requests a schedule completes and serves by their dates, shape (n,).

    The first token counts when it is first made, in a run that is evicted later, too. Raise
    ValueError when the instance has neither column of dates: then no request can be late.
    """
    instance, done = schedule.instance, schedule.completion
    require_dates(instance)
    kept = done >= 0
    if instance.deadline is not None:
        kept = kept & (done <= instance.deadline)
    if instance.first_by is not None:
        kept = kept & (schedule.ttft <= instance.first_by - instance.arrival)
    return kept


def goodput(schedule: Schedule) -> int:
    """Return the weight of the requests that a schedule serves in time."""
    return int(weights(schedule.instance)[in_time(schedule)].sum())


def has_dates(instance: Instance) -> bool:
    """Return whether an instance has a column of dates."""
    return bool(set(instance.promises) & set(DATES))


def require_dates(instance: Instance) -> None:
    """Raise ValueError unless an instance has a column of dates."""
    if not has_dates(instance):
        raise ValueError(
            f"{instance.name}: no request has a deadline; give the column deadline or first_by, "
            "or a limit for all (--slo-latency, --slo-ttft)"
        )


def weighted_latency(schedule: Schedule) -> int:
    """Return the sum of weight times latency, rounds.

    Raises
    ------
    ValueError
        when a request never completes.
    """
    require_complete(schedule)
    columns = weights(schedule.instance).tolist(), schedule.latency.tolist()
    return sum(weight * latency for weight, latency in zip(*columns, strict=True))


Given = TypeVar("Given", bound=Instance | Fleet)


def with_limits(instance: Given, ttft: float | None = None, latency: float | None = None) -> Given:
    """Return the instance with the same limits for all requests, in place of dates that it has.

    Parameters
    ----------
    instance : an instance or a fleet.
    ttft : longest time from arrival to first token; None leaves the column as it is.
    latency : longest time from arrival to completion; None leaves the column as it is.
        Both in the unit of the arrivals, rounded down: dates are whole numbers.

    >>> two = Instance("two", 9, [0, 3], [1, 1], [4, 2])
    >>> with_limits(two, latency=5).deadline.tolist()
    [5, 8]
    """
    requests, replicas = replicas_of(instance)
    changes = {}
    for column, name, limit in (("first_by", "ttft", ttft), ("deadline", "latency", latency)):
        if limit is not None:
            if not 1 <= limit <= 10**9:
                raise ValueError(f"limit of {name} {limit} must be between 1 and 10^9")
            changes[column] = requests.arrival + int(Fraction(limit))
    return cast(Given, fleet_of(requests.replace(**changes), replicas))
