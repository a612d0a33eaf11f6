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

from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

NOW, TIME, HOLD, RUNNING, ARRIVED, LOG, STARTED, HASH, CELL, INTEGERS = range(10)
COST, SCORE, TOTAL, WAITS, NEXT, FLOATS = range(6)
SPAN, LIVE, LEFT, LOGGED, DONE, BEST, NUMBERS = range(7)
SPANS = 4096
"""Spans of time ahead in which states wait; later ones are put into the last."""

TRIED = 60
"""Waiting requests, the least work first, that are looked at in a state."""


class Guide(NamedTuple):
    """Cost of a state at the prices; times in seconds from the first arrival.

    Parameters
    ----------
    width : width of a cell of time.
    price : price of a second of the machine, in each cell.
    lag : of each request the cells from its start to the mean time of its work.
    work, least : of each request, seconds, and its least latency at the prices.
    regret : of each request the least regret of having the mean time of its work in a cell or
        later, shape (n, cells).
    by_work, rank : requests, the least work first, and the place of each in that order.
    code : of each request, a random number.
    """

    width: float
    price: NDArray[np.float64]
    lag: IntArray
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
    states : largest number of states of a span that are expanded.
    candidates : requests that a state may start next.
    ahead : batches in which idle memory is foreseen.
    weight : weight of foreseen idle memory.
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


class Front(NamedTuple):
    """How far a beam is: states that wait in each span, places that are free, numbers, least total.

    The numbers are the span, the states that wait, the places that are free, starts in the log,
    states gone on with, and the place in the log of the best end.
    """

    head: IntArray
    free: IntArray
    number: IntArray
    least: NDArray[np.float64]


@inner
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


@inner
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


@inner
def cell_at(guide, time):  # type: ignore[no-untyped-def]
    """Return the cell of a time in picoseconds, and which part of it has passed."""
    at = time * 1e-12 / guide.width
    cell = min(int(at), len(guide.price) - 1)
    return cell, min(1.0, at - cell)


@inner
def regret_in(guide, i, cell):  # type: ignore[no-untyped-def]
    """Return the least regret of a request that starts in a cell or later."""
    return guide.regret[i, min(cell + guide.lag[i], len(guide.price) - 1)]


@inner
def ahead_of(timed, guide, taste, pool, x):  # type: ignore[no-untyped-def]
    """Return the price of memory that stays idle soon if nothing starts."""
    whole = pool.whole[x]
    now, running, total = whole[NOW], whole[RUNNING], whole[HOLD]
    cell, _ = cell_at(guide, whole[TIME])
    idle, k = 0.0, 0
    for g in range(taste.ahead):
        while k < running and pool.end[x, k] < now + g + 1:
            total -= pool.base[x, k]
            k += 1
        use = total + (running - k) * (now + g + 1)
        idle += (1.0 - g / taste.ahead) * (1.0 - use / timed.memory)
    return taste.weight * guide.price[cell] * timed.fixed * 1e-12 * idle


@inner
def arrive(timed, guide, pool, x):  # type: ignore[no-untyped-def]
    """Let the requests that are due wait."""
    whole = pool.whole[x]
    while whole[ARRIVED] < len(timed.due):
        i = timed.by_due[whole[ARRIVED]]
        if timed.due[i] > whole[TIME]:
            break
        r = guide.rank[i]
        pool.waiting[x, r >> 6] |= np.uint64(1) << np.uint64(r & 63)
        pool.real[x, WAITS] += regret_in(guide, i, whole[CELL])
        pool.real[x, NEXT] += regret_in(guide, i, whole[CELL] + 1)
        whole[ARRIVED] += 1


@inner
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


@inner
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
    cell, part = cell_at(guide, whole[TIME])
    for later in range(2):
        at = min(cell + later + guide.lag[i], len(guide.price) - 1)
        cost = (at + 0.5) * guide.width + guide.price[at] * guide.work[i]
        weight = part if later else 1.0 - part
        pool.real[y, COST] += weight * max(0.0, cost - guide.least[i])
    pool.real[y, WAITS] -= regret_in(guide, i, cell)
    pool.real[y, NEXT] -= regret_in(guide, i, cell + 1)


@inner
def run_on(timed, guide, pool, x, prefill, fresh, blocked):  # type: ignore[no-untyped-def]
    """Do batches up to an arrival, a completion, or one after which something fits."""
    whole, real = pool.whole[x], pool.real[x]
    while True:
        now, running = whole[NOW], whole[RUNNING]
        cached = whole[HOLD] + running * now
        batch = timed.fixed + timed.prefill * prefill + timed.decode * (running - fresh)
        batch += timed.kv * (cached - prefill)
        cell, _ = cell_at(guide, whole[TIME])
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


@inner
def recounted(guide, pool, x):  # type: ignore[no-untyped-def]
    """Count anew the regrets of requests that wait, where a state has come to another cell."""
    cell, _ = cell_at(guide, pool.whole[x, TIME])
    if cell == pool.whole[x, CELL]:
        return
    now, later = 0.0, 0.0
    for word in range(pool.waiting.shape[1]):
        bits, r = pool.waiting[x, word], word << 6
        while bits:
            if bits & np.uint64(1):
                i = guide.by_work[r]
                now += regret_in(guide, i, cell)
                later += regret_in(guide, i, cell + 1)
            bits >>= np.uint64(1)
            r += 1
    pool.whole[x, CELL] = cell
    pool.real[x, WAITS], pool.real[x, NEXT] = now, later


@inner
def scored(timed, guide, taste, pool, x):  # type: ignore[no-untyped-def]
    """Set what a state has cost and will cost at least: regrets change linearly within a cell."""
    _, part = cell_at(guide, pool.whole[x, TIME])
    waits = (1.0 - part) * pool.real[x, WAITS] + part * pool.real[x, NEXT]
    pool.real[x, SCORE] = pool.real[x, COST] + waits + ahead_of(timed, guide, taste, pool, x)


@inner
def marked(log, seen, k):  # type: ignore[no-untyped-def]
    """Mark a start and those before it."""
    while k >= 0 and not seen[k]:
        seen[k] = 1
        k = log[k, 0]


@compiled
def compact(pool, front, log):  # type: ignore[no-untyped-def]
    """Keep of the log only those starts from which a waiting state or the best end comes."""
    number = front.number
    place = np.zeros(number[LOGGED] + 1, np.int64)  # the last one stands for no start
    marked(log, place, number[BEST])
    for x in front.head:
        while x >= 0:
            marked(log, place, pool.whole[x, LOG])
            x = pool.following[x]
    kept, place[-1] = 0, -1
    for k in range(number[LOGGED]):
        if place[k]:
            place[k] = kept
            log[kept, 0], log[kept, 1], log[kept, 2] = place[log[k, 0]], log[k, 1], log[k, 2]
            kept += 1
    number[BEST] = place[number[BEST]]
    for x in front.head:
        while x >= 0:
            pool.whole[x, LOG] = place[pool.whole[x, LOG]]
            x = pool.following[x]
    number[LOGGED] = kept


@inner
def sift(pool, heap, size, k):  # type: ignore[no-untyped-def]
    """Let a state sink to its place in a heap; the one of least score stands first."""
    x = heap[k]
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and pool.real[heap[child + 1], SCORE] < pool.real[heap[child], SCORE]:
            child += 1
        if pool.real[heap[child], SCORE] >= pool.real[x, SCORE]:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = x


@compiled
def beam(timed, guide, taste, pool, front, log, most):  # type: ignore[no-untyped-def]
    """Expand the states of a beam until no state is left, or ``most`` states are expanded.

    Parameters
    ----------
    pool : room for states.
    front : progress of the beam.
    log : for each start the preceding start of its state, the request and the round; shape
        (starts, 3), with room for the starts of all states that are expanded.
    most : states to expand; a span of states that has begun is finished.
    """
    n, size = len(timed.due), len(pool.whole)
    head, free, number = front.head, front.free, front.number
    span, live, left, logged = number[SPAN], number[LIVE], number[LEFT], number[LOGGED]
    starts_of = np.zeros(n + 2, np.int64)
    layer, moved = np.empty(size, np.int64), np.empty(size, np.int64)
    done = 0
    while live and done < most:
        x = head[span % SPANS]
        if x < 0:
            span += 1
            continue
        count = 0
        while x >= 0:
            layer[count] = x
            count += 1
            x = pool.following[x]
        head[span % SPANS] = -1
        live -= count
        for k in range(count // 2 - 1, -1, -1):
            sift(pool, layer, count, k)
        kept = 0
        while count:
            x = layer[0]
            count -= 1
            layer[0] = layer[count]
            sift(pool, layer, count, np.int64(0))  # compiled once
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
            whole = pool.whole[x]
            tried, started = 0, 0
            for word in range(pool.waiting.shape[1]):
                bits, r = pool.waiting[x, word], word << 6
                while bits and tried < TRIED and started < taste.candidates:
                    if bits & np.uint64(1):
                        tried += 1
                        i = guide.by_work[r]
                        if fits(timed, pool, x, i) and left:
                            started += 1
                            left -= 1
                            y = free[left]
                            copied(pool, x, y)
                            begun(timed, guide, pool, y, i)
                            log[logged, 0], log[logged, 1] = pool.whole[x, LOG], i
                            log[logged, 2] = whole[NOW]
                            pool.whole[y, LOG] = logged
                            logged += 1
                            scored(timed, guide, taste, pool, y)
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
                cell, _ = cell_at(guide, whole[TIME])
                pool.real[x, COST] += guide.price[cell] * (due - whole[TIME]) * 1e-12
                whole[TIME] = due
            else:
                prefill, fresh, back = 0, 0, whole[LOG]
                while back >= 0 and log[back, 2] == whole[NOW]:
                    prefill += timed.prompt[log[back, 1]]
                    fresh += 1
                    back = log[back, 0]
                run_on(timed, guide, pool, x, prefill, fresh, tried > 0 and not started)
            recounted(guide, pool, x)
            arrive(timed, guide, pool, x)
            if not whole[RUNNING] and whole[STARTED] == n:
                if pool.real[x, TOTAL] < front.least[0]:
                    front.least[0], number[BEST] = pool.real[x, TOTAL], whole[LOG]
                free[left] = x
                left += 1
                continue
            scored(timed, guide, taste, pool, x)
            into = min(max(whole[TIME] // taste.span, span), span + SPANS - 1)
            pool.following[x], head[into % SPANS] = head[into % SPANS], x
            live += 1
    number[SPAN], number[LIVE], number[LEFT], number[LOGGED] = span, live, left, logged
    number[DONE] += done
