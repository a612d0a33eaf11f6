"""One policy on one instance, beside a certified lower bound on every schedule, in its own unit."""

from functools import lru_cache

from ratiolab.model import Instance
from ratiolab.online.clock import BatchTime
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks import simulate
from ratiolab.studies.tasks.task import Task

KEPT = 1000
"""Bounds that a process keeps: policies share them."""


def run(cell: Cell) -> list[Row]:
    """The row of ``simulate``, with ``lower``: no schedule has less total latency under restart.

    In seconds when the cell has a clock, else in rounds; neither needs a solver.
    """
    bare = cell.instance().replace(name="bare", lower=None, upper=None, predicted=None, source="")
    lower = _lower(bare, cell.clock())
    return [row | {"lower": float(f"{lower:.9g}")} for row in simulate.run(cell)]


@lru_cache(KEPT)
def _lower(instance: Instance, clock: BatchTime | None) -> float:
    if clock is None:
        from ratiolab.hindsight.bounds import best_lower_bound

        return best_lower_bound(instance).value
    from ratiolab.ratio.clock_bound import clock_lower_bound

    return clock_lower_bound(instance, clock)


AGAINST_BOUND = Task("against-bound", run)
