"""States of `two_halves`, and the compiled loops over them."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
compiled: Any = njit(cache=True)


class Side(NamedTuple):
    """Tables of one direction, time running as the direction does.

    Parameters
    ----------
    order : in which requests of a layer begin, equal ones as `before` demands.
    rho : of each request that begins at each layer, `NEVER` for none; due : the least from then on;
    later : what of it is paid when the request has run: all, backward.
    change : what a beginning adds to what is paid now, one time later, ...
    tokens : what it then holds. rises : R of each time.
    bits : of watched requests, else 0. before : equal ones that begin first.
    """

    order: tuple[int, ...]
    rho: NDArray[np.int32]
    due: NDArray[np.int32]
    later: NDArray[np.int32]
    change: NDArray[np.int32]
    tokens: NDArray[np.uint8]
    rises: NDArray[np.int32]
    bits: NDArray[np.uint64]
    before: NDArray[np.uint64]


class Layer(NamedTuple):
    """States: which watched requests have begun, who runs since when, tokens, and payments.

    Tokens and payments are those of the times from now on.

    ``low`` is what a schedule costs at least: all that is paid and due.
    """

    low: IntArray
    mask: NDArray[np.uint64]
    count: NDArray[np.int16]
    running: NDArray[np.int16]
    since: NDArray[np.int16]
    tokens: NDArray[np.uint8]
    paid: NDArray[np.int32]

    @classmethod
    def room(cls, size: int, most: int, longest: int) -> "Layer":
        running, since = np.zeros((2, size, most), np.int16)
        tokens, paid = np.zeros((size, longest), np.uint8), np.zeros((size, longest + 1), np.int32)
        mask, low = np.zeros(size, np.uint64), np.zeros(size, np.int64)
        count = np.zeros(size, np.int16)
        return cls(low, mask, count, running, since, tokens, paid)

    def rows(self, chosen: Any) -> "Layer":
        return Layer._make(column[chosen] for column in self)


@compiled
def begun(layer, i, t, side, memory, limit, half):  # type: ignore[no-untyped-def]
    """Return the states, and these with one more request that begins."""
    bit, before, own = side.bits[i], side.before[i], side.tokens[i]
    old, longest = len(layer.mask), layer.tokens.shape[1]
    good = np.zeros(old, np.bool_)
    for s in range(old):
        if layer.low[s] + side.rho[i, t] - side.due[i, t] > limit:
            continue
        paid = layer.paid[s, 0] + side.change[i, t, 0]
        if paid > half[0] and paid > half[1]:
            continue
        good[s] = not layer.mask[s] & bit and layer.mask[s] & before == before
        for y in range(longest):
            if own[y] == 0 or not good[s]:
                break
            good[s] = int(layer.tokens[s, y]) + int(own[y]) <= memory
    more = np.flatnonzero(good)
    if len(more) == 0:
        return layer
    rows = np.concatenate((np.arange(old), more))
    low, mask, count = layer.low[rows], layer.mask[rows], layer.count[rows]
    running, since = layer.running[rows], layer.since[rows]
    tokens, paid = layer.tokens[rows], layer.paid[rows]
    for s in range(old, len(rows)):
        low[s] += side.rho[i, t] - side.due[i, t]
        mask[s] |= bit
        running[s, count[s]] = i
        since[s, count[s]] = t
        count[s] += 1
        for y in range(longest):
            tokens[s, y] += own[y]
        for y in range(longest + 1):
            paid[s, y] += side.change[i, t, y]
    return Layer(low, mask, count, running, since, tokens, paid)


@compiled
def aged(layer, t, side, output):  # type: ignore[no-untyped-def]
    """Move all states to time t."""
    longest = layer.tokens.shape[1]
    for s in range(len(layer.mask)):
        for y in range(longest):
            layer.tokens[s, y] = layer.tokens[s, y + 1] if y + 1 < longest else 0
            layer.paid[s, y] = layer.paid[s, y + 1] + side.rises[t]
        layer.paid[s, longest] += side.rises[t]
        left = 0
        for j in range(layer.count[s]):
            i = layer.running[s, j]
            if t - layer.since[s, j] < output[i]:
                layer.running[s, left], layer.since[s, left] = i, layer.since[s, j]
                left += 1
        layer.count[s] = left
        layer.low[s] = layer.paid[s, 0]
        for i in range(len(output)):
            if not layer.mask[s] >> np.uint64(i) & np.uint64(1):
                layer.low[s] += side.due[i, t]
        for j in range(left):
            layer.low[s] += side.later[layer.running[s, j], layer.since[s, j]]


@compiled
def undominated(layer, order, compared):  # type: ignore[no-untyped-def]
    """Return which states of this order no kept one before them replaces, as far as compared."""
    keep = np.ones(len(order), np.bool_)
    known = np.zeros(compared, np.int64)
    number = turn = 0
    for place in range(len(order)):
        s = order[place]
        if place and layer.mask[s] != layer.mask[order[place - 1]]:
            number = turn = 0
        for k in range(number):
            x = known[k]
            better = True
            for y in range(layer.tokens.shape[1]):
                if layer.tokens[x, y] > layer.tokens[s, y] or layer.paid[x, y] > layer.paid[s, y]:
                    better = False
                    break
            if better:
                keep[place] = False
                known[k], known[k // 2] = known[k // 2], x
                break
        if keep[place]:
            if number < compared:
                known[number] = s
                number += 1
            else:
                known[compared // 2 + turn] = s
                turn = (turn + 1) % (compared - compared // 2)
    return keep


@compiled
def fits(layer, t, watched, limit, raw, past, masks, edges, settled, tokens):  # type: ignore[no-untyped-def]
    """Return whether some state and some suffix together cost at most the limit."""
    longest = tokens.shape[1]
    own = np.zeros(longest, np.int64)
    for s in range(len(layer.mask)):
        want, most = watched & ~layer.mask[s], limit - layer.paid[s, longest]
        own[:] = 0
        for j in range(layer.count[s]):
            i, start = layer.running[s, j], layer.since[s, j]
            want |= watched & np.uint64(1) << np.uint64(i)
            most += raw[i, start]
            for y in range(longest):
                own[y] += past[i, t - start, y]
        group = np.searchsorted(masks, want)
        if group == len(masks) or masks[group] != want:
            continue
        for k in range(edges[group], edges[group + 1]):
            if settled[k] > most:
                break
            inside = True
            for y in range(longest):
                if tokens[k, y] > own[y]:
                    inside = False
                    break
            if inside:
                return True
    return False
