"""Weights of items and duals of rows: what a proof consists of, without what finds or checks it.

`ratiolab.hindsight.cuts.configurations` explains tables, `ratiolab.hindsight.relaxation.lagrangian`
duals.
"""

from dataclasses import dataclass, field

import numpy as np

from ratiolab.model.footprint import IntArray


@dataclass(frozen=True)
class Table:
    """Weights that no feasible multiset exceeds: W(Q) <= cap.

    Parameters
    ----------
    cap : positive.
    items : (m, r, weight) in falling r; an item weighs the most that those below it weigh.
    """

    cap: int
    items: tuple[tuple[int, int, int], ...] = field(repr=False)

    def dense(self, memory: int) -> IntArray:
        """Return the weight of every (m, r), shape (M + 1, M + 1).

        >>> Table(1, ((3, 1, 1),)).dense(4)[:, 1].tolist()
        [0, 0, 0, 1, 1]
        """
        weights = np.zeros((memory + 1, memory + 1), np.int64)
        for m, r, weight in self.items:
            np.maximum(weights[m:, r:], weight, out=weights[m:, r:])
        return weights


@dataclass(frozen=True)
class Duals:
    """Nonnegative integer duals over a denominator.

    Parameters
    ----------
    memory : dual of the memory row of times 1..T.
    cuts : (table, begin, end, dual): the table has this dual at times begin <= t < end.
    """

    denominator: int
    memory: tuple[int, ...] = field(repr=False)
    tables: tuple[Table, ...] = field(repr=False)
    cuts: tuple[tuple[int, int, int, int], ...] = field(repr=False)
