"""The compiled costs of starts under prices of memory rows and of growth rows.

Times are counted from the first arrival. Prices are float64 while they climb and int64 where a
bound is claimed; sums of integers may wrap around 64 bits, as differences of them are exact as long
as the difference itself fits. `ratiolab.hindsight.certificates.duals` states the rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

BLOCK = 16
"""Buckets of starts that are left out at once."""


class Sums(NamedTuple):
    """Sums of prices over times 0..T, of memory in all and of each growth row.

    Parameters
    ----------
    level, moment : sums of the price of a token and of that price times its time, shape (T + 1,).
    row_level, row_moment : such sums of the price of each growth row, shape (rows, T + 1).
    tokens, rounds : of each growth row, shape (rows,).
    price, floor : of a token in each bucket, then 0; the least of each `BLOCK` buckets.
    memory : tokens of memory, in the type of the prices.
    """

    level: NDArray[Any]
    moment: NDArray[Any]
    row_level: NDArray[Any]
    row_moment: NDArray[Any]
    tokens: IntArray
    rounds: IntArray
    price: NDArray[Any]
    floor: NDArray[Any]
    memory: Any


class Terms(NamedTuple):
    """Costs of starts beside prices, shape (n,); `ratiolab.hindsight.objective` explains them.

    Parameters
    ----------
    slope : cost of a round of latency, in the type of the prices.
    last : the last start, round.
    late : cost of a request that does not start by then, in the type of the prices.
    """

    slope: NDArray[Any]
    last: IntArray
    late: NDArray[Any]


def accumulate(
    prices: NDArray[Any], width: int, memory: Any, tokens: IntArray, rounds: IntArray
) -> Sums:
    """Return the `Sums` of prices: ``prices[0, b]`` of memory in bucket b, then of each row."""
    token = prices[0] + (tokens[:, None] * prices[1:]).sum(axis=0, dtype=prices.dtype)
    level, moment = _cumulated(token, width)
    row_level, row_moment = np.zeros((2, len(tokens), len(level)), prices.dtype)
    for k, row in enumerate(prices[1:]):
        row_level[k], row_moment[k] = _cumulated(row, width)
    price = np.append(token, np.zeros(BLOCK + 1, prices.dtype))  # and nothing after the last time
    floor = np.minimum.reduceat(price, np.arange(0, len(price), BLOCK))
    return Sums(*(level, moment, row_level, row_moment, tokens, rounds, price, floor, memory))


def _cumulated(price: NDArray[Any], width: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sums of a price over times 0..T, and of price times time."""
    each = np.append(np.zeros(1, price.dtype), np.repeat(price, width))
    return np.cumsum(each), np.cumsum(each * np.arange(len(each)))


@inner
def start_cost(sums, slope, a, s, o, p):  # type: ignore[no-untyped-def]
    """Return the cost of start p: latency, price of tokens, less the credit for completion."""
    end = len(sums.level) - 1
    done = p + o
    low, high = min(p, end), min(done, end)
    cost = slope * (done - a) + (s - p) * (sums.level[high] - sums.level[low])
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


@inner
def least_in_block(sums, slope, floors, length, a, s, o, p):  # type: ignore[no-untyped-def]
    """Return a lower bound, but for credits, of the costs of starts from p to the block's end."""
    last = (p // length + 1) * length + o
    floor = floors[min(p // length, len(floors) - 1)]
    for k in range(p // length + 1, min(last // length, len(floors) - 1) + 1):
        floor = min(floor, floors[k])
    return slope * (p + o - a) + floor * (s * o + o * (o + 1) // 2)


@compiled
def cheapest_near(sums, terms, arrival, prompt, output, width, slack, least, starts):  # type: ignore[no-untyped-def]
    """Write the least cost of each request over starts a quarter bucket apart, and that start.

    The start is -1 where no start costs less than being late. Blocks of starts that cost more than
    a start already known are left out.

    Parameters
    ----------
    slack : most that credits may take off the latency of a start.

    Returns
    -------
    the number of starts that were looked at.
    """
    end = len(sums.level) - 1
    floors, length, stride = sums.floor, BLOCK * width, max(1, width // 4)
    looked = 0
    for i in range(len(arrival)):
        a, s, o = arrival[i], prompt[i], output[i]
        slope, last = terms.slope[i], terms.last[i]
        best, at = terms.late[i], np.int64(-1)
        p = a
        while p < end + length and p <= last and slope * (p + o - a) - slack < best:
            cost = start_cost(sums, slope, a, s, o, p)
            looked += 1 if p > a else 0  # it is looked at again below
            if cost < best:
                best, at = cost, p
            p += length
        p = a
        while p < end + stride and p <= last and slope * (p + o - a) - slack < best:
            stop = min((p // length + 1) * length, last + 1)
            if least_in_block(sums, slope, floors, length, a, s, o, p) - slack < best:
                while p < stop:
                    cost = start_cost(sums, slope, a, s, o, p)
                    looked += 1
                    if cost < best:
                        best, at = cost, p
                    p += stride
            else:
                p += (stop - p + stride - 1) // stride * stride
        least[i], starts[i] = best, at
    return looked


@compiled
def cheapest(sums, terms, arrival, prompt, output, width, slack, starts, least):  # type: ignore[no-untyped-def]
    """Write the least cost of each request over all its starts, and of being late.

    ``starts`` are looked at first; the others only where they may cost less.
    While none of the times p + 1, p + 1 + o, the first at which it holds the tokens of a row, and
    the first and last of a credit changes bucket, the cost is quadratic in p: its least value
    stands at an end of such a piece, or, where second differences are positive, at the first start
    with a first difference that is not negative. Blocks of starts that cost more than a start
    already known are left out.
    """
    rows, length = len(sums.tokens), BLOCK * width
    for i in range(len(arrival)):
        a, s, o = arrival[i], prompt[i], output[i]
        slope, best = terms.slope[i], terms.late[i]
        end = min(len(sums.level) - 1, terms.last[i])  # later starts cost no less
        if a > terms.last[i]:
            least[i] = best
            continue
        if starts[i] >= 0:
            best = min(best, start_cost(sums, slope, a, s, o, starts[i]))
        block, bucket, p = np.int64(-1), np.int64(-1), a
        cost = start_cost(sums, slope, a, s, o, a)
        best = min(best, cost)
        while p < end and slope * (p + o - a) - slack < best:
            if p // length != block:
                block = p // length
                if least_in_block(sums, slope, sums.floor, length, a, s, o, p) - slack >= best:
                    p = min(end, (block + 1) * length)
                    cost = start_cost(sums, slope, a, s, o, p)
                    best = min(best, cost)
                    continue
            if o < 4 * width and p // width != bucket:
                bucket = p // width
                if least_in_block(sums, slope, sums.price, width, a, s, o, p) - slack >= best:
                    p = min(end, (bucket + 1) * width)
                    cost = start_cost(sums, slope, a, s, o, p)
                    best = min(best, cost)
                    continue
            stop = end
            for k in range(-1, rows):
                for late in range(2):
                    x = late * o
                    if k >= 0:
                        x = o - sums.rounds[k] if late else min(max(sums.tokens[k] - s, 0), o)
                    if p + x < len(sums.level) - 1:
                        stop = min(stop, ((p + x) // width + 1) * width - x)
            last = start_cost(sums, slope, a, s, o, stop)
            best = min(best, last)
            if stop - p > 2:
                first = start_cost(sums, slope, a, s, o, p + 1) - cost
                rise = start_cost(sums, slope, a, s, o, p + 2) - cost - 2 * first
                if first < 0 and rise > 0:
                    turn = p + np.int64(-first // rise)
                    for q in range(max(p, turn), min(turn + 2, stop)):
                        best = min(best, start_cost(sums, slope, a, s, o, q))
            elif stop - p == 2:
                best = min(best, start_cost(sums, slope, a, s, o, p + 1))
            p, cost = stop, last
        least[i] = best


@inner
def _add(buckets, width, begin, end, level, slope):  # type: ignore[no-untyped-def]
    """Add level + slope t over begin < t <= end to the buckets of these times."""
    stop, t = min(end, len(buckets) * width), max(begin, 0)
    while t < stop:
        b = t // width
        upto = min(stop, (b + 1) * width)
        buckets[b] += (upto - t) * (level + slope * (t + upto + 1) / 2)
        t = upto


@compiled
def row_use(starts, prompt, output, width, memory, tokens, rounds, use):  # type: ignore[no-untyped-def]
    """Add to ``use`` what starts use of memory in each bucket, and of growth rows beyond that."""
    for i in range(len(starts)):
        if starts[i] < 0:  # late
            continue
        p, s, o = starts[i], prompt[i], output[i]
        _add(use[0], width, p, p + o, float(s - p), 1.0)
        for k in range(len(tokens)):
            grown = min(max(p + tokens[k] - s, p), p + o)
            scale = rounds[k] / tokens[k]
            _add(use[k + 1], width, p, grown, scale * (s - p), scale)
            _add(use[k + 1], width, grown, p + o, float(rounds[k]), 0.0)
            done, share = p + o, memory / tokens[k]
            _add(use[k + 1], width, done - rounds[k], done, share * (done - rounds[k]), -share)
