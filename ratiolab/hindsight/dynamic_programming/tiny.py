"""The optimum of a tiny instance in milliseconds, for searches that need thousands of them.

Best-first search over rounds. A state is the round, how many requests of each kind (equal arrival,
prompt and output) have not started, and how many tokens the running requests will hold in each
round to come; two ways to the same state differ in nothing but what they have spent, so the cheaper
one is kept. In each round any numbers of requests of each kind may start that fit until they end.
A state's latency so far counts every request that has started until its completion.

What the others still cost at least is the larger of two bounds. Filling the free memory in order of
volume, the k-th of them cannot complete before the first k volumes have found room, nor before the
k-th shortest output. And the mean time of the memory that a request holds is least in sum when the
free memory is filled in that order; a request completes later than that mean time by a known age.
Nothing is shared with `solve` or the brute force but the footprint.
"""

from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight.dynamic_programming.tiny_kernels import search
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

STATES = 200_000
"""States kept at most: about a second, and tens of megabytes."""


@dataclass(frozen=True)
class TinyOptimum:
    """Findings of a search up to a limit.

    Parameters
    ----------
    latency : the optimum; None when it is above the limit or was not found in so many states.
    above : the optimum is proven to be above the limit.
    states : states kept.
    """

    latency: int | None
    above: bool
    states: int
    _starts: IntArray
    _order: IntArray
    _instance: Instance

    @property
    def schedule(self) -> Schedule:
        """An optimal schedule; `ValueError` when no optimum was found."""
        if self.latency is None:
            raise ValueError("no optimum was found: there is no schedule")
        starts = np.zeros(len(self._order), np.int64)
        starts[self._order] = self._starts
        return Schedule.from_starts(self._instance, starts)


def tiny_optimum(instance: Instance, limit: int | None = None, states: int = STATES) -> TinyOptimum:
    """Search for the optimum of an instance of few kinds of requests.

    Parameters
    ----------
    instance : about ten requests, or a few dozen of two or three kinds.
    limit : latencies above it are of no interest; by default that of one request at a time.
    states : states kept at most; with more to keep, the search ends without an answer.

    Exponential in the number of kinds and in memory over the least volume.

    >>> tiny_optimum(Instance("equal", 2, [0, 0, 0], [1, 1, 1], [1, 1, 1])).latency
    6
    """
    rows = np.stack([instance.arrival, instance.prompt, instance.output, instance.volume], axis=1)
    kinds, kind, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    if limit is None:
        limit = one_at_a_time(instance)
    latency, kept, starts = search(
        instance.memory,
        kinds,
        count,
        np.argsort(kinds[:, 3], kind="stable"),
        np.argsort(kinds[:, 2], kind="stable"),
        limit,
        states,
    )
    found = 0 <= latency <= limit
    order = np.argsort(kind.ravel(), kind="stable")
    by_kind = starts[np.argsort(starts[:, 0], kind="stable"), 1]
    return TinyOptimum(
        int(latency) if found else None, latency > limit, kept, by_kind, order, instance
    )


def one_at_a_time(instance: Instance) -> int:
    """Return the total latency of serving one request after another, shortest volume first."""
    free = total = 0
    for i in np.lexsort((instance.volume, instance.arrival)).tolist():
        free = max(free, int(instance.arrival[i])) + int(instance.output[i])
        total += free - int(instance.arrival[i])
    return total
