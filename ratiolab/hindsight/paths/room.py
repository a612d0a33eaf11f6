"""States of a layer while they are made: they are compared, left out, or merged."""

import numpy as np

from ratiolab.hindsight.paths import kernels, merging
from ratiolab.hindsight.paths.kernels import States
from ratiolab.hindsight.paths.partials import Partials
from ratiolab.hindsight.paths.potentials import Direction
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

FIRST_CAPACITY = 20_000
"""States of a layer for which there is room at first."""


class Room:
    """Room for the states of a layer, which one layer after another is made in.

    Parameters
    ----------
    limit : B, units. remembers : whether the walk remembers anybody.

    Attributes
    ----------
    states : what has been made; rows name some of them.
    origin : state each has been made from, while starts are made.
    left : least bound of all states left out, above the limit while there is none.
    partials : takes what happens to each state, where that is recorded.
    most : requests that run together at most. words : machine words of their packed tokens.
    full : the memory, as packed tokens.
    """

    def __init__(
        self, instance: Instance, direction: Direction, limit: int, remembers: bool
    ) -> None:
        self.instance, self.direction, self.remembers = instance, direction, remembers
        self.most = instance.memory // (int(instance.prompt.min()) + 1)
        self.words = direction.tokens.shape[1]
        full = np.full(8 * self.words, instance.memory, np.uint8)
        self.full = full.view("<u8").astype(np.uint64)
        self.left = limit + 1
        self.partials: Partials | None = None
        self.states = self.empty(FIRST_CAPACITY)
        self.origin = np.zeros(FIRST_CAPACITY, np.int32)

    def empty(self, capacity: int) -> States:
        """Return states without anybody running, so many."""
        return States.empty(capacity, self.most, self.words, len(self.instance))

    def reserve(self, capacity: int, number: int) -> None:
        """Make room for so many states, and keep the first ``number``."""
        if capacity > len(self.states.cost):
            larger = self.empty(2 * capacity)
            larger.put(self.states, number)
            self.states, self.origin = larger, np.zeros(2 * capacity, np.int32)

    def keep(self, rows: IntArray) -> None:
        """Put these states first, in place of all."""
        self.states.put(self.states.take(rows), len(rows))
        if self.partials is not None:
            self.partials.stay(rows)

    def within(self, number: int, limit: int) -> IntArray:
        """Return those of the first states whose bound is within a limit."""
        return np.flatnonzero(self.states.low[:number] <= limit)

    def fewest(self, rows: IntArray, width: int) -> IntArray:
        """Return the best of these states, at most so many, and leave out the others."""
        if len(rows) <= width:
            return rows
        low = self.states.low
        order = np.argpartition(low[rows], width)
        self.left = min(self.left, int(low[rows[order[width]]]))
        return np.sort(rows[order[:width]])

    def undominated(self, rows: IntArray, compared: int) -> IntArray:
        """Return those of these states that none of so many others replaces."""
        mask, settled = self.states.mask, self.states.settled
        keys = kernels.by_mask(mask, settled, rows) if self.remembers else settled[rows]
        # states made of others in order, a request after the other, are a few runs in order, and
        # a stable sort merges them: it takes a quarter of the time of other sorts
        rows = rows[np.argsort(keys, kind="stable")]
        by: IntArray = kernels.undominated(self.states, rows, compared)
        stays = by < 0
        if self.partials is not None:
            self.partials.replaced(rows[~stays], by[~stays])
        kept: IntArray = rows[stays]
        return kept

    def merged(self, rows: IntArray, width: int, t: int, ahead: int) -> IntArray:
        """Merge more than so many states; tokens begin so many times ahead of layer t."""
        states, direction = self.states, self.direction
        price = merging.prices(direction.slack[t + ahead :], self.instance.memory, 8 * self.words)
        tokens = states.tokens.view(np.uint8)
        order, edges = merging.groups(states.settled, tokens, rows, price, width)
        partial = ahead == 1
        now = partial * direction.pay[t + 1], partial * int(direction.slack[t + 1])
        made: IntArray = merging.merge(states, order, edges, direction.tail[t + 2], *now)
        if self.partials is not None:
            self.partials.merged(order, edges, made, states.settled[made])
        return np.sort(made)
