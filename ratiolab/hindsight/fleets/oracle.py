"""The optimum of a tiny fleet: every way to share the requests among the replicas.

Once the requests are shared, replicas have nothing to do with each other. Hence the optimum is the
least sum of optima of R sets of requests that make up all of them: with opt(S) the optimum of the
requests S on one replica, and best_r(S) that on r replicas,

    best_r(S) = min over T within S of opt(T) + best_{r-1}(S without T).

Replicas are equal, so T may be the set of the first request of S. Each opt(T) is searched for by
`ratiolab.hindsight.tiny`, which shares nothing with the program, the bounds or the lists.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

MOST_REQUESTS = 10
"""More requests than this are refused: two to their power are searched, each a millisecond."""


def tiny_fleet_optimum(fleet: Fleet) -> FleetSchedule:
    """Return an optimal schedule of a tiny fleet, by complete enumeration.

    Parameters
    ----------
    fleet : at most `MOST_REQUESTS` requests.

    Raises
    ------
    ValueError
        when there are more requests, or one replica's search keeps too many states.

    Cost as that of `best_shares`.

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

    Parameters
    ----------
    optimum : least cost of some of the requests on one replica, and their starts.

    Raises
    ------
    ValueError
        when there are more than `MOST_REQUESTS` requests.

    Cost 2^n optima and R 3^n sums.
    """
    n = len(fleet)
    if n > MOST_REQUESTS:
        raise ValueError(f"{n} requests: enumeration takes at most {MOST_REQUESTS}")
    cost, begun = [0], [list[int]()]
    for chosen in range(1, 1 << n):
        value, beginning = optimum(fleet.instance.take(_requests(chosen, n)))
        cost.append(value)
        begun.append(list(beginning))
    everything = (1 << n) - 1
    best, parts = cost, [[chosen] for chosen in range(1 << n)]
    for _ in range(min(fleet.replicas, n) - 1):
        least, split = list(best), [list(part) for part in parts]
        for chosen in range(1, 1 << n):
            first = chosen & -chosen
            rest = free = chosen ^ first
            while True:  # all sets with the first request, and the rest for those before
                own = chosen ^ rest
                if rest and cost[own] + best[rest] < least[chosen]:
                    least[chosen], split[chosen] = cost[own] + best[rest], [own, *parts[rest]]
                if not rest:
                    break
                rest = (rest - 1) & free
        best, parts = least, split
    replica, starts = np.zeros((2, n), np.int64)
    for number, chosen in enumerate(parts[everything]):
        members = _requests(chosen, n)
        replica[members], starts[members] = number, begun[chosen]
    return replica, starts


def _requests(chosen: int, n: int) -> list[int]:
    return [i for i in range(n) if chosen >> i & 1]
