"""Merged states of the checker of path certificates.

`ratiolab.hindsight.certificates.certify_paths` says what a merged state is, and why no path is
lost, whichever states are merged. Here they are split into parts until no part differs by more than
some cost, and that cost falls until there are as many parts as states may be kept. A part is split
in what differs most: a total in the middle, tokens where most numbers in a row are held by no
state, at the least of such places. The merged state holds the least, so the few states that hold
little are to go into parts of their own.
"""

import numpy as np

from ratiolab.hindsight.certificates.path_states import Layer
from ratiolab.machine_code import careful
from ratiolab.model.footprint import IntArray

FALL = 0.85
"""The cost by which states of a part may differ falls by this factor."""


def merged(
    room: Layer,
    rows: IntArray,
    most: int,
    price: IntArray,
    later: IntArray,
    now: IntArray,
    capacity: int,
) -> IntArray:
    """Merge states into at most a number, each in place of one of them; return their rows.

    Parameters
    ----------
    price : price of tokens at the next time, the one after, ...
    later : what each pair will still pay.
    now, capacity : of states to which starts may be added, what each pair pays of the capacity of
        the next time, at its age before, and that capacity; else zeros.
    """
    if most < 1:
        raise ValueError(f"{len(rows)} states cannot merge into {most}")
    parts = np.zeros((most, 2), np.int64)
    order = rows.copy()
    number = _parts(room.total, room.tokens, order, price, parts)
    parts = parts[np.argsort(parts[:number, 0])]
    into: IntArray = _join(room, order, parts, later, now, capacity)
    return np.sort(into)


@careful
def _differ(total, tokens, own, price):  # type: ignore[no-untyped-def]
    """Return the sum of differences in cost, what differs most, and the middle of totals.

    The largest difference is at a time of tokens, or in their number for the total.
    """
    length = tokens.shape[1]
    low, high = tokens[own[0]].copy(), tokens[own[0]].copy()
    least = largest = total[own[0]]
    for row in own:
        least, largest = min(least, total[row]), max(largest, total[row])
        for y in range(length):
            if tokens[row, y] < low[y]:
                low[y] = tokens[row, y]
            elif tokens[row, y] > high[y]:
                high[y] = tokens[row, y]
    whole = most = largest - least
    where, middle = length, (least + largest + 1) // 2
    for y in range(length):
        cost = price[y] * (np.int64(high[y]) - np.int64(low[y]))
        whole += cost
        if cost > most:
            most, where = cost, y
    return whole, where, middle


@careful
def _above_gap(tokens, own, time):  # type: ignore[no-untyped-def]
    """Return the tokens above the first of the widest gaps between the tokens of states then."""
    states = np.bincount(tokens[own, time])
    numbers = np.flatnonzero(states)
    gaps = numbers[1:] - numbers[:-1]
    return numbers[1 + np.argmax(gaps)]


@careful
def _parts(total, tokens, order, price, parts):  # type: ignore[no-untyped-def]
    """Write where parts of the states begin and end, which are put in order; return how many."""
    length, most = tokens.shape[1], len(parts)
    cost, where, middle = np.zeros((3, most), np.int64)
    parts[0] = 0, len(order)
    cost[0], where[0], middle[0] = _differ(total, tokens, order, price)
    number, allowed = 1, float(cost[0])
    while number < most and allowed >= 1:
        allowed *= FALL
        k = 0
        while k < number and number < most:
            if cost[k] <= allowed:
                k += 1
                continue
            begin, end = parts[k]
            own = order[begin:end].copy()
            edge = middle[k] if where[k] == length else _above_gap(tokens, own, where[k])
            cut, final = begin, end
            for row in own:
                value = total[row] if where[k] == length else np.int64(tokens[row, where[k]])
                if value < edge:
                    order[cut] = row
                    cut += 1
                else:
                    final -= 1
                    order[final] = row
            parts[k] = begin, cut
            parts[number] = cut, end
            for part in (k, number):
                first, last = parts[part]
                cost[part], where[part], middle[part] = _differ(
                    total, tokens, order[first:last], price
                )
            number += 1
    return number


@careful
def _join(layer, order, parts, later, now, capacity):  # type: ignore[no-untyped-def]
    """Write the merged state of each part into the first of it; return the rows of these."""
    length = layer.tokens.shape[1]
    result = np.zeros(len(parts), np.int64)
    for part in range(len(parts)):
        begin, end = parts[part]
        into = order[begin]
        result[part] = into
        for place in range(begin + 1, end):
            row = order[place]
            layer.total[into] = min(layer.total[into], layer.total[row])
            for y in range(length):
                layer.tokens[into, y] = min(layer.tokens[into, y], layer.tokens[row, y])
            both = 0
            for j in range(layer.number[into]):
                pair = layer.pairs[into, j]
                for k in range(layer.number[row]):
                    if layer.pairs[row, k] == pair:
                        layer.pairs[into, both] = pair
                        both += 1
                        break
            layer.number[into] = both
        if end - begin > 1:
            # starts to come may pay of the capacity what those in common do not
            layer.safe[into] = layer.total[into] - capacity
            layer.paid[into] = layer.total[into]
            for j in range(layer.number[into]):
                pair = layer.pairs[into, j]
                layer.paid[into] += later[pair]
                layer.safe[into] += later[pair] + now[pair - 1]
    return result
