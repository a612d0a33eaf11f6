"""Compiled: labels of a layer merged into few, so that a sweep of any width leaves out none.

A merged label stands for all its members: it holds, at each later time, the least that one of them
holds, and has settled the least; of what runs it keeps only what runs in all of them. A completion
of a member completes it, and adds as much to the settled cost. Its cost is the settled cost plus
the future payments of the common requests. Hence the cheapest merged label of the last layer costs
no more than any relaxed schedule: a relaxed decision diagram, Bergman, Cire, van Hoeve and Hooker
(2016), Decision Diagrams for Optimization, Chapter 4.

Groups are split in two, the most different first, until there are as many as a layer may keep.
A difference of tokens counts what those tokens cost at that time. A group is split at the middle of
what is settled, or at the widest gap between numbers of tokens, so that the few labels that hold
little do not drag many others down.
"""

import numpy as np

from ratiolab.hindsight.arrays import overwrite
from ratiolab.hindsight.labelling.label_trees import least_bytes
from ratiolab.machine_code import compiled
from ratiolab.model.footprint import IntArray

DEARER = 2
"""Factor on the price of tokens where labels are merged."""

FALL = 0.85
"""The cost by which labels of a group may differ falls by this factor, until there are enough."""


def prices(slack: IntArray, memory: int, longest: int) -> IntArray:
    """Return what a token counts at the coming times, given what a full memory costs then.

    Times at the end at which it costs nothing are left out.
    """
    price: IntArray = DEARER * slack[:longest] // memory
    return np.trim_zeros(price, "b")


@compiled
def _spread(settled, tokens, rows, price, low, high):  # type: ignore[no-untyped-def]
    """Return how much these labels differ, in what most, and the middle or the least of that.

    Parameters
    ----------
    low, high : room for what is held at each time at least, and at most.

    Returns
    -------
    what they differ in is a time of tokens, or -1 for what is settled.
    """
    least = largest = settled[rows[0]]
    for y in range(len(price)):
        low[y] = high[y] = tokens[rows[0], y]
    for k in range(1, len(rows)):
        row = rows[k]
        least, largest = min(least, settled[row]), max(largest, settled[row])
        for y in range(len(price)):
            low[y] = min(low[y], tokens[row, y])
            high[y] = max(high[y], tokens[row, y])
    total = most = largest - least
    where, edge = -1, (least + largest + 1) // 2
    for y in range(len(price)):
        cost = price[y] * np.int64(high[y] - low[y])
        total += cost
        if cost > most:
            most, where, edge = cost, y, np.int64(low[y])
    return total, where, edge


@compiled
def _gap(tokens, rows, where, least, held):  # type: ignore[no-untyped-def]
    """Return the number of tokens above the widest gap between those of these labels.

    Parameters
    ----------
    least : of these.
    held : room for a flag for each number of tokens.
    """
    held[:] = False
    for row in rows:
        held[tokens[row, where]] = True
    last, widest, edge = least, 0, least
    for number in range(least + 1, len(held)):
        if held[number]:
            if number - last > widest:
                widest, edge = number - last, number
            last = number
    return edge


@compiled
def _split(settled, tokens, rows, where, edge, rest):  # type: ignore[no-untyped-def]
    """Put the labels below an edge first; return their number. ``rest`` is room for the others."""
    below = above = 0
    for k in range(len(rows)):
        row = rows[k]
        value = settled[row] if where < 0 else np.int64(tokens[row, where])
        if value < edge:
            rows[below] = row
            below += 1
        else:
            rest[above] = row
            above += 1
    overwrite(rows, below, rest, 0, above)
    return below


@compiled
def groups(settled, tokens, rows, price, number):  # type: ignore[no-untyped-def]
    """Return these labels in the order of at most ``number`` groups, and where each group begins.

    Parameters
    ----------
    tokens : at the next time, the one after, ..., a byte each.
    price : price of a token at each of these times, as far as it counts.
    """
    order, n = rows.copy(), len(rows)
    low, high = np.zeros((2, len(price)), np.uint8)
    rest, held = np.zeros(n, np.int64), np.zeros(128, np.bool_)
    # of the group that begins in a place: where it ends, and how its labels differ
    end, wide, where, edge = np.zeros((4, n), np.int64)
    end[0] = n
    wide[0], where[0], edge[0] = _spread(settled, tokens, order, price, low, high)
    made, allowed = 1, float(wide[0])
    while made < number and allowed >= 1:
        allowed *= FALL
        begin = 0
        while begin < n and made < number:
            last = end[begin]
            if wide[begin] <= allowed:
                begin = last
                continue
            own, time, at = order[begin:last], where[begin], edge[begin]
            if time >= 0:
                at = _gap(tokens, own, time, at, held)
            cut = begin + _split(settled, tokens, own, time, at, rest)
            end[begin], end[cut] = cut, last
            for first in (begin, cut):
                own = order[first : end[first]]
                wide[first], where[first], edge[first] = _spread(
                    settled, tokens, own, price, low, high
                )
            made += 1
    edges = np.zeros(made + 1, np.int64)
    for group in range(made):
        edges[group + 1] = end[edges[group]]
    return order, edges


@compiled
def merge(labels, order, edges, later, paid, slack):  # type: ignore[no-untyped-def]
    """Write the merged label of each group in place of a member; return the rows of these.

    Parameters
    ----------
    later : what each pair will still pay, as costs of the labels say.
    paid, slack : of partial labels, what each pair has paid of the slack of the next time, at its
        age before, and that slack; else zeros.
    """
    words = labels.tokens.shape[1]
    result = np.zeros(len(edges) - 1, np.int64)
    for group in range(len(edges) - 1):
        own = order[edges[group] : edges[group + 1]]
        best = own[np.argmin(labels.settled[own])]
        result[group] = best
        if len(own) == 1:
            continue
        for row in own:
            for w in range(words):
                labels.tokens[best, w] = least_bytes(labels.tokens[best, w], labels.tokens[row, w])
            kept = 0
            for j in range(labels.running[best]):
                for k in range(labels.running[row]):
                    if labels.pairs[best, j] == labels.pairs[row, k]:
                        labels.pairs[best, kept] = labels.pairs[best, j]
                        kept += 1
                        break
            labels.running[best] = kept
        # no bound of a member holds: what completes the merged label need complete none of them
        labels.cost[best] = labels.settled[best]
        labels.low[best] = labels.settled[best] - slack
        for j in range(labels.running[best]):
            pair = labels.pairs[best, j]
            labels.cost[best] += later[pair]
            labels.low[best] += later[pair] + paid[pair - 1]
    return result
