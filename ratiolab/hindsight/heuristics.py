"""Good schedules, fast: upper bounds on the hindsight optimum.

Two ways to turn an order of the requests into starts, and a search over orders. Nothing here is
random but the search, whose numpy Generator and number of steps the caller gives: results do not
depend on the machine.
"""

import math
from bisect import insort
from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np

from ratiolab.model.footprint import IntArray, held, peak
from ratiolab.model.instance import Column, Instance
from ratiolab.model.schedule import Schedule

STEPS = 2_000
"""Orders that `good_schedule` tries by default."""

LARGEST_SEARCH = 200
"""Most requests for which `good_schedule` searches over orders."""

LONGEST_SEARCH = 20_000
"""Most rounds that `serial_schedule` keeps a profile of within `good_schedule`."""

WARMTH = 0.01
"""First temperature of the search, as a part of the latency per square root of requests."""


def list_schedule(instance: Instance, order: Column) -> Schedule:
    """Admit, at every round, the longest feasible prefix of the arrived requests in this order.

    A request is admitted when memory holds it and all running requests until they complete. This
    is the rule of MC-SF for any fixed order; sorted by output it is MC-SF itself.

    Time jumps from start to start: as long as the first waiting request does not fit, nothing
    changes but completions and arrivals. Cost O(n r + n log n), r the most requests that run at
    once.

    Source: Jaillet et al. (2025), Algorithm 1, arXiv 2502.07115v5.

    >>> three = Instance("three", 5, [0, 0, 0], [1, 1, 1], [3, 1, 2])
    >>> list_schedule(three, [1, 2, 0]).starts.tolist()
    [1, 0, 0]
    """
    order = np.asarray(order, np.int64)
    rank = np.empty(len(instance), np.int64)
    rank[order] = np.arange(len(instance))
    incoming = np.lexsort((rank, instance.arrival)).tolist()
    arrivals = instance.arrival[incoming].tolist()
    by_rank, ranks = order.tolist(), rank.tolist()
    prompt, output = instance.prompt.tolist(), instance.output.tolist()
    running = _Running(instance.memory)
    starts = [0] * len(instance)
    waiting: list[int] = []  # ranks, a heap
    now = arrived = 0
    while waiting or arrived < len(incoming):
        if not waiting:
            now = max(now, arrivals[arrived])
        while arrived < len(incoming) and arrivals[arrived] <= now:
            heappush(waiting, ranks[incoming[arrived]])
            arrived += 1
        i = by_rank[waiting[0]]
        start = running.earliest(prompt[i], output[i], now)
        if arrived < len(incoming) and arrivals[arrived] <= start:
            now = arrivals[arrived]  # whoever arrives until then may go first
            continue
        heappop(waiting)
        running.add(prompt[i], output[i], start)
        now = starts[i] = start
    return Schedule.from_starts(instance, starts)


def serial_schedule(instance: Instance, order: Column) -> Schedule:
    """Give each request in this order the earliest start that memory still allows.

    Later requests may fill gaps that earlier ones left. No order need lead to an optimum: a
    growing footprint can make a start feasible and a later start, which blocks less, better.
    Keeps a profile of all rounds: for instances of up to some ten thousand rounds.

    >>> three = Instance("three", 5, [0, 0, 0], [1, 1, 1], [3, 1, 2])
    >>> serial_schedule(three, [0, 1, 2]).starts.tolist()
    [0, 0, 3]
    """
    starts = _Profile(instance).place(
        np.asarray(order, np.int64).tolist(), instance.arrival.tolist()
    )
    assert starts is not None
    return Schedule.from_starts(instance, starts)


def good_schedule(
    instance: Instance, rng: np.random.Generator | None = None, steps: int = STEPS
) -> Schedule:
    """The best schedule found: the best list schedule, then a search; see `improved_schedule`."""
    return improved_schedule(best_list_schedule(instance), rng, steps)


def best_list_schedule(instance: Instance) -> Schedule:
    """The best of the list schedules by output, volume and arrival plus output."""
    keys = (instance.output, instance.volume, instance.arrival + instance.output)
    listed = [list_schedule(instance, np.argsort(key, kind="stable")) for key in keys]
    return min(listed, key=lambda schedule: schedule.total_latency)


def improved_schedule(
    first: Schedule, rng: np.random.Generator | None = None, steps: int = STEPS
) -> Schedule:
    """A schedule at least as good as the first, by a search over orders.

    The search anneals the order of `serial_schedule`: a step moves one request to another place
    or, one time in n, holds one back. It is left out above `LARGEST_SEARCH` requests or
    `LONGEST_SEARCH` rounds.

    Parameters
    ----------
    rng : source of the steps; a generator with seed 0 when absent.
    steps : orders to try, at least 0.
    """
    instance = first.instance
    rounds = int(instance.arrival.max()) + sum(instance.output.tolist())
    if not steps or not 1 < len(instance) <= LARGEST_SEARCH or rounds > LONGEST_SEARCH:
        return first
    found = _anneal(instance, first, rng or np.random.default_rng(0), steps)
    return min(first, found, key=lambda schedule: schedule.total_latency)


def _anneal(instance: Instance, first: Schedule, rng: np.random.Generator, steps: int) -> Schedule:
    """Anneal an order and, for each request, a round before which it may not start."""
    n, profile = len(instance), _Profile(instance)
    arrival = instance.arrival.tolist()
    order: list[int] = np.lexsort((instance.volume, first.starts)).tolist()
    release = list(arrival)
    found = profile.place(order, release)
    assert found is not None
    starts = best = found
    value = best_value = profile.latency(starts)
    for step in range(steps):
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


class _Running:
    """Requests in memory, by completion: tokens at time t are, for each, base + t."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.stays: list[tuple[int, int]] = []  # (completion, base), ascending

    def add(self, prompt: int, output: int, start: int) -> None:
        done = 0
        while done < len(self.stays) and self.stays[done][0] <= start:
            done += 1
        del self.stays[:done]
        insort(self.stays, (start + output, held(prompt, -start)))

    def earliest(self, prompt: int, output: int, start: int) -> int:
        """First start from this one on that fits the running requests to the end.

        Between completions usage grows, so only completions are checked, the own one included.
        """
        while True:
            later = self._later(prompt, output, start)
            if later == start:
                return start
            start = later

    def _later(self, prompt: int, output: int, start: int) -> int:
        """The start itself when it fits, else a later one before which none fits."""
        own, least = start + output, start
        base = active = 0
        for end, constant in reversed(self.stays):
            if end <= start:
                break
            base, active = base + constant, active + 1
            if end <= own:
                # either this completion lies before the start, or tokens held then must fit
                excess = base + active * end + held(prompt, end - start) - self.memory
                least = max(least, min(end, start + excess))
        base = active = 0
        next_end = own
        for end, constant in reversed(self.stays):
            if end < own:
                break
            base, active, next_end = base + constant, active + 1, end
        if active and base + active * own + peak(prompt, output) > self.memory:
            # until the next completion usage only grows: complete after it
            least = max(least, next_end + 1 - output)
        return least


class _Profile:
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
        """Earliest starts in this order, the first ``keep`` as known; None beyond the limit."""
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
