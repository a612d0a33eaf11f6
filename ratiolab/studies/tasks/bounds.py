"""Certified bounds around the hindsight optimum of an instance, alone or beside policies."""

from functools import lru_cache
from typing import TYPE_CHECKING

from ratiolab.model import Instance
from ratiolab.model.instance import OPTIONAL_COLUMNS
from ratiolab.online import make, simulate
from ratiolab.studies.cell import Cell, Row

if TYPE_CHECKING:
    from ratiolab.hindsight import OptResult

KEPT = 1000
"""Results that a process keeps: workloads that differ in predictions alone share them."""


POLICIES = ("mc-sf", "svf")


def bound(cell: Cell) -> list[Row]:
    """Return bounds on the least total latency in unit rounds under restart, with their source."""
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


def bracket(cell: Cell) -> list[Row]:
    """Return one row for each policy: its total latency, and the interval around the optimum.

    Both ends of the interval depend on orders tried and rounds of cuts alone, never on time.
    """
    from ratiolab.hindsight import bracket as enclose  # takes a second to import
    from ratiolab.hindsight.cuts.cut_bound import cut_bound, fits

    instance = cell.instance()
    found = enclose(instance, seed=cell.seed, steps=cell.option("steps")).uninterrupted()
    lower, source = found.lower, found.lower_source
    if lower < found.upper:
        horizon = found.schedule.makespan  # any gives a valid bound, this one a good one
        while horizon and not fits(instance, horizon):
            horizon = horizon * 9 // 10
        raised = cut_bound(
            instance,
            horizon=horizon,
            rounds=cell.option("rounds"),
            target=found.upper,
        )
        if raised.stopped == "interrupted":
            raise KeyboardInterrupt
        if raised.lower > lower:
            lower, source = raised.lower, "configuration cuts"
    return [
        {
            "policy": key,
            "instance": instance.digest,
            "requests": len(instance),
            "total_latency": simulate(instance, make(key), seed=cell.seed).total_latency,
            "opt_lower": lower,
            "opt_upper": found.upper,
            "lower_source": source,
        }
        for key in POLICIES
    ]


@lru_cache(KEPT)
def _bracket(instance: Instance, seed: int, steps: int) -> "OptResult":
    from ratiolab.hindsight import bracket  # takes a second to import

    return bracket(instance, seed=seed, steps=steps).uninterrupted()
