"""The compiled annealing over priority lists.

Each request starts as early as it fits, but not before the requests earlier in the list, nor before
its release: its arrival, or a later round where it is held back, since lists alone do not reach all
schedules. Requests are numbered as in the instance, times counted from the first arrival;
``columns`` are the `ratiolab.hindsight.arrays.Requests`.
"""

from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.arrays import overwrite
from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

STRIDE = 16
"""Places between two snapshots."""


class Decoded(NamedTuple):
    """A priority list and its schedule, with a snapshot before each `STRIDE`-th place.

    Parameters
    ----------
    order, start : request at each place, and its start.
    release : first start of each request.
    total : sum of the starts before each snapshot, and of all last.
    running, end, base : number of running requests; the end of each, in rising order; and the
        tokens that it would hold at time 0 if it held one less in each earlier round. The last two
        rows of both tables are scratch.
    """

    order: IntArray
    start: IntArray
    release: IntArray
    total: IntArray
    running: IntArray
    end: IntArray
    base: IntArray


@inner
def earliest(end, base, running, peak, memory, s, o, p):  # type: ignore[no-untyped-def]
    """Return the first start from p on at which a request fits for good.

    ``peak[k]`` is the start from which a prompt of no tokens fits at the k-th end.
    """
    while True:
        own, need = p + o, p
        k = running - 1
        hold, number = np.int64(0), 0
        while k >= 0 and end[k] > own:
            hold += base[k]
            number += 1
            k -= 1
        if number and hold + number * own + s + o > memory:
            need = end[k + 1] + 1 - o  # until that end use only grows
        while k >= 0 and end[k] > p:
            x = peak[k] + s
            if x > p:
                need = max(need, min(end[k], x))
            k -= 1
        if need == p:
            return p
        p = need


@inner
def peaks(end, base, running, peak, memory):  # type: ignore[no-untyped-def]
    """Write the start from which a prompt of no tokens fits, at the end of each run."""
    held = np.int64(0)
    for k in range(running - 1, -1, -1):
        held += base[k]
        peak[k] = held + (running - k) * end[k] + end[k] - memory


@inner
def place(columns, end, base, running, peak, i, p):  # type: ignore[no-untyped-def]
    """Return the first start of a request from p on, and how many then run."""
    memory = columns.memory
    s, o = columns.prompt[i], columns.output[i]
    gone = 0
    while gone < running and end[gone] <= p:
        gone += 1
    if gone:
        for k in range(gone, running):
            end[k - gone], base[k - gone], peak[k - gone] = end[k], base[k], peak[k]
        running -= gone
    p = earliest(end, base, running, peak, memory, s, o, p)
    done, hold = p + o, s - p
    k = running
    while k and end[k - 1] > done:
        end[k], base[k] = end[k - 1], base[k - 1]
        k -= 1
    end[k], base[k] = done, hold
    running += 1
    held = np.int64(0)
    for k in range(running - 1, -1, -1):  # as `peaks` does, whose call would take a fifth longer
        held += base[k]
        peak[k] = held + (running - k) * end[k] + end[k] - memory
    return p, running


@compiled
def decode(columns, decoded, new, first, sure, most, give):  # type: ignore[no-untyped-def]
    """Schedule a list from a place on; return its total, or -1 when it exceeds ``most``.

    ``new`` is filled from the snapshot before ``first`` on. From the snapshot after ``sure`` on
    both lists are equal: once the running requests are equal, too, so is the rest; and a list that
    has lost more than ``give`` by then is given up. Also returns the place where it ended.
    """
    n = len(decoded.order)
    snap = first // STRIDE
    at, running = snap * STRIDE, decoded.running[snap]
    scratch = len(decoded.end) - 1
    end, base, peak = new.end[scratch], new.base[scratch], new.base[scratch - 1]
    overwrite(end, 0, decoded.end[snap], 0, running)
    overwrite(base, 0, decoded.base[snap], 0, running)
    peaks(end, base, running, peak, columns.memory)
    total = decoded.total[snap]
    last = decoded.start[at - 1] if at else np.int64(0)
    whole = decoded.total[len(decoded.total) - 1]
    while at < n:
        if at % STRIDE == 0:
            snap = at // STRIDE
            if at > first:
                if at > sure:
                    lost = total - decoded.total[snap]
                    if lost > give:
                        return np.int64(-1), at
                    if running == decoded.running[snap] and last == decoded.start[at - 1]:
                        same = True
                        for k in range(running):
                            if end[k] != decoded.end[snap, k] or base[k] != decoded.base[snap, k]:
                                same = False
                                break
                        if same:
                            return whole + lost, at
                new.total[snap], new.running[snap] = total, running
                overwrite(new.end[snap], 0, end, 0, running)
                overwrite(new.base[snap], 0, base, 0, running)
        if running == len(end):
            return np.int64(-1), at
        i = new.order[at]
        last, running = place(columns, end, base, running, peak, i, max(last, new.release[i]))
        new.start[at] = last
        total += last
        at += 1
    return (total if total <= most else np.int64(-1)), n


@inner
def draw(bits):  # type: ignore[no-untyped-def]
    """Return the next random bits (xorshift)."""
    x = bits[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    bits[0] = x
    return x


@inner
def moved(order, i, j, kind):  # type: ignore[no-untyped-def]
    """Shift the request at place j to place i < j, swap both, or shift the first to place j.

    The kinds are 0, 1 and 2.
    """
    x, y = order[i], order[j]
    if kind == 0:
        for k in range(j, i, -1):
            order[k] = order[k - 1]
        order[i] = y
    elif kind == 1:
        order[i], order[j] = y, x
    else:
        for k in range(i, j):
            order[k] = order[k + 1]
        order[j] = x


@inner
def near_move(bits, n, reach):  # type: ignore[no-untyped-def]
    """Draw two places close to one another, and what to do: see `moved`."""
    kind = np.int64(draw(bits) % np.uint64(5)) // 2
    i = np.int64(draw(bits) % np.uint64(n))
    span = reach if draw(bits) % np.uint64(2) else 3 * reach
    j = i + 1 + np.int64(draw(bits) % np.uint64(span))
    return i, min(j, n - 1), kind


@inner
def waiting_move(bits, order, start, arrival, reach):  # type: ignore[no-untyped-def]
    """Draw two places close to one another, and what to do; no request comes before its arrival.

    Under light load most requests start as they arrive, and few of the moves of `near_move` help.
    """
    n = len(order)
    kind = np.int64(draw(bits) % np.uint64(5)) // 2
    j = np.int64(draw(bits) % np.uint64(n))
    span = reach if draw(bits) % np.uint64(2) else 3 * reach
    if kind < 2:
        arrived, upto = np.int64(0), j
        while arrived < upto:  # the places before hold starts before its arrival
            middle = (arrived + upto) // 2
            if start[middle] < arrival[order[j]]:
                arrived = middle + 1
            else:
                upto = middle
        near = min(span, j - arrived)
        if near > 0:
            return j - 1 - np.int64(draw(bits) % np.uint64(near)), j, kind
    later = j + 1 + np.int64(draw(bits) % np.uint64(span))
    return j, min(later, n - 1), 2


@inner
def far_move(bits, order, large):  # type: ignore[no-untyped-def]
    """Draw a large request and another place for it, near or far: every power of two as often."""
    n = len(order)
    x = large[np.int64(draw(bits) % np.uint64(len(large)))]
    place = np.int64(0)
    while order[place] != x:
        place += 1
    luck = np.float64(draw(bits) >> np.uint64(11)) / 2.0**53
    far = np.int64(np.float64(n) ** luck)
    if draw(bits) % np.uint64(2):
        return place, min(place + far, n - 1), 2
    return max(place - far, 0), place, 0


@compiled
def anneal(columns, decoded, new, best, least, bits, large, moves, heat, settings):  # type: ignore[no-untyped-def]
    """Try moves at a temperature; starts of a sum below ``least`` go to ``best``; return their sum.

    A move shifts or swaps requests that stand close, shifts one of the requests ``large`` by any
    distance, or holds a request back by a round, or no longer. Lists of a greater total are
    accepted with the probability of Metropolis. Before and after, ``decoded`` and ``new`` hold one
    list.

    Parameters
    ----------
    settings : reach of a move; temperatures that a list may lose before it is given up; the
        reciprocal share of far moves, and of moves that hold a request back.
    """
    reach, give, rare = settings
    n, final = len(decoded.order), len(decoded.total) - 1
    for _ in range(moves):
        kind = np.int64(draw(bits) % np.uint64(rare))
        if kind == 0:
            i, j, kind = far_move(bits, new.order, large)
        elif kind == 1:
            i = j = np.int64(draw(bits) % np.uint64(n))
        else:
            i, j, kind = waiting_move(bits, new.order, decoded.start, columns.arrival, reach)
        x = new.order[j if kind == 0 else i]
        if i < j:
            moved(new.order, i, j, kind)
            new.release[x] = columns.arrival[x]
        elif new.release[x] > columns.arrival[x]:
            new.release[x] = columns.arrival[x]
        else:
            new.release[x] = decoded.start[i] + 1
        luck = (np.float64(draw(bits) >> np.uint64(11)) + 1) / 2.0**53
        bound = -heat * np.log(luck)
        most = decoded.total[final] + np.int64(bound)
        total, upto = decode(columns, decoded, new, i, j, most, np.int64(bound + give * heat))
        one, other = decoded, new
        if 0 <= total <= most:
            shift = total - decoded.total[final]
            if upto < n:
                for k in range(upto // STRIDE, final + 1):
                    decoded.total[k] += shift
                    new.total[k] = decoded.total[k]
            else:
                decoded.total[final] = total
                new.total[final] = total
            one, other = new, decoded
        overwrite(other.order, i, one.order, i, j + 1)
        overwrite(other.start, i, one.start, i, upto)
        other.release[x] = one.release[x]
        for k in range(i // STRIDE + 1, (upto - 1) // STRIDE + 1):
            running = one.running[k]
            other.total[k], other.running[k] = one.total[k], running
            overwrite(other.end[k], 0, one.end[k], 0, running)
            overwrite(other.base[k], 0, one.base[k], 0, running)
        if decoded.total[final] < least:
            least = decoded.total[final]
            for k in range(n):
                best[decoded.order[k]] = decoded.start[k]
    return least
