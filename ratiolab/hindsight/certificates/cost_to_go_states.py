"""States of the checker of bounds on the cost-to-go, and the compiled loops over them.

`ratiolab.hindsight.certificates.certify_cost_to_go` explains and proves them. Tokens held at eight
times stand in the eight bytes of a word, all below 128, so that words compare at once: no byte of x
exceeds that of y when (y + 128) - x, in which no byte borrows, keeps all high bits.
"""

from dataclasses import dataclass
from typing import Any

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
    """Rows of bytes as words, the first byte the lowest.

    >>> packed(np.array([[1, 2]], np.uint8)).tolist()
    [[513]]
    """
    rows, width = tokens.shape
    padded = np.zeros((rows, -(-width // 8) * 8), np.uint8)
    padded[:, :width] = tokens
    return padded.view("<u8").astype(np.uint64)


@dataclass(frozen=True, eq=False)
class States:
    """States as columns.

    Parameters
    ----------
    settled : what is paid, less the duals of all that the running pairs will hold.
    value : what is paid up to the time of the layer.
    pairs, count : the running pairs and their number.
    tokens : packed tokens that they hold at the next time, the one after, ...
    """

    settled: IntArray
    value: IntArray
    pairs: NDArray[np.int32]
    count: IntArray
    tokens: Words

    @classmethod
    def empty(cls, room: int, most: int, words: int) -> "States":
        settled, value, count = np.zeros((3, room), np.int64)
        pairs = np.zeros((room, most), np.int32)
        return cls(settled, value, pairs, count, np.zeros((room, words), np.uint64))

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.settled, self.value, self.pairs, self.count, self.tokens

    def put(self, first: "States") -> None:
        """Overwrite the first states."""
        for column, source in zip(self.columns, first.columns, strict=True):
            column[: len(source)] = source

    def needed(self, number: int) -> "States":
        """Of the first so many, those that no other makes superfluous, in rising settled."""
        order = np.argsort(self.settled[:number], kind="stable")
        kept = order[needed(self.tokens, order, COMPARED)]
        return States(*(column[kept] for column in self.columns))


@compiled
def _within(low, high):  # type: ignore[no-untyped-def]
    """Whether no byte of the first row exceeds that of the second."""
    w = 0
    while w < len(low) and ((high[w] | HIGH) - low[w]) & HIGH == HIGH:
        w += 1
    return w == len(low)


@compiled
def needed(tokens, order, compared):  # type: ignore[no-untyped-def]
    """Which states no earlier one of this order replaces, as far as compared.

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
def add(  # type: ignore[no-untyped-def]
    settled, value, pairs, count, tokens, begin, end,
    pair, excess, change, held, full, limit,
):  # fmt: skip
    """Append the states begin..end with one more pair, where it fits; the new number of states."""
    written = end
    for s in range(begin, end):
        if value[s] + excess < limit and _within(held, full - tokens[s]):
            settled[written], value[written] = settled[s] + change, value[s] + excess
            pairs[written], tokens[written] = pairs[s], tokens[s] + held
            pairs[written, count[s]] = pair
            count[written] = count[s] + 1
            written += 1
    return written


@compiled
def successors(  # type: ignore[no-untyped-def]
    settled, value, pairs, count, tokens, parent,  # states of this layer, and the first to take
    starts, copies,  # pairs that may start, and how many of each
    excess, price, tail, held, ends, full,  # of pairs
    paid, rest, may_end, known, limit,
    out_settled, out_value, out_pairs, out_count, out_tokens, written,
):  # fmt: skip
    """Write states of the next layer: their number, the parent that found no room, limit, sets."""
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
            own[0, 2] += price[pair]
            if not ends[pair]:
                own[0, 3] += excess[pair]
        depth, k, fresh = 0, 0, True
        while True:
            if fresh:
                tried += 1
                after = own[depth, 1] + paid - own[depth, 2]
                if count[s] + depth == 0 and may_end:
                    limit = min(limit, value[s] + rest)
                elif after < limit and after - own[depth, 3] + known < limit:
                    if written == len(out_settled):
                        return begun, s, limit, tried
                    kept = 0
                    for j in range(count[s] + depth):
                        pair = pairs[s, j] if j < count[s] else starts[chosen[j - count[s]]]
                        if not ends[pair]:
                            out_pairs[written, kept] = pair + 1
                            kept += 1
                    out_settled[written], out_value[written] = own[depth, 0] + paid, after
                    out_count[written] = kept
                    for w in range(words):
                        following = usage[depth, w + 1] << BYTES if w + 1 < words else np.uint64(0)
                        out_tokens[written, w] = usage[depth, w] >> BYTE | following
                    written += 1
            fresh = False
            while k < len(starts):
                pair, used = starts[k], 0
                while used < depth and chosen[depth - 1 - used] == k:
                    used += 1
                dear = own[depth, 1] + excess[pair] >= limit
                if used < copies[k] and not dear and _within(held[pair], full - usage[depth]):
                    chosen[depth] = k
                    own[depth + 1] = own[depth]
                    own[depth + 1, 0] += excess[pair] - tail[pair]
                    own[depth + 1, 1] += excess[pair]
                    own[depth + 1, 2] += price[pair]
                    if not ends[pair]:
                        own[depth + 1, 3] += excess[pair]
                    usage[depth + 1] = usage[depth] + held[pair]
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
