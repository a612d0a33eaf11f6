"""The compiled beam over schedules in seconds, guided by prices of machine time.

A state is a schedule up to a moment: what runs, what waits, what it has cost. It goes on by
starting a waiting request that fits for good, or by the next batches, up to one after which
something new can start. Nothing is evicted. States of one span of time are compared with each
other by what they have cost and will cost at the prices:

- the *regret* of each start, the latency of a request at its start (and price of its work) beyond
  the least over all times;
- the least regret still possible of each request that waits;
- the price of memory that was idle, and of what stays idle soon if nothing else starts.

For any schedule, latency = a constant + regrets + the priced idle memory, if prices are those of a
machine that is always full.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.arrays import compiled
from ratiolab.model.footprint import IntArray

NOW, TIME, HOLD, RUNNING, ARRIVED, LOG, STARTED, HASH, INTEGERS = range(9)
COST, SCORE, TOTAL, FLOATS = range(4)
SPANS = 4096
"""Spans of time ahead in which states wait; later ones are put into the last."""

TRIED = 60
"""Waiting requests, the least work first, that are looked at in a state."""


class Guide(NamedTuple):
    """Cost of a state at the prices; times in seconds from the first arrival.

    Parameters
    ----------
    width : of a cell of time.
    price : of a second of the machine, in each cell.
    lag : of each request, from its start to the mean time of its work.
    work, least : of each request, seconds, and its least latency at the prices.
    regret : of each request the least regret of starting in a cell or later, shape (n, cells).
    by_work, rank : requests, the least work first, and the place of each in that order.
    code : of each request, a random number.
    """

    width: float
    price: NDArray[np.float64]
    lag: NDArray[np.float64]
    work: NDArray[np.float64]
    least: NDArray[np.float64]
    regret: NDArray[np.float32]
    by_work: IntArray
    rank: IntArray
    code: IntArray


class Taste(NamedTuple):
    """How states are compared.

    Parameters
    ----------
    states : of a span that are gone on with.
    candidates : requests that a state may start next.
    ahead : batches in which idle memory is foreseen.
    weight : of it.
    span : picoseconds in which states are compared.
    """

    states: int
    candidates: int
    ahead: int
    weight: float
    span: int


class Pool(NamedTuple):
    """States: numbers, ends of runs and what they would hold at round 0, ranks that wait, bits."""

    whole: IntArray
    real: NDArray[np.float64]
    end: IntArray
    base: IntArray
    waiting: NDArray[np.uint64]
    following: IntArray


@compiled
def fits(timed, pool, x, i):  # type: ignore[no-untyped-def]
    """Return whether a request fits beside what runs, until it completes."""
    now, running = pool.whole[x, NOW], pool.whole[x, RUNNING]
    s, o = timed.prompt[i], timed.output[i]
    stop, base, total, count = now + o, s - now, 0, 0
    k = running - 1
    while k >= 0 and pool.end[x, k] >= stop:
        total += pool.base[x, k]
        count += 1
        k -= 1
    if total + count * stop + s + o > timed.memory:
        return False
    while k >= 0:
        total += pool.base[x, k]
        count += 1
        if total + count * pool.end[x, k] + base + pool.end[x, k] > timed.memory:
            return False
        k -= 1
    return True


@compiled
def copied(pool, x, y):  # type: ignore[no-untyped-def]
    """Copy a state."""
    for k in range(INTEGERS):
        pool.whole[y, k] = pool.whole[x, k]
    for k in range(FLOATS):
        pool.real[y, k] = pool.real[x, k]
    for k in range(pool.whole[x, RUNNING]):
        pool.end[y, k], pool.base[y, k] = pool.end[x, k], pool.base[x, k]
    for k in range(pool.waiting.shape[1]):
        pool.waiting[y, k] = pool.waiting[x, k]


@compiled
def cell_of(guide, i, time):  # type: ignore[no-untyped-def]
    """Return the cell of the mean time of a request's work if it starts then."""
    cell = int((time * 1e-12 + guide.lag[i]) / guide.width)
    return min(cell, len(guide.price) - 1)


@compiled
def ahead_of(timed, guide, taste, pool, x):  # type: ignore[no-untyped-def]
    """Return the price of memory that stays idle soon if nothing starts."""
    whole = pool.whole[x]
    now, running, total = whole[NOW], whole[RUNNING], whole[HOLD]
    cell = min(int(whole[TIME] * 1e-12 / guide.width), len(guide.price) - 1)
    idle, k = 0.0, 0
    for g in range(taste.ahead):
        while k < running and pool.end[x, k] < now + g + 1:
            total -= pool.base[x, k]
            k += 1
        use = total + (running - k) * (now + g + 1)
        idle += (1.0 - g / taste.ahead) * (1.0 - use / timed.memory)
    return taste.weight * guide.price[cell] * timed.fixed * 1e-12 * idle


@compiled
def arrive(timed, guide, pool, x):  # type: ignore[no-untyped-def]
    """Let the requests that are due wait."""
    whole = pool.whole[x]
    while whole[ARRIVED] < len(timed.due):
        i = timed.by_due[whole[ARRIVED]]
        if timed.due[i] > whole[TIME]:
            break
        r = guide.rank[i]
        pool.waiting[x, r >> 6] |= np.uint64(1) << np.uint64(r & 63)
        whole[ARRIVED] += 1


@compiled
def some_fits(timed, guide, pool, x, most):  # type: ignore[no-untyped-def]
    """Return whether one of the first that wait fits."""
    seen = 0
    for word in range(pool.waiting.shape[1]):
        bits, r = pool.waiting[x, word], word << 6
        while bits:
            if bits & np.uint64(1):
                if fits(timed, pool, x, guide.by_work[r]):
                    return True
                seen += 1
                if seen == most:
                    return False
            bits >>= np.uint64(1)
            r += 1
    return False


@compiled
def begun(timed, guide, pool, y, i):  # type: ignore[no-untyped-def]
    """Start a request in a state."""
    whole = pool.whole[y]
    r, now = guide.rank[i], whole[NOW]
    pool.waiting[y, r >> 6] &= ~(np.uint64(1) << np.uint64(r & 63))
    stop, base, k = now + timed.output[i], timed.prompt[i] - now, whole[RUNNING]
    while k and pool.end[y, k - 1] > stop:
        pool.end[y, k], pool.base[y, k] = pool.end[y, k - 1], pool.base[y, k - 1]
        k -= 1
    pool.end[y, k], pool.base[y, k] = stop, base
    whole[RUNNING] += 1
    whole[HOLD] += base
    whole[STARTED] += 1
    whole[HASH] += guide.code[i] * (2 * now + 1)
    cell = cell_of(guide, i, whole[TIME])
    at = (cell + 0.5) * guide.width + guide.price[cell] * guide.work[i]
    pool.real[y, COST] += max(0.0, at - guide.least[i])


@compiled
def run_on(timed, guide, pool, x, prefill, fresh, blocked):  # type: ignore[no-untyped-def]
    """Do batches up to an arrival, a completion, or one after which something fits."""
    whole, real = pool.whole[x], pool.real[x]
    while True:
        now, running = whole[NOW], whole[RUNNING]
        cached = whole[HOLD] + running * now
        batch = timed.fixed + timed.prefill * prefill + timed.decode * (running - fresh)
        batch += timed.kv * (cached - prefill)
        cell = min(int(whole[TIME] * 1e-12 / guide.width), len(guide.price) - 1)
        idle = 1.0 - (cached + running) / timed.memory
        real[COST] += timed.fixed * 1e-12 * idle * guide.price[cell]
        whole[TIME] += batch
        whole[NOW] = now + 1
        prefill, fresh, gone = 0, 0, 0
        while gone < running and pool.end[x, gone] == now + 1:
            whole[HOLD] -= pool.base[x, gone]
            real[TOTAL] += whole[TIME]
            gone += 1
        if gone:
            for k in range(gone, running):
                pool.end[x, k - gone], pool.base[x, k - gone] = pool.end[x, k], pool.base[x, k]
            whole[RUNNING] -= gone
            break
        arrived = whole[ARRIVED]
        if arrived < len(timed.due) and timed.due[timed.by_due[arrived]] <= whole[TIME]:
            break
        if blocked and some_fits(timed, guide, pool, x, 20):
            break


@compiled
def regret_of_waiting(guide, pool, x):  # type: ignore[no-untyped-def]
    """Return the regrets of a state's waiting requests if they start now, and whether any waits."""
    total, any_waits = 0.0, False
    for word in range(pool.waiting.shape[1]):
        bits, r = pool.waiting[x, word], word << 6
        while bits:
            if bits & np.uint64(1):
                any_waits = True
                i = guide.by_work[r]
                total += guide.regret[i, cell_of(guide, i, pool.whole[x, TIME])]
            bits >>= np.uint64(1)
            r += 1
    return total, any_waits


@compiled
def beam(timed, guide, taste, pool, log, most, over):  # type: ignore[no-untyped-def]
    """Return the least sum of completion times, picoseconds, its place in the log, and states.

    Parameters
    ----------
    pool : room for states; the first one is written here.
    log : of each start its state's start before, the request and the round; shape (starts, 3).
    most, over : states that may be gone on with, and whether it is to end, shape (1,): then the
        beam ends with infinity.
    """
    n, size = len(timed.due), len(pool.whole)
    head = np.full(SPANS, -1, np.int64)
    free = np.arange(size - 1, -1, -1)
    left, logged, done = size, 0, 0
    best, best_log = np.inf, -1
    starts_of = np.zeros(n + 2, np.int64)
    layer, scores = np.empty(size, np.int64), np.empty(size)
    moved = np.empty(size, np.int64)
    left -= 1
    x = free[left]
    pool.whole[x, :], pool.real[x, :], pool.waiting[x, :] = 0, 0.0, np.uint64(0)
    pool.whole[x, LOG] = -1
    pool.following[x], head[0] = -1, x
    live, span = 1, 0
    while live:
        x = head[span % SPANS]
        if x < 0:
            span += 1
            continue
        count = 0
        while x >= 0:
            layer[count], scores[count] = x, pool.real[x, SCORE]
            count += 1
            x = pool.following[x]
        head[span % SPANS] = -1
        live -= count
        order = np.argsort(scores[:count])
        kept = 0
        for place in range(count):
            x = layer[order[place]]
            same = kept == taste.states or starts_of[pool.whole[x, STARTED]] > max(
                1, taste.states // 3 - 1
            )
            back = kept - 1
            while not same and back >= 0 and back >= kept - 8:
                y = moved[back]
                same = pool.whole[y, HASH] == pool.whole[x, HASH]
                same = same and pool.whole[y, NOW] == pool.whole[x, NOW]
                back -= 1
            if same:
                free[left] = x
                left += 1
                continue
            starts_of[pool.whole[x, STARTED]] += 1
            moved[kept] = x
            kept += 1
        for place in range(kept):
            starts_of[pool.whole[moved[place], STARTED]] = 0
        for place in range(kept):
            x = moved[place]
            done += 1
            if done > most or over[0]:
                return np.inf, -1, done
            arrive(timed, guide, pool, x)
            whole = pool.whole[x]
            waits, any_waits = regret_of_waiting(guide, pool, x)
            tried, started = 0, 0
            for word in range(pool.waiting.shape[1]):
                bits, r = pool.waiting[x, word], word << 6
                while bits and tried < TRIED and started < taste.candidates:
                    if bits & np.uint64(1):
                        tried += 1
                        i = guide.by_work[r]
                        if fits(timed, pool, x, i) and left and logged < len(log):
                            started += 1
                            left -= 1
                            y = free[left]
                            copied(pool, x, y)
                            begun(timed, guide, pool, y, i)
                            log[logged, 0], log[logged, 1] = pool.whole[x, LOG], i
                            log[logged, 2] = whole[NOW]
                            pool.whole[y, LOG] = logged
                            logged += 1
                            rest = waits - guide.regret[i, cell_of(guide, i, whole[TIME])]
                            soon = ahead_of(timed, guide, taste, pool, y)
                            pool.real[y, SCORE] = pool.real[y, COST] + rest + soon
                            pool.following[y], head[span % SPANS] = head[span % SPANS], y
                            live += 1
                    bits >>= np.uint64(1)
                    r += 1
            if not whole[RUNNING]:
                if started or whole[ARRIVED] == n:  # or there was no room to start any
                    free[left] = x
                    left += 1
                    continue
                due = timed.due[timed.by_due[whole[ARRIVED]]]
                cell = min(int(whole[TIME] * 1e-12 / guide.width), len(guide.price) - 1)
                pool.real[x, COST] += guide.price[cell] * (due - whole[TIME]) * 1e-12
                whole[TIME] = due
            else:
                prefill, fresh, back = 0, 0, whole[LOG]
                while back >= 0 and log[back, 2] == whole[NOW]:
                    prefill += timed.prompt[log[back, 1]]
                    fresh += 1
                    back = log[back, 0]
                run_on(timed, guide, pool, x, prefill, fresh, any_waits and not started)
            arrive(timed, guide, pool, x)
            waits, _ = regret_of_waiting(guide, pool, x)
            if not whole[RUNNING] and whole[STARTED] == n:
                if pool.real[x, TOTAL] < best:
                    best, best_log = pool.real[x, TOTAL], whole[LOG]
                free[left] = x
                left += 1
                continue
            pool.real[x, SCORE] = pool.real[x, COST] + waits
            pool.real[x, SCORE] += ahead_of(timed, guide, taste, pool, x)
            into = min(max(whole[TIME] // taste.span, span), span + SPANS - 1)
            pool.following[x], head[into % SPANS] = head[into % SPANS], x
            live += 1
    return best, best_log, done
