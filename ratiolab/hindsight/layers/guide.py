"""What prices tell a search over layers: the cost of every start, and what a round leaves unused.

`ratiolab.hindsight.relaxation.lagrangian` names the quantities: c_i(p), the priced cost of a start,
and R_t, the prices times right sides of time t. All are integers over the prices' denominator.
"""

import numpy as np

from ratiolab.hindsight.certificates.prices import Prices
from ratiolab.hindsight.relaxation.lagrangian import (
    columns,
    item_prices,
    payments,
    reduced_costs,
    scaled_bound,
)
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance


class Guide:
    """Costs of starts and of rounds under given prices.

    Attributes
    ----------
    first_bound : what the prices alone prove.
    end : own costs are tabulated up to here; later ones grow by the denominator a round.
    own : c_i(p) of starts p = 0..end, shape (n, end + 1); what precedes the arrival is never used.
    least : least of c_i(p') over p' >= p, shape (n, end + 1).
    priced : price of holding (m, r) at times 0..T, shape (T + 1, M + 1, M + 1).
    paid : R_t of times 0..T, shape (T + 1,).
    """

    def __init__(self, instance: Instance, prices: Prices) -> None:
        memory = instance.memory
        self.instance, self.denominator = instance, prices.denominator
        grid = columns(instance, len(prices.memory))
        dense = [table.dense(memory) for table in prices.tables]
        reduced = reduced_costs(grid, prices, dense)
        self.first_bound = scaled_bound(grid, prices, reduced)
        self.priced = item_prices(memory, prices, dense)
        self.paid = np.array(payments(memory, prices), np.int64)
        self.end = len(prices.memory) + int(instance.arrival.max()) + 1
        self.own, self.least = self._costs(grid.group, grid.start, reduced, grid.first)

    def _costs(
        self, group: IntArray, start: IntArray, reduced: IntArray, first: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Priced cost of starting at 0..end, and the least of starting then or later."""
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

    def above_least(self, rounds: int) -> IntArray:
        """What starts at 0..rounds-1 cost above the least of their request, shape (n, rounds)."""
        beyond = np.maximum(np.arange(rounds) - self.end, 0) * self.denominator
        known = self.own[:, np.minimum(np.arange(rounds), self.end)]
        above: IntArray = known + beyond - self.least[:, :1]
        return above

    def row(self, t: int) -> tuple[IntArray, int]:
        """Prices of items (m, r) at time t, and R_t; zero beyond T."""
        if t < len(self.priced):
            return self.priced[t], int(self.paid[t])
        return np.zeros_like(self.priced[0]), 0
