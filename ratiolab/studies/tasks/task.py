"""Tasks of a study."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ratiolab.studies.cell import Cell, Row, Value


@dataclass(frozen=True)
class Task:
    """A function from a cell to rows, and what its cells are made of.

    Parameters
    ----------
    name : how a study file names it.
    run : a function of a module, so that other processes find it; the same cell gives the same
        rows on every machine: no clocks, no limits in seconds.
    workload, policy : whether a cell has one.
    options : names and defaults of its options; their types are those of the defaults.
    """

    name: str
    run: Callable[[Cell], list[Row]]
    workload: bool = True
    policy: bool = True
    options: Mapping[str, Value] = field(default_factory=dict)
