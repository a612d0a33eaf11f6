"""How far time must reach: last starts that provably keep every optimal schedule.

Request i may be restricted to the starts a_i, ..., last_i without losing an optimal schedule, by
two arguments; each request takes the better. A program may look ahead less far still and
gather all later starts in one column: that is the tail relaxation of
`ratiolab.hindsight.programs.timeindexed`, which is valid for any length of time.
"""

from collections.abc import Callable

import numpy as np

from ratiolab.hindsight.bounds import best_lower_bound
from ratiolab.model import Instance, IntArray


def naive_horizon(instance: Instance) -> int:
    """Return the paper's horizon: the sum of all arrivals and outputs.

    Source: Jaillet et al. (2025), Section 3, arXiv 2502.07115v5.

    >>> naive_horizon(Instance("two", 9, [3, 5], [1, 1], [3, 4]))
    15
    """
    return int(instance.arrival.sum() + instance.output.sum())


def serial_horizon(instance: Instance) -> int:
    """Return the last arrival plus all outputs: every optimal schedule is complete by then.

    Proof. Call a time idle when no request is active at it, and let t be an idle time before the
    last completion of an optimal schedule. The requests that start at t or later are active only
    after t, and all others complete before t. If all of the former had arrived before t, they could
    all start one round earlier: that shifts what they hold by one, onto times t and later at which
    no other request is active, and saves at least one round, against optimality. Hence t <= a_i
    for some i.

    Let t be the last idle time (0 when none is). All times from t + 1 to the last completion are
    busy, so there are no more of them than outputs in total, and t is at most the last arrival.

    >>> serial_horizon(Instance("two", 9, [3, 5], [1, 1], [3, 4]))
    12
    """
    return int(instance.arrival.max()) + int(instance.output.sum())


def last_starts(
    instance: Instance,
    upper: int,
    bound: Callable[[Instance], int] = lambda rest: best_lower_bound(rest).value,
) -> IntArray:
    """Return a start of each request that no optimal schedule exceeds.

    Two arguments; the smaller value counts:

    - all is complete by `serial_horizon`, so i starts at most o_i earlier;
    - a schedule of total latency at most ``upper`` (every optimal one) spends on the requests
      without i at least a lower bound of the instance without i, since removing a request leaves a
      feasible schedule; the remainder of ``upper`` is the most that i's latency can be.

    Parameters
    ----------
    upper : total latency of any feasible schedule, rounds.
    bound : a lower bound of some of the requests, served by whatever serves all of them; by default
        one replica. The two arguments hold for several replicas as well.

    Returns
    -------
    last starts, shape (n,), at least the arrivals.

    Cost O(n^2 log n).

    >>> last_starts(Instance("two", 9, [3, 5], [1, 1], [3, 4]), upper=7).tolist()
    [3, 5]
    """
    n = len(instance)
    end = serial_horizon(instance)
    last = np.empty(n, np.int64)
    everyone = np.arange(n)
    for i, (arrival, _, output) in enumerate(instance.requests):
        rest = bound(instance.take(everyone[everyone != i])) if n > 1 else 0
        last[i] = min(end - output, arrival + upper - rest - output)
    if (last < instance.arrival).any():
        raise ValueError(f"upper {upper} is below the latency of every schedule")
    return last
