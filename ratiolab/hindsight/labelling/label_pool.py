"""Labels of a layer while they are made: they are compared, left out, or merged."""

import numpy as np

from ratiolab.hindsight.labelling import label_kernels, merging
from ratiolab.hindsight.labelling.ancestry import Ancestry
from ratiolab.hindsight.labelling.label_kernels import Labels
from ratiolab.hindsight.labelling.weights import Direction
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

FIRST_CAPACITY = 20_000
"""Labels of a layer for which there is room at first."""


class LabelPool:
    """LabelPool for the labels of a layer, which one layer after another is made in.

    Parameters
    ----------
    limit : B, units.
    constrained : whether the sweep has a critical set.

    Attributes
    ----------
    labels : what has been made; rows name some of them.
    origin : label each has been made from, while starts are made.
    left : least bound of all labels left out, above the limit while there is none.
    partials : takes what happens to each label, where that is recorded.
    most : requests that run together at most.
    words : machine words of their packed tokens.
    full : the memory, as packed tokens.
    """

    def __init__(
        self, instance: Instance, direction: Direction, limit: int, constrained: bool
    ) -> None:
        self.instance, self.direction, self.constrained = instance, direction, constrained
        self.most = instance.memory // (int(instance.prompt.min()) + 1)
        self.words = direction.tokens.shape[1]
        full = np.full(8 * self.words, instance.memory, np.uint8)
        self.full = full.view("<u8").astype(np.uint64)
        self.left = limit + 1
        self.partials: Ancestry | None = None
        self.labels = self.empty(FIRST_CAPACITY)
        self.origin = np.zeros(FIRST_CAPACITY, np.int32)

    def empty(self, capacity: int) -> Labels:
        """Return ``capacity`` labels without running requests."""
        return Labels.empty(capacity, self.most, self.words, len(self.instance))

    def reserve(self, capacity: int, number: int) -> None:
        """Make room for ``capacity`` labels, and keep the first ``number``."""
        if capacity > len(self.labels.cost):
            larger = self.empty(2 * capacity)
            larger.put(self.labels, number)
            self.labels, self.origin = larger, np.zeros(2 * capacity, np.int32)

    def keep(self, rows: IntArray) -> None:
        """Put these labels first, in place of all."""
        self.labels.put(self.labels.take(rows), len(rows))
        if self.partials is not None:
            self.partials.stay(rows)

    def within(self, number: int, limit: int) -> IntArray:
        """Return the rows of the first ``number`` labels whose bound is at most ``limit``."""
        return np.flatnonzero(self.labels.low[:number] <= limit)

    def fewest(self, rows: IntArray, width: int) -> IntArray:
        """Return the best of these labels, at most ``width``, and leave out the others."""
        if len(rows) <= width:
            return rows
        low = self.labels.low
        order = np.argpartition(low[rows], width)
        self.left = min(self.left, int(low[rows[order[width]]]))
        return np.sort(rows[order[:width]])

    def undominated(self, rows: IntArray, compared: int) -> IntArray:
        """Return the labels that none of ``compared`` others replaces."""
        mask, settled = self.labels.mask, self.labels.settled
        keys = label_kernels.by_mask(mask, settled, rows) if self.constrained else settled[rows]
        # labels made of others in order, a request after the other, are a few runs in order, and
        # a stable sort merges them: it takes a quarter of the time of other sorts
        rows = rows[np.argsort(keys, kind="stable")]
        by: IntArray = label_kernels.undominated(self.labels, rows, compared)
        stays = by < 0
        if self.partials is not None:
            self.partials.replaced(rows[~stays], by[~stays])
        kept: IntArray = rows[stays]
        return kept

    def merged(self, rows: IntArray, width: int, t: int, ahead: int) -> IntArray:
        """Merge labels beyond ``width``; tokens begin ``ahead`` times after layer t."""
        labels, direction = self.labels, self.direction
        price = merging.prices(direction.slack[t + ahead :], self.instance.memory, 8 * self.words)
        tokens = labels.tokens.view(np.uint8)
        order, edges = merging.groups(labels.settled, tokens, rows, price, width)
        partial = ahead == 1
        now = partial * direction.pay[t + 1], partial * int(direction.slack[t + 1])
        made: IntArray = merging.merge(labels, order, edges, direction.tail[t + 2], *now)
        return np.sort(made)
