"""Levels of the checker of certificates by cells: their labels, and the surviving ones.

`ratiolab.hindsight.certificates.certify_cells` explains and proves them.
"""

from typing import Any, NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.cell_costs import NEVER, UNIT
from ratiolab.hindsight.certificates.cell_starts import Guide, Labels
from ratiolab.hindsight.certificates.effort import Effort
from ratiolab.machine_code import careful
from ratiolab.model.footprint import IntArray

_LABEL_BYTES, _TRANSITION_BYTES = 96, 60  # of a level, with what joining its layers takes


@careful
def same(a, x, b, y):  # type: ignore[no-untyped-def]
    """Return whether two rows are one label."""
    if a.started[x] != b.started[y] or a.above[x] != b.above[y]:
        return False
    for q in range(a.entry.shape[1]):
        if a.entry[x, q] != b.entry[y, q]:
            return False
        if a.entry[x, q] < 0:
            break
    return True


@careful
def merge(labels, used, found, order, number):  # type: ignore[no-untyped-def]
    """Merge rows that are one label, with the least of all that bounds it; return the labels.

    Parameters
    ----------
    order : labels, and rows after them, by key.
    number : label of each row, written.
    """
    run, before = np.empty(len(order), np.int64), used
    begin = 0
    while begin < len(order):
        first = order[begin]
        key = labels.key[first] if first < before else found.key[first - before]
        stop, count = begin, 0
        while stop < len(order):
            x = order[stop]
            if (labels.key[x] if x < before else found.key[x - before]) != key:
                break
            if x < before:
                run[count] = x
                count += 1
            stop += 1
        for place in range(begin, stop):
            row = order[place] - before
            if row < 0 or found.started[row] < 0:
                continue
            k = -1
            for r in range(count):
                if same(labels, run[r], found, row):
                    k = run[r]
                    break
            if k < 0:
                k = run[count] = used
                count, used = count + 1, used + 1
                labels.key[k], labels.source[k] = found.key[row], found.source[row]
                labels.started[k], labels.above[k] = found.started[row], found.above[row]
                labels.cost[k], labels.reduced[k] = found.cost[row], found.reduced[row]
                labels.rest[k], labels.spare[k] = found.rest[row], found.spare[row]
                labels.ended[k] = found.ended[row]
                for q in range(labels.entry.shape[1]):
                    labels.entry[k, q], labels.left[k, q] = found.entry[row, q], found.left[row, q]
            else:
                labels.cost[k] = min(labels.cost[k], found.cost[row])
                labels.ended[k] = min(labels.ended[k], found.ended[row])
                labels.reduced[k] = min(labels.reduced[k], found.reduced[row])
                for q in range(labels.entry.shape[1]):
                    labels.left[k, q] = min(labels.left[k, q], found.left[row, q])
            number[row] = k
        begin = stop
    return used


def require_room(labels: int, most: int) -> None:
    """Raise `TooCostlyError` unless memory allows this number of labels and entries."""
    Effort(labels * (72 + 8 * most), 0).require_affordable()


class Layer:
    """Labels of one boundary."""

    def __init__(self, most: int) -> None:
        self.most, self.used = most, 0
        self.labels = Labels.room(16, most)

    def root(self) -> "Layer":
        """Enter the label at which nothing has started."""
        for column in self.labels:
            column[0] = 0
        self.labels.entry[0], self.used = -1, 1
        return self

    def absorb(self, found: Labels, rows: int) -> IntArray:
        """Merge rows of a buffer into the labels, and return their labels; -1 of none."""
        size = self.used + rows
        if size > len(self.labels.key):
            require_room(3 * size, self.most)
            larger = Labels.room(2 * size, self.most)
            for new, old in zip(larger, self.labels, strict=True):
                new[: self.used] = old[: self.used]
            self.labels = larger
        order = np.argsort(np.concatenate((self.labels.key[: self.used], found.key[:rows])))
        number = np.full(rows, -1)
        self.used = merge(self.labels, self.used, found, order, number)
        return number


class Transitions(NamedTuple):
    """Transitions from labels of a layer to labels of the next, with what they add to the costs.

    All but the reduced costs are int32: 62 requests wait at most 2^24 rounds each.
    """

    source: Any
    target: Any
    cost: Any
    reduced: IntArray

    @classmethod
    def of(cls, source: IntArray, target: IntArray, cost: IntArray, own: IntArray) -> "Transitions":
        """Return transitions with columns of these values."""
        return cls(np.int32(source), np.int32(target), np.int32(cost), own)


class Level:
    """Layers that are complete, and the transitions from each one to the next.

    Parameters
    ----------
    limit : largest sum of waiting times of interest, rounds.
    capacity : priced capacity of all rows, units.
    """

    def __init__(self, limit: int, capacity: int) -> None:
        self.limit, self.most = limit, limit * UNIT + capacity
        self.columns: list[tuple[IntArray, ...]] = []
        self.transitions = [Transitions.of(*np.zeros((4, 0), np.int64))]
        self.labels, self.ends, self.bytes = [0], [0], 0

    def add(self, layer: Layer, transitions: list[Transitions]) -> None:
        """Add a layer and the transitions that begin in it."""
        used, labels = layer.used, layer.labels
        columns = labels.started, labels.cost, labels.reduced, labels.rest, labels.spare
        self.columns.append(tuple(column[:used].copy() for column in columns))
        self.transitions += transitions
        number = sum(len(part.source) for part in transitions)
        self.labels.append(self.labels[-1] + used)
        self.ends.append(self.ends[-1] + number)
        size = self.labels[-1] * _LABEL_BYTES + self.ends[-1] * _TRANSITION_BYTES
        Effort(size, 0).require_affordable()

    def settle(self, full: int) -> Guide:
        """Return labels and transitions through which a path within the limit may lead.

        The level is empty afterwards.
        """
        started, cost, reduced, rest, spare = map(np.concatenate, zip(*self.columns, strict=True))
        source, target, added, added_reduced = map(
            np.concatenate, zip(*self.transitions, strict=True)
        )
        self.columns.clear()
        self.transitions.clear()
        labels, ends = np.array(self.labels), np.array(self.ends)
        given = labels, ends, source, target, added, added_reduced
        alive = _settle(*given, started, cost, reduced, rest, spare, full, self.limit, self.most)
        kept = np.flatnonzero(alive)
        layer = np.searchsorted(ends, kept, side="right") - 1
        left = rest < NEVER
        number, count = np.cumsum(left) - 1, int(left.sum())
        pair = number[labels[layer] + source[kept]] * count
        pair += number[labels[layer + 1] + target[kept]]
        order = np.argsort(pair)
        kept, pair = kept[order], pair[order]
        begins = np.flatnonzero(np.diff(pair, prepend=-1))
        pair, least = pair[begins], [added[kept].astype(np.int64), added_reduced[kept]]
        if len(begins):
            least = [np.minimum.reduceat(column, begins) for column in least]
        first = np.searchsorted(pair, np.arange(count + 1) * count)
        return Guide(started[left], rest[left], spare[left], first, pair % max(1, count), *least)


@careful
def _settle(  # type: ignore[no-untyped-def]
    labels,
    ends,
    source,
    target,
    added,
    added_reduced,
    started,
    cost,
    reduced,
    rest,
    spare,
    full,
    limit,
    most,
):
    """Raise the cost-to-go of each label, layer by layer back; `NEVER` where it is too much.

    Parameters
    ----------
    labels, ends : where the labels and the transitions of each layer begin.
    most : most reduced cost.

    Returns
    -------
    whether a path within the limit may lead through each transition.
    """
    onward = np.full(len(started), NEVER, np.int64)
    onward_reduced = np.full(len(started), NEVER, np.int64)
    for layer in range(len(labels) - 2, -1, -1):
        for e in range(ends[layer], ends[layer + 1]):
            k, y = labels[layer] + source[e], labels[layer + 1] + target[e]
            if rest[y] == NEVER or cost[k] + added[e] + rest[y] > limit:
                continue
            if reduced[k] + added_reduced[e] + spare[y] <= most:
                onward[k] = min(onward[k], added[e] + rest[y])
                onward_reduced[k] = min(onward_reduced[k], added_reduced[e] + spare[y])
        for k in range(labels[layer], labels[layer + 1]):
            if started[k] != full:
                rest[k] = max(rest[k], onward[k])
                spare[k] = max(spare[k], onward_reduced[k])
            if cost[k] + rest[k] > limit or reduced[k] + spare[k] > most:
                rest[k] = spare[k] = NEVER
    alive = np.zeros(len(source), np.bool_)
    for layer in range(len(labels) - 1):
        for e in range(ends[layer], ends[layer + 1]):
            k, y = labels[layer] + source[e], labels[layer + 1] + target[e]
            if rest[k] < NEVER and rest[y] < NEVER:
                alive[e] = (
                    cost[k] + added[e] + rest[y] <= limit
                    and reduced[k] + added_reduced[e] + spare[y] <= most
                )
    return alive
