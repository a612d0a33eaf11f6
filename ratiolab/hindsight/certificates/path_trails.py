"""What became of the states of one step of a pass: a first bound of what is left to pay.

A step makes one start after the other possible, and compares states in between. So a state of the
layer before ends in those of the next layer that it became, in those that replaced one of them or
it was merged into, and in what was dropped, which no path of interest passes. Followed backward,
the least total that it can come to is known at once; that of a state that replaced another counts
from then on only, as starts that were possible before were the other's own.
"""

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray


class Trail:
    """States of one step by number, in the order in which they came, and what happened to them.

    Attributes
    ----------
    came : rows of the layer before of which the first states came. number : of all states.
    """

    def __init__(self, came: IntArray, total: IntArray) -> None:
        self.came = came.astype(np.int32)
        self._rows = np.arange(len(came), dtype=np.int32)
        self._totals = [total.copy()]
        self.number = len(came)
        self._happened: list[tuple[bool, NDArray[np.int32], NDArray[np.int32]]] = []

    def made(self, of: IntArray, total: IntArray) -> None:
        """Add states that follow the rows of now, each made of one of these."""
        new = np.arange(self.number, self.number + len(of), dtype=np.int32)
        self._happened.append((True, new, self._rows[of]))
        self._rows = np.append(self._rows, new)
        self._totals.append(total.copy())
        self.number += len(new)

    def replaced(self, rows: IntArray, by: IntArray) -> None:
        """Note which rows are replaced, and by which."""
        self._happened.append((False, self._rows[rows], self._rows[by]))

    def merged(self, rows: IntArray, edges: IntArray, into: IntArray, total: IntArray) -> None:
        """Note that the rows between two edges are merged into a row, whose total changes."""
        new = np.arange(self.number, self.number + len(into), dtype=np.int32)
        self._happened.append((False, self._rows[rows], np.repeat(new, np.diff(edges))))
        self._rows[into] = new
        self._totals.append(total)
        self.number += len(new)

    def left(self, rows: IntArray) -> None:
        """Note that these rows are left, in this order."""
        self._rows = self._rows[rows]

    def least(self, end: IntArray, never: int) -> IntArray:
        """Return the least total that each state of the first rows comes to.

        Parameters
        ----------
        end : that of the rows that are left. never : of states that no path of interest passes, and
            the largest that is told of others.
        """
        total, least = np.concatenate(self._totals), np.full(self.number, never)
        least[self._rows] = np.minimum(end, never)
        for began, ones, others in reversed(self._happened):
            if began:
                np.minimum.at(least, others, least[ones])
            else:
                least[ones] = np.minimum(never, least[others] + total[ones] - total[others])
        result: NDArray[np.int64] = least[: len(self.came)]
        return result
