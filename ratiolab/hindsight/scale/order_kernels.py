"""The compiled annealing of the order of starts.

Each request starts as early as it fits, but not before those earlier in the order. Requests are
numbered as in the instance, times counted from the first arrival; ``columns`` are the
`ratiolab.hindsight.arrays.Requests`.
"""

from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.arrays import overwrite
from ratiolab.hindsight.scale.beam_state import compiled
from ratiolab.hindsight.scale.expand_kernels import earliest
from ratiolab.model.footprint import IntArray

STRIDE = 16
"""Places between two snapshots."""


class Decoded(NamedTuple):
    """An order of starts and what it leads to, with a snapshot before each `STRIDE`-th place.

    Parameters
    ----------
    order, start : request at each place, and its start.
    total : sum of the starts before each snapshot, and of all last.
    running, end, base : how many run then, when each ends, in rising order, and what it holds at
        time 0 were it to hold as many tokens fewer as rounds earlier.
    """

    order: IntArray
    start: IntArray
    total: IntArray
    running: IntArray
    end: IntArray
    base: IntArray


@compiled
def peaks(end, base, running, peak, memory):  # type: ignore[no-untyped-def]
    """Write the start from which a prompt of no tokens fits, at the end of each run."""
    held = np.int64(0)
    for k in range(running - 1, -1, -1):
        held += base[k]
        peak[k] = held + (running - k) * end[k] + end[k] - memory


@compiled
def place(columns, end, base, running, peak, i, begin):  # type: ignore[no-untyped-def]
    """Return the first start of a request from ``begin`` on, and how many then run."""
    memory = columns.memory
    s, o = columns.prompt[i], columns.output[i]
    p = max(begin, columns.arrival[i])
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
    """Decode an order from a place on; return its total, or -1 when it exceeds ``most``.

    ``new`` is filled from the snapshot before ``first`` on. From the snapshot after ``sure`` on
    both orders are the same: where what runs is the same, too, so is the rest; and an order that
    has lost more than ``give`` by then is given up. Also returns up to which place it is decoded.
    """
    n = len(decoded.order)
    snap = first // STRIDE
    at, running = snap * STRIDE, decoded.running[snap]
    end, base = np.empty(decoded.end.shape[1], np.int64), np.empty(decoded.end.shape[1], np.int64)
    peak = np.empty(decoded.end.shape[1], np.int64)
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
        last, running = place(columns, end, base, running, peak, new.order[at], last)
        new.start[at] = last
        total += last
        at += 1
    return (total if total <= most else np.int64(-1)), n


@compiled
def draw(bits):  # type: ignore[no-untyped-def]
    """Return the next random bits (xorshift)."""
    x = bits[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    bits[0] = x
    return x


@compiled
def moved(order, i, j, kind):  # type: ignore[no-untyped-def]
    """Bring the request at place j to place i < j, exchange both, or bring the first to place j.

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


@compiled
def near_move(bits, n, reach):  # type: ignore[no-untyped-def]
    """Draw two places close to one another, and what to do: see `moved`."""
    kind = np.int64(draw(bits) % np.uint64(5)) // 2
    i = np.int64(draw(bits) % np.uint64(n))
    span = reach if draw(bits) % np.uint64(2) else 3 * reach
    j = i + 1 + np.int64(draw(bits) % np.uint64(span))
    return i, min(j, n - 1), kind


@compiled
def waiting_move(bits, order, start, arrival, reach):  # type: ignore[no-untyped-def]
    """Draw two places close to one another and what to do, so that nobody comes before it arrives.

    Under little load most requests start as they arrive, and few of the moves of `near_move` help.
    """
    n = len(order)
    kind = np.int64(draw(bits) % np.uint64(5)) // 2
    j = np.int64(draw(bits) % np.uint64(n))
    span = reach if draw(bits) % np.uint64(2) else 3 * reach
    if kind < 2:
        arrived = np.searchsorted(start, arrival[order[j]])
        near = min(span, j - arrived)
        if near > 0:
            return j - 1 - np.int64(draw(bits) % np.uint64(near)), j, kind
    later = j + 1 + np.int64(draw(bits) % np.uint64(span))
    return j, min(later, n - 1), 2


@compiled
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
def anneal(columns, decoded, new, bits, large, moves, heat, reach, give, rare):  # type: ignore[no-untyped-def]
    """Try moves at a temperature: of one request or two that stand close, or of a large one.

    One move in ``rare`` puts one of the requests ``large`` anywhere.

    Orders of a greater total are kept with the probability of Metropolis. Both ``decoded`` and
    ``new`` hold the same order before and after. Returns the best total and its order.
    """
    n = len(decoded.order)
    final = len(decoded.total) - 1
    best = decoded.total[final]
    order = decoded.order.copy()
    for _ in range(moves):
        if draw(bits) % np.uint64(rare) == 0:
            i, j, kind = far_move(bits, new.order, large)
        else:
            i, j, kind = waiting_move(bits, new.order, decoded.start, columns.arrival, reach)
        if i == j:
            continue
        moved(new.order, i, j, kind)
        luck = (np.float64(draw(bits) >> np.uint64(11)) + 1) / 2.0**53
        bound = -heat * np.log(luck)
        most = decoded.total[final] + np.int64(bound)
        total, upto = decode(columns, decoded, new, i, j, most, np.int64(bound + give * heat))
        one, other = decoded, new
        if 0 <= total <= most:
            shift = total - decoded.total[final]
            if upto < n:
                snap = upto // STRIDE
                for k in range(snap, final + 1):
                    decoded.total[k] += shift
                    new.total[k] = decoded.total[k]
            else:
                decoded.total[final] = total
                new.total[final] = total
            one, other = new, decoded
        low = i // STRIDE
        high = (upto - 1) // STRIDE
        overwrite(other.order, i, one.order, i, j + 1)
        overwrite(other.start, i, one.start, i, upto)
        for k in range(low + 1, high + 1):
            running = one.running[k]
            other.total[k], other.running[k] = one.total[k], running
            overwrite(other.end[k], 0, one.end[k], 0, running)
            overwrite(other.base[k], 0, one.base[k], 0, running)
        if total >= 0 and decoded.total[final] < best:
            best = decoded.total[final]
            overwrite(order, 0, decoded.order, 0, len(order))
    return best, order
