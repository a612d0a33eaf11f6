"""The optimum of few requests at any memory size, by coarse-to-fine dynamic programming.

`docs/concepts.md` has the method in pseudo-code.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.cells import kernels
from ratiolab.hindsight.cells.kernels import (
    FAR,
    MOST_REQUESTS,
    ONE,
    Edges,
    Guide,
    Labels,
    Problem,
    Rows,
)
from ratiolab.hindsight.cells.master import Master, Prices, problem_of
from ratiolab.hindsight.certificates.certificate import CellCertificate, cell_certificate
from ratiolab.hindsight.params import CellsParams
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

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
        started, cost, ended, reduced, rest, reduced_rest, coarse = np.empty((7, room), np.int64)
        running, left = np.zeros((2, room, self.slots), np.int32)
        costs = cost, ended, reduced, rest, reduced_rest
        labels = Labels(started, running, left, *costs, coarse)
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
        table = kernels.price_table(problem, prices.rest.rows, self.width, cells)
        while not stop():
            rest = self.labels, self.edges, self.table, self.cursor, self.width, self.most
            end = self.limit, SHARE
            if self.guide is None:
                ahead = prices.rest.rows.time, prices.rest.capacities
                given = problem, *ahead, table, costs
                status = kernels.extend_first(*given, *rest, *end)
            else:
                status = kernels.extend(problem, costs, self.guide, *rest, *end)
            if status == kernels.DONE:
                return True
            if status in (kernels.CROWDED, kernels.WIDE):
                begin = int(self.cursor[2 if status == kernels.CROWDED else 1])
                self._narrow(begin, self.most)
                self._compact(begin)
                if status == kernels.WIDE:
                    self.cursor[2] = self.cursor[3]  # the layer is complete
            elif status == kernels.NARROW:
                self.slots += 2
                self._allocate(len(self.labels.started), self.labels)
            elif status == kernels.FULL:
                if len(self.labels.started) == room:
                    if not self._make_room():
                        return False
                    continue
                self._allocate(min(2 * len(self.labels.started), room), self.labels)
        return False

    def _bounds(self, begin: int) -> IntArray:
        """Return the least cost of a path through each label of the new layer, units.

        Labels in the middle of a coarser cell have no bound yet.
        """
        labels, used = self.labels, int(self.cursor[3])
        here = slice(begin, used)
        bound = np.maximum(
            (labels.cost[here] + labels.rest[here]) * ONE,
            labels.reduced[here] + labels.reduced_rest[here] - self.prices.capacity,
        )
        return np.where(labels.coarse[here] >= 0, bound, -FAR)

    def _narrow(self, begin: int, most: int) -> None:
        """Lower the limit so that at most ``most`` labels of the new layer are of interest."""
        bound = self._bounds(begin)
        bound = bound[bound > -FAR]
        if len(bound) > most:
            self.limit = min(self.limit, int(np.partition(bound, most)[most]) - 1)

    def _compact(self, begin: int) -> int:
        """Remove the labels of the new layer that are of no interest; return how many."""
        used, edge = int(self.cursor[3]), int(self.cursor[4])
        kept = np.ones(used, bool)
        kept[begin:] = self._bounds(begin) <= self.limit
        number = np.cumsum(kept) - 1
        new = int(number[-1]) + 1
        for column in self.labels:
            column[begin:new] = column[begin:used][kept[begin:]]
        first = int(np.searchsorted(self.edges.target[:edge] >= begin, True))
        alive = first + np.flatnonzero(kept[self.edges.target[first:edge]])
        last = first + len(alive)
        for column in self.edges:
            column[first:last] = column[alive]
        for column in self.edges[:2]:
            column[first:last] = number[column[first:last]]
        self.cursor[3:5] = new, last
        self.cursor[7] = new + CROWD * self.most
        self.table.fill(-1)
        kernels.rehash(self.labels, self.table, begin, new)
        return used - new

    def _make_room(self) -> bool:
        """Lower the limit until half of the new layer is gone; whether that makes room."""
        begin, used = int(self.cursor[2]), int(self.cursor[3])
        self._narrow(begin, (used - begin) // 2)
        return self._compact(begin) > len(self.labels.started) // 8

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
    """Return the begins of the cells in which the cheapest path of a level starts the requests."""
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


MOST_ROUNDS = 2**26
"""Most rounds of the horizon, over all requests: their reduced costs take half a gigabyte each."""


class Proof(NamedTuple):
    """A proven bound, and what a checker needs to prove it again.

    Parameters
    ----------
    bound : total latency, rounds.
    prices : of the rows that guide it.
    width : rounds of the first level's cells; 0 when prices prove the bound.
    """

    bound: int
    prices: Prices
    width: int

    def certificate(self, instance: Instance) -> CellCertificate:
        """Return what a checker needs."""
        prices = self.prices
        proof = prices.triples, self.width, prices.grid, prices.tables, prices.rest.triples
        return cell_certificate(instance, self.bound, *proof)


def declined(instance: Instance, makespan: int) -> str:
    """Return why the dynamic program does not take an instance; nothing when it does."""
    if len(instance) > MOST_REQUESTS:
        return f"{len(instance)} requests, more than {MOST_REQUESTS}"
    if 2 * len(instance) * (makespan + int(instance.output.max())) > MOST_ROUNDS:
        return f"{len(instance)} requests over {makespan} rounds take too much memory"
    return ""


TWO = Instance("two", 4, [0, 0], [1, 1], [2, 3])
"""Requests by which loops are compiled."""


def solve_two() -> None:
    """Compile all that levels call."""
    few, ended = CellsParams(cells=2), lambda: False
    program = CellProgram(TWO, lambda: 14, ended, lambda *_: None, few)
    program.run(np.array([0, 9]), ended)


def end_of_none() -> Problem:
    """Compile what a level without labels calls when it grows and ends; return its problem."""
    problem, none = problem_of(TWO), np.zeros(0, np.int64)
    rows = Rows(none, none, none, np.zeros((1, 2, 2), np.int64))
    level = Level(Prices(problem, rows, (), 1), 1, None, 0, 1, 1)
    level.cursor[2:5] = 0
    level._allocate(BEGIN, level.labels)
    level.settle()
    return problem


class CellProgram:
    """Passes of the dynamic program, each with a larger width, until bound and schedule meet.

    Parameters
    ----------
    upper : returns the total latency of the best schedule known.
    stop : returns whether time is over.
    found : called with each better schedule or proof.
    """

    def __init__(
        self,
        instance: Instance,
        upper: Callable[[], int],
        stop: Callable[[], bool],
        found: Callable[[Schedule | None, Proof | None], None],
        params: CellsParams,
    ) -> None:
        self.instance, self.stop, self.found, self.params = instance, stop, found, params
        self.problem = problem_of(instance)
        self.served = int(instance.output.sum())
        self._upper = upper
        self.lower = 0
        self.work, self.final = 0, False

    @property
    def upper(self) -> int:
        """Return the rounds of waiting of the best schedule known."""
        return self._upper() - self.served

    @property
    def ended(self) -> bool:
        """Return whether bound and schedule have met, time is over, or no pass can prove more."""
        return self.final or self.lower >= self.upper or self.stop()

    def run(
        self,
        starts: IntArray,
        priced: Callable[[], bool],
        improve: Callable[[], None] = lambda: None,
        begun: Callable[[], bool] = lambda: False,
    ) -> None:
        """Raise the bound until it meets the schedule, or until time or memory runs out.

        Parameters
        ----------
        starts : starts of the best schedule known, rounds.
        priced : returns whether the time for prices is over.
        improve : looks for better schedules between two passes.
        begun : returns whether the time for the first prices is over.
        """
        master, most = Master(self.problem, starts, self.params), self.params.width
        widths = self._first_widths(int((starts + self.problem.output).max()))
        # few tables are enough for most instances of a dozen requests
        ahead = master.run(self.upper, begun, 0)
        self._proved(ahead, ahead.bound, 0)
        self._descend(ahead, widths[0], most)
        if self.ended:
            return
        found = master.run(self.upper, priced, self.params.tables)
        prices = replace(found, ahead=ahead)
        self._proved(prices, prices.bound, 0)
        width = self._best(prices, widths, most)
        while not self.ended:
            improve()
            most *= self.params.growth
            self._descend(prices, width, most)

    def _best(self, prices: Prices, widths: list[int], most: int) -> int:
        """Return the first width whose pass proves most."""
        best, best_width, work = -1, widths[0], FAR
        for width in widths:
            limit = self._descend(prices, width, most, self.params.wider * work)
            if limit > best:
                best, best_width, work = limit, width, self.work
        return best_width

    def _first_widths(self, makespan: int) -> list[int]:
        """Return the widths of a first level that the first passes try, rounds."""
        least = 1
        while self.params.cells * 2 * least <= makespan:
            least *= 2
        return [least << k for k in range(self.params.widths)]

    def _proved(self, prices: Prices, bound: int, width: int) -> None:
        if bound > self.lower:
            self.lower = bound
            self.found(None, Proof(bound + self.served, prices, width))

    def _descend(self, prices: Prices, first: int, most: int, work: int = FAR) -> int:
        """Go from the first level to single rounds.

        Parameters
        ----------
        first : rounds of a cell of the first level.
        most : labels of a layer.
        work : shares of work after which the pass is given up.

        Returns
        -------
        The largest cost that is excluded, units; -1 where the pass was given up.
        """
        guide, width, upper, whole = None, first, self.upper, True
        limit, slots = (upper - 1) * ONE, self._running_at_most()
        self.work = 0

        def stopped() -> bool:
            self.work += 1
            return self.work > work or self.stop()

        while not self.ended:
            level = Level(prices, width, guide, min(limit, (self.upper - 1) * ONE), most, slots)
            if not level.run(stopped, self.params.room):
                if self.work > work:
                    return -1
                most, whole = most // self.params.growth, False
                self.final = not most
                continue  # a lower limit leaves fewer labels
            limit, slots = level.limit, level.slots
            self._proved(prices, min(level.bound, self.upper), first)
            guide = level.settle()
            if not len(guide.target):
                self.final = limit >= (self.upper - 1) * ONE or not (whole or self.upper < upper)
                break
            path = least_path(guide, self.problem.arrival, width)
            self._schedule(path)
            self.final = width == 1
            width //= 2
        return limit

    def _schedule(self, path: IntArray) -> None:
        """Make the least path of a level a schedule, with and without its delays."""
        order = np.argsort(path, kind="stable")
        for release in (path, self.problem.arrival):
            starts = kernels.serial(self.problem, order, release)
            if int((starts - self.problem.arrival).sum()) < self.upper:
                self.found(Schedule.from_starts(self.instance, starts), None)

    def _running_at_most(self) -> int:
        """Return how many requests memory holds at once."""
        least = np.cumsum(np.sort(self.problem.prompt + 1))
        return int((least <= self.problem.memory).sum()) + 1
