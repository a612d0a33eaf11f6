"""The states of one layer of `ratiolab.hindsight.layers.beam`, as columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray


@dataclass(frozen=True, eq=False)
class Layer:
    """States as columns; ``parent`` is a row of the layer before."""

    started: NDArray[np.uint64]
    bound: IntArray
    latency: IntArray
    count: IntArray
    job: NDArray[np.int16]
    age: NDArray[np.int16]
    parent: IntArray

    @classmethod
    def empty(cls, states: int, most: int) -> "Layer":
        single = (np.zeros(states, np.int64) for _ in range(4))
        bound, latency, count, parent = single
        job, age = np.zeros((2, states, most), np.int16)
        return cls(np.zeros(states, np.uint64), bound, latency, count, job, age, parent)

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        return (
            self.started, self.bound, self.latency, self.count, self.job, self.age, self.parent
        )  # fmt: skip

    def take(self, states: IntArray) -> "Layer":
        return Layer(*(column[states] for column in self.columns))
