"""The search over orders in plain Python, for so few requests that compiling would take longer."""

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from ratiolab.model import Instance, IntArray, Schedule

Stop: TypeAlias = Callable[[], bool]
"""A question, asked now and then: is the search to end?"""

Tell: TypeAlias = Callable[[Schedule], None]
"""What is told of better schedules on the way, so that Ctrl-C does not lose them."""

WARMTH = 0.01
"""First temperature of the search, as a part of the latency per square root of requests."""


def never() -> bool:
    """Do not end a search."""
    return False


def unheard(schedule: Schedule) -> None:
    """Tell nobody."""


def anneal_few(
    instance: Instance, first: Schedule, rng: np.random.Generator, steps: int, stop: Stop = never
) -> Schedule:
    """Anneal an order and, for each request, a round before which it may not start."""
    n, profile = len(instance), SerialInsertion(instance)
    arrival = instance.arrival.tolist()
    order: list[int] = np.lexsort((instance.volume, first.starts)).tolist()
    release = list(arrival)
    found = profile.place(order, release)
    assert found is not None
    starts = best = found
    value = best_value = profile.latency(starts)
    for step in range(steps):
        if stop():
            break
        heat = WARMTH * best_value / n**0.5 * (1 - step / steps)
        limit = math.floor(value - heat * math.log(1.0 - rng.random()))
        one, other, kind = (int(x) for x in rng.integers(n, size=3))
        new_order, new_release, i = list(order), list(release), order[one]
        if kind == 0:
            # hold a request back by a round or let it go: orders alone do not reach all schedules
            held_back = release[i] > arrival[i]
            new_release[i] = arrival[i] if held_back else min(starts[i] + 1, profile.end)
            other = one
        elif one != other:
            new_order.insert(other, new_order.pop(one))
        else:
            continue
        found = profile.place(new_order, new_release, starts, min(one, other), limit)
        if found is not None:
            order, release, starts, value = new_order, new_release, found, profile.latency(found)
            if value < best_value:
                best, best_value = starts, value
    return Schedule.from_starts(instance, best)


class SerialInsertion:
    """Serial insertion over a dense profile of memory, for one instance and many orders."""

    def __init__(self, instance: Instance) -> None:
        tokens = int(instance.output.sum())
        self.end = int(instance.arrival.max()) + tokens
        # released by the end, all complete one after another within as much time again
        rounds = self.end + tokens + 1
        self.memory = instance.memory
        self.arrival, self.output = instance.arrival.tolist(), instance.output.tolist()
        self.ramp: list[IntArray] = [
            instance.prompt[i] + np.arange(1, o + 1) for i, o in enumerate(self.output)
        ]
        self.time = np.arange(rounds)
        self.usage: IntArray = np.empty(rounds, np.int64)

    def latency(self, starts: Iterable[int]) -> int:
        return int(sum(starts) + sum(self.output) - sum(self.arrival))

    def place(
        self,
        order: list[int],
        release: list[int],
        known: list[int] | None = None,
        keep: int = 0,
        limit: int | None = None,
    ) -> list[int] | None:
        """Return the earliest starts in this order, the first ``keep`` as known; or None."""
        usage, time = self.usage, self.time
        usage.fill(-self.memory)
        starts = list(known or self.arrival)
        total = sum(self.output)
        for position, i in enumerate(order):
            output, ramp = self.output[i], self.ramp[i]
            if position < keep:
                start = starts[i]
            else:
                start, later = -1, release[i]
                while later > start:
                    start = later
                    window = slice(start + 1, start + output + 1)
                    # at each time: start after it, or so late that memory suffices then
                    excess = usage[window] + ramp
                    excess += start
                    later = int(np.minimum(excess, time[window]).max())
                starts[i] = start
            total += start - self.arrival[i]
            if limit is not None and total > limit:
                return None
            usage[start + 1 : start + output + 1] += ramp
        return starts
