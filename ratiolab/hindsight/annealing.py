"""A compiled search over orders: hundreds of thousands of schedules a second.

An order becomes a schedule by serial generation, as in `ratiolab.hindsight.heuristics`: each
request takes the earliest start that memory still allows. Simulated annealing moves one request to
another place or exchanges two, near or far; runs after the first begin where the best one ended.
The numpy Generator and the number of steps decide the result, on every machine.
"""

from typing import Any

import numpy as np
from numba import njit

from ratiolab.model.footprint import held
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

STEPS = 400_000
"""Orders tried by default, in all runs."""

RUNS = 8
"""Runs that share the steps."""

HOT, COLD = 0.2, 0.004
"""First and last temperature, as a part of the first schedule's latency per request."""

NEARBY = 6
"""A near move goes at most so many places."""

compiled: Any = njit(cache=True)
_held: Any = compiled(held)


def annealed_schedule(
    instance: Instance,
    first: Schedule,
    rng: np.random.Generator | None = None,
    steps: int = STEPS,
    runs: int = RUNS,
) -> Schedule:
    """The best schedule found from the order of a first one, itself if none is better.

    Parameters
    ----------
    first : any feasible schedule of the instance.
    rng : source of all randomness; a generator with seed 0 when absent.
    steps, runs : orders to try in all, and runs that share them.

    Cost O(T + n o) a step, T the rounds from 0 to the last arrival and all outputs.

    >>> from ratiolab.hindsight.heuristics import list_schedule
    >>> equal = Instance("two kinds", 8, [0] * 4, [1] * 4, [7, 1, 2, 3])
    >>> annealed_schedule(equal, list_schedule(equal, [0, 1, 2, 3]), steps=400).total_latency
    14
    """
    rng = rng or np.random.default_rng(0)
    columns = instance.arrival, instance.prompt, instance.output
    rounds = int(instance.arrival.max() + 2 * instance.output.sum()) + 2
    best, starts = first.total_latency, first.starts
    order = np.lexsort((instance.volume, first.starts))
    warmth = best / len(instance)
    for run in range(runs if len(instance) > 1 else 0):
        # later runs are cooler: they refine what the first found
        hot = warmth * HOT / (1 + run)
        order, value, found = _anneal(
            order, *columns, instance.memory, rounds, steps // runs, hot, warmth * COLD, rng
        )
        if value < best:
            best, starts = int(value), found
    return Schedule.from_starts(instance, starts)


@compiled
def _place(order, arrival, prompt, output, memory, usage, starts, limit):  # type: ignore[no-untyped-def]
    """Starts in this order; the latency, or some value above the limit once it is exceeded."""
    usage[:] = 0
    latency = 0
    for i in order:
        start = arrival[i]
        while True:
            later = start
            for age in range(output[i], 0, -1):
                time = start + age
                excess = usage[time] + _held(prompt[i], age) - memory
                if excess > 0:  # start after this time, or so late that memory suffices then
                    later = min(time, start + excess)
                    break
            if later == start:
                break
            start = later
        starts[i] = start
        latency += start + output[i] - arrival[i]
        if latency > limit:
            break
        for age in range(1, output[i] + 1):
            usage[start + age] += _held(prompt[i], age)
    return latency


@compiled
def _anneal(order, arrival, prompt, output, memory, rounds, steps, hot, cold, rng):  # type: ignore[no-untyped-def]
    """The best order found, its latency and its starts."""
    n = len(order)
    usage, starts = np.zeros(rounds, np.int64), np.zeros(n, np.int64)
    value = _place(order, arrival, prompt, output, memory, usage, starts, 2**62)
    order = order.copy()
    best, best_order, best_starts = value, order.copy(), starts.copy()
    trial = order.copy()
    for step in range(steps):
        heat = hot * (cold / hot) ** (step / steps)
        source = rng.integers(0, n)
        if rng.random() < 0.5:
            target = rng.integers(0, n)
        else:
            target = min(n - 1, max(0, source + rng.integers(-NEARBY, NEARBY + 1)))
        if source == target:
            continue
        trial[:] = order
        moved = trial[source]
        if rng.random() < 0.5:
            trial[source] = trial[target]
        elif source < target:
            trial[source:target] = order[source + 1 : target + 1]
        else:
            trial[target + 1 : source + 1] = order[target:source]
        trial[target] = moved
        limit = value + int(-heat * np.log(1.0 - rng.random()))
        found = _place(trial, arrival, prompt, output, memory, usage, starts, limit)
        if found <= limit:
            value = found
            order[:] = trial
            if found < best:
                best = found
                best_order[:] = trial
                best_starts[:] = starts
    return best_order, best, best_starts
