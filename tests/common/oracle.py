"""The optimum of a tiny instance: every start is tried, in compiled code.

`hindsight/test_oracle.py` holds this oracle to `brute_force`, which is written to be believed at
sight; `hindsight/test_solve.py` holds both to two solvers of the integer program.
"""

import numpy as np
from numba import njit

from ratiolab.model import Instance, Schedule


def optimal_schedule(instance: Instance) -> Schedule:
    """Return an optimal schedule; the cost is exponential in the number of requests."""
    arrival, prompt, output = (
        np.array(column) for column in (instance.arrival, instance.prompt, instance.output)
    )
    best, free = np.zeros_like(arrival), 0
    for i in np.argsort(arrival, kind="stable"):  # one at a time
        best[i] = max(free, arrival[i])
        free = best[i] + output[i]
    latency = int((best + output - arrival).sum())
    rest = np.append(np.cumsum(output[::-1])[::-1], 0)
    usage = np.zeros(free + latency + output.max() + 2, np.int64)
    spent, chosen = np.zeros_like(rest), np.zeros_like(arrival)
    enumerate_starts(
        instance.memory, arrival, prompt, output, rest, usage, spent, chosen, best, latency
    )
    return Schedule.from_starts(instance, best)


def least_latency(instance: Instance) -> int:
    """Return the total latency of an optimal schedule."""
    return optimal_schedule(instance).total_latency


@njit(cache=True)
def enumerate_starts(memory, arrival, prompt, output, rest, usage, spent, chosen, best, limit):
    """Set the best starts: request by request, each from its arrival until latency is spent.

    Parameters
    ----------
    rest : outputs of the requests from each one on.
    usage, spent, chosen : room for tokens at each time, latency before each request, and starts.
    limit : latency of the best starts known.
    """
    n = len(arrival)
    i, placed = 0, False
    chosen[0] = arrival[0]
    while i >= 0:
        if placed:  # take back, then try the next start
            for age in range(1, output[i] + 1):
                usage[chosen[i] + age] -= prompt[i] + age
            chosen[i] += 1
            placed = False
        latency = spent[i] + chosen[i] + output[i] - arrival[i]
        if latency + rest[i + 1] >= limit:
            i, placed = i - 1, True
            continue
        fits = True
        for age in range(1, output[i] + 1):
            fits = fits and usage[chosen[i] + age] + prompt[i] + age <= memory
        if not fits:
            chosen[i] += 1
        elif i == n - 1:
            for j in range(n):
                best[j] = chosen[j]
            limit = latency
        else:
            for age in range(1, output[i] + 1):
                usage[chosen[i] + age] += prompt[i] + age
            spent[i + 1] = latency
            i += 1
            chosen[i] = arrival[i]
