"""Compiled search over schedules; `ratiolab.hindsight.schedules.order_search` owns its parameters.

A schedule is a start for each request. All arrays are int64 but for the draws, uniform in [0, 1),
one row for each step: the caller draws them, so that results are repeatable. ``requests`` is a
`ratiolab.hindsight.arrays.Requests`.
"""

from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.arrays import compiled, overwrite
from ratiolab.model.footprint import IntArray

HOLD = 0.004
"""Part of the steps that hold a request back."""
RELEASE = 0.05
"""Part of the steps, those with `HOLD`, that concern requests held back."""
SWAP = 0.3
"""Where swaps end and moves of blocks begin, as parts of the steps."""
BLOCK = 0.4
"""Where moves of blocks end and moves of one request begin."""
MOST_SKIPS = 9
"""Most feasible starts that a request lets pass: a bound keeps the profile finite."""
WIDEST = 5
"""Most requests in a block that moves as one."""


class Profile(NamedTuple):
    """Tokens held at each time, and in ``used[0]`` a time after which there are none."""

    usage: IntArray
    used: IntArray


class Orders(NamedTuple):
    """State of an annealing of orders; the arrays are changed in place.

    Parameters
    ----------
    order : requests in the order of their insertion.
    skip : feasible starts that each request lets pass.
    starts, best : starts of this order, and the best starts so far.
    value : sums of both.
    """

    order: IntArray
    skip: IntArray
    starts: IntArray
    best: IntArray
    value: IntArray


@compiled
def accepted_rise(heat, draw):  # type: ignore[no-untyped-def]
    """Return the rise in cost that annealing accepts at a temperature: an exponential variable."""
    return -heat * np.log(1.0 - draw)


@compiled
def earliest(usage, prompt, output, memory, start):  # type: ignore[no-untyped-def]
    """Return the first start from this one on that fits the profile.

    A time that a start does not violate, no later start violates: tokens then only become fewer.
    So the times in (low, high] need no second look.
    """
    low = high = start
    t = start + output
    while t > start:
        if low < t <= high:
            t = low
            continue
        excess = usage[t] + prompt + t - start - memory
        if excess > 0:
            low, high = t, start + output
            start += min(excess, t - start)
            t = start + output
        else:
            t -= 1
    return start


@compiled
def add(usage, prompt, output, start):  # type: ignore[no-untyped-def]
    """Enter a request in the profile."""
    for age in range(1, output + 1):
        usage[start + age] += prompt + age


@compiled
def remove(usage, prompt, output, start):  # type: ignore[no-untyped-def]
    """Take a request out of the profile."""
    for age in range(1, output + 1):
        usage[start + age] -= prompt + age


@compiled
def fill(profile, requests, starts):  # type: ignore[no-untyped-def]
    """Make the profile that of these starts."""
    profile.usage[: profile.used[0] + 1] = 0
    profile.used[0] = (starts + requests.output).max()
    for i in range(len(starts)):
        add(profile.usage, requests.prompt[i], requests.output[i], starts[i])


@compiled
def place(profile, requests, order, skip, keep, limit, starts):  # type: ignore[no-untyped-def]
    """Insert requests in this order, the first ``keep`` at the starts given, others earliest.

    A request lets ``skip`` of its feasible starts pass. Returns the sum of the starts, written to
    ``starts``, or -1 as soon as it exceeds the limit.
    """
    usage, prompt, output = profile.usage, requests.prompt, requests.output
    usage[: profile.used[0] + 1] = 0
    end = total = 0
    for position in range(len(order)):
        i = order[position]
        start = starts[i]
        if position >= keep:
            start = earliest(usage, prompt[i], output[i], requests.memory, requests.arrival[i])
            for _ in range(skip[i]):
                start = earliest(usage, prompt[i], output[i], requests.memory, start + 1)
            starts[i] = start
        total += start
        if total > limit:
            total = -1
            break
        add(usage, prompt[i], output[i], start)
        end = max(end, start + output[i])
    profile.used[0] = end
    return total


@compiled
def anneal_orders(profile, requests, state, heats, draws):  # type: ignore[no-untyped-def]
    """Anneal an order and the starts that requests let pass.

    A step swaps two requests, moves one or a block, or holds one back. Positions lie a
    log-uniform distance apart, so that near and far moves come at every length of the order.
    """
    order, skip, value = state.order, state.skip, state.value
    n = len(order)
    old_order, new = order.copy(), state.starts.copy()
    for step in range(len(draws)):
        kind, near = draws[step, 0], draws[step, 1]
        limit = value[0] + int(accepted_rise(heats[step], draws[step, 3]))
        one = int(draws[step, 2] * n)
        i = order[one]
        overwrite(old_order, 0, order, 0, n)
        old_skip = skip[i]
        keep = one
        if kind < RELEASE:
            if kind < HOLD and skip[i] < MOST_SKIPS:
                skip[i] += 1
            elif skip[i] > 0:
                skip[i] = 0
            else:
                continue
        else:
            distance = int(n ** abs(2 * near - 1))
            other = one + distance if near < 0.5 else one - distance
            width = 1 if kind < SWAP or kind >= BLOCK else 2 + int(draws[step, 4] * (WIDEST - 1))
            if other < 0 or max(one, other) + width > n:
                continue
            keep = min(one, other)
            if kind < SWAP:
                order[one], order[other] = order[other], i
            else:
                if other > one:
                    overwrite(order, one, old_order, one + width, other + width)
                else:
                    overwrite(order, other + width, old_order, other, one)
                overwrite(order, other, old_order, one, one + width)
                skip[i] = 0
        overwrite(new, 0, state.starts, 0, n)
        got = place(profile, requests, order, skip, keep, limit, new)
        if got < 0:
            overwrite(order, 0, old_order, 0, n)
            skip[i] = old_skip
            continue
        overwrite(state.starts, 0, new, 0, n)
        value[0] = got
        if got < value[1]:
            value[1] = got
            overwrite(state.best, 0, new, 0, n)


@compiled
def reinsert(profile, requests, by_start, starts, reach, most, draws):  # type: ignore[no-untyped-def]
    """Take out up to ``most`` requests that start near each other and put them back, if no worse.

    Each goes to its earliest start beside all others that stay, in a drawn order; near: at most
    ``reach`` places from a drawn one among the requests by start. The profile is that of
    ``starts``, and both stay so; it must have room for the longest request after the last time
    that is used, and keeps that room.
    """
    usage, prompt, output = profile.usage, requests.prompt, requests.output
    n, last = len(by_start), len(usage) - 1 - output.max()
    out, was = np.empty(most, np.int64), np.empty(most, np.int64)
    for step in range(len(draws)):
        middle = int(draws[step, 0] * n)
        low, high = max(0, middle - reach), min(n, middle + reach + 1)
        wanted = 1 + int(draws[step, 1] * most)
        count = before = 0
        for draw in draws[step, 2 : 2 + wanted]:
            i = by_start[low + int(draw * (high - low))]
            if np.any(out[:count] == i):
                continue
            out[count], was[count] = i, starts[i]
            before += starts[i]
            remove(usage, prompt[i], output[i], starts[i])
            count += 1
        after = placed = 0
        while placed < count and after <= before:
            i = out[placed]
            starts[i] = earliest(usage, prompt[i], output[i], requests.memory, requests.arrival[i])
            add(usage, prompt[i], output[i], starts[i])
            end = starts[i] + output[i]
            profile.used[0] = max(profile.used[0], end)
            after += starts[i] if end <= last else before + 1
            placed += 1
        if after > before:
            for i in out[:placed]:
                remove(usage, prompt[i], output[i], starts[i])
            for c in range(count):
                i = out[c]
                starts[i] = was[c]
                add(usage, prompt[i], output[i], was[c])
