"""The compiled costs of starts under prices of memory rows and of growth rows.

Times are counted from the first arrival. Prices are float64 while they climb and int64 where a
bound is claimed; sums of integers may wrap around 64 bits, as differences of them are exact as long
as the difference itself fits. `ratiolab.hindsight.scale.growth` states the rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.arrays import compiled
from ratiolab.model.footprint import IntArray

BLOCK = 16
"""Buckets of starts that are left out at once."""


class Sums(NamedTuple):
    """Sums of prices over times 0..T, of memory in all and of each growth row.

    Parameters
    ----------
    level, moment : sums of the price of a token and of that price times its time, shape (T + 1,).
    row_level, row_moment : the same of the price of each growth row, shape (rows, T + 1).
    tokens, rounds : of each growth row, shape (rows,).
    memory, unit : tokens of memory, and what a round of latency costs, in the type of the prices.
    """

    level: NDArray[Any]
    moment: NDArray[Any]
    row_level: NDArray[Any]
    row_moment: NDArray[Any]
    tokens: IntArray
    rounds: IntArray
    memory: Any
    unit: Any


@compiled
def accumulate(prices, width, memory, tokens, rounds, unit):  # type: ignore[no-untyped-def]
    """Return the `Sums` of prices: ``prices[0, b]`` of memory in bucket b, then of each row."""
    rows, times = len(tokens), prices.shape[1] * width
    level = np.zeros(times + 1, prices.dtype)
    moment = np.zeros(times + 1, prices.dtype)
    row_level = np.zeros((rows, times + 1), prices.dtype)
    row_moment = np.zeros((rows, times + 1), prices.dtype)
    for t in range(1, times + 1):
        b = (t - 1) // width
        token = prices[0, b]
        for k in range(rows):
            y = prices[k + 1, b]
            token += tokens[k] * y
            row_level[k, t] = row_level[k, t - 1] + y
            row_moment[k, t] = row_moment[k, t - 1] + y * t
        level[t] = level[t - 1] + token
        moment[t] = moment[t - 1] + token * t
    return Sums(level, moment, row_level, row_moment, tokens, rounds, memory, unit)


@compiled
def start_cost(sums, a, s, o, p):  # type: ignore[no-untyped-def]
    """Return what start p costs a request: latency, tokens, and credit for its completion."""
    end = len(sums.level) - 1
    done = p + o
    low, high = min(p, end), min(done, end)
    cost = sums.unit * (done - a) + (s - p) * (sums.level[high] - sums.level[low])
    cost += sums.moment[high] - sums.moment[low]
    for k in range(len(sums.tokens)):
        most, rounds = sums.tokens[k], sums.rounds[k]
        level, moment = sums.row_level[k], sums.row_moment[k]
        grown = min(max(p + most - s, p), done)  # until then fewer tokens than `most`
        turn = min(grown, end)
        held = (s - p) * (level[turn] - level[low]) + moment[turn] - moment[low]
        held += most * (level[high] - level[turn])
        early = min(max(done - rounds, 0), end)
        credit = moment[high] - moment[early] - (done - rounds) * (level[high] - level[early])
        cost += rounds * held - sums.memory * credit
    return cost


@compiled
def block_floors(sums, width, size):  # type: ignore[no-untyped-def]
    """Return the least price of a token in each block of so many buckets, and 0 beyond the last."""
    buckets = (len(sums.level) - 1) // width
    floors = np.zeros(buckets // size + 2, sums.level.dtype)
    for b in range(buckets):
        price = sums.level[b * width + 1] - sums.level[b * width]
        k = b // size
        if b % size == 0 or price < floors[k]:
            floors[k] = price
    if buckets % size:
        floors[buckets // size] = 0
    return floors


@compiled
def least_in_block(sums, floors, length, a, s, o, p):  # type: ignore[no-untyped-def]
    """Return a lower bound, but for credits, of the costs of starts from p to the block's end."""
    last = (p // length + 1) * length + o
    floor = floors[min(p // length, len(floors) - 1)]
    for k in range(p // length + 1, min(last // length, len(floors) - 1) + 1):
        floor = min(floor, floors[k])
    return sums.unit * (p + o - a) + floor * (s * o + o * (o + 1) // 2)


@compiled
def cheapest_near(sums, arrival, prompt, output, width, slack):  # type: ignore[no-untyped-def]
    """Return the least cost of each request over starts a quarter bucket apart, and where it is.

    Blocks of starts that cost more than a start already known are left out. ``slack`` is the most
    that credits may take off the latency of a start. Also returns how many starts were looked at.
    """
    count = len(arrival)
    least = np.empty(count, sums.level.dtype)
    starts = np.empty(count, np.int64)
    end = len(sums.level) - 1
    floors, length, stride = block_floors(sums, width, BLOCK), BLOCK * width, max(1, width // 4)
    looked = 0
    for i in range(count):
        a, s, o = arrival[i], prompt[i], output[i]
        best, at = start_cost(sums, a, s, o, a), a
        p = a + length
        while p < end + length and sums.unit * (p + o - a) - slack < best:
            cost = start_cost(sums, a, s, o, p)
            looked += 1
            if cost < best:
                best, at = cost, p
            p += length
        p = a
        while p < end + stride and sums.unit * (p + o - a) - slack < best:
            stop = (p // length + 1) * length
            if least_in_block(sums, floors, length, a, s, o, p) - slack < best:
                while p < stop:
                    cost = start_cost(sums, a, s, o, p)
                    looked += 1
                    if cost < best:
                        best, at = cost, p
                    p += stride
            else:
                p += (stop - p + stride - 1) // stride * stride
        least[i], starts[i] = best, at
    return least, starts, looked


@compiled
def cheapest(sums, arrival, prompt, output, width, slack):  # type: ignore[no-untyped-def]
    """Return the least cost of each request over all starts from its arrival on.

    While none of the times p + 1, p + 1 + o, the first at which it holds the tokens of a row, and
    the first and last of a credit changes bucket, the cost is quadratic in p: its least value
    stands at an end of such a piece, or, where second differences are positive, at the first start
    with a first difference that is not negative. Blocks of starts that cost more than a start
    already known are left out.
    """
    count, rows = len(arrival), len(sums.tokens)
    least, _, _ = cheapest_near(sums, arrival, prompt, output, width, slack)
    end = len(sums.level) - 1
    floors, length = block_floors(sums, width, BLOCK), BLOCK * width
    finest = block_floors(sums, width, 1)
    offset = np.empty(2 + 2 * rows, np.int64)
    for i in range(count):
        a, s, o = arrival[i], prompt[i], output[i]
        offset[0], offset[1] = 0, o
        for k in range(rows):
            offset[2 + 2 * k] = min(max(sums.tokens[k] - s, 0), o)
            offset[3 + 2 * k] = o - sums.rounds[k]
        best, block, bucket, p = least[i], np.int64(-1), np.int64(-1), a
        cost = start_cost(sums, a, s, o, p)
        while p < end and sums.unit * (p + o - a) - slack < best:
            if p // length != block:
                block = p // length
                if least_in_block(sums, floors, length, a, s, o, p) - slack >= best:
                    p = min(end, (block + 1) * length)
                    cost = start_cost(sums, a, s, o, p)
                    best = min(best, cost)
                    continue
            if o < 4 * width and p // width != bucket:
                bucket = p // width
                if least_in_block(sums, finest, width, a, s, o, p) - slack >= best:
                    p = min(end, (bucket + 1) * width)
                    cost = start_cost(sums, a, s, o, p)
                    best = min(best, cost)
                    continue
            stop = end
            for x in offset:
                if p + x < end:
                    stop = min(stop, ((p + x) // width + 1) * width - x)
            last = start_cost(sums, a, s, o, stop)
            best = min(best, last)
            if stop - p > 2:
                first = start_cost(sums, a, s, o, p + 1) - cost
                rise = start_cost(sums, a, s, o, p + 2) - cost - 2 * first
                if first < 0 and rise > 0:
                    turn = p + np.int64(-first // rise)
                    for q in range(max(p, turn), min(turn + 2, stop)):
                        best = min(best, start_cost(sums, a, s, o, q))
            elif stop - p == 2:
                best = min(best, start_cost(sums, a, s, o, p + 1))
            p, cost = stop, last
        least[i] = best
    return least


@compiled
def _add(buckets, width, begin, end, level, slope):  # type: ignore[no-untyped-def]
    """Add level + slope t over begin < t <= end to the buckets of these times."""
    stop, t = min(end, len(buckets) * width), max(begin, 0)
    while t < stop:
        b = t // width
        upto = min(stop, (b + 1) * width)
        count = upto - t
        buckets[b] += count * (level + slope * (t + upto + 1) / 2)
        t = upto


@compiled
def row_use(starts, prompt, output, buckets, width, memory, tokens, rounds):  # type: ignore[no-untyped-def]
    """Return what starts use of the rows in each bucket, of memory first, float64."""
    use = np.zeros((len(tokens) + 1, buckets))
    for i in range(len(starts)):
        p, s, o = starts[i], prompt[i], output[i]
        _add(use[0], width, p, p + o, s - p, 1)
        for k in range(len(tokens)):
            grown = min(max(p + tokens[k] - s, p), p + o)
            scale = rounds[k] / tokens[k]
            _add(use[k + 1], width, p, grown, scale * (s - p), scale)
            _add(use[k + 1], width, grown, p + o, rounds[k], 0)
            done, share = p + o, memory / tokens[k]
            _add(use[k + 1], width, done - rounds[k], done, share * (done - rounds[k]), -share)
    for k in range(len(tokens)):
        use[k + 1] += use[0]
    return use
