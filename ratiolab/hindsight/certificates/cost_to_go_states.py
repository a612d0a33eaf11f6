"""States of the checker of bounds on the cost-to-go, and the compiled loops over them.

`ratiolab.hindsight.certificates.certify_cost_to_go` explains and proves them. Tokens held at eight
times stand in the eight bytes of a word, all below 128, so that words compare at once: no byte of x
exceeds that of y when (y + 128) - x, in which no byte borrows, keeps all high bits.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray

COMPARED = 200
"""States against which another is compared."""

HIGH = np.uint64(0x8080808080808080)
BYTE, BYTES = np.uint64(8), np.uint64(56)

Words = NDArray[np.uint64]
compiled: Any = njit(cache=True)


def packed(tokens: NDArray[np.uint8]) -> Words:
    """Return rows of bytes as words, the first byte the lowest.

    >>> packed(np.array([[1, 2]], np.uint8)).tolist()
    [[513]]
    """
    rows, width = tokens.shape
    padded = np.zeros((rows, -(-width // 8) * 8), np.uint8)
    padded[:, :width] = tokens
    return padded.view("<u8").astype(np.uint64)


class States(NamedTuple):
    """States as columns.

    Parameters
    ----------
    settled : cost so far, less the dual costs of all that the running pairs will hold.
    value : cost up to the time of the layer.
    pairs, running : the running pairs and their number.
    tokens : packed tokens that they hold at the next time, the one after, ...
    """

    settled: IntArray
    value: IntArray
    pairs: NDArray[np.int32]
    running: IntArray
    tokens: Words

    @classmethod
    def empty(cls, capacity: int, most: int, words: int) -> "States":
        """Return so many states of at most so many running pairs."""
        settled, value, running = np.zeros((3, capacity), np.int64)
        pairs = np.zeros((capacity, most), np.int32)
        return cls(settled, value, pairs, running, np.zeros((capacity, words), np.uint64))

    def put(self, first: "States") -> None:
        """Overwrite the first states."""
        columns: Iterator[tuple[NDArray[Any], NDArray[Any]]] = zip(self, first, strict=True)
        for column, source in columns:
            column[: len(source)] = source

    def undominated(self, number: int) -> "States":
        """Return those of the first so many that no other dominates, in rising settled."""
        order = np.argsort(self.settled[:number], kind="stable")
        kept = order[undominated(self.tokens, order, COMPARED)]
        return States._make(column[kept] for column in self)


class Pair(NamedTuple):
    """One pair (request, age) that may run at the begin of a window."""

    number: int
    excess: int
    settled: int
    tokens: Words


class Round(NamedTuple):
    """Costs and rules of the step from time t to t + 1.

    Parameters
    ----------
    starts, copies : pairs that may start, and how many of each.
    excess : rho of each pair; dual, tail : its dual cost at t + 1, and at all later times.
    tokens : packed tokens of each pair; full : those of all memory.
    ends : whether each pair completes.
    paid, rest : R_t+1, and the sum of R over all times after t.
    may_end : whether all requests have arrived.
    known : a proven bound on the cost after t + 1.
    """

    starts: IntArray
    copies: IntArray
    excess: IntArray
    dual: IntArray
    tail: IntArray
    tokens: Words
    full: Words
    ends: NDArray[np.bool_]
    paid: int
    rest: int
    may_end: bool
    known: int


@compiled
def _within(low, high):  # type: ignore[no-untyped-def]
    """Return whether no byte of the first row exceeds that of the second."""
    w = 0
    while w < len(low) and ((high[w] | HIGH) - low[w]) & HIGH == HIGH:
        w += 1
    return w == len(low)


@compiled
def undominated(tokens, order, compared):  # type: ignore[no-untyped-def]
    """Return which states no earlier one of this order dominates, as far as compared.

    Those that replaced others lately stand in front, and the last of the list make room for new.
    """
    keep = np.ones(len(order), np.bool_)
    known = np.zeros((compared, tokens.shape[1]), np.uint64)
    own = np.zeros(tokens.shape[1], np.uint64)
    count = turn = 0
    for place in range(len(order)):
        own[:] = tokens[order[place]]
        for k in range(count):
            if _within(known[k], own):
                keep[place] = False
                better = k // 2
                for w in range(len(own)):
                    known[k, w], known[better, w] = known[better, w], known[k, w]
                break
        if keep[place]:
            if count < compared:
                known[count] = own
                count += 1
            else:
                turn = (turn + 1) % (compared - compared // 2)
                known[compared // 2 + turn] = own
    return keep


@compiled
def add(states, begin, end, pair, full, limit):  # type: ignore[no-untyped-def]
    """Append the states begin..end with one more pair, where it fits; return their new number."""
    settled, value, pairs, running, tokens = states
    written = end
    for s in range(begin, end):
        if value[s] + pair.excess < limit and _within(pair.tokens, full - tokens[s]):
            settled[written], value[written] = settled[s] + pair.settled, value[s] + pair.excess
            pairs[written], tokens[written] = pairs[s], tokens[s] + pair.tokens
            pairs[written, running[s]] = pair.number
            running[written] = running[s] + 1
            written += 1
    return written


@compiled
def successors(states, parent, step, limit, out, written):  # type: ignore[no-untyped-def]
    """Write states of the next layer from this parent on.

    Returns their number, the parent that found no room, the limit and the sets of starts tried.
    """
    settled, value, pairs, count, tokens = states
    starts, excess, ends, full = step.starts, step.excess, step.ends, step.full
    most, words = pairs.shape[1], tokens.shape[1]
    chosen = np.zeros(most + 1, np.int64)
    # what each number of starts makes of: settled, paid, held at the next time, excess that runs on
    own = np.zeros((most + 1, 4), np.int64)
    usage = np.zeros((most + 1, words), np.uint64)
    tried = 0
    for s in range(parent, len(settled)):
        begun = written
        own[0, 0], own[0, 1], own[0, 2:] = settled[s], value[s], 0
        usage[0] = tokens[s]
        for j in range(count[s]):
            pair = pairs[s, j]
            own[0, 2] += step.dual[pair]
            if not ends[pair]:
                own[0, 3] += excess[pair]
        depth, k, fresh = 0, 0, True
        while True:
            if fresh:
                tried += 1
                after = own[depth, 1] + step.paid - own[depth, 2]
                if count[s] + depth == 0 and step.may_end:
                    limit = min(limit, value[s] + step.rest)
                elif after < limit and after - own[depth, 3] + step.known < limit:
                    if written == len(out.settled):
                        return begun, s, limit, tried
                    kept = 0
                    for j in range(count[s] + depth):
                        pair = pairs[s, j] if j < count[s] else starts[chosen[j - count[s]]]
                        if not ends[pair]:
                            out.pairs[written, kept] = pair + 1
                            kept += 1
                    out.settled[written], out.value[written] = own[depth, 0] + step.paid, after
                    out.running[written] = kept
                    for w in range(words):
                        following = usage[depth, w + 1] << BYTES if w + 1 < words else np.uint64(0)
                        out.tokens[written, w] = usage[depth, w] >> BYTE | following
                    written += 1
            fresh = False
            while k < len(starts):
                pair, used = starts[k], 0
                while used < depth and chosen[depth - 1 - used] == k:
                    used += 1
                may = used < step.copies[k] and own[depth, 1] + excess[pair] < limit
                if may and _within(step.tokens[pair], full - usage[depth]):
                    chosen[depth] = k
                    own[depth + 1] = own[depth]
                    own[depth + 1, 0] += excess[pair] - step.tail[pair]
                    own[depth + 1, 1] += excess[pair]
                    own[depth + 1, 2] += step.dual[pair]
                    if not ends[pair]:
                        own[depth + 1, 3] += excess[pair]
                    usage[depth + 1] = usage[depth] + step.tokens[pair]
                    depth += 1
                    fresh = True
                    break
                k += 1
            if not fresh:
                if depth == 0:
                    break
                depth -= 1
                k = chosen[depth] + 1
    return written, len(settled), limit, tried
