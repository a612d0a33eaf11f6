"""The optimum of a tiny fleet: every way to share the requests among the replicas.

Once the requests are shared, replicas have nothing to do with each other. Hence the optimum is the
least sum of optima of R sets of requests that make up all of them: with opt(S) the optimum of the
requests S on one replica, and best_r(S) that on r replicas,

    best_r(S) = min over T within S of opt(T) + best_{r-1}(S without T).

Replicas are equal, so T may be the set of the first request of S. Each opt(T) is searched for by
`ratiolab.hindsight.tiny`, which shares nothing with the program, the bounds or the lists.
"""

import numpy as np

from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.schedule import Schedule

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

    Cost 2^n searches and R 3^n sums.

    >>> from ratiolab.model import Instance
    >>> tiny_fleet_optimum(Fleet(Instance("three", 3, [0] * 3, [1] * 3, [2] * 3), 2)).total_latency
    8
    """
    n = len(fleet)
    if n > MOST_REQUESTS:
        raise ValueError(f"{n} requests: enumeration takes at most {MOST_REQUESTS}")
    alone: list[Schedule | None] = [None]
    cost = [0]
    for chosen in range(1, 1 << n):
        one = tiny_optimum(fleet.instance.take(_requests(chosen, n)))
        alone.append(one.schedule)
        cost.append(one.schedule.total_latency)
    everything = (1 << n) - 1
    best, parts = cost, [[chosen] for chosen in range(1 << n)]
    for _ in range(min(fleet.replicas, n) - 1):
        value, split = list(best), [list(part) for part in parts]
        for chosen in range(1, 1 << n):
            first = chosen & -chosen
            rest = free = chosen ^ first
            while True:  # all sets with the first request, and the rest for those before
                own = chosen ^ rest
                if rest and cost[own] + best[rest] < value[chosen]:
                    value[chosen], split[chosen] = cost[own] + best[rest], [own, *parts[rest]]
                if not rest:
                    break
                rest = (rest - 1) & free
        best, parts = value, split
    replica, starts = np.zeros((2, n), np.int64)
    for number, chosen in enumerate(parts[everything]):
        members, schedule = _requests(chosen, n), alone[chosen]
        assert schedule is not None
        replica[members], starts[members] = number, schedule.starts
    return FleetSchedule.from_starts(fleet, replica, starts)


def _requests(chosen: int, n: int) -> list[int]:
    return [i for i in range(n) if chosen >> i & 1]
