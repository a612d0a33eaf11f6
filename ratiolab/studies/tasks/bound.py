"""Certified bounds around the hindsight optimum of an instance, without a solver."""

from functools import lru_cache
from typing import TYPE_CHECKING

from ratiolab.model import Instance
from ratiolab.model.instance import OPTIONAL_COLUMNS
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks.task import Task

if TYPE_CHECKING:
    from ratiolab.hindsight import OptResult

KEPT = 1000
"""Results that a process keeps: workloads that differ in predictions alone share them."""


def run(cell: Cell) -> list[Row]:
    """Bounds on the least total latency in unit rounds under restart, and who vouches for it."""
    instance = cell.instance()
    unseen = dict.fromkeys(OPTIONAL_COLUMNS)
    bare = instance.replace(name="bare", source="", **unseen)
    found = _bracket(bare, cell.seed, cell.option("steps"))
    return [
        {
            "instance": instance.digest,
            "requests": len(instance),
            "opt_lower": found.lower,
            "opt_upper": found.upper,
            "lower_source": found.lower_source,
        }
    ]


@lru_cache(KEPT)
def _bracket(instance: Instance, seed: int, steps: int) -> "OptResult":
    from ratiolab.hindsight import bracket  # takes a second to import

    return bracket(instance, seed=seed, steps=steps)


BOUND = Task("bound", run, policy=False, options={"steps": 0})
