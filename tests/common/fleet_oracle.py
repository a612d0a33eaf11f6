"""The optimum of a tiny fleet, literally: every start of every request on every replica."""

from fractions import Fraction

import numpy as np
from numba import njit

from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.instance import Instance


def least_fleet_latency(fleet: Fleet) -> int:
    """Return the total latency of an optimal fleet schedule; exponential in the requests."""
    one = fleet.instance
    columns = [np.array(column) for column in (one.arrival, one.prompt, one.output)]
    end = int(one.arrival.max() + one.output.sum()) + 2
    use = np.zeros((fleet.replicas, end), np.int64)
    return int(_least(0, 0, 10**9, np.array(fleet.memories), use, *columns))


@njit(cache=True)
def _least(i, spent, best, memories, use, arrival, prompt, output):
    if i == len(arrival):
        return min(best, spent)
    rest = output[i:].sum()
    p = arrival[i]
    while spent + p - arrival[i] + rest < best and p + output[i] < use.shape[1]:
        for r in range(use.shape[0]):
            fits = True
            for age in range(1, output[i] + 1):
                fits = fits and use[r, p + age] + prompt[i] + age <= memories[r]
            if fits:
                for age in range(1, output[i] + 1):
                    use[r, p + age] += prompt[i] + age
                cost = spent + p + output[i] - arrival[i]
                best = _least(i + 1, cost, best, memories, use, arrival, prompt, output)
                for age in range(1, output[i] + 1):
                    use[r, p + age] -= prompt[i] + age
        p += 1
    return best


def largest_left_side(schedule: FleetSchedule, m0: int, w: int, credit: Fraction) -> Fraction:
    """Return the largest left side of a growth row over all times, written out."""
    fleet, most = schedule.fleet, Fraction(0)
    starts, completion = schedule.runs.starts.tolist(), schedule.runs.completion.tolist()
    for t in range(max(completion) + 1):
        held = [
            s + t - p
            for s, p, done in zip(fleet.instance.prompt.tolist(), starts, completion, strict=True)
            if p < t <= done
        ]
        earned = sum(w - (done - t) for done in completion if t <= done < t + w)
        left = m0 * sum(held) + w * sum(min(m0, m) for m in held) - credit * earned
        most = max(most, left)
    return most


def held_growth_rows(schedule: FleetSchedule, least: Fraction) -> tuple[int, int]:
    """Assert that a schedule obeys growth rows with the credit of the largest memory.

    Parameters
    ----------
    least : a smaller credit, the control.

    Returns
    -------
    How many rows are tight, and how many would be exceeded with the smaller credit.
    """
    memory, tight, refuted = schedule.fleet.instance.memory, 0, 0
    for m0 in (1, 2, memory // 2, memory):
        for w in (1, 2, 3):
            right = m0 * sum(schedule.fleet.memories)
            left = largest_left_side(schedule, m0, w, Fraction(memory))
            assert left <= right
            tight += left == right
            refuted += largest_left_side(schedule, m0, w, least) > right
    return tight, refuted


def tiny_fleet(rng: np.random.Generator, most: int = 5) -> Fleet:
    """Return a fleet of up to `most` requests, with footprints of all sizes or large ones."""
    n, replicas = int(rng.integers(1, most + 1)), int(rng.integers(2, 4))
    memory = int(rng.integers(4, 13))
    least = rng.integers(1, memory + 1) if rng.random() < 0.5 else memory // 2 + 1
    peak = rng.integers(least, memory + 1, n)
    output = np.minimum(rng.integers(1, 5, n), peak)
    arrival = rng.integers(0, 4, n) * rng.integers(0, 2)
    return Fleet(Instance("tiny", memory, arrival, peak - output, output), replicas)


def tiny_unequal_fleet(rng: np.random.Generator, most: int = 5) -> Fleet:
    """Return such a fleet whose other replicas are smaller, in any order."""
    fleet = tiny_fleet(rng, most)
    memory = fleet.instance.memory
    smaller = rng.integers(1, memory, fleet.replicas - 1)
    memories = rng.permutation([memory, *smaller])
    return Fleet(fleet.instance, fleet.replicas, tuple(memories.tolist()))
