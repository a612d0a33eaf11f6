"""Compiled scheduling under other rules than the model's;
`interpretations` says what they are.

A request i that starts at k holds ``held[i, age]`` tokens at time k + age, age from 0 to its
output, and completes at k + output. Starts are free (`ANY`), multiples of a number of rounds
(`GRID`), rounds in which a request arrives or completes (`EVENTS`), or rounds in which nothing
runs, where all starts are simultaneous (`BATCHES`). All arrays are int64 but the
draws of `anneal_insertion_order`.
"""

from typing import NamedTuple

import numpy as np

from ratiolab.machine_code import careful
from ratiolab.model.footprint import IntArray

ANY, GRID, EVENTS, BATCHES = 0, 1, 2, 3


class Case(NamedTuple):
    """Requests with the tokens that they hold, and the rules of their starts.

    ``usage`` is overwritten by the tokens held at each time.
    """

    arrival: IntArray
    output: IntArray
    held: IntArray
    memory: int
    rule: int
    grid: int
    usage: IntArray


@careful
def fits(case, i, start):  # type: ignore[no-untyped-def]
    """Return whether request i may start here on top of what the others hold."""
    for age in range(case.output[i], -1, -1):
        tokens = case.held[i, age]
        if tokens > 0 and case.usage[start + age] + tokens > case.memory:
            return False
    return True


@careful
def enter(case, i, start):  # type: ignore[no-untyped-def]
    """Add the tokens that request i holds from this start on."""
    for age in range(case.output[i] + 1):
        case.usage[start + age] += case.held[i, age]


@careful
def prefixes(order, case, skip, starts):  # type: ignore[no-untyped-def]
    """In every allowed round admit arrived requests in this order until the first misfit.

    With ``skip`` misfits are passed over. Writes the starts and returns the total latency.
    """
    arrival, output, rule, grid = case.arrival, case.output, case.rule, case.grid
    case.usage[:] = 0
    starts[:] = -1
    event = np.zeros(len(case.usage), np.bool_)
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
                if fits(case, i, now):
                    enter(case, i, now)
                    starts[i] = now
                    event[now + output[i]] = True
                    busy = max(busy, now + output[i])
                    total += now + output[i] - arrival[i]
                    left -= 1
                elif not skip:
                    break
        now += 1
    return total


@careful
def serial(order, case, starts):  # type: ignore[no-untyped-def]
    """Give each request in this order its earliest allowed start; return the total latency."""
    arrival, output, rule, grid = case.arrival, case.output, case.rule, case.grid
    if rule == BATCHES:
        return prefixes(order, case, False, starts)
    case.usage[:] = 0
    event = np.zeros(len(case.usage), np.bool_)
    for i in range(len(order)):
        event[arrival[i]] = True
    total = 0
    for i in order:
        start = arrival[i]
        while (
            (rule == GRID and start % grid != 0)
            or (rule == EVENTS and not event[start])
            or not fits(case, i, start)
        ):
            start += 1
        enter(case, i, start)
        event[start + output[i]] = True
        starts[i] = start
        total += start + output[i] - arrival[i]
    return total


@careful
def anneal_insertion_order(order, case, warmth, draws, starts, best):  # type: ignore[no-untyped-def]
    """Return the least total latency of the orders visited, its starts in ``best``.

    A step moves one request to another place; ``draws`` has a row of three for each. At warmth 0
    only better orders are kept.
    """
    n = len(order)
    current = serial(order, case, starts)
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
        found = serial(order, case, starts)
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
