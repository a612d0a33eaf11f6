"""The states of one layer of `ratiolab.hindsight.layers.beam`, as columns."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray


@dataclass(frozen=True, eq=False)
class Layer:
    """States as columns.

    Parameters
    ----------
    bound : cost so far; least : with what is known to follow, which ``bound`` does not hold yet.
    parent : row of the layer before.
    """

    started: NDArray[np.uint64]
    bound: IntArray
    least: IntArray
    latency: IntArray
    count: IntArray
    job: NDArray[np.int16]
    age: NDArray[np.int16]
    parent: IntArray

    @classmethod
    def empty(cls, states: int, most: int) -> "Layer":
        bound, least, latency, count, parent = np.zeros((5, states), np.int64)
        job, age = np.zeros((2, states, most), np.int16)
        return cls(np.zeros(states, np.uint64), bound, least, latency, count, job, age, parent)

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        return tuple(getattr(self, column.name) for column in fields(self))

    @property
    def states(self) -> tuple[NDArray[Any], ...]:
        """What a step needs: all but what is known to follow, and the parent."""
        return self.started, self.bound, self.latency, self.count, self.job, self.age

    def take(self, states: IntArray) -> "Layer":
        return Layer(*(column[states] for column in self.columns))
