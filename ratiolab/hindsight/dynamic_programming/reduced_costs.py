"""Reduced costs of starts and of rounds, tabulated for a dynamic program.

`ratiolab.hindsight.relaxation.lagrangian` names the quantities: c_i(p), the Lagrangian cost of a
start, and R_t, the duals times right sides of time t. All are integers over the denominator of the
duals.
"""

import numpy as np

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.relaxation.lagrangian import (
    capacity_costs,
    columns,
    item_costs,
    reduced_costs,
    scaled_bound,
)
from ratiolab.model import Instance, IntArray


class ReducedCosts:
    """Costs of starts and of rounds under given duals.

    Attributes
    ----------
    first_bound : what the duals alone prove.
    end : own costs are tabulated up to here; later ones grow by the denominator a round.
    own : c_i(p) of starts p = 0..end, shape (n, end + 1); what precedes the arrival is never used.
    least : least of c_i(p') over p' >= p, shape (n, end + 1).
    item_cost : dual cost of holding (m, r) at times 0..T, shape (T + 1, M + 1, M + 1).
    capacity_cost : R_t of times 0..T, shape (T + 1,).
    """

    def __init__(self, instance: Instance, duals: Duals) -> None:
        memory = instance.memory
        self.instance, self.denominator = instance, duals.denominator
        grid = columns(instance, len(duals.memory))
        dense = [table.dense(memory) for table in duals.tables]
        reduced = reduced_costs(grid, duals, dense)
        self.first_bound = scaled_bound(grid, duals, reduced)
        self.item_cost = item_costs(memory, duals, dense)
        self.capacity_cost = np.array(capacity_costs(memory, duals), np.int64)
        self.end = len(duals.memory) + int(instance.arrival.max()) + 1
        self.own, self.least = self._costs(grid.group, grid.start, reduced, grid.first)

    def _costs(
        self, group: IntArray, start: IntArray, reduced: IntArray, first: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Return the Lagrangian cost of starts at 0..end, and the least from each start on."""
        instance = self.instance
        times = np.arange(self.end + 1)
        own = (times + (instance.output - instance.arrival)[:, None]) * self.denominator
        keys = np.column_stack([instance.arrival, instance.prompt, instance.output])
        member = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        for i, k in enumerate(member.tolist()):
            chosen = slice(first[k], first[k + 1] if k + 1 < len(first) else len(group))
            own[i, start[chosen]] = reduced[chosen]
            own[i, : instance.arrival[i]] = own[i, instance.arrival[i]]  # never used as a start
        return own, np.minimum.accumulate(own[:, ::-1], axis=1)[:, ::-1].copy()

    def row(self, t: int) -> tuple[IntArray, int]:
        """Return the dual costs of items (m, r) at time t, and R_t; zero beyond T."""
        if t < len(self.item_cost):
            return self.item_cost[t], int(self.capacity_cost[t])
        return np.zeros_like(self.item_cost[0]), 0
