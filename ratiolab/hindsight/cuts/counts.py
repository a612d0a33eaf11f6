"""Cuts that count items of which only so many can be in memory together, without compiled code.

Of k + 1 items with r' the least r, none leaves room for the others when their tokens now and
(k + 1) r' together exceed M, see `ratiolab.hindsight.cuts.configurations`. A set of items of which
at most k fit is given by the least tokens f(r) of its items of each r. With g the least f(r) at
larger r, it is enough that

    k g + f(r) + (k + 1) r > M  where f(r) >= g,      (k + 1) (f(r) + r) > M  where f(r) < g,

as the sum of k + 1 items is least with k of the least before, or with all of the one kind. Only g
matters for what follows at lower r, so that a dynamic program over r finds the set with most in
memory, in O(M^3) operations on arrays.
"""

from dataclasses import dataclass, field

import numpy as np

from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model import Instance, IntArray

LEAST_VIOLATION = 0.02
"""A row is worth adding when it is violated by this part of its cap."""

MOST_COUNT = 4
"""Largest cap that is tried."""

Items = tuple[tuple[int, int, int], ...]


@dataclass
class CountSeparator:
    """Separation of rows of items of which at most some are in memory; each table is found once."""

    instance: Instance
    _found: set[Table] = field(default_factory=set, init=False)

    def __call__(self, m: IntArray, r: IntArray, amount: FloatArray) -> Table | None:
        """Return the most violated row for these amounts of items, unless there is none or known.

        >>> CountSeparator(Instance("", 5, [0], [1], [2]))(*np.array([[2], [1], [2]])).items
        ((4, 0, 1), (2, 1, 1))
        """
        best, table = 1 + LEAST_VIOLATION, None
        for cap in range(1, MOST_COUNT + 1):
            value, items = most_at_once(self.instance.memory, cap, m, r, amount)
            if value > best * cap and Table(cap, items) not in self._found:
                best, table = value / cap, Table(cap, items)
        if table is not None:
            self._found.add(table)
        return table


def most_at_once(
    memory: int, cap: int, m: IntArray, r: IntArray, amount: FloatArray
) -> tuple[float, Items]:
    """Return the most amount of a set of which at most ``cap`` items fit, as a table's items."""
    none = memory + 1  # as f: no item of this r
    amounts = np.zeros((memory + 1, memory + 2))
    np.add.at(amounts, (r, m), amount)
    gain = np.cumsum(amounts[:, ::-1], axis=1)[:, ::-1]  # of items with at least so many tokens
    f = np.arange(none + 1)
    value = np.where(f == none, 0.0, -np.inf)  # by the least f so far
    choices = []
    for rounds in range(int(r.max()), -1, -1):
        own = max(1, -(-(none - (cap + 1) * rounds) // (cap + 1)))
        above = np.minimum(np.maximum(f, none - (cap + 1) * rounds - cap * f), none)
        above[none] = none
        stay = value + gain[rounds, above]
        lower = np.where(f < f[:, None], value[:, None], -np.inf)
        came = lower.argmax(axis=0)
        fall = np.where(f >= own, lower.max(axis=0) + gain[rounds], -np.inf)
        choices.append((rounds, np.where(fall > stay, came, -1), above))
        value = np.maximum(stay, fall)
    least = int(value.argmax())
    most = float(value[least])
    items: list[tuple[int, int, int]] = []
    for rounds, came, above in reversed(choices):
        tokens = least if came[least] >= 0 else int(above[least])
        if came[least] >= 0:
            least = int(came[least])
        if tokens < none and not (items and items[-1][0] <= tokens):
            items.append((tokens, rounds, 1))
    return most, tuple(items)
