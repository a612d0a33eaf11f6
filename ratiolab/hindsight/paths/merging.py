"""Compiled: states of a layer merged into few, so that a walk of any width leaves out no path.

A merged state stands for all its members: it holds, at each later time, the least that one of them
holds, and has settled the least; of what runs it knows only what runs in all of them. What
completes a member completes it, and adds as much to what is settled. Its cost is what is settled
and what those in common will still pay, which never falls along a path: with whatever completes
it, they hold no more than fits. So the cheapest path of a walk that merges costs no more than
the cheapest of all: a relaxed decision diagram, Bergman, Cire, van Hoeve and Hooker (2016),
Decision Diagrams for Optimization, Chapter 4.

Which states are merged: groups are split in two, where they differ most, until there are as many as
a layer may keep. A difference of tokens counts what those tokens cost at that time.
"""

import heapq

import numpy as np

from ratiolab.hindsight.paths.join_kernels import LOW, least_bytes
from ratiolab.hindsight.paths.kernels import BYTE, compiled
from ratiolab.model.footprint import IntArray

DEARER = 2
"""Tokens count so many times their price where states are merged."""


def prices(slack: IntArray, memory: int, longest: int) -> IntArray:
    """Return what a token counts at the coming times, given what a full memory costs then."""
    price = np.zeros(longest, np.int64)
    price[: len(slack)] = DEARER * slack[:longest] // memory
    return price


@compiled
def _spread(settled, tokens, rows, price):  # type: ignore[no-untyped-def]
    """Return how much these states differ, and in what most, -1 for what is settled."""
    words = tokens.shape[1]
    low = high = settled[rows[0]]
    for row in rows:
        low, high = min(low, settled[row]), max(high, settled[row])
    total = most = high - low
    where = -1
    for w in range(words):
        least = largest = tokens[rows[0], w]
        for row in rows:
            least = least_bytes(least, tokens[row, w])
            largest = largest + tokens[row, w] - least_bytes(largest, tokens[row, w])
        for b in range(8):
            wide = np.int64(((largest - least) >> (np.uint64(b) * BYTE)) & LOW)
            wide *= price[8 * w + b]
            total += wide
            if wide > most:
                most, where = wide, 8 * w + b
    return total, where


@compiled
def groups(settled, tokens, rows, price, number):  # type: ignore[no-untyped-def]
    """Return these states in the order of groups, so many at most, and where each group begins.

    Parameters
    ----------
    price : of a token at the next time, the one after, ...
    """
    order = rows.copy()
    wide, where = _spread(settled, tokens, order, price)
    heap = [(-wide, 0, len(order), where)]
    while len(heap) < number and heap[0][0] < 0:
        _, begin, end, where = heapq.heappop(heap)
        own = order[begin:end].copy()
        if where < 0:
            values = settled[own]
        else:
            shift = np.uint64(where % 8) * BYTE
            values = ((tokens[own, where // 8] >> shift) & LOW).astype(np.int64)
        below = values < (values.min() + values.max() + 1) // 2
        one, other = own[below], own[~below]
        edge = begin + len(one)
        order[begin:edge] = one
        order[edge:end] = other
        wide, where = _spread(settled, tokens, one, price)
        heapq.heappush(heap, (-wide, begin, edge, where))
        wide, where = _spread(settled, tokens, other, price)
        heapq.heappush(heap, (-wide, edge, end, where))
    edges = np.array([begin for _, begin, _, _ in heap] + [len(order)])
    return order, np.sort(edges)


@compiled
def merge(states, order, edges, later, paid, slack):  # type: ignore[no-untyped-def]
    """Write the merged state of each group in place of a member; return the rows of these.

    Parameters
    ----------
    later : what each pair will still pay, as costs of the states say.
    paid, slack : of partial states, what each pair has paid of the slack of the next time, at its
        age before, and that slack; else zeros.
    """
    words = states.tokens.shape[1]
    result = np.zeros(len(edges) - 1, np.int64)
    for group in range(len(edges) - 1):
        own = order[edges[group] : edges[group + 1]]
        best = own[np.argmin(states.settled[own])]
        result[group] = best
        if len(own) == 1:
            continue
        for row in own:
            for w in range(words):
                states.tokens[best, w] = least_bytes(states.tokens[best, w], states.tokens[row, w])
            kept = 0
            for j in range(states.running[best]):
                for k in range(states.running[row]):
                    if states.pairs[best, j] == states.pairs[row, k]:
                        states.pairs[best, kept] = states.pairs[best, j]
                        kept += 1
                        break
            states.running[best] = kept
        # no bound of a member holds: what completes the merged state need complete none of them
        states.cost[best] = states.settled[best]
        states.low[best] = states.settled[best] - slack
        for j in range(states.running[best]):
            pair = states.pairs[best, j]
            states.cost[best] += later[pair]
            states.low[best] += later[pair] + paid[pair - 1]
    return result
