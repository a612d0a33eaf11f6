"""Completion bounds of the checker of path certificates: what states come to, and how it is found.

`ratiolab.hindsight.certificates.certify_paths` says which states bound which. The states of a layer
with the same watched requests started are halved again and again at the median of the tokens that
differ most; each half knows its least tokens and its least total, so that a search leaves out
halves in which nothing can fit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.certificates.path_states import Layer, exceeds
from ratiolab.machine_code import careful
from ratiolab.model.footprint import IntArray

BUNCH = 8
"""States that are not halved."""

LATELY = 8
"""States that were too much for others lately, and are asked first."""


class Bounds(NamedTuple):
    """States of a layer, for those of the pass after; their totals are their rests, negated.

    Parameters
    ----------
    begun : the different sets of watched requests that have started, rising.
    edges : first state of each of them, and the number of all.
    heaps : its first half in the list of halves; the halves of half k, counted from 1, are 2 k and
        2 k + 1.
    total, tokens : of each state.
    least, lowest : least total and least tokens of each half.
    """

    begun: NDArray[np.uint64]
    edges: IntArray
    heaps: IntArray
    total: IntArray
    tokens: NDArray[np.uint8]
    least: IntArray
    lowest: NDArray[np.uint8]


def planted(started: NDArray[np.uint64], total: IntArray, tokens: NDArray[np.uint8]) -> Bounds:
    """Return the states of a layer in halves; those with the same requests started are adjacent."""
    begun, edges = np.unique(started, return_index=True)
    edges = np.append(edges, len(started)).astype(np.int64)
    sizes = [2 * _halves(int(size)) for size in np.diff(edges)]
    heaps = np.cumsum([0, *sizes]).astype(np.int64)
    least = np.zeros(heaps[-1], np.int64)
    lowest = np.zeros((heaps[-1], tokens.shape[1]), np.uint8)
    order = np.arange(len(started))
    _halve(edges, heaps, total, tokens, order, least, lowest)
    return Bounds(begun, edges, heaps, total[order], tokens[order], least, lowest)


def _halves(size: int) -> int:
    """Return how many parts states are halved to, a power of two.

    >>> [_halves(size) for size in (1, 8, 9, 17, 33)]
    [1, 1, 2, 4, 8]
    """
    parts = 1
    while BUNCH * parts < size:
        parts *= 2
    return parts


@careful
def _halve(edges, heaps, total, tokens, order, least, lowest):  # type: ignore[no-untyped-def]
    """Put states in the order of their halves, and write what each half has least."""
    length = tokens.shape[1]
    high = np.zeros(length, np.uint8)
    for group in range(len(edges) - 1):
        halves = heaps[group + 1] - heaps[group]
        begin, end = np.zeros(halves, np.int64), np.zeros(halves, np.int64)
        begin[1], end[1] = edges[group], edges[group + 1]
        for half in range(1, halves):
            rows = order[begin[half] : end[half]].copy()
            low = lowest[heaps[group] + half]
            for y in range(length):
                low[y] = high[y] = tokens[rows[0], y]
            best = total[rows[0]]
            for row in rows:
                best = min(best, total[row])
                for y in range(length):
                    low[y] = min(low[y], tokens[row, y])
                    high[y] = max(high[y], tokens[row, y])
            least[heaps[group] + half] = best
            if 2 * half < halves:
                split = np.argmax(high - low)
                rows = rows[np.argsort(tokens[rows, split])]
                for k in range(len(rows)):
                    order[begin[half] + k] = rows[k]
                middle = (begin[half] + end[half]) // 2
                begin[2 * half], end[2 * half] = begin[half], middle
                begin[2 * half + 1], end[2 * half + 1] = middle, end[half]


@careful
def least_total(other, want, tokens, most, near, enough, waiting):  # type: ignore[no-untyped-def]
    """Return the least total up to ``most`` of a state that fits, or ``most`` + 1; and its place.

    It has these requests started and holds no more. Any is returned where none is at most ``near``.
    What is at most ``enough`` is returned at once.
    """
    best, place = most + 1, -1
    below = best
    group = np.searchsorted(other.begun, want)
    if group == len(other.begun) or other.begun[group] != want:
        return best, place
    heap = other.heaps[group]
    halves = other.heaps[group + 1] - heap
    waiting[0] = 1, other.edges[group], other.edges[group + 1]
    number = 1
    while number:
        number -= 1
        half, begin, end = waiting[number]
        if other.least[heap + half] >= below or exceeds(other.lowest[heap + half], tokens):
            continue
        if 2 * half < halves:
            middle = (begin + end) // 2
            # the half with the least total is looked through first
            if other.least[heap + 2 * half] <= other.least[heap + 2 * half + 1]:
                waiting[number] = 2 * half + 1, middle, end
                waiting[number + 1] = 2 * half, begin, middle
            else:
                waiting[number] = 2 * half, begin, middle
                waiting[number + 1] = 2 * half + 1, middle, end
            number += 2
            continue
        for k in range(begin, end):
            if other.total[k] < below and not exceeds(other.tokens[k], tokens):
                best, place = other.total[k], k
                below = min(best, near + 1)
        if best <= enough:
            break
    return best, place


@careful
def bounded(layer, limit, known, other, exact, chosen):  # type: ignore[no-untyped-def]
    """Drop those of these states whose total and rest exceed the limit, as a pass has it.

    The pass has watched fewer, and totals of `other` are its rests, negated: the least of them is
    the most rest. Without ``exact``, the search stops once it is too much; states that were too
    much lately come first.
    """
    waiting, lately, before = np.zeros((128, 3), np.int64), np.full(LATELY, -1), np.uint64(0)
    for s in chosen:
        too_much, own, want = layer.total[s] - limit - 1, layer.tokens[s], layer.begun[s] & known
        if want != before:
            before, lately[:] = want, -1
        least = 1
        for k in range(LATELY):
            state = lately[k]
            if state < 0 or other.total[state] > too_much or exceeds(other.tokens[state], own):
                continue
            least, lately[k], lately[k // 2] = too_much, lately[k // 2], state
            break
        if least > too_much:
            near = 0 if exact else too_much
            least, place = least_total(other, want, own, 0, near, too_much, waiting)
            if place >= 0 and least <= too_much:
                lately[LATELY // 2 + place % (LATELY // 2)] = place
        if least <= too_much or least > 0:
            layer.safe[s] = limit + 1
        elif exact:
            layer.safe[s] = max(layer.safe[s], layer.total[s] - least)


def alike(layer: Layer, rows: IntArray, known: np.uint64) -> IntArray:
    """Return states in an order in which those of the same known requests hold alike."""
    order: IntArray = rows[np.lexsort((*layer.tokens[rows, :8].T, layer.begun[rows] & known))]
    return order


class Trail:
    """States of one step by number, in the order in which they came, and what happened to them.

    A step makes one start after the other possible, and compares states in between. Hence a state
    of the layer before ends in its successors of the next layer, in states that replaced one of
    them, and in dropped states, which no path of interest passes. Followed backward, the least
    total that it can come to is known at once; that of a state that replaced another counts from
    then on only, as starts that were possible before were the other's own.

    Attributes
    ----------
    came : rows of the layer before that the first states came from.
    number : number of all states.
    """

    def __init__(self, came: IntArray, total: IntArray) -> None:
        self.came = came.astype(np.int32)
        self._rows = np.arange(len(came), dtype=np.int32)
        self._totals = [total.copy()]
        self.number = len(came)
        self._happened: list[tuple[bool, NDArray[np.int32], NDArray[np.int32]]] = []

    def made(self, of: IntArray, total: IntArray) -> None:
        """Add states that follow the rows of now, each made of one of these."""
        new = np.arange(self.number, self.number + len(of), dtype=np.int32)
        self._happened.append((True, new, self._rows[of]))
        self._rows = np.append(self._rows, new)
        self._totals.append(total.copy())
        self.number += len(new)

    def replaced(self, rows: IntArray, by: IntArray) -> None:
        """Note which rows are replaced, and by which."""
        self._happened.append((False, self._rows[rows], self._rows[by]))

    def left(self, rows: IntArray) -> None:
        """Note that these rows are left, in this order."""
        self._rows = self._rows[rows]

    def least(self, end: IntArray, never: int) -> IntArray:
        """Return the least total, up to ``never``, that each state of the first rows comes to.

        ``end`` is the total of each row that is left, at the end.
        """
        total, least = np.concatenate(self._totals), np.full(self.number, never)
        least[self._rows] = np.minimum(end, never)
        for began, ones, others in reversed(self._happened):
            if began:
                np.minimum.at(least, others, least[ones])
            else:
                least[ones] = np.minimum(never, least[others] + total[ones] - total[others])
        result: NDArray[np.int64] = least[: len(self.came)]
        return result
