"""States of the checker of path certificates, and the compiled loops over them.

`ratiolab.hindsight.certificates.certify_paths` explains and proves them.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ratiolab.machine_code import careful
from ratiolab.model.footprint import IntArray

HIGH, SEEN = np.uint64(0x8080_8080_8080_8080), 8
"""The highest bit of each byte of a word, and the bytes of a word."""

MANY = 4_000
"""States of fewer are not worth a thread, which takes a tenth of a millisecond."""

Result = TypeVar("Result")


class Layer(NamedTuple):
    """States as columns.

    Parameters
    ----------
    paid : cost up to the time of the layer.
    safe : a lower bound on the cost of every path through the state.
    total : paid less all future payments of running requests.
    begun : watched requests that have started, a bit each.
    number, pairs : what runs.
    tokens : tokens held at the next time, the one after, ...
    """

    paid: IntArray
    safe: IntArray
    total: IntArray
    begun: NDArray[np.uint64]
    number: IntArray
    pairs: NDArray[np.int16]
    tokens: NDArray[np.uint8]

    @classmethod
    def room(cls, size: int, most: int, longest: int) -> "Layer":
        """Return room for ``size`` states of ``most`` running pairs."""
        paid, safe, total, number = np.zeros((4, size), np.int64)
        pairs = np.zeros((size, most), np.int16)
        tokens = np.zeros((size, longest), np.uint8)
        return cls(paid, safe, total, np.zeros(size, np.uint64), number, pairs, tokens)

    def put(self, first: "Layer", n: int) -> None:
        """Overwrite the first n states."""
        columns: Iterator[tuple[NDArray[Any], NDArray[Any]]] = zip(self, first, strict=True)
        for column, source in columns:
            column[:n] = source[:n]

    def rows(self, chosen: IntArray) -> "Layer":
        """Return these states in this order."""
        return Layer._make(column[chosen] for column in self)


class Start(NamedTuple):
    """One start: its pair at age 0, its rho, and what it pays at the next and at all later times.

    Parameters
    ----------
    ends : whether it completes at the next time.
    bit, before : its bit when it is watched, and the bit of what must have started.
    wait : least rho of its starts from now on when it is watched, else 0.
    space : tokens that may be held beside it at the next times.
    tokens : what it holds.
    """

    pair: int
    rho: int
    price: int
    later: int
    ends: bool
    bit: np.uint64
    before: np.uint64
    wait: int
    space: NDArray[np.uint8]
    tokens: NDArray[np.uint8]


@careful
def exceeds(one, other):  # type: ignore[no-untyped-def]
    """Return whether some number of the one is above that of the other.

    All are looked at, as a processor compares many at once when none ends the loop.
    """
    above = np.uint8(0)
    for y in range(len(one)):
        above |= np.uint8(one[y] > other[y])
    return above > 0


@careful
def waits(begun, watched, waiting):  # type: ignore[no-untyped-def]
    """Return the least cost of all watched requests that have not begun."""
    late = 0
    for i in range(len(waiting) if watched else 0):
        bit = np.uint64(1) << np.uint64(i)
        if watched & bit and not begun & bit:
            late += waiting[i]
    return late


@careful
def age(old, limit, capacity, price, last, watched, waiting, new, came):  # type: ignore[no-untyped-def]
    """Write all states one time later with nothing new, and the row of each; return how many."""
    n = 0
    for s in range(len(old.paid)):
        safe = old.paid[s] + waits(old.begun[s], watched, waiting)
        if safe > limit:
            continue
        new.paid[n] = old.paid[s] + capacity
        new.total[n] = old.total[s] + capacity
        new.safe[n] = safe
        new.begun[n] = old.begun[s]
        new.tokens[n] = old.tokens[s]
        new.number[n] = 0
        came[n] = s
        for j in range(old.number[s]):
            pair = old.pairs[s, j]
            new.paid[n] -= price[pair]
            if not last[pair]:
                new.pairs[n, new.number[n]] = pair + 1
                new.number[n] += 1
        n += 1
    return n


@careful
def begin(layer, n, limit, start, came):  # type: ignore[no-untyped-def]
    """Append the states that also start this; return their new number, -1 beyond the room.

    The row of the source of each is written, too.
    """
    own = start.rho - start.price
    tight = np.argmin(start.space)  # most states that have no room have none here
    for s in range(n):
        safe = layer.safe[s] + start.rho - start.wait
        if safe > limit:
            continue
        if layer.begun[s] & start.bit or layer.begun[s] & start.before != start.before:
            continue
        if layer.tokens[s, tight] > start.space[tight] or exceeds(layer.tokens[s], start.space):
            continue
        if n == len(layer.paid):
            return -1
        layer.safe[n] = safe
        layer.paid[n] = layer.paid[s] + own
        layer.total[n] = layer.total[s] + own - start.later
        layer.begun[n] = layer.begun[s] | start.bit
        layer.number[n] = layer.number[s]
        layer.pairs[n] = layer.pairs[s]
        if not start.ends:
            layer.pairs[n, layer.number[n]] = start.pair + 1
            layer.number[n] += 1
        layer.tokens[n] = layer.tokens[s] + start.tokens
        came[n] = s
        n += 1
    return n


@careful
def bounds(layer, n, watched, waiting):  # type: ignore[no-untyped-def]
    """Move states to the next time, and bound all paths through each from below."""
    length = layer.tokens.shape[1]
    for s in range(n):
        for y in range(length - 1):
            layer.tokens[s, y] = layer.tokens[s, y + 1]
        layer.tokens[s, length - 1] = 0
        layer.safe[s] = layer.paid[s] + waits(layer.begun[s], watched, waiting)


@careful
def _glance(tokens):  # type: ignore[no-untyped-def]
    """Return halves of the tokens of every other time of the first, rounded down, as one word.

    For two states, a larger half means larger tokens.
    """
    word = np.uint64(0)
    for part in range(min(SEEN, (len(tokens) + 1) // 2)):
        word |= np.uint64(tokens[2 * part] >> 1) << np.uint64(8 * part)
    return word


@careful
def kept(layer, compared, order):  # type: ignore[no-untyped-def]
    """Return which earlier state of the order replaces each, as far as compared, -1 for none.

    In the list of compared states, a state that has replaced another moves forward, and in a full
    list new ones take turns in the later half. Sums of tokens tell most pairs apart before each
    time does.
    """
    length = layer.tokens.shape[1]
    by = np.full(len(order), -1)
    tokens, which = np.zeros((compared, length), np.uint8), np.zeros(compared, np.int64)
    words = np.zeros(compared, np.uint64)
    filled = turn = 0
    for place in range(len(order)):
        s = order[place]
        if place > 0 and layer.begun[s] != layer.begun[order[place - 1]]:
            filled = turn = 0
        mine = layer.tokens[s]
        own = _glance(mine)
        for k in range(filled):
            if ((own | HIGH) - words[k]) & HIGH == HIGH and not exceeds(tokens[k], mine):
                by[place] = which[k]
                front = k // 2
                which[k], which[front] = which[front], which[k]
                words[k], words[front] = words[front], words[k]
                for y in range(length):
                    tokens[k, y], tokens[front, y] = tokens[front, y], tokens[k, y]
                break
        if by[place] < 0:
            if filled < compared:
                row = filled
                filled += 1
            else:
                row = compared - 1 - turn
                turn = (turn + 1) % (compared - compared // 2)
            tokens[row], which[row], words[row] = mine, s, own
    return by


def by_two(call: Callable[[IntArray], Result], rows: IntArray) -> list[Result]:
    """Return the results of one call for all rows, or of two calls for every other row.

    Two calls run in two threads. The number of rows alone decides which call gets a row. A result
    does not depend on the rows of the other call, so all results are equal on every machine.
    """
    if len(rows) < MANY:
        return [call(rows)]
    return _at_once(call, rows[::2].copy(), rows[1::2].copy())


def by_two_runs(
    call: Callable[[IntArray], Result], rows: IntArray, value: NDArray[np.uint64]
) -> list[Result]:
    """Return the results of `by_two` for halves of adjacent rows; equal values share a half.

    Parameters
    ----------
    value : value of each state; ``rows`` lists states of equal value one after the other.
    """
    half, ends = len(rows) // 2, np.zeros(0, np.int64)
    if len(rows) >= MANY:
        ends = np.flatnonzero(value[rows[half - 1 : -1]] != value[rows[half:]])
    return _at_once(call, *np.split(rows, [half + ends[0]])) if len(ends) else [call(rows)]


def by_two_for_each(call: Callable[[IntArray], IntArray], rows: IntArray) -> IntArray:
    """Return one result for each row; a call returns those of all rows or of every other one."""
    found, parts = np.empty(len(rows), np.int64), by_two(call, rows)
    for first, part in enumerate(parts):
        found[first :: len(parts)] = part
    return found


def _at_once(call: Callable[[IntArray], Result], rows: IntArray, others: IntArray) -> list[Result]:
    with ThreadPoolExecutor(1) as helper:
        other = helper.submit(call, others)
        return [call(rows), other.result()]
