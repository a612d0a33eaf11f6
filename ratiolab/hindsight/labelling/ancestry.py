"""Ancestry of the labels of a layer: how each came from another, and what dominated it.

A layer makes its starts one by one. Completion bounds follow backward: a label under extension ends
as a label of the next layer, or goes on to those with one more start; and a dominated label
inherits the bound of the label that dominates it, from then on.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.arrays import compiled
from ratiolab.model.footprint import IntArray


class Ancestry:
    """The partial labels of one layer, numbered as they came."""

    def __init__(self) -> None:
        self._settled: list[IntArray] = []
        self.number = 0
        self._rows, self._parent = np.zeros((2, 0), np.int32)
        self._events: list[tuple[NDArray[Any], NDArray[Any], bool]] = []

    def begin(self, parent: NDArray[np.int32], settled: IntArray) -> None:
        """Take the first rows, without a start, each made of a label of the layer."""
        self._parent, self.number = parent.copy(), len(parent)
        self._rows = np.arange(len(parent), dtype=np.int32)
        self._settled.append(settled.copy())

    def made(self, origin: NDArray[np.int32], settled: IntArray) -> None:
        """Add the rows that follow those known, each with one more start than its origin."""
        new = np.arange(self.number, self.number + len(origin), dtype=np.int32)
        self._rows = np.concatenate([self._rows, new])
        self._events.append((new, self._rows[origin], True))
        self._settled.append(settled.copy())
        self.number += len(new)

    def replaced(self, rows: IntArray, by: IntArray) -> None:
        """Note that these rows are replaced by others."""
        self._events.append((self._rows[rows], self._rows[by], False))

    def stay(self, rows: IntArray) -> None:
        """Note that only these rows stay, in this order."""
        self._rows = self._rows[rows]

    def least(self, end: IntArray, most: int) -> tuple[NDArray[np.int32], IntArray]:
        """Return the labels of the layer that go on, and the least cost they settle in the end.

        Parameters
        ----------
        end : settled cost of each row that stays, at the end.
        most : larger costs are replaced by this value.
        """
        settled, least = np.concatenate(self._settled), np.full(self.number, most)
        least[self._rows] = np.minimum(most, end)
        for ones, others, made in reversed(self._events):
            if made:
                _spread(least, ones, others)
            else:
                least[ones] = np.minimum(most, least[others] + settled[ones] - settled[others])
        return self._parent, least[: len(self._parent)]


@compiled
def _spread(least, ones, others):  # type: ignore[no-untyped-def]
    """Let each know the least of those made of it; some are made of others of these."""
    for k in range(len(ones) - 1, -1, -1):
        least[others[k]] = min(least[others[k]], least[ones[k]])
