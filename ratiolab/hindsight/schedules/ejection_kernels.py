"""The compiled moves of `ratiolab.hindsight.schedules.ejection`.

Arrays are int64; a profile has the tokens held at each time and room for the longest request
after the last time that is used.
"""

from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.arrays import compiled
from ratiolab.hindsight.schedules.search_kernels import accepted_rise, add, earliest, remove
from ratiolab.model.footprint import IntArray

MOST_OUT = 6
"""Most requests that one makes room for."""

LOOKS = 12
"""Requests looked at for each that is taken out."""

GRADUAL = 0.5
"""Part of the moves to a start a log-uniform time earlier; the others go anywhere before."""

FAR = 2**60
"""More than any sum of delays."""


class Guide(NamedTuple):
    """Choice of requests to move; it need not be up to date.

    Parameters
    ----------
    by_start, known : requests by the starts they had, and these starts.
    waiting : requests that waited.
    reach : those to take out at a time are looked for among those that started up to so many
        rounds before.
    """

    by_start: IntArray
    known: IntArray
    waiting: IntArray
    reach: int


@compiled
def anneal_starts(usage, requests, starts, guide, heats, rng):  # type: ignore[no-untyped-def]
    """Try one move for each temperature; ``starts`` and its profile are changed together.

    A move starts a waiting request earlier, takes requests out where memory is then exceeded, and
    gives each of those, smallest volume first, its earliest start. It stays when all starts
    together are later by no more than annealing accepts.
    """
    prompt, output, waiting = requests.prompt, requests.output, guide.waiting
    last = len(usage) - 1 - output.max()
    out, was = np.empty(MOST_OUT + 1, np.int64), np.empty(MOST_OUT + 1, np.int64)
    for heat in heats:
        i = waiting[int(rng.random() * len(waiting))]
        wait = starts[i] - requests.arrival[i]
        if wait <= 0:
            continue
        if rng.random() < GRADUAL:
            earlier = int((wait + 1.0) ** rng.random())
        else:
            earlier = 1 + int(wait * rng.random())
        out[0], was[0] = i, starts[i]
        remove(usage, prompt[i], output[i], starts[i])
        starts[i] -= min(earlier, wait)
        add(usage, prompt[i], output[i], starts[i])
        count = _take_out(usage, requests, starts, guide, out, was, rng)
        left = was[0] - starts[i] + accepted_rise(heat, rng.random())
        placed = 1
        while 0 < placed < count and left >= 0:
            j = out[placed]
            starts[j] = earliest(usage, prompt[j], output[j], requests.memory, requests.arrival[j])
            add(usage, prompt[j], output[j], starts[j])
            left -= starts[j] - was[placed] if starts[j] + output[j] <= last else FAR
            placed += 1
        if count < 0 or left < 0:
            for c in range(placed):
                j = out[c]
                remove(usage, prompt[j], output[j], starts[j])
            for c in range(abs(count)):
                j = out[c]
                starts[j] = was[c]
                add(usage, prompt[j], output[j], was[c])


@compiled
def _take_out(usage, requests, starts, guide, out, was, rng):  # type: ignore[no-untyped-def]
    """Take requests out until the first of ``out`` fits; their number, negative when it does not.

    ``out`` and ``was``, their starts, are by rising volume from the second on.
    """
    prompt, output = requests.prompt, requests.output
    i, count = out[0], 1
    t = starts[i] + 1
    while t <= starts[i] + output[i]:
        excess = usage[t] - requests.memory
        if excess <= 0:
            t += 1
            continue
        if count == len(out):
            return -count
        low, high = np.searchsorted(guide.known, t - guide.reach), np.searchsorted(guide.known, t)
        best, chosen = np.inf, -1
        for _ in range(LOOKS if high > low else 0):
            j = guide.by_start[low + int(rng.random() * (high - low))]
            if not starts[j] < t <= starts[j] + output[j] or np.any(out[:count] == j):
                continue
            tokens = prompt[j] + t - starts[j]
            score = abs(tokens - excess) * (1 + rng.random()) * (2 if tokens < excess else 1)
            if score < best:
                best, chosen = score, j
        if chosen < 0:
            return -count
        remove(usage, prompt[chosen], output[chosen], starts[chosen])
        place = count
        volume = (2 * prompt[chosen] + output[chosen] + 1) * output[chosen]
        while place > 1:
            j = out[place - 1]
            if (2 * prompt[j] + output[j] + 1) * output[j] <= volume:
                break
            out[place], was[place] = j, was[place - 1]
            place -= 1
        out[place], was[place] = chosen, starts[chosen]
        count += 1
    return count
