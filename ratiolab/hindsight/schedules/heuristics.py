"""Good schedules, fast: upper bounds on the hindsight optimum.

Two ways to turn an order of the requests into starts, and a search over orders. Nothing here is
random but the search, whose numpy Generator and number of steps the caller gives: results do not
depend on the machine.
"""

from bisect import insort
from heapq import heappop, heappush

import numpy as np

from ratiolab.hindsight.schedules.small_search import (
    SerialInsertion,
    Stop,
    Tell,
    anneal_few,
    never,
    unheard,
)
from ratiolab.model import Schedule, held, peak, stream
from ratiolab.model.instance import Column, Instance

STEPS = 200_000
"""Steps of `improved_schedule` by default."""

FEW = 10
"""Most requests for which the search stays in Python: importing numba would take longer, and what
follows in a solve of as many needs none either."""

FEW_STEPS = 2_000
"""Most steps in Python; whoever asks for no more stays in Python up to `MEDIUM` requests."""

MEDIUM = 200
"""Most requests for which a search of few steps stays in Python."""

MOST_LISTED = 20_000
"""Most requests for which several list schedules are tried; each takes a second by then."""

LONGEST_SMALL = 20_000
"""Most rounds for which the search may stay in Python."""

LONGEST_SEARCH = 10_000_000
"""Most rounds that the search keeps a profile of."""


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
    starts = SerialInsertion(instance).place(
        np.asarray(order, np.int64).tolist(), instance.arrival.tolist()
    )
    assert starts is not None
    return Schedule.from_starts(instance, starts)


def best_list_schedule(instance: Instance) -> Schedule:
    """Return the best of the list schedules by output, volume and arrival plus output.

    Beyond `MOST_LISTED` requests it is the one by volume.
    """
    keys = [instance.output, instance.volume, instance.arrival + instance.output]
    if len(instance) > MOST_LISTED:
        keys = [instance.volume]
    listed = [list_schedule(instance, np.argsort(key, kind="stable")) for key in keys]
    return min(listed, key=lambda schedule: schedule.total_latency)


def improved_schedule(
    first: Schedule,
    rng: np.random.Generator | None = None,
    steps: int = STEPS,
    *,
    stop: Stop = never,
    found: Tell = unheard,
) -> Schedule:
    """Improve a schedule by a search over orders; the first is returned at worst.

    The search anneals the order in which requests take their earliest feasible start; a step moves
    requests to other places of the order or holds one back, as orders alone do not reach all
    schedules. Up to `FEW` requests, or few steps and not many requests, it runs in Python and ends
    after `FEW_STEPS`; otherwise it is compiled, at first use for some seconds, see
    `ratiolab.hindsight.schedules.order_search`, and a search over starts follows, see
    `ratiolab.hindsight.schedules.ejection`. Python and compiled code give different schedules, each
    the same on every machine. There is no search above `LONGEST_SEARCH` rounds.

    Parameters
    ----------
    rng : source of the steps; a generator with seed 0 when absent.
    steps : orders to try, at least 0; of orders with many rounds, fewer for the same work.
    stop : asked every few hundred steps; True ends the search.
    found : called with better schedules on the way, so that Ctrl-C does not lose them.
    """
    instance = first.instance
    n = len(instance)
    rounds = int(instance.arrival.max()) + sum(instance.output.tolist())
    if not steps or n == 1 or rounds > LONGEST_SEARCH:
        return first
    rng = rng or stream(0, "search")
    if (n <= FEW or (n <= MEDIUM and steps <= FEW_STEPS)) and rounds <= LONGEST_SMALL:
        best = anneal_few(instance, first, rng, min(steps, FEW_STEPS), stop)
    else:
        from ratiolab.hindsight.schedules.ejection import eject
        from ratiolab.hindsight.schedules.order_search import search

        best = search(first, rng, steps, stop, found)
        best = eject(min(first, best, key=_latency), rng, steps, stop, found)
    if best.total_latency < first.total_latency:
        found(best)
    return min(first, best, key=_latency)


def _latency(schedule: Schedule) -> int:
    return schedule.total_latency


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
        """Return the first start from this one on that fits the running requests to the end.

        Between completions usage grows, so only completions are checked, the own one included.
        """
        while True:
            own, least, base, active, last = start + output, start, 0, 0, 0
            for end, constant in (*reversed(self.stays), (0, 0)):
                if end < own <= last and base + active * own + peak(prompt, output) > self.memory:
                    # until the next completion usage only grows: complete after it
                    least = max(least, last + 1 - output)
                if end <= start:
                    break
                base, active, last = base + constant, active + 1, end
                if end <= own:
                    # either this completion lies before the start, or tokens held then must fit
                    excess = base + active * end + held(prompt, end - start) - self.memory
                    least = max(least, min(end, start + excess))
            if least == start:
                return start
            start = least
