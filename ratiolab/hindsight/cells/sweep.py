"""The levels of the dynamic program over cells, from coarse to fine."""

from collections.abc import Callable

import numpy as np

from ratiolab.hindsight.cells import kernels
from ratiolab.hindsight.cells.kernels import FAR, ONE, Edges, Guide, Labels
from ratiolab.hindsight.cells.master import Prices
from ratiolab.model.footprint import IntArray

BEGIN = 4_096
"""Labels for which a level has room at first; the room doubles."""

SHARE = 50_000
"""Sets of starts between two looks at the clock, some hundredths of a second."""

CROWD = 4
"""Labels of an unfinished layer, as a multiple of its width, from which the limit falls."""


class Level:
    """The labels of one width of cells.

    Parameters
    ----------
    width : rounds of a cell.
    guide : labels and transitions kept by the level of cells twice as wide; None for the first
        level.
    limit : largest cost of interest, units; it falls when a layer has more labels than ``most``.
    most : labels of a layer.
    slots : running requests for which a label has room at first.
    """

    def __init__(
        self, prices: Prices, width: int, guide: Guide | None, limit: int, most: int, slots: int
    ) -> None:
        self.prices, self.width, self.guide = prices, width, guide
        self.limit, self.most, self.slots = limit, most, slots
        # layer, next label, begin of the next layer, labels, edges, least cost and reduced cost,
        # labels from which the next layer is crowded
        self.cursor = np.array([0, 0, 1, 1, 0, FAR, FAR, CROWD * most], np.int64)
        self._allocate(BEGIN)
        for column in self.labels:
            column[0] = 0
        self.labels.running[0] = -1

    def _allocate(self, room: int, old: Labels | None = None) -> None:
        """Make room for ``room`` labels and twice as many edges, and keep the present ones."""
        started, cost, reduced, rest, reduced_rest, coarse = np.empty((6, room), np.int64)
        running, left = np.zeros((2, room, self.slots), np.int32)
        labels = Labels(started, running, left, cost, reduced, rest, reduced_rest, coarse)
        edges = Edges(*np.empty((4, 2 * room), np.int64))
        self.table = np.full(1 << (2 * room - 1).bit_length(), -1, np.int64)
        if old is not None:
            begin, used, edge = self.cursor[2:5]
            labels.running[:used] = -1
            for new, now in zip(labels, old, strict=True):
                if now.ndim == 1:
                    new[:used] = now[:used]
                else:
                    new[:used, : now.shape[1]] = now[:used]
            for new, now in zip(edges, self.edges, strict=True):
                new[:edge] = now[:edge]
            kernels.rehash(labels, self.table, begin, used)
        self.labels: Labels = labels
        self.edges: Edges = edges

    def run(self, stop: Callable[[], bool], room: int) -> bool:
        """Extend all labels; return whether time and room were enough."""
        prices, problem = self.prices, self.prices.problem
        costs = prices.costs(self.width)
        cells = costs.cell.shape[1] if self.guide is None else 0
        table = kernels.price_table(problem, prices.rows, self.width, cells)
        while not stop():
            rest = self.labels, self.edges, self.table, self.cursor, self.width, self.most
            end = self.limit, SHARE
            if self.guide is None:
                given = problem, prices.rows.time, prices.capacities, table, costs
                status = kernels.extend_first(*given, *rest, *end)
            else:
                status = kernels.extend(problem, costs, self.guide, *rest, *end)
            if status == kernels.DONE:
                return True
            if status in (kernels.CROWDED, kernels.WIDE):
                self._narrow(int(self.cursor[2 if status == kernels.CROWDED else 1]))
            elif status == kernels.NARROW:
                self.slots += 2
                self._allocate(len(self.labels.started), self.labels)
            elif status == kernels.FULL:
                if len(self.labels.started) == room:
                    return False
                self._allocate(min(2 * len(self.labels.started), room), self.labels)
        return False

    def _narrow(self, begin: int) -> None:
        """Lower the limit so that at most ``most`` labels of the new layer are of interest."""
        labels, used = self.labels, int(self.cursor[3])
        self.cursor[7] = used + CROWD * self.most
        here = np.arange(begin, used)[labels.coarse[begin:used] >= 0]
        bound = np.maximum(
            (labels.cost[here] + labels.rest[here]) * ONE,
            labels.reduced[here] + labels.reduced_rest[here] - self.prices.capacity,
        )
        if len(bound) > self.most:
            self.limit = min(self.limit, int(np.partition(bound, self.most)[self.most]) - 1)

    @property
    def bound(self) -> int:
        """Return the least rounds of waiting of any schedule, as a finished level proves them."""
        least, reduced = self.cursor[5:7].tolist()
        return int(min(max(least, -(-reduced // ONE)), self.limit // ONE + 1))

    def settle(self) -> Guide:
        """Return the labels and edges that lead to a cost of interest."""
        used, edge = int(self.cursor[3]), int(self.cursor[4])
        labels = Labels(*(column[:used] for column in self.labels))
        edges = Edges(*(column[:edge] for column in self.edges))
        full = 2 ** len(self.prices.problem.arrival) - 1
        capacity = self.prices.capacity
        number, first, kept = kernels.settled(labels, edges, full, capacity, self.limit)
        alive = number >= 0
        return Guide(
            *(labels.started[alive], labels.rest[alive], labels.reduced_rest[alive], first),
            *(number[edges.target[kept]], edges.cost[kept], edges.reduced[kept]),
        )


def least_path(guide: Guide, arrival: IntArray, width: int) -> IntArray:
    """Return the left ends of the cells in which the cheapest path of a level starts the requests.

    Parameters
    ----------
    arrival : arrival of each request, rounds: it starts no earlier. Shape (n,).
    """
    starts, full = np.array(arrival), 2 ** len(arrival) - 1
    k = cell = 0
    while guide.started[k] != full:
        edges = slice(guide.first[k], guide.first[k + 1])
        target = guide.target[edges]
        y = int(target[np.argmin(guide.cost[edges] + guide.rest[target])])
        new = int(guide.started[y] & ~guide.started[k])
        for i in range(len(arrival)):
            if new >> i & 1:
                starts[i] = max(int(arrival[i]), cell * width)
        k, cell = y, cell + 1
    return starts
