"""The optimum of a tiny fleet: every way to share the requests among the replicas.

Once the requests are shared, replicas have nothing to do with each other. Hence the optimum is the
least sum of optima of R sets of requests that make up all of them: with opt(S) the optimum of the
requests S on one replica, and best_r(S) that on r replicas,

    best_r(S) = min over T within S of opt(T) + best_{r-1}(S without T).

Where replicas are equal, T may be the set of the first request of S. Else opt(T) is that of the
replica's own memory, infinite where a request is too large. Each opt(T) is searched for by
`ratiolab.hindsight.tiny`, which shares nothing with the program, the bounds or the lists.
"""

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

MOST_REQUESTS = 10
"""More requests than this are refused: two to their power are searched, each a millisecond."""


def tiny_fleet_optimum(fleet: Fleet) -> FleetSchedule:
    """Return an optimal schedule of a tiny fleet, by complete enumeration; see `best_shares`.

    Parameters
    ----------
    fleet : at most `MOST_REQUESTS` requests.

    Raises
    ------
    ValueError
        when there are more requests, or one replica's search keeps too many states.

    >>> from ratiolab.model import Instance
    >>> tiny_fleet_optimum(Fleet(Instance("three", 3, [0] * 3, [1] * 3, [2] * 3), 2)).total_latency
    8
    """

    def alone(instance: Instance) -> tuple[int, Sequence[int]]:
        schedule = tiny_optimum(instance).schedule
        return schedule.total_latency, schedule.starts.tolist()

    return FleetSchedule.from_starts(fleet, *best_shares(fleet, alone))


def best_shares(
    fleet: Fleet, optimum: Callable[[Instance], tuple[int, Sequence[int]]]
) -> tuple[IntArray, IntArray]:
    """Return the replicas and the starts of least cost over all ways to share the requests.

    The cost is 2^n optima for each size of memory, and R 3^n sums.

    Parameters
    ----------
    optimum : least cost of some of the requests on one replica, and their starts.

    Raises
    ------
    ValueError
        when there are more than `MOST_REQUESTS` requests.
    """
    n = len(fleet)
    if n > MOST_REQUESTS:
        raise ValueError(f"{n} requests: enumeration takes at most {MOST_REQUESTS}")
    first, *others = reversed(fleet.memories[: n if fleet.equal else None])
    alone = {memory: _alone(fleet.instance, memory, optimum) for memory in {first, *others}}
    costs, _ = alone[first]
    best, parts = costs, [[chosen] for chosen in range(1 << n)]
    for memory in others:
        costs, _ = alone[memory]
        least, split = list(best), [[0] * (not fleet.equal) + part for part in parts]
        for chosen in range(1, 1 << n):
            # the first request is on this one of equal replicas
            rest = free = chosen ^ (chosen & -chosen if fleet.equal else 0)
            while True:
                own = chosen ^ rest
                if costs[own] + best[rest] < least[chosen]:
                    least[chosen], split[chosen] = costs[own] + best[rest], [own, *parts[rest]]
                if not rest:
                    break
                rest = (rest - 1) & free
        best, parts = least, split
    replica, starts = np.zeros((2, n), np.int64)
    for number, chosen in enumerate(parts[-1]):
        members = _requests(chosen, n)
        replica[members], starts[members] = number, alone[fleet.memories[number]][1][chosen]
    return replica, starts


def _alone(
    instance: Instance, memory: int, optimum: Callable[[Instance], tuple[int, Sequence[int]]]
) -> tuple[list[float], list[list[int]]]:
    """Return costs and starts of all sets of requests on one replica; infinite if it is small."""
    costs, starts = [0.0], [list[int]()]
    peaks = (instance.prompt + instance.output).tolist()
    for chosen in range(1, 1 << len(instance)):
        own = _requests(chosen, len(instance))
        fits = max(peaks[i] for i in own) <= memory
        cost, begun = optimum(instance.take(own).with_memory(memory)) if fits else (inf, [])
        costs.append(cost)
        starts.append(list(begun))
    return costs, starts


def _requests(chosen: int, n: int) -> list[int]:
    return [i for i in range(n) if chosen >> i & 1]
