"""Trees of labels, searched for the least value among labels that hold no more.

The labels of a layer with one mask stand in a tree: a node is a run of them, split at the median of
the byte in which their tokens vary most, and knows the least of each byte and the least value in
it. A node comes before its halves, the half of the least value first, and each knows the node after
all its own: a search without a stack.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.arrays import overwrite
from ratiolab.hindsight.labelling.label_kernels import BYTE, HIGH, within
from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

NOTHING, NEVER = -(2**62), 2**62
"""Less than all costs, and more."""

LEAF = 8
"""Labels of a run that is not split."""

DEEPEST = 200
"""Runs that wait to be split."""

SAMPLE = 64
"""Labels of a run that say which byte varies most. With a layer of 136,136 labels 73 nodes are
visited in the mean, and 107 where runs are split at the byte of the widest range of all labels."""

LOW = np.uint64(0xFF)
SIGN = np.uint64(7)


@inner
def least_bytes(x, y):  # type: ignore[no-untyped-def]
    """Return the least of each byte of two words, all below 128."""
    larger = ((((x | HIGH) - y) & HIGH) >> SIGN) * LOW
    return (y & larger) | (x & ~larger)


@inner
def find(masks, mask):  # type: ignore[no-untyped-def]
    """Return the place of a mask among masks in rising order, or -1."""
    low, high = 0, len(masks)
    while low < high:
        middle = (low + high) // 2
        if masks[middle] < mask:
            low = middle + 1
        else:
            high = middle
    return low if low < len(masks) and masks[low] == mask else -1


@inner
def _varies(tokens, order, begin, end):  # type: ignore[no-untyped-def]
    """Return which word and byte of tokens varies most among some of these rows, how much."""
    word = byte = 0
    most, stride = np.int64(0), -((begin - end) // SAMPLE)
    for w in range(tokens.shape[1]):
        for b in range(8):
            shift = np.uint64(b) * BYTE
            number = total = squares = np.int64(0)
            for r in range(begin, end, stride):
                held = np.int64(tokens[order[r], w] >> shift & LOW)
                number, total, squares = number + 1, total + held, squares + held * held
            wide = number * squares - total * total
            if wide > most:
                most, word, byte = wide, w, b
    return word, byte, most


@inner
def _halve(tokens, settled, order, begin, end, scratch, word, shift, counts):  # type: ignore[no-untyped-def]
    """Put the rows below the median of a byte first, or those not above it; return their number.

    The half with the least settled cost comes first.
    """
    n = end - begin
    for k in range(len(counts)):
        counts[k] = 0
    for k in range(begin, end):
        counts[tokens[order[k], word] >> shift & LOW] += 1
    median, below = 0, 0
    while below + counts[median] <= n // 2:
        below += counts[median]
        median += 1
    edge = median if below else median + 1
    low, high = 0, n
    least_low = least_high = NEVER
    for k in range(begin, end):
        row = order[k]
        cost = settled[row]
        if tokens[row, word] >> shift & LOW < edge:
            scratch[low] = row
            low += 1
            least_low = cost if cost < least_low else least_low
        else:
            high -= 1
            scratch[high] = row
            least_high = cost if cost < least_high else least_high
    if least_high < least_low:
        overwrite(order, begin, scratch, low, n)
        overwrite(order, end - low, scratch, 0, low)
        return n - low
    overwrite(order, begin, scratch, 0, n)
    return low


@compiled
def plant(edges, settled, tokens, order, roots, tree, scratch):  # type: ignore[no-untyped-def]
    """Plant the trees of the labels of each mask, given where those of each begin.

    Parameters
    ----------
    order : of the labels, changed to that of the trees.
    roots : the first node of each mask; written.
    tree : written, by node: least tokens, least settled cost, first and last label in that order,
        the node after it.
    scratch : as many as labels, 128, and twice `DEEPEST`.

    Returns
    -------
    the number of nodes.
    """
    least, cheapest, first, last, after = tree
    rows, counts, begins, ends = scratch
    nodes, words = 0, tokens.shape[1]
    for group in range(len(edges) - 1):
        roots[group] = nodes
        begins[0], ends[0] = edges[group], edges[group + 1]
        depth = 1
        while depth:
            depth -= 1
            begin, end = begins[depth], ends[depth]
            first[nodes], last[nodes] = begin, end
            nodes += 1
            if end - begin <= LEAF or depth + 2 > len(begins):
                continue
            word, byte, spread = _varies(tokens, order, begin, end)
            if spread == 0:
                continue
            shift = np.uint64(byte) * BYTE
            cut = begin + _halve(tokens, settled, order, begin, end, rows, word, shift, counts)
            begins[depth], ends[depth] = cut, end
            begins[depth + 1], ends[depth + 1] = begin, cut
            depth += 2
    roots[len(edges) - 1] = nodes
    # halves come after their node, and what comes after the last of them comes after the node
    for group in range(len(edges) - 1):
        place = roots[group + 1]
        for node in range(roots[group + 1] - 1, roots[group] - 1, -1):
            after[node] = node + 1
            while after[node] < place and first[after[node]] < last[node]:
                after[node] = after[after[node]]
            if after[node] > node + 1:
                one, other = node + 1, after[node + 1]
                low, high = cheapest[one], cheapest[other]
                cheapest[node] = low if low < high else high
                for w in range(words):
                    least[node, w] = least_bytes(least[one, w], least[other, w])
                continue
            row = order[first[node]]
            low = settled[row]
            for w in range(words):
                least[node, w] = tokens[row, w]
            for k in range(first[node] + 1, last[node]):
                row = order[k]
                low = settled[row] if settled[row] < low else low
                for w in range(words):
                    least[node, w] = least_bytes(least[node, w], tokens[row, w])
            cheapest[node] = low
    return nodes


@inner
def fit(  # type: ignore[no-untyped-def]
    settled, tokens, least, cheapest, first, last, after, node, end, own, most, near, enough
):
    """Return the least value up to ``most`` of a label that fits, and its place, or ``most`` + 1.

    Any is returned where none is at most ``near``. A value of at most ``enough`` is returned at
    once.

    Parameters
    ----------
    settled, ..., after : columns of the trees; taking them from a tuple would take as long again.
    node, end : first node of the labels of a mask, and that of the next mask.
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
                    below = best if best < near + 1 else near + 1
            if best <= enough:
                return best, place
        node += 1
    return best, place


class Layer(NamedTuple):
    """Labels of a layer in trees, as `plant` makes them.

    Parameters
    ----------
    roots : first node of each mask.
    tree : masks, values and tokens in the order of the trees, and the columns of the nodes.
    """

    roots: IntArray
    tree: tuple[NDArray[Any], ...]


def planted(mask: NDArray[np.uint64], value: IntArray, tokens: NDArray[np.uint64]) -> Layer:
    """Return labels in trees that are searched for the least value."""
    rows = np.argsort(mask, kind="stable")
    masks, begin = np.unique(mask[rows], return_index=True)
    edges = np.append(begin, len(rows)).astype(np.int64)
    value, tokens = value[rows], tokens[rows]
    size, roots = len(rows), np.zeros(len(edges), np.int64)
    most, order = max(1, 2 * size), np.arange(size)
    tree = (
        np.zeros((most, tokens.shape[1]), np.uint64),
        *(np.zeros(most, np.int64) for _ in range(4)),
    )
    scratch = tuple(np.zeros(length, np.int64) for length in (size, 128, DEEPEST, DEEPEST))
    nodes = plant(edges, value, tokens, order, roots, tree, scratch)
    return Layer(
        roots, (masks, value[order], tokens[order], *(each[:nodes].copy() for each in tree))
    )
