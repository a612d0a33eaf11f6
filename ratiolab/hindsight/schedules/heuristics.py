"""Good schedules, fast: upper bounds on the hindsight optimum.

A priority list turned into starts, and simulated annealing over such lists. Results do not depend
on the machine, unless ``stop`` does.
"""

from bisect import insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

import numpy as np

from ratiolab.hindsight.params import SearchParams
from ratiolab.model import Schedule, held, peak, stream
from ratiolab.model.instance import Column, Instance

PARAMS = SearchParams()

STEPS = PARAMS.moves
"""Moves of `improved_schedule` by default."""

FEW = 10
"""Requests up to which a solve compiles nothing but this search."""

MOST_LISTED = 20_000
"""Most requests for which several list schedules are tried; each takes a second by then."""


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
    starts, _ = admitted(instance, order, (instance.memory,))
    return Schedule.from_starts(instance, starts)


def admitted(
    instance: Instance, order: Column, memories: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the starts and the replicas of requests that are admitted as in `list_schedule`.

    The first waiting request in the order goes to the replica that can start it first, of those
    whose memory it fits. Cost O(R n r + n log n).
    """
    order = np.asarray(order, np.int64)
    rank = np.empty(len(instance), np.int64)
    rank[order] = np.arange(len(instance))
    incoming = np.lexsort((rank, instance.arrival)).tolist()
    arrivals = instance.arrival[incoming].tolist()
    by_rank, ranks = order.tolist(), rank.tolist()
    prompt, output = instance.prompt.tolist(), instance.output.tolist()
    running = [_Running(memory) for memory in memories]
    starts, places = [0] * len(instance), [0] * len(instance)
    waiting: list[int] = []  # ranks, a heap
    now = arrived = 0
    while waiting or arrived < len(incoming):
        if not waiting:
            now = max(now, arrivals[arrived])
        while arrived < len(incoming) and arrivals[arrived] <= now:
            heappush(waiting, ranks[incoming[arrived]])
            arrived += 1
        i = by_rank[waiting[0]]
        start, place = min(
            (each.earliest(prompt[i], output[i], now), r)
            for r, each in enumerate(running)
            if prompt[i] + output[i] <= each.memory
        )
        if arrived < len(incoming) and arrivals[arrived] <= start:
            now = arrivals[arrived]  # a request that arrives until then may go first
            continue
        heappop(waiting)
        running[place].add(prompt[i], output[i], start)
        now = starts[i] = start
        places[i] = place
    return starts, places


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
    stop: Callable[[], bool] = lambda: False,
    found: Callable[[Schedule], None] = lambda _: None,
) -> Schedule:
    """Improve a schedule by simulated annealing over priority lists; return the first at worst.

    See `ratiolab.hindsight.schedules.annealing`.

    Parameters
    ----------
    rng : source of the moves; a generator with seed 0 when absent.
    steps : most moves, at least 0; few requests get fewer.
    stop : asked a hundred times; True ends the search.
    found : called with better schedules on the way, so that Ctrl-C does not lose them.
    """
    if not steps or len(first.instance) == 1:
        return first
    from ratiolab.hindsight.schedules.annealing import annealed  # loads the compiler

    instance, seed = first.instance, int((rng or stream(0, "search")).integers(2**31))
    best = annealed(
        instance,
        np.lexsort((instance.volume, first.starts)),
        (PARAMS.hot, PARAMS.cold),
        lambda: float(stop()),
        found,
        seed,
        min(steps, PARAMS.moves_each * len(instance)),
    )
    return min(first, best, key=lambda schedule: schedule.total_latency)


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
