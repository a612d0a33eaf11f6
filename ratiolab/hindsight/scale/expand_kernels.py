"""The compiled expansion of one state of the beam: the next request, its start, and its cost."""

import numpy as np

from ratiolab.hindsight.scale.beam_state import (
    ARRIVED,
    FIRST_ROW,
    FREE_CHILD,
    FREE_CHILDREN,
    MEMOS,
    STAMP,
    WAITING,
)
from ratiolab.hindsight.schedules.annealing_kernels import earliest
from ratiolab.machine_code import inner

GRID = 16
"""Regrets of all waiting requests are summed at multiples of this time for starts far ahead."""


@inner
def regret(request, sums, p):  # type: ignore[no-untyped-def]
    """Return the cost of start p of a request above that of its cheapest start."""
    last = len(sums) - 1
    done = p + request.output
    low, high = min(p, last), min(done, last)
    cost = done - request.arrival + sums[high, 1] - sums[low, 1]
    return cost + (request.prompt - p) * (sums[high, 0] - sums[low, 0]) - request.least


@inner
def tabulate(beam, guide, i):  # type: ignore[no-untyped-def]
    """Write the least regrets of a request from the first buckets of the table on."""
    request, sums, row = beam.requests[i], guide.sums, beam.table[i]
    width, rows, first = guide.width, len(row), beam.counts[FIRST_ROW]
    offset = request.output - request.arrival - request.least
    p = max((first + rows) * width, request.arrival)
    least = np.inf
    while p < len(sums) + width and p + offset < least:
        least = min(least, regret(request, sums, p))
        p += width
    for b in range(rows - 1, -1, -1):
        p = (first + b) * width
        if p < request.arrival - width:
            row[b] = 0.0
        else:
            least = min(least, regret(request, sums, max(p, request.arrival)))
            row[b] = max(0.0, least)


@inner
def future(request, row, first, width, t):  # type: ignore[no-untyped-def]
    """Return the least regret of a request that does not start before t and its delay."""
    rows = len(row)
    x = (t + request.delay) / width - first
    b = np.int64(x)
    if b >= rows - 1:
        return row[rows - 1] + (x - (rows - 1)) * width
    return row[b] + (x - b) * (row[b + 1] - row[b])


@inner
def future_of_all(beam, guide, ahead, t):  # type: ignore[no-untyped-def]
    """Return the future regrets of all waiting requests, from t and from `ahead` later on."""
    requests, table, count = beam.requests, beam.table, beam.counts
    sums = beam.sums[t % len(beam.sums)]
    if sums.time != t:
        now, later, width, first = 0.0, 0.0, guide.width, count[FIRST_ROW]
        for k in range(count[WAITING]):
            i = beam.waiting[k]
            now += future(requests[i], table[i], first, width, t)
            later += future(requests[i], table[i], first, width, t + ahead)
        sums.time, sums.now, sums.later = t, now, later
    return sums.now, sums.later


@inner
def future_at(beam, guide, ahead, at, t):  # type: ignore[no-untyped-def]
    """Return the sum of future regrets from t on of all requests that wait in a state."""
    total, _ = future_of_all(beam, guide, ahead, t)
    for k in range(beam.states[at].started):
        i = beam.items[at, k]
        row, first = beam.table[i], beam.counts[FIRST_ROW]
        total -= future(beam.requests[i], row, first, guide.width, t)
    return total


@inner
def price_at(guide, t):  # type: ignore[no-untyped-def]
    """Return the price of a token at a time."""
    b = (t - 1) // guide.width
    return guide.price[b] if 0 <= b < len(guide.price) else 0.0


@inner
def sums_of_use(end, base, running, t, profile):  # type: ignore[no-untyped-def]
    """Write the tokens held over times t + 1.. up to each end, also weighed by time minus t.

    Row k of the profile: those two sums up to the end before the k-th, that end minus t, and what
    the k-th and later hold together at time t.
    """
    hold = np.int64(0)
    for k in range(running):
        hold += base[k]
    x, before, weight = 0.0, 0.0, 0.0
    for k in range(running + 1):
        number = np.float64(running - k)
        level = hold + number * t
        profile[k, 0], profile[k, 1], profile[k, 2], profile[k, 3] = before, weight, x, level
        if k == running:
            break
        y = np.float64(end[k] - t)
        first = (y * (y + 1) - x * (x + 1)) / 2
        second = (y * (y + 1) * (2 * y + 1) - x * (x + 1) * (2 * x + 1)) / 6
        before += level * (y - x) + number * first
        weight += level * first + number * second
        hold -= base[k]
        x = y


@inner
def used(profile, running, y):  # type: ignore[no-untyped-def]
    """Return the tokens held over the first y rounds of a profile, and weighed by time."""
    k = 0
    while k < running and profile[k + 1, 2] < y:
        k += 1
    x, number = profile[k, 2], np.float64(running - k)
    first = (y * (y + 1) - x * (x + 1)) / 2
    second = (y * (y + 1) * (2 * y + 1) - x * (x + 1) * (2 * x + 1)) / 6
    zero = profile[k, 0] + profile[k, 3] * (y - x) + number * first
    return zero, profile[k, 1] + profile[k, 3] * first + number * second


@inner
def weigh_start(guide, profile, running, state, rest, p, memo):  # type: ignore[no-untyped-def]
    """Write the part of the score of a start at p that does not depend on the request.

    Parameters
    ----------
    rest : sum of the future regrets of the requests that wait at p.
    memo : where the parts of the score are written.
    """
    t, horizon = state.time, guide.horizon
    from_zero, from_one = 0.0, 0.0
    if p > t:
        from_zero, from_one = used(profile, running, np.float64(p - t))
    idle = guide.room * (p - t) - from_zero
    price = price_at(guide, (p + t) // 2 + 1 if p > t else t + 1)
    upto_zero, upto_one = used(profile, running, np.float64(p - t + horizon))
    zero = upto_zero - from_zero
    one = upto_one - from_one - (p - t) * zero
    # weights 1 - (g - 1) / horizon of the next rounds g = 1..horizon add up to (horizon + 1) / 2
    committed = zero * (1 + 1 / horizon) - one / horizon
    unit = price_at(guide, p + 1) * guide.weight
    memo.start, memo.unit = p, unit
    memo.spent = state.cost + price * guide.weight * idle
    memo.value = memo.spent + rest + unit * (guide.room * (horizon + 1) / 2 - committed)


@inner
def expand(beam, guide, knobs, room, at):  # type: ignore[no-untyped-def]
    """Put the best starts that a state can make next into the lists of children."""
    requests, count, state = beam.requests, beam.counts, beam.states[at]
    waiting, table, arrivals = beam.waiting, beam.table, beam.arrivals
    children, heads, sums = beam.children, beam.heads, guide.sums
    t, running, memory, width = state.time, state.running, guide.memory, guide.width
    end, base, peak, profile = room.end, room.base, room.peak, room.profile
    memos, best = room.memos, room.best
    hold = np.int64(0)
    for k in range(running - 1, -1, -1):
        run = beam.runs[at, k]
        end[k], base[k] = run.end, run.base
        hold += base[k]
        peak[k] = hold + (running - k + 1) * end[k] - memory
    sums_of_use(end, base, running, t, profile)
    now, later = future_of_all(beam, guide, knobs.ahead, t)
    count[STAMP] += 1
    stamp, first, ahead = count[STAMP], count[FIRST_ROW], knobs.ahead
    for k in range(state.started):
        i = beam.items[at, k]
        requests[i].mark = stamp
        now -= future(requests[i], table[i], first, width, t)
        later -= future(requests[i], table[i], first, width, t + ahead)
    state.arrived = count[ARRIVED]
    kept, seen, k, beyond = 0, 0, 0, count[ARRIVED]
    while seen < knobs.candidates:
        if k < count[WAITING]:
            i = waiting[k]
            k += 1
        elif not seen and beyond < len(arrivals):  # all requests that arrive soon have started
            i = arrivals[beyond]
            beyond += 1
        else:
            break
        request = requests[i]
        if request.mark == stamp:
            continue
        seen += 1
        p = max(t, request.arrival)
        p = earliest(end, base, running, peak, memory, request.prompt, request.output, p)
        memo = memos[(p - t) & (MEMOS - 1)]
        if memo.stamp != stamp or memo.start != p:
            memo.stamp = stamp
            rest = now + (later - now) * (p - t) / ahead
            if p > t + ahead:  # the sum is far from linear there
                rest = future_at(beam, guide, ahead, at, p - p % GRID)
            weigh_start(guide, profile, running, state, rest, p, memo)
        lost = regret(request, sums, p)
        value = memo.value + lost - memo.unit * request.credit
        if beyond == state.arrived:
            value -= future(request, table[i], first, width, p)
        if kept < knobs.children:
            place = kept
            kept += 1
        elif value < best[kept - 1].score:
            place = kept - 1
        else:
            continue
        while place and best[place - 1].score > value:
            best[place] = best[place - 1]
            place -= 1
        found = best[place]
        found.score, found.cost, found.start, found.request = value, memo.spent + lost, p, i
    for k in range(kept):
        c, found = count[FREE_CHILD], best[k]
        child = children[c]
        count[FREE_CHILD] = child.following
        child.score, child.cost, child.start = found.score, found.cost, found.start
        child.request, child.parent = found.request, at
        b = min(found.start // knobs.bucket, len(heads) - 1)
        child.following = heads[b]
        heads[b] = c
    count[FREE_CHILDREN] -= kept
    state.references += kept


@inner
def welcome(beam, guide, known):  # type: ignore[no-untyped-def]
    """Add the requests that arrive by a time to the waiting ones."""
    count, waiting, arrivals = beam.counts, beam.waiting, beam.arrivals
    before = count[ARRIVED]
    while count[ARRIVED] < len(arrivals):
        i = arrivals[count[ARRIVED]]
        if beam.requests[i].arrival > known:
            break
        count[ARRIVED] += 1
        k = count[WAITING]
        while k and waiting[k - 1] > i:
            waiting[k] = waiting[k - 1]
            k -= 1
        waiting[k] = i
        count[WAITING] += 1
        tabulate(beam, guide, i)
    if count[ARRIVED] > before:
        for k in range(len(beam.sums)):
            beam.sums[k].time = -1
