"""One policy on one instance: the figures of the run."""

from math import isnan

from ratiolab.online import Simulation, simulate
from ratiolab.online.metrics import summary, unit
from ratiolab.studies.cell import Cell, Row, Value
from ratiolab.studies.tasks.task import Task

DIGITS = 9
"""Significant digits of figures that are no integers: enough for every use, and short files."""


def run(cell: Cell) -> list[Row]:
    """One row: the figures of `ratiolab.online.metrics.summary`, and what they are about.

    A run that stalled or looped has an outcome and no latencies.
    """
    return [described(cell, simulated(cell))]


def simulated(cell: Cell) -> Simulation:
    """The run of a cell."""
    semantics = cell.fields.get("preemption")
    return simulate(
        cell.instance(),
        cell.policy(),
        seed=cell.seed,
        preemption=semantics,  # type: ignore[arg-type]  # checked when the study was read
        clock=cell.clock(),
    )


def described(cell: Cell, done: Simulation) -> Row:
    """The row of a run."""
    instance = cell.instance()
    row: Row = {
        "instance": instance.digest,
        "requests": len(instance),
        "outcome": done.outcome,
        "preempted_as": done.preemption,
        "unit": unit(done),
    }
    return row | {name: short(v) for name, v in summary(done).items() if not isnan(v)}


def short(value: float) -> Value:
    """A figure as results keep it."""
    return int(value) if value == int(value) else float(f"{value:.{DIGITS}g}")


SIMULATE = Task("simulate", run)
