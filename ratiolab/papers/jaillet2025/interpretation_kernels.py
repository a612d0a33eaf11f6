"""Compiled scheduling under other rules than the model's;
`interpretations` says what they are.

A request i that starts at k holds ``held[i, age]`` tokens at time k + age, age from 0 to its
output, and completes at k + output. Starts are free (`ANY`), multiples of a number of rounds
(`GRID`), rounds in which a request arrives or completes (`EVENTS`), or rounds in which nobody else
still runs, everybody who starts then starting together (`BATCHES`). All arrays are int64 but the
draws of `anneal`.
"""

from typing import Any

import numpy as np
from numba import njit

compiled: Any = njit(cache=True)

ANY, GRID, EVENTS, BATCHES = 0, 1, 2, 3


@compiled
def fits(usage, held, output, memory, i, start):  # type: ignore[no-untyped-def]
    """Whether request i may start here on top of what the others hold."""
    for age in range(output[i], -1, -1):
        if held[i, age] > 0 and usage[start + age] + held[i, age] > memory:
            return False
    return True


@compiled
def enter(usage, held, output, i, start):  # type: ignore[no-untyped-def]
    """Add what request i holds from this start on."""
    for age in range(output[i] + 1):
        usage[start + age] += held[i, age]


@compiled
def prefixes(order, arrival, output, held, memory, rule, grid, skip, usage, starts):  # type: ignore[no-untyped-def]
    """In every allowed round admit arrived requests in this order until the first misfit.

    With ``skip`` misfits are passed over. Writes the starts and returns the total latency.
    """
    usage[:] = 0
    starts[:] = -1
    event = np.zeros(len(usage), np.bool_)
    for i in range(len(order)):
        event[arrival[i]] = True
    left, now, busy, total = len(order), 0, 0, 0
    while left > 0:
        if (
            rule == ANY
            or (rule == GRID and now % grid == 0)
            or (rule == EVENTS and event[now])
            or (rule == BATCHES and now >= busy)
        ):
            for i in order:
                if starts[i] >= 0 or arrival[i] > now:
                    continue
                if fits(usage, held, output, memory, i, now):
                    enter(usage, held, output, i, now)
                    starts[i] = now
                    event[now + output[i]] = True
                    busy = max(busy, now + output[i])
                    total += now + output[i] - arrival[i]
                    left -= 1
                elif not skip:
                    break
        now += 1
    return total


@compiled
def serial(order, arrival, output, held, memory, rule, grid, usage, starts):  # type: ignore[no-untyped-def]
    """Give each request in this order its earliest allowed start; the total latency."""
    if rule == BATCHES:
        return prefixes(order, arrival, output, held, memory, rule, grid, False, usage, starts)
    usage[:] = 0
    event = np.zeros(len(usage), np.bool_)
    for i in range(len(order)):
        event[arrival[i]] = True
    total = 0
    for i in order:
        start = arrival[i]
        while (
            (rule == GRID and start % grid != 0)
            or (rule == EVENTS and not event[start])
            or not fits(usage, held, output, memory, i, start)
        ):
            start += 1
        enter(usage, held, output, i, start)
        event[start + output[i]] = True
        starts[i] = start
        total += start + output[i] - arrival[i]
    return total


@compiled
def anneal(order, arrival, output, held, memory, rule, grid, warmth, draws, usage, starts, best):  # type: ignore[no-untyped-def]
    """The least total latency of the orders visited, its starts in ``best``.

    A step moves one request to another place; ``draws`` has a row of three for each. At warmth 0
    only better orders are kept.
    """
    n = len(order)
    current = serial(order, arrival, output, held, memory, rule, grid, usage, starts)
    least = current
    best[:] = starts
    kept = order.copy()
    heat = warmth * current / n
    for step in range(len(draws)):
        a, b = int(draws[step, 0] * n), int(draws[step, 1] * n)
        moved = order[a]
        if a < b:
            order[a:b] = kept[a + 1 : b + 1]
        else:
            order[b + 1 : a + 1] = kept[b:a]
        order[b] = moved
        found = serial(order, arrival, output, held, memory, rule, grid, usage, starts)
        temperature = heat * (1 - step / len(draws))
        worse = found - current
        if worse < 0 or (temperature > 0 and draws[step, 2] < np.exp(-worse / temperature)):
            current = found
            kept[:] = order
            if found < least:
                least = found
                best[:] = starts
        else:
            order[:] = kept
    return least
