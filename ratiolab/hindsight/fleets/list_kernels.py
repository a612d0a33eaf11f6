"""The compiled search over priority lists of a fleet.

A list is a schedule: in its order, each request starts as early as the memory of its replica still
allows, from its release on. The replica is the one with the earliest start, or the replica that
the list names. A release is the arrival, or a later round where a request is held back.
"""

import numpy as np

from ratiolab.hindsight.arrays import compiled
from ratiolab.hindsight.schedules.annealing_kernels import draw

ANY = -1
"""A list that names no replica for a request takes the one of the earliest start."""


@compiled
def earliest(use, memory, s, o, p, most):  # type: ignore[no-untyped-def]
    """Return the first start from p to ``most`` at which a request fits, or ``most`` + 1.

    Parameters
    ----------
    use : tokens held at each time by the requests placed before.
    s, o : prompt and output of the request, tokens.
    """
    if s + o > memory:
        return most + 1
    while p <= most:
        late = p
        for age in range(o, 0, -1):
            t = p + age
            if use[t] + s + age > memory:
                # start after t, or so late that fewer tokens are held then
                late = max(late, min(t, use[t] + s + t - memory))
        if late == p:
            return p
        p = late
    return most + 1


@compiled
def hold(use, s, o, p, sign):  # type: ignore[no-untyped-def]
    """Add the tokens of a run to those held, or take them away."""
    for age in range(1, o + 1):
        use[p + age] += sign * (s + age)


@compiled
def decode(columns, memories, order, replica, release, first, use, start, place, limit):  # type: ignore[no-untyped-def]
    """Schedule a list from a place on; return the sum of all starts, or -1 above ``limit``.

    ``memories`` are those of the replicas, ``start`` and ``place`` those of the requests before;
    with -1 nothing after ``first`` holds memory.
    """
    total = np.int64(0)
    for k in range(first):
        total += start[order[k]]
    rest = np.int64(0)
    for k in range(first, len(order)):
        rest += columns.arrival[order[k]]
    last = use.shape[1] - 1
    for k in range(first, len(order)):
        i = order[k]
        s, o = columns.prompt[i], columns.output[i]
        rest -= columns.arrival[i]
        most = min(last - o, limit - total - rest)
        best, at = most + 1, ANY
        begin = max(columns.arrival[i], release[i])
        if replica[i] >= 0:
            at = replica[i]
            best = earliest(use[at], memories[at], s, o, begin, most)
        else:
            for r in range(use.shape[0]):
                p = earliest(use[r], memories[r], s, o, begin, best - 1)
                if p < best:
                    best, at = p, r
        if best > most:
            for q in range(first, k):
                j = order[q]
                hold(use[place[j]], columns.prompt[j], columns.output[j], start[j], -1)
            return np.int64(-1)
        start[i], place[i] = best, at
        hold(use[at], s, o, best, 1)
        total += best
    return total


@compiled
def anneal(  # type: ignore[no-untyped-def]
    columns, memories, order, replica, release, use, start, place, best, bits, moves, hot, cold
):
    """Anneal a list of requests; write the starts and replicas of the best list to ``best``.

    A move shifts a request in the list, swaps two requests, fixes or frees the replica of a
    request, or releases a request one round later. ``order``, ``start``, ``place`` and ``use``
    describe the current list before the call and after it.

    Returns
    -------
    the least sum of starts.
    """
    n, replicas = len(order), use.shape[0]
    total = np.int64(0)
    for i in range(n):
        total += start[i]
    least = total
    old = np.zeros((3, n), np.int64)  # order, start and place before a move
    for move in range(moves):
        heat = hot * (cold / hot) ** (move / moves)
        kind = np.int64(draw(bits) % np.uint64(8))
        a = np.int64(draw(bits) % np.uint64(n))
        b = np.int64(draw(bits) % np.uint64(n))
        if draw(bits) % np.uint64(2):
            b = min(np.int64(n - 1), a + 1 + np.int64(draw(bits) % np.uint64(6)))
        i = order[a]
        first = a if kind >= 6 else min(a, b)
        named, held = replica[i], release[i]
        for k in range(first, n):
            j = order[k]
            old[0, k], old[1, j], old[2, j] = j, start[j], place[j]
            hold(use[place[j]], columns.prompt[j], columns.output[j], start[j], -1)
        if kind < 3:
            order[a], order[b] = order[b], i
        elif kind < 6:
            step = 1 if b > a else -1
            for k in range(a, b, step):
                order[k] = order[k + step]
            order[b] = i
        elif kind == 6:
            replica[i] = ANY
            if named == ANY:
                replica[i] = np.int64(draw(bits) % np.uint64(replicas))
        else:
            release[i] = 0 if held > columns.arrival[i] else start[i] + 1
        luck = (np.float64(draw(bits) >> np.uint64(11)) + 1) / 2.0**53
        limit = total + np.int64(-heat * np.log(luck))
        found = decode(columns, memories, order, replica, release, first, use, start, place, limit)
        if found < 0:
            replica[i], release[i] = named, held
            for k in range(first, n):
                order[k] = old[0, k]
            for k in range(first, n):
                j = order[k]
                start[j], place[j] = old[1, j], old[2, j]
                hold(use[place[j]], columns.prompt[j], columns.output[j], start[j], 1)
            continue
        total = found
        if total < least:
            least = total
            for j in range(n):
                best[0, j], best[1, j] = start[j], place[j]
    return least
