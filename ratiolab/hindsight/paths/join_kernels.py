"""Compiled: the least settled cost among states of the other direction that fit beside a state.

The states of a layer with one mask stand in a tree: a node is a run of them, split at the median of
the byte in which their tokens vary most, and knows the least of each byte and the least settled
cost in it. Nodes come in the order of a walk that visits a node before its halves, the half of the
least settled cost first, and each knows the node after all its own: a search without a stack.
"""

import numpy as np

from ratiolab.hindsight.arrays import compiled
from ratiolab.hindsight.paths.kernels import BYTE, HIGH, MIX, NONE, within

NOTHING = -(2**62)
"""Less than all costs."""

LEAF = 8
"""States of a run that is not split."""

SAMPLE = 64
"""States of a run that say which byte varies most. With a layer of 136,136 states 73 nodes are
visited in the mean, and 107 where runs are split at the byte of the widest range of all states."""

LOW = np.uint64(0xFF)
SIGN = np.uint64(7)


@compiled
def least_bytes(x, y):  # type: ignore[no-untyped-def]
    """Return the least of each byte of two words, all below 128."""
    larger = ((((x | HIGH) - y) & HIGH) >> SIGN) * LOW
    return (y & larger) | (x & ~larger)


@compiled
def _widest(tokens, rows, least):  # type: ignore[no-untyped-def]
    """Write the least of each byte of these rows; return which varies most among some, how much.

    Rows that are too few to be split count as all alike.
    """
    words, stride = tokens.shape[1], -(-len(rows) // SAMPLE)
    leaf = len(rows) <= LEAF
    word = byte = 0
    most = np.int64(0)
    for w in range(words):
        least[w] = tokens[rows[0], w]
        for row in rows:
            least[w] = least_bytes(least[w], tokens[row, w])
        for b in range(0 if leaf else 8):
            shift = np.uint64(b) * BYTE
            number = total = squares = np.int64(0)
            for r in range(0, len(rows), stride):
                held = np.int64(tokens[rows[r], w] >> shift & LOW)
                number, total, squares = number + 1, total + held, squares + held * held
            wide = number * squares - total * total
            if wide > most:
                most, word, byte = wide, w, b
    return word, byte, most


@compiled
def plant(edges, settled, tokens):  # type: ignore[no-untyped-def]
    """Return the trees of the states of each mask, given where those of each begin.

    Returns
    -------
    an order of the states, and by node: least tokens, least settled cost, first and last state in
    that order, the node after it; and the first node of each mask.
    """
    order = np.arange(len(settled))
    most = max(1, 2 * len(settled))
    least = np.zeros((most, tokens.shape[1]), np.uint64)
    cheapest = np.zeros(most, np.int64)
    first, last, after = np.zeros((3, most), np.int64)
    roots = np.zeros(len(edges), np.int64)
    nodes = 0
    begins, ends = np.zeros((2, 200), np.int64)
    for group in range(len(edges) - 1):
        roots[group] = nodes
        begins[0], ends[0] = edges[group], edges[group + 1]
        depth = 1
        while depth:
            depth -= 1
            begin, end = begins[depth], ends[depth]
            node = nodes
            nodes += 1
            rows = order[begin:end].copy()
            word, byte, spread = _widest(tokens, rows, least[node])
            cheapest[node] = settled[rows].min()
            first[node], last[node] = begin, end
            if spread == 0 or depth + 2 > len(begins):
                continue
            values = ((tokens[rows, word] >> (np.uint64(byte) * BYTE)) & LOW).astype(np.int64)
            middle = np.sort(values)[len(values) // 2]
            low = values < middle
            if not low.any():
                low = values <= middle
            one, other = rows[low], rows[~low]
            if settled[other].min() < settled[one].min():
                one, other = other, one
            order[begin : begin + len(one)] = one
            order[begin + len(one) : end] = other
            begins[depth], ends[depth] = begin + len(one), end
            begins[depth + 1], ends[depth + 1] = begin, begin + len(one)
            depth += 2
    roots[len(edges) - 1] = nodes
    # what comes after the last node of one's own comes after the one
    for group in range(len(edges) - 1):
        place = roots[group + 1]
        for node in range(roots[group + 1] - 1, roots[group] - 1, -1):
            after[node] = node + 1
            while after[node] < place and first[after[node]] < last[node]:
                after[node] = after[after[node]]
    return (
        order,
        least[:nodes].copy(),
        cheapest[:nodes].copy(),
        first[:nodes].copy(),
        last[:nodes].copy(),
        after[:nodes].copy(),
        roots,
    )


@compiled
def fit(  # type: ignore[no-untyped-def]
    settled, tokens, least, cheapest, first, last, after, node, end, own, most, near, enough
):
    """Return the least value up to ``most`` of a state that fits, and its place, or ``most`` + 1.

    Any is returned where none is at most ``near``. What is at most ``enough`` is returned at once.

    Parameters
    ----------
    settled, ..., after : columns of the trees; taking them from a tuple would take as long again.
    node, end : first node of the states of a mask, and that of the next mask.
    """
    best, place = most + 1, -1
    below = best
    while node < end:
        if cheapest[node] >= below or not within(least[node], own):
            node = after[node]
            continue
        if after[node] == node + 1:
            for k in range(first[node], last[node]):
                if settled[k] < below and within(tokens[k], own):
                    best, place = settled[k], k
                    below = min(best, near + 1)
            if best <= enough:
                return best, place
        node += 1
    return best, place


@compiled
def join(states, rows, limit, raw, past, bits, known, edges, tree):  # type: ignore[no-untyped-def]
    """Raise the bounds of states by what the other direction has settled at this layer.

    Parameters
    ----------
    rows : states of the layer whose bound matters.
    raw, past, bits : of each pair: latency less multiplier, tokens at past times, own request.
    known : requests that the other direction remembered.
    edges, tree : the states of the other direction, see `plant`: first node of each mask; masks,
        settled costs and tokens in the order of the trees, and the columns of the nodes.

    What is looked up for one state serves all that run the same.
    """
    words, size = past.shape[1], 16
    while size < 2 * len(rows):
        size *= 2
    slots = np.full(size, -1, np.int64)
    own = np.zeros((len(rows), words), np.uint64)
    sums, most = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    needs = np.zeros(len(rows), np.uint64)
    like = np.zeros(len(rows), np.int64)
    count = 0
    for r in range(len(rows)):
        s = rows[r]
        running, total = NONE, 0
        own[count] = NONE
        for j in range(states.running[s]):
            pair = states.pairs[s, j]
            total += raw[pair]
            running |= bits[pair]
            for w in range(words):
                own[count, w] += past[pair, w]
        need = (known & ~states.mask[s]) | (known & running)
        sums[count], needs[count] = total, need
        key = need * MIX ^ np.uint64(total)
        for w in range(words):
            key = (key ^ (key >> np.uint64(29)) ^ own[count, w]) * MIX
        slot = np.int64(key >> np.uint64(20)) & (size - 1)
        found = -1
        while slots[slot] >= 0 and found < 0:
            q = slots[slot]
            if needs[q] == need and sums[q] == total:
                same = True
                for w in range(words):
                    same = same and own[q, w] == own[count, w]
                if same:
                    found = q
            slot = (slot + 1) & (size - 1)
        room = limit - states.settled[s] + total
        if found < 0:
            while slots[slot] >= 0:
                slot = (slot + 1) & (size - 1)
            slots[slot] = found = count
            most[count] = room
            count += 1
        like[r] = found
        most[found] = max(most[found], room)
    best = most[:count] + 1
    masks, settled, tokens, least, cheapest, first, last, after = tree
    for q in range(count):
        at = np.searchsorted(masks, needs[q])
        if at < len(masks) and masks[at] == needs[q]:
            best[q], _ = fit(
                *(settled, tokens, least, cheapest, first, last, after),
                *(edges[at], edges[at + 1], own[q], most[q], most[q], NOTHING),
            )
    for r in range(len(rows)):
        s = rows[r]
        low = states.settled[s] + best[like[r]] - sums[like[r]]
        states.low[s] = min(limit + 1, max(states.low[s], low))
