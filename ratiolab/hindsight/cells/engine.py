"""The optimum of few requests at any memory size, by coarse-to-fine dynamic programming.

`docs/concepts.md` has the method in pseudo-code.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.cells import kernels
from ratiolab.hindsight.cells.delays import Delays
from ratiolab.hindsight.cells.kernels import MOST_REQUESTS, ONE, Rows
from ratiolab.hindsight.cells.master import Master, Prices, problem_of
from ratiolab.hindsight.cells.sweep import Level, least_path
from ratiolab.hindsight.params import CellsParams
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

MOST_ROUNDS = 2**26
"""Most rounds of the horizon, over all requests: their reduced costs take half a gigabyte each."""


class Proof(NamedTuple):
    """A proven bound, and what a checker needs to prove it again.

    Parameters
    ----------
    bound : total latency, rounds.
    rows : priced rows.
    width : rounds of the first level's cells; 0 when prices prove the bound.
    """

    bound: int
    rows: Rows
    width: int


def declined(instance: Instance, makespan: int) -> str:
    """Return why the dynamic program does not take an instance; nothing when it does."""
    if len(instance) > MOST_REQUESTS:
        return f"{len(instance)} requests, more than {MOST_REQUESTS}"
    if 2 * len(instance) * (makespan + int(instance.output.max())) > MOST_ROUNDS:
        return f"{len(instance)} requests over {makespan} rounds take too much memory"
    return ""


@cache
def compile_cells() -> None:
    """Compile the loops of the cells, or load them from a cache, by solving two requests.

    Further calls in the process do nothing.
    """
    instance = Instance("two", 4, [0, 0], [1, 1], [2, 3])
    late = np.array([0, 9])
    program = CellProgram(
        instance, lambda: 14, lambda: False, lambda *_: None, CellsParams(cells=2)
    )
    Delays(program.problem, late, stream(0, "search")).step()
    program.run(late, lambda: False)


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

    @property
    def upper(self) -> int:
        """Return the rounds of waiting of the best schedule known."""
        return self._upper() - self.served

    @property
    def ended(self) -> bool:
        """Return whether the bound has met the schedule, or time is over."""
        return self.lower >= self.upper or self.stop()

    def run(
        self,
        starts: IntArray,
        priced: Callable[[], bool],
        improve: Callable[[], None] = lambda: None,
    ) -> None:
        """Raise the bound until it meets the schedule, or until time or memory runs out.

        Parameters
        ----------
        starts : starts of the best schedule known, rounds.
        priced : returns whether the time for prices is over.
        improve : looks for better schedules between two passes.
        """
        prices = Master(self.problem, starts, self.params).run(self.upper, priced)
        self._proved(prices, prices.bound, 0)
        best, first, most = -1, 0, self.params.width
        for width in self._first_widths(int((starts + self.problem.output).max())):
            limit = self._descend(prices, width, most)
            if limit is None:
                return
            if limit > best:
                best, first = limit, width
        while True:
            improve()
            most *= self.params.growth
            if self._descend(prices, first, most) is None:
                return

    def _first_widths(self, makespan: int) -> list[int]:
        """Return the widths of a first level that the first passes try, rounds."""
        least = 1
        while self.params.cells * 2 * least <= makespan:
            least *= 2
        return [least << k for k in range(self.params.widths)]

    def _proved(self, prices: Prices, bound: int, width: int) -> None:
        if bound > self.lower:
            self.lower = bound
            self.found(None, Proof(bound + self.served, prices.rows, width))

    def _descend(self, prices: Prices, first: int, most: int) -> int | None:
        """Go from the first level to single rounds, and return the last limit.

        Returns
        -------
        units; None when no other pass can prove more.
        """
        if self.ended:
            return None
        guide, width, upper, whole = None, first, self.upper, True
        limit, slots = (upper - 1) * ONE, self._running_at_most()
        while True:
            level = Level(prices, width, guide, min(limit, (self.upper - 1) * ONE), most, slots)
            if not level.run(self.stop, self.params.room):
                most, whole = most // self.params.growth, False
                if self.stop() or not most:
                    return None
                continue  # a lower limit leaves fewer labels
            limit, slots = level.limit, level.slots
            self._proved(prices, min(level.bound, self.upper), first)
            guide = level.settle()
            if not len(guide.target) or self.ended:
                more = limit < (self.upper - 1) * ONE and (whole or self.upper < upper)
                return limit if more else None
            path = least_path(guide, self.problem.arrival, width)
            self._schedule(path)
            if width == 1:
                return None
            width //= 2

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
