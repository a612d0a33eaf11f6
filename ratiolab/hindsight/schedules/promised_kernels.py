"""The compiled searches for goodput and for weighted latency.

Times are counted from the first arrival; ``room[r, t]`` is the memory of replica r that is free at
time t. A start of -1 says that a request is late. Requests are inserted one after another, each at
its earliest start that fits beside those inserted before, on the first replica that has it.
"""

import numpy as np

from ratiolab.hindsight.arrays import compiled


@compiled
def earliest_fit(room, s, o, p, last):  # type: ignore[no-untyped-def]
    """Return the first start from p up to ``last`` that fits, or -1."""
    while p <= last:
        start = p
        for g in range(o, 0, -1):  # from the end: what is held only grows
            lack = s + g - room[p + g]
            if lack > 0:
                # at the time p + g the request must hold so much less, or be yet to start
                start = p + min(lack, g)
                break
        if start == p:
            return p
        p = start
    return np.int64(-1)


@compiled
def earliest_place(room, s, o, p, last):  # type: ignore[no-untyped-def]
    """Return the first start that fits on some replica, or -1, and the replica."""
    best, place = np.int64(-1), np.int64(0)
    for r in range(len(room)):
        start = earliest_fit(room[r], s, o, p, last)
        if start >= 0:
            best, place, last = start, np.int64(r), start - 1
    return best, place


@compiled
def occupy(room, s, o, p, sign):  # type: ignore[no-untyped-def]
    """Take the memory of a run out of the room, or give it back with sign -1."""
    for g in range(1, o + 1):
        room[p + g] -= sign * (s + g)


@compiled
def insert_in_order(order, arrival, prompt, output, last, room, start, place):  # type: ignore[no-untyped-def]
    """Insert requests in an order and write their starts and replicas."""
    for i in order:
        start[i], place[i] = earliest_place(room, prompt[i], output[i], arrival[i], last[i])
        if start[i] >= 0:
            occupy(room[place[i]], prompt[i], output[i], start[i], 1)


@compiled
def ruin_and_recreate(  # type: ignore[no-untyped-def]
    columns, last, weight, key, by_arrival, widest, room, now, best, worth, steps, heat, rng
):
    """Change starts for a number of steps, and keep the best ones met.

    A step takes all requests of a span of time around a late one out, and inserts them and the late
    ones of that span anew, in the order of noisy keys. A step that loses weight is undone, unless
    the loss is below an exponential draw of mean ``heat``.

    Parameters
    ----------
    columns : the `ratiolab.hindsight.arrays.Requests`, from the first arrival on.
    key : logarithm of the weight for each token-round.
    by_arrival : requests in order of arrival.
    widest : most rounds from an arrival to its last start.
    now, best : present starts and replicas, and the best ones, which are overwritten, shape (2, n).
    worth : weight in time under both.
    """
    arrival, prompt, output = columns.arrival, columns.prompt, columns.output
    start, place = now
    n = len(arrival)
    in_order = np.empty(n, np.int64)
    for k in range(n):
        in_order[k] = arrival[by_arrival[k]]
    taken, before, at_before = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    noisy = np.empty(n, np.float64)
    for _ in range(steps):
        i = np.int64(rng.random() * n)
        for _ in range(8):  # most often a late one
            if start[i] < 0 and last[i] >= arrival[i]:
                break
            i = np.int64(rng.random() * n)
        wait = min(max(last[i] - arrival[i], 0), widest)
        span = 1 + np.int64(rng.random() * (output[i] + wait))
        low = arrival[i] - np.int64(rng.random() * span)
        high = low + span
        noise = 2.5 * rng.random()
        k = np.searchsorted(in_order, low - widest)
        count, gain = 0, 0
        while k < n and in_order[k] <= high:
            j = by_arrival[k]
            k += 1
            inside = low <= start[j] <= high if start[j] >= 0 else last[j] >= max(low, arrival[j])
            if inside:
                taken[count], before[count], at_before[count] = j, start[j], place[j]
                noisy[count] = noise * (rng.random() - rng.random()) - key[j]
                count += 1
                if start[j] >= 0:
                    occupy(room[place[j]], prompt[j], output[j], start[j], -1)
                    gain -= weight[j]
        for at in np.argsort(noisy[:count]):
            j = taken[at]
            start[j], place[j] = earliest_place(room, prompt[j], output[j], arrival[j], last[j])
            if start[j] >= 0:
                occupy(room[place[j]], prompt[j], output[j], start[j], 1)
                gain += weight[j]
        if gain < 0 and gain < heat * np.log(1 - rng.random()):
            for at in range(count):
                j = taken[at]
                if start[j] >= 0:
                    occupy(room[place[j]], prompt[j], output[j], start[j], -1)
                start[j], place[j] = before[at], at_before[at]
                if start[j] >= 0:  # the room may be negative until all are back
                    occupy(room[place[j]], prompt[j], output[j], start[j], 1)
            continue
        worth[0] += gain
        if worth[0] > worth[1]:
            worth[1] = worth[0]
            best[:] = now
