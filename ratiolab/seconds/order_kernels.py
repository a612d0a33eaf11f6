"""The compiled search over orders of a queue under a batch-time clock.

The first request of the order that is released starts once it fits for good; there are no
evictions. A request is released at its arrival or, where few wait, later. Times are integers,
picoseconds, as in `ratiolab.online.simulate`, which runs again what is found here; sums of them are
floats.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.schedules.annealing_kernels import (
    draw,
    earliest,
    far_move,
    moved,
    near_move,
    peaks,
)
from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

STRIDE = 16
"""Completions between two looks at whether a schedule has lost too much, and ranks between two
snapshots of a run."""

NOW, TIME, RUNNING, HOLD, ARRIVED, COMPLETED, HIGHEST, FIELDS = range(8)
"""Fields of a snapshot: round and picoseconds; numbers of requests that run, arrived and
completed; tokens that the running ones would hold at round 0; highest rank considered before."""


class Timed(NamedTuple):
    """Requests and the picoseconds of batches.

    Parameters
    ----------
    due : arrivals, from the first one on.
    by_due : requests in the order in which they arrive.
    memory : tokens.
    running : most requests at once.
    fixed, prefill, decode, kv : of a batch, see `ratiolab.online.clock.BatchTime`.
    """

    due: IntArray
    by_due: IntArray
    prompt: IntArray
    output: IntArray
    memory: int
    running: int
    fixed: int
    prefill: int
    decode: int
    kv: int


class Served(NamedTuple):
    """An order and its run.

    Parameters
    ----------
    order, release, by_release : requests; when each may start, and requests in the order of that.
    began, start : the round in which each starts, without those of an idle server, and when.
    sums : completion times of the first `STRIDE` completions, of twice as many.., in all.
    state, total, end, base : snapshots: `FIELDS`, sum of completion times, and when each run ends
        and what it would hold at round 0; in row k the last snapshot before a request of rank k
        `STRIDE` or higher was considered. The last total is that of all.
    """

    order: IntArray
    release: IntArray
    by_release: IntArray
    began: IntArray
    start: IntArray
    sums: NDArray[np.float64]
    state: IntArray
    total: NDArray[np.float64]
    end: IntArray
    base: IntArray


HELD = 9
"""Kind of a move that releases a request at another time."""


@inner
def passed(m, second, growth):  # type: ignore[no-untyped-def]
    """Return how long m batches take when the first takes ``second``, each ``growth`` longer."""
    return m * second + growth * (m * (m - 1) // 2)


@inner
def batches_until(need, second, growth):  # type: ignore[no-untyped-def]
    """Return the number of batches that take this time; each takes ``growth`` longer."""
    if need <= 0:
        return np.int64(0)
    if growth == 0:
        return (need + second - 1) // second
    linear, quick = np.float64(2 * second - growth), np.float64(8 * growth) * need
    m = np.int64((np.sqrt(linear * linear + quick) - linear) / (2 * growth))
    while m and passed(m - 1, second, growth) >= need:
        m -= 1
    while passed(m, second, growth) < need:
        m += 1
    return m


@inner
def snapshot(served, slot, state, total, end, base):  # type: ignore[no-untyped-def]
    """Keep the state of a run in a slot."""
    served.total[slot] = total
    for k in range(FIELDS):
        served.state[slot, k] = state[k]
    for k in range(state[RUNNING]):
        served.end[slot, k], served.base[slot, k] = end[k], base[k]


@inner
def repeat(served, slot, upto):  # type: ignore[no-untyped-def]
    """Copy a snapshot to the slots after it up to another one."""
    for k in range(slot + 1, upto):
        state, end, base = served.state[slot], served.end[slot], served.base[slot]
        snapshot(served, k, state, served.total[slot], end, base)


@inner
def resumed(order, known, slot, waiting):  # type: ignore[no-untyped-def]
    """Write the ranks of the waiting requests of a state, in falling order; return their number."""
    state, left = known.state[slot], 0
    by = known.release[known.by_release[state[ARRIVED] - 1]] if state[ARRIVED] else np.int64(-1)
    for k in range(len(order) - 1, -1, -1):
        i = order[k]
        if known.release[i] <= by and known.began[i] >= state[NOW]:
            waiting[left] = k
            left += 1
    return left


@inner
def released(new, x, time):  # type: ignore[no-untyped-def]
    """Release a request at another time."""
    place, by = 0, new.by_release
    while by[place] != x:
        place += 1
    while place and new.release[by[place - 1]] > time:
        by[place] = by[place - 1]
        place -= 1
    while place < len(by) - 1 and new.release[by[place + 1]] < time:
        by[place] = by[place + 1]
        place += 1
    by[place], new.release[x] = x, time


@inner
def unidle(timed, new, arrived, time):  # type: ignore[no-untyped-def]
    """Release a waiting request for an idle server, or the next to arrive; return when."""
    x = new.by_release[arrived]
    for k in range(arrived, len(new.by_release)):
        i = new.by_release[k]
        if timed.due[x] <= time:
            break
        if timed.due[i] < timed.due[x]:
            x = i
    time = max(time, timed.due[x])
    released(new, x, time)
    return time


@compiled
def serve(timed, known, new, first, give):  # type: ignore[no-untyped-def]
    """Return the sum of completion times of a new order, or -1 once it has lost too much.

    Parameters
    ----------
    known : an order that is the same up to place ``first``, and its run: the part before that rank
        is considered is not repeated. With ``first`` = 0 nothing needs to be the same.
    new : an order; where its run is written.
    give : by how much the sum may be behind that of the other order, every `STRIDE` completions.
    """
    order, memory = new.order, timed.memory
    n = len(order)
    rank = np.empty(n, np.int64)
    for k in range(n):
        rank[order[k]] = k
    slot = first // STRIDE
    state, total = known.state[slot].copy(), known.total[slot]
    waiting = np.empty(n, np.int64)  # ranks, in falling order: the next one stands last
    left = resumed(order, known, slot, waiting)
    end, base = known.end[slot].copy(), known.base[slot].copy()
    peak = np.empty(timed.running, np.int64)
    now, time, running = state[NOW], state[TIME], state[RUNNING]
    hold, arrived, completed = state[HOLD], state[ARRIVED], state[COMPLETED]
    highest = state[HIGHEST]
    peaks(end, base, running, peak, memory)
    while completed < n:
        state[NOW], state[TIME], state[RUNNING] = now, time, running
        state[HOLD], state[ARRIVED], state[COMPLETED] = hold, arrived, completed
        state[HIGHEST] = highest
        upto = highest // STRIDE + 1
        repeat(new, slot, upto)  # nobody of the ranks between was looked at before the last state
        slot = upto
        snapshot(new, slot, state, total, end, base)
        while arrived < n and new.release[new.by_release[arrived]] <= time:
            x = rank[new.by_release[arrived]]
            k = left
            while k and waiting[k - 1] < x:
                waiting[k] = waiting[k - 1]
                k -= 1
            waiting[k] = x
            left, arrived = left + 1, arrived + 1
        prefill, fresh = np.int64(0), 0
        event = np.int64(2**62)
        while left:
            highest = max(highest, waiting[left - 1])
            i = order[waiting[left - 1]]
            s, o = timed.prompt[i], timed.output[i]
            p = earliest(end, base, running, peak, memory, s, o, now)
            if p > now:
                event = p
                break
            left -= 1
            new.began[i], new.start[i] = now, time
            k = running
            while k and end[k - 1] > now + o:
                end[k], base[k] = end[k - 1], base[k - 1]
                k -= 1
            end[k], base[k] = now + o, s - now
            hold += s - now
            running += 1
            prefill, fresh = prefill + s, fresh + 1
            peaks(end, base, running, peak, memory)
        if not running:
            time = unidle(timed, new, arrived, time)
            continue
        event = min(event, end[0])
        cached = hold + running * now
        batch = timed.fixed + timed.prefill * prefill + timed.decode * (running - fresh)
        batch += timed.kv * (cached - prefill)
        second = timed.fixed + timed.decode * running + timed.kv * (cached + running)
        growth = timed.kv * running
        if arrived < n:
            need = new.release[new.by_release[arrived]] - time - batch
            event = min(event, now + 1 + batches_until(need, second, growth))
        time += batch + passed(event - now - 1, second, growth)
        now, gone = event, 0
        while gone < running and end[gone] == now:
            hold -= base[gone]
            total += time
            completed += 1
            if completed % STRIDE == 0:
                new.sums[completed // STRIDE] = total
                if total - known.sums[completed // STRIDE] > give:
                    return -1.0
            gone += 1
        if gone:
            for k in range(gone, running):
                end[k - gone], base[k - gone], peak[k - gone] = end[k], base[k], peak[k]
            running -= gone
    repeat(new, slot, len(new.end))
    new.total[len(new.total) - 1] = total
    return total


@inner
def agree(served, other, i, j):  # type: ignore[no-untyped-def]
    """Take over the columns of another order that differs at most at places i to j."""
    for k in range(i, j + 1):
        served.order[k] = other.order[k]
    for k in range(len(other.order)):
        served.release[k], served.by_release[k] = other.release[k], other.by_release[k]
        served.began[k], served.start[k] = other.began[k], other.start[k]


@compiled
def anneal(timed, known, new, began, least, bits, large, moves, heat, settings):  # type: ignore[no-untyped-def]
    """Try moves at a temperature; starts of a total below ``least`` go to ``began``; return it.

    ``settings`` are the reach of a move, the temperatures that an order may lose before it is given
    up, and ``rare``: one move in ``rare`` puts one of the requests ``large`` anywhere. A third of
    the moves release one later, or at its arrival again. Before and after, ``known`` and ``new``
    hold one order.
    """
    reach, give, rare = settings
    n, whole = len(known.order), len(known.total) - 1
    for _ in range(moves):
        what = draw(bits) % np.uint64(rare)
        if what == 0:
            i, j, kind = far_move(bits, new.order, large)
        elif what % np.uint64(3) == 0:
            i, j, kind = 0, n - 1, HELD
        else:
            i, j, kind = near_move(bits, n, reach)
        if i == j:
            continue
        if kind == HELD:
            x = np.int64(draw(bits) % np.uint64(n))
            release = timed.due[x]
            if draw(bits) % np.uint64(5) > 1:
                span = np.float64(50 if draw(bits) % np.uint64(2) else 5) * timed.fixed
                luck = np.float64(draw(bits) >> np.uint64(11)) / 2.0**53
                release = max(release, known.start[x] + np.int64((2 * luck - 0.7) * span))
            if release == known.release[x]:
                continue
            released(new, x, release)
        else:
            moved(new.order, i, j, kind)
        luck = (np.float64(draw(bits) >> np.uint64(11)) + 1) / 2.0**53
        allowed = -heat * np.log(luck)
        found = serve(timed, known, new, i, allowed + give * heat)
        if not 0 <= found <= known.total[whole] + allowed:
            agree(new, known, i, j)
            continue
        slot = i // STRIDE
        begin = known.state[slot, COMPLETED] // STRIDE + 1
        agree(known, new, i, j)
        for k in range(begin, len(new.sums)):
            known.sums[k] = new.sums[k]
        for k in range(slot + 1, whole):
            snapshot(known, k, new.state[k], new.total[k], new.end[k], new.base[k])
        known.total[whole] = new.total[whole]
        if found < least:
            least = found
            for k in range(n):
                began[k] = new.began[k]
    return least
