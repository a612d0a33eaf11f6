"""The optimum of a tiny fleet, literally: every start of every request on every replica."""

import numpy as np
from numba import njit

from ratiolab.model.fleet import Fleet
from ratiolab.model.instance import Instance


def least_fleet_latency(fleet: Fleet) -> int:
    """Return the total latency of an optimal fleet schedule; exponential in the requests."""
    one = fleet.instance
    columns = [np.array(column) for column in (one.arrival, one.prompt, one.output)]
    end = int(one.arrival.max() + one.output.sum()) + 2
    use = np.zeros((fleet.replicas, end), np.int64)
    return int(_least(0, 0, 10**9, one.memory, use, *columns))


@njit(cache=True)
def _least(i, spent, best, memory, use, arrival, prompt, output):
    if i == len(arrival):
        return min(best, spent)
    rest = output[i:].sum()
    p = arrival[i]
    while spent + p - arrival[i] + rest < best and p + output[i] < use.shape[1]:
        for r in range(use.shape[0]):
            fits = True
            for age in range(1, output[i] + 1):
                fits = fits and use[r, p + age] + prompt[i] + age <= memory
            if fits:
                for age in range(1, output[i] + 1):
                    use[r, p + age] += prompt[i] + age
                cost = spent + p + output[i] - arrival[i]
                best = _least(i + 1, cost, best, memory, use, arrival, prompt, output)
                for age in range(1, output[i] + 1):
                    use[r, p + age] -= prompt[i] + age
        p += 1
    return best


def tiny_fleet(rng: np.random.Generator, most: int = 5) -> Fleet:
    """Return a fleet of up to `most` requests, with footprints of all sizes or large ones."""
    n, replicas = int(rng.integers(1, most + 1)), int(rng.integers(2, 4))
    memory = int(rng.integers(4, 13))
    least = rng.integers(1, memory + 1) if rng.random() < 0.5 else memory // 2 + 1
    peak = rng.integers(least, memory + 1, n)
    output = np.minimum(rng.integers(1, 5, n), peak)
    arrival = rng.integers(0, 4, n) * rng.integers(0, 2)
    return Fleet(Instance("tiny", memory, arrival, peak - output, output), replicas)
