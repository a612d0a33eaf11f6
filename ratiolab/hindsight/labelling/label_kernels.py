"""Compiled loops over the labels of a sweep; `ratiolab.hindsight.labelling.sweep` explains them.

Tokens at eight times stand in the eight bytes of a word, all below 128, so that words compare at
once: no byte of x exceeds that of y when (y + 128) - x, in which no byte borrows, keeps all high
bits.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

HIGH = np.uint64(0x8080808080808080)
BYTE, BYTES = np.uint64(8), np.uint64(56)
ONE, NONE = np.uint64(1), np.uint64(0)
EVEN, ODD = np.uint64(0x00FF00FF00FF00FF), np.uint64(0xFF00FF00FF00FF00)
MIX = np.uint64(0x9E3779B97F4A7C15)


class Labels(NamedTuple):
    """Labels of a layer as columns, in units.

    Parameters
    ----------
    cost : G. Before the layer is complete it already has the slack of the next time.
    low : a lower bound on the cost of all relaxed schedules through the label, without that slack.
    settled : cost less what running requests will pay.
    mask : critical requests that have started.
    began : requests that started in this layer, one bit for each request, over several words.
    parent : row of the layer before.
    running, pairs : number of the running pairs, and which.
    tokens : packed tokens that they hold at the next times.
    """

    cost: IntArray
    low: IntArray
    settled: IntArray
    mask: NDArray[np.uint64]
    began: NDArray[np.uint64]
    parent: NDArray[np.int32]
    running: NDArray[np.int32]
    pairs: NDArray[np.int16]
    tokens: NDArray[np.uint64]

    @classmethod
    def empty(cls, capacity: int, most: int, words: int, requests: int) -> "Labels":
        """Return ``capacity`` labels of at most ``most`` running pairs of ``requests``."""
        cost, low, settled = np.zeros((3, capacity), np.int64)
        mask = np.zeros(capacity, np.uint64)
        began = np.zeros((capacity, -(-requests // 64)), np.uint64)
        parent, running = np.zeros((2, capacity), np.int32)
        pairs = np.zeros((capacity, max(1, most)), np.int16)
        tokens = np.zeros((capacity, words), np.uint64)
        return cls(cost, low, settled, mask, began, parent, running, pairs, tokens)

    def put(self, first: "Labels", number: int) -> None:
        """Overwrite the first labels."""
        columns: Iterator[tuple[NDArray[Any], NDArray[Any]]] = zip(self, first, strict=True)
        for column, source in columns:
            column[:number] = source[:number]

    def take(self, rows: IntArray) -> "Labels":
        """Return these labels in this order."""
        return Labels._make(column.take(rows, axis=0) for column in self)


class Step(NamedTuple):
    """Costs of the step of a sweep from layer t to t + 1, in units.

    Parameters
    ----------
    pay : weight of each pair at t + 1.
    tail : at all later times.
    due, due_after : of each bit's request, least rho of starts from t on, and from t + 1 on.
    critical : bits of requests.
    slack : R at t + 1.
    limit : limit of the sweep.
    kept : bits whose requests are those of the step before.
    later : sum of the least costs of all critical requests that have no bit yet.
    """

    pay: IntArray
    tail: IntArray
    due: IntArray
    due_after: IntArray
    critical: np.uint64
    slack: int
    limit: int
    kept: np.uint64
    later: int


@inner
def within(low, high):  # type: ignore[no-untyped-def]
    """Return whether no byte of the first row exceeds that of the second."""
    for w in range(len(low)):  # noqa: SIM110, a loop is what is compiled best
        if ((high[w] | HIGH) - low[w]) & HIGH != HIGH:
            return False
    return True


@inner
def owed(due, missing):  # type: ignore[no-untyped-def]
    """Return the sum of what a set of requests is due."""
    total, i = 0, 0
    while missing:
        if missing & ONE:
            total += due[i]
        missing >>= ONE
        i += 1
    return total


@compiled
def advance(labels, step, ends, out):  # type: ignore[no-untyped-def]
    """Write the labels one round later without new starts; return their number."""
    written = 0
    for s in range(len(labels.cost)):
        mask = labels.mask[s] & step.kept
        low = labels.cost[s] + step.later + owed(step.due, step.critical & ~mask)
        if low > step.limit:
            continue
        paid, count = step.slack, 0
        for j in range(labels.running[s]):
            pair = labels.pairs[s, j]
            paid -= step.pay[pair]
            if not ends[pair]:
                out.pairs[written, count] = pair + 1
                count += 1
        out.cost[written] = labels.cost[s] + paid
        out.low[written] = low
        out.settled[written] = labels.settled[s] + step.slack
        out.mask[written] = mask
        for w in range(out.began.shape[1]):
            out.began[written, w] = NONE
        out.parent[written] = s
        out.running[written] = count
        for w in range(out.tokens.shape[1]):
            out.tokens[written, w] = labels.tokens[s, w]
        written += 1
    return written


@inner
def start(labels, origin, number, pair, request, bits, ending, step, tokens, room, theta):  # type: ignore[no-untyped-def]
    """Append the labels that a start of one request makes from the first ``number`` labels.

    Parameters
    ----------
    origin : for each appended label, the row of the label without that start; written.
    bits : bit of the request, 0 if the request is not critical; bits of the requests that must
        start before; least cost of its starts; and cost rho of this start.
    ending : whether the request completes at once.
    tokens, room : what the request holds, and the memory beside that.
    theta : labels with a bound above this value are left out.

    Returns
    -------
    the new number of labels, or -1 if the room is too small; and the least bound left out.
    """
    word, own = request // 64, ONE << np.uint64(request % 64)
    critical, twin, due, excess = bits
    rise = excess - due
    written, left = number, step.limit + 1
    for s in range(number):
        low = labels.low[s] + rise
        if low > step.limit or labels.mask[s] & critical or labels.mask[s] & twin != twin:
            continue
        if not within(labels.tokens[s], room):
            continue
        if low > theta:
            left = low if low < left else left
            continue
        if written == len(labels.cost):
            return -1, left
        labels.cost[written] = labels.cost[s] + excess - step.pay[pair]
        labels.low[written] = low
        labels.settled[written] = labels.settled[s] + excess - step.tail[pair]
        labels.mask[written] = labels.mask[s] | critical
        for w in range(labels.began.shape[1]):
            labels.began[written, w] = labels.began[s, w]
        labels.began[written, word] |= own
        labels.parent[written] = labels.parent[s]
        origin[written] = s
        count = labels.running[s]
        for j in range(count):
            labels.pairs[written, j] = labels.pairs[s, j]
        for w in range(len(tokens)):
            labels.tokens[written, w] = labels.tokens[s, w] + tokens[w]
        if not ending:
            labels.pairs[written, count] = pair + 1
            count += 1
        labels.running[written] = count
        written += 1
    return written, left


@compiled
def start_each(  # type: ignore[no-untyped-def]
    labels, origin, number, begin, chosen, pairs, bits, ends, step, tokens, room, theta, most
):
    """Append the labels that starts of several requests make, one request after the other.

    Parameters
    ----------
    origin : as in `start`.
    begin : place in ``chosen`` of the first request to try.
    chosen : numbers of the requests.
    pairs : pair of each request at age 0.
    bits : four columns, one value for each request, as in `start`.
    ends : whether each pair completes at once.
    tokens, room : packed tokens of each pair, and the memory beside them.
    theta : as in `start`.
    most : once there are more labels than this after a request, the call returns.

    Returns
    -------
    the new number of labels; the place of the next request; the least bound that was left out; and
    whether the room was too small for the labels of that next request.
    """
    left = step.limit + 1
    critical, twins, due, excess = bits
    for k in range(begin, len(chosen)):
        pair, one = pairs[k], chosen[k]
        ending, held, rest = ends[pair], tokens[pair], room[pair]
        own = critical[k], twins[k], due[k], excess[k]
        written, low = start(
            labels, origin, number, pair, one, own, ending, step, held, rest, theta
        )
        left = low if low < left else left
        if written < 0:
            return number, k, left, True
        number = written
        if number > most:
            return number, k + 1, left, False
    return number, len(chosen), left, False


@compiled
def finish(labels, number, step):  # type: ignore[no-untyped-def]
    """Complete a layer: shift tokens, and bound the cost of all paths through each label."""
    words = labels.tokens.shape[1]
    for s in range(number):
        for w in range(words):
            after = labels.tokens[s, w + 1] << BYTES if w + 1 < words else NONE
            labels.tokens[s, w] = labels.tokens[s, w] >> BYTE | after
        missing = step.critical & ~labels.mask[s]
        labels.low[s] = labels.cost[s] + step.later + owed(step.due_after, missing)


@compiled
def by_mask(mask, settled, rows, slots, number, keys):  # type: ignore[no-untyped-def]
    """Write keys that sort labels by mask, in the order in which masks come, then by settled cost.

    Sorting by both takes three times as long. There are fewer than 2^23 masks. Settled costs of a
    layer differ by less than 2^40; if they did not, a mask might come twice, which does no harm.

    Parameters
    ----------
    slots : scratch, -1; as many as a power of two, at least twice as many as rows.
    number : scratch, as many as rows.
    keys : written.
    """
    size, least, count = len(slots), np.int64(0), np.int64(0)
    for r in range(len(rows)):
        own = settled[rows[r]]
        least = own if r == 0 or own < least else least
    for r in range(len(rows)):
        held = mask[rows[r]]
        slot = np.int64((held * MIX) >> np.uint64(20)) & (size - 1)
        while slots[slot] >= 0 and mask[rows[slots[slot]]] != held:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = r
            number[r] = count
            count += 1
        keys[r] = (number[slots[slot]] << 40) + settled[rows[r]] - least


@compiled
def undominated(mask, tokens, order, by, known, rows, shown, own):  # type: ignore[no-untyped-def]
    """Write the label that dominates each of this order, an earlier one of its mask, or else -1.

    Labels that replaced others lately stand in front, and the last of the list make room for new
    ones. Nearly every label that does not replace it shows that in one word: every other byte of
    the first, and the bytes between of the second.

    Parameters
    ----------
    by : written.
    known, rows, shown : scratch for the labels that each is compared with: tokens, rows, and what
        the one word shows.
    own : scratch for the tokens of a label.
    """
    compared, words = known.shape
    half = compared // 2
    count = turn = 0
    for place in range(len(order)):
        s, found = order[place], np.int64(-1)
        if place and mask[s] != mask[order[place - 1]]:
            count = turn = 0
        for w in range(words):
            own[w] = tokens[s, w]
        shows = own[0] & EVEN
        if words > 1:
            shows |= own[1] & ODD
        high = shows | HIGH
        for k in range(count):
            if (high - shown[k]) & HIGH == HIGH and within(known[k], own):
                u = k // 2 if k < half else (k * 7919) % half
                found = rows[k]
                rows[k], rows[u] = rows[u], rows[k]
                shown[k], shown[u] = shown[u], shown[k]
                for w in range(words):
                    known[k, w], known[u, w] = known[u, w], known[k, w]
                break
        by[place] = found
        if found < 0:
            if count < compared:
                row = count
                count += 1
            else:
                row = half + turn
                turn = (turn + 1) % (compared - half)
            rows[row], shown[row] = s, shows
            for w in range(words):
                known[row, w] = own[w]
