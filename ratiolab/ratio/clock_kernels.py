"""The compiled search over orders of a queue under a batch-time clock.

Whoever stands first in the order and has arrived starts once it fits for good; nobody is evicted.
Times are integers, picoseconds, as in `ratiolab.online.simulate`, which runs again what is found
here; sums of them are floats.
"""

from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.scale.beam_state import compiled
from ratiolab.hindsight.scale.expand_kernels import earliest
from ratiolab.hindsight.scale.order_kernels import draw, far_move, moved, near_move
from ratiolab.model.footprint import IntArray

STRIDE = 16
"""Completions between two looks at whether a schedule has lost too much."""


class Timed(NamedTuple):
    """Requests and the picoseconds of batches.

    Parameters
    ----------
    due : arrivals, from the first one on; by_due : requests in the order in which they arrive.
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


@compiled
def passed(m, second, growth):  # type: ignore[no-untyped-def]
    """Return how long m batches take when the first takes ``second``, each ``growth`` longer."""
    return m * second + growth * (m * (m - 1) // 2)


@compiled
def batches_until(need, second, growth):  # type: ignore[no-untyped-def]
    """Return after how many batches so much time has passed; each takes ``growth`` longer."""
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


@compiled
def serve(timed, order, known, done, give):  # type: ignore[no-untyped-def]
    """Return the sum of completion times of an order, or -1 once it has lost too much.

    Parameters
    ----------
    known : sums of the first `STRIDE`, twice as many.. completions of another order.
    done : where those of this one are written.
    give : by how much it may be behind at each of these times.
    """
    n, memory = len(order), timed.memory
    rank = np.empty(n, np.int64)
    for k in range(n):
        rank[order[k]] = k
    waiting = np.empty(n, np.int64)  # ranks, in falling order: the next one stands last
    end, base = np.empty(timed.running, np.int64), np.empty(timed.running, np.int64)
    peak = np.empty(timed.running, np.int64)
    left, running, hold = 0, 0, np.int64(0)
    now, time, total, completed, arrived = np.int64(0), np.int64(0), 0.0, 0, 0
    while completed < n:
        while arrived < n and timed.due[timed.by_due[arrived]] <= time:
            x = rank[timed.by_due[arrived]]
            k = left
            while k and waiting[k - 1] < x:
                waiting[k] = waiting[k - 1]
                k -= 1
            waiting[k] = x
            left, arrived = left + 1, arrived + 1
        prefill, fresh = np.int64(0), 0
        event = np.int64(2**62)
        while left:
            i = order[waiting[left - 1]]
            s, o = timed.prompt[i], timed.output[i]
            p = earliest(end, base, running, peak, memory, s, o, now)
            if p > now:
                event = p
                break
            left -= 1
            k = running
            while k and end[k - 1] > now + o:
                end[k], base[k] = end[k - 1], base[k - 1]
                k -= 1
            end[k], base[k] = now + o, s - now
            hold += s - now
            running += 1
            prefill, fresh = prefill + s, fresh + 1
            held = np.int64(0)
            for k in range(running - 1, -1, -1):
                held += base[k]
                peak[k] = held + (running - k) * end[k] + end[k] - memory
        if not running:
            time = timed.due[timed.by_due[arrived]]
            continue
        event = min(event, end[0])
        cached = hold + running * now
        first = timed.fixed + timed.prefill * prefill + timed.decode * (running - fresh)
        first += timed.kv * (cached - prefill)
        second = timed.fixed + timed.decode * running + timed.kv * (cached + running)
        growth = timed.kv * running
        if arrived < n:
            need = timed.due[timed.by_due[arrived]] - time - first
            event = min(event, now + 1 + batches_until(need, second, growth))
        m = event - now - 1
        time += first + passed(m, second, growth)
        now, gone = event, 0
        while gone < running and end[gone] == now:
            hold -= base[gone]
            total += time
            completed += 1
            if completed % STRIDE == 0:
                done[completed // STRIDE] = total
                if total - known[completed // STRIDE] > give:
                    return -1.0
            gone += 1
        if gone:
            for k in range(gone, running):
                end[k - gone], base[k - gone], peak[k - gone] = end[k], base[k], peak[k]
            running -= gone
    return total


@compiled
def cool(timed, order, sums, total, large, bits, moves, heat, reach, give, rare):  # type: ignore[no-untyped-def]
    """Try moves at a temperature; return the total of the order at hand, the best, and its order.

    ``order`` and ``sums``, what `serve` writes of it, are changed in place. One move in ``rare``
    puts one of the requests ``large`` anywhere.
    """
    n = len(order)
    best, kept = total, order.copy()
    new, done = order.copy(), sums.copy()
    for _ in range(moves):
        if draw(bits) % np.uint64(rare) == 0:
            i, j, kind = far_move(bits, new, large)
        else:
            i, j, kind = near_move(bits, n, reach)
        if i == j:
            continue
        moved(new, i, j, kind)
        luck = (np.float64(draw(bits) >> np.uint64(11)) + 1) / 2.0**53
        allowed = -heat * np.log(luck)
        found = serve(timed, new, sums, done, allowed + give * heat)
        if 0 <= found <= total + allowed:
            order[i : j + 1] = new[i : j + 1]
            sums[:] = done
            total = found
            if total < best:
                best = total
                kept[:] = order
        else:
            new[i : j + 1] = order[i : j + 1]
    return total, best, kept
