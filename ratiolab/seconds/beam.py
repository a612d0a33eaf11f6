"""Good schedules in seconds: beams of a portfolio of settings, the narrow ones first."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ratiolab.model import Instance, IntArray
from ratiolab.model.streams import stream
from ratiolab.online.clock import BatchTime
from ratiolab.seconds.beam_kernels import (
    BEST,
    DONE,
    FLOATS,
    INTEGERS,
    LEFT,
    LIVE,
    LOG,
    LOGGED,
    NUMBERS,
    SPANS,
    Front,
    Guide,
    Pool,
    Taste,
    beam,
    compact,
)
from ratiolab.seconds.duals import Parts, machine_prices, parts_of
from ratiolab.seconds.order_kernels import Timed

CELLS, COARSE = 1500, 300
"""Most and fewest cells of time of the prices that guide a beam, as there is room."""

BEYOND = 1.3
"""Times the end of the machine's work up to which there are prices."""

NARROW = 10
"""States that a beam of each setting keeps, if time allows."""

CANDIDATES = 12
"""Requests that a state may start next."""

CHUNK = 1000
"""States that are gone on with between two looks at the time."""

LARGEST = 2 * 10**8
"""Bytes of the states of a beam, at most."""

MOST_REQUESTS = LARGEST // (4 * COARSE)
"""Most requests of a beam: those for which there is room for `COARSE` cells."""

WIDEST = LARGEST // (4 * 3 * 8 * CANDIDATES)
"""Most states that a beam keeps: the log of its starts takes `LARGEST` bytes."""


class Setting(NamedTuple):
    """How a beam compares states.

    Parameters
    ----------
    stretch : factor on all works, for the memory that stays idle.
    weight : weight of idle memory that is foreseen.
    ahead : batches in which it is.
    batches : fixed times of a batch in whose span states are compared.
    lag : part of the time from a start to the mean of its work that is counted.
    """

    stretch: float
    weight: float
    ahead: int
    batches: float
    lag: float = 1.0


PORTFOLIO = (
    Setting(1.1, 0.3, 12, 4),
    Setting(1.07, 0.6, 6, 10, 0.5),
    Setting(1.0, 0.15, 6, 2, 1.2),
    Setting(1.2, 0.15, 6, 4, 1.2),
    Setting(1.045, 0.3, 12, 7),
    Setting(1.02, 0.3, 12, 4, 0.5),
    Setting(1.07, 0.3, 25, 2, 1.2),
    Setting(1.15, 1.0, 6, 4),
    Setting(1.03, 0.6, 25, 7),
    Setting(1.045, 0.15, 12, 7, 0.5),
    Setting(1.07, 0.3, 25, 15),
    Setting(1.0, 1.0, 12, 7),
)
"""Settings of the beams in the order in which they are tried."""


def cells_of(instance: Instance) -> int:
    """Return the number of cells of the prices, for which there is room for all requests."""
    return min(CELLS, LARGEST // (4 * len(instance)))


def guide_of(instance: Instance, clock: BatchTime, parts: Parts, setting: Setting) -> Guide:
    """Return the prices of a setting and what they make of each request."""
    n, cells = len(instance), cells_of(instance)
    prompt, output = instance.prompt, instance.output
    own = clock.prefill * prompt + clock.decode * (output - 1)
    own = own + clock.kv * (prompt * (output - 1) + output * (output - 1) / 2)
    share = clock.fixed * instance.volume / instance.memory
    batch = clock.fixed * (1 + 0.95 * own.sum() / share.sum())  # in the mean, with memory full
    work = parts.work * setting.stretch
    first = clock.prefill * prompt + clock.fixed * (prompt + 1) / instance.memory
    lag = setting.lag * batch * output / 2 * (1 - first / parts.work)
    width, price = machine_prices(parts, cells, BEYOND, setting.stretch)
    middle = (np.arange(cells) + 0.5) * width
    later = (lag / width).astype(np.int64)
    soonest = np.minimum((parts.due / width).astype(np.int64) + later, cells - 1)
    regret = np.empty((n, cells), np.float32)
    least = np.empty(n)
    for i in range(n):
        cost = np.maximum(middle, parts.due[i]) + price * work[i]
        from_now = np.minimum.accumulate(cost[::-1])[::-1]
        least[i] = from_now[soonest[i]]
        regret[i] = np.maximum(from_now, least[i]) - least[i]
        regret[i, : soonest[i]] = 0
    by_work = np.argsort(parts.work, kind="stable")
    rank = np.empty(n, np.int64)
    rank[by_work] = np.arange(n)
    code = stream(0, "hashes").integers(1, 2**62, n)
    return Guide(width, price, later, work, least, regret, by_work, rank, code)


def pool_of(timed: Timed, states: int) -> Pool:
    """Return room for the states of a beam, within `LARGEST` bytes."""
    running, words = timed.running + 1, len(timed.due) // 64 + 1
    size = min(200 * states + 4000, LARGEST // (16 * running + 8 * (words + INTEGERS + FLOATS)))
    return Pool(
        np.zeros((size, INTEGERS), np.int64),
        np.zeros((size, FLOATS)),
        np.zeros((size, running), np.int64),
        np.zeros((size, running), np.int64),
        np.zeros((size, words), np.uint64),
        np.zeros(size, np.int64),
    )


def first_of(timed: Timed, states: int) -> tuple[Pool, Front]:
    """Return the room of a beam with its first state, on which nothing has arrived."""
    pool, numbers = pool_of(timed, states), np.zeros(NUMBERS, np.int64)
    size = len(pool.whole)
    front = Front(np.full(SPANS, -1), np.arange(size - 1, -1, -1), numbers, np.full(1, np.inf))
    front.head[0] = 0
    pool.following[0] = pool.whole[0, LOG] = numbers[BEST] = -1
    numbers[LIVE], numbers[LEFT] = 1, size - 1
    return pool, front


def started(
    timed: Timed, guide: Guide, setting: Setting, states: int, used: Callable[[], float]
) -> tuple[float, IntArray, int]:
    """Run a beam: the least sum of completions, picoseconds, when each starts, states gone on with.

    The sum is infinite, and the starts are all 0, if ``used`` gets to 1 before the end: it is asked
    after each `CHUNK` of states.
    """
    n, span = len(timed.due), int(setting.batches * timed.fixed)
    taste = Taste(states, CANDIDATES, setting.ahead, setting.weight, span)
    pool, front = first_of(timed, states)
    numbers = front.number
    room = CANDIDATES * (CHUNK + states)
    log = np.zeros((4 * (n + room), 3), np.int64)
    while numbers[LIVE] and used() < 1:
        beam(timed, guide, taste, pool, front, log, CHUNK)
        if numbers[LOGGED] + room > len(log):
            compact(pool, front, log)
            if 2 * numbers[LOGGED] > len(log):
                log = np.concatenate([log, np.zeros_like(log)])
    starts = np.zeros(n, np.int64)
    if numbers[LIVE]:
        return np.inf, starts, int(numbers[DONE])
    last = numbers[BEST]
    while last >= 0:
        last, request, now = log[last]
        starts[request] = now
    return float(front.least[0]), starts, int(numbers[DONE])


def beams(
    instance: Instance,
    clock: BatchTime,
    timed: Timed,
    used: Callable[[], float],
    seconds: float,
) -> IntArray | None:
    """Return when each request starts in the best schedule that beams find, in batches.

    A beam of one state tells how long a beam takes. Then all settings have a narrow one, the better
    third of them one three times wider, and so on. No other beam begins that would not end in time.

    Parameters
    ----------
    used : returns the part of the time that is used.
    seconds : all of it.

    Returns
    -------
    Starts; None when there is not enough time or memory for any beam.
    """
    if len(instance) > MOST_REQUESTS:
        return None
    parts = parts_of(instance, clock, refills=False, groups=1)
    least, found = np.inf, None
    longest = 0.0  # seconds of a beam, for each state that it keeps
    width = 1
    settings: tuple[Setting, ...] = PORTFOLIO[:1]
    while True:
        ranked = []
        for place, setting in enumerate(settings):
            left = (1 - used()) * seconds
            if longest * width > left or left <= 0 or width > WIDEST:
                return found
            guide = guide_of(instance, clock, parts, setting)
            total, starts, _ = started(timed, guide, setting, width, used)
            took = left - (1 - used()) * seconds
            longest = max(longest if place else 0.0, took / width)
            ranked.append((total, place))
            if total < least:
                least, found = total, starts
        if width == 1:
            settings = PORTFOLIO
            width = NARROW if longest * NARROW <= (1 - used()) * seconds else NARROW // 3
        else:
            best = sorted(ranked)[: -(-len(ranked) // 3)]
            settings, width = tuple(settings[place] for _, place in best), 3 * width
