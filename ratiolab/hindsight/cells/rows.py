"""Priced rows of memory, and the costs that they leave to the starts of an instance.

Prices mu_r >= 0 of rows of weights w_r and caps c_r give each start p of a request the *reduced
cost* p - a + sum of mu_r w_r(tokens held at the time of row r). Every schedule waits at least as
many rounds in sum as the least reduced costs of all requests less the sum of mu_r c_r: the
Lagrangian bound. Prices are integers in units of 2^-24 rounds, so that the bound is exact.
"""

from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight.arrays import compiled
from ratiolab.hindsight.cells.kernels import FAR, ONE, Costs, Problem, Rows, weight_of
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance


def problem_of(instance: Instance) -> Problem:
    """Return the columns of an instance as the kernels read them."""
    known: dict[tuple[int, int, int], int] = {}
    twin = []
    for i, request in enumerate(instance.requests):
        twin.append(known.get(request, -1))
        known[request] = i
    arrival, prompt, output = map(np.array, (instance.arrival, instance.prompt, instance.output))
    return Problem(arrival, prompt, output, np.array(twin, np.int64), instance.memory)


@compiled
def _reduced_costs(problem, rows, horizon):  # type: ignore[no-untyped-def]
    """Return the reduced cost of each start up to a horizon, units; shape (n, horizon + 1)."""
    n = len(problem.arrival)
    costs = np.empty((n, horizon + 1), np.int64)
    for i in range(n):
        arrival, prompt, output = problem.arrival[i], problem.prompt[i], problem.output[i]
        for p in range(horizon + 1):
            costs[i, p] = (p - arrival) * ONE if p >= arrival else FAR
        for r in range(len(rows.time)):
            t, price = rows.time[r], rows.price[r]
            for p in range(max(arrival, t - output), min(t, horizon + 1)):
                costs[i, p] += price * weight_of(rows.pieces[r], prompt + t - p, problem.memory)
    return costs


@dataclass(frozen=True)
class Prices:
    """An instance with priced rows.

    Parameters
    ----------
    horizon : no row has a later time.
    """

    problem: Problem
    rows: Rows
    horizon: int

    def __post_init__(self) -> None:
        caps = np.where(self.rows.pieces, self.rows.pieces, self.problem.memory)
        capacities = np.append(np.cumsum((caps * self.rows.price)[::-1])[::-1], 0)
        reduced = _reduced_costs(self.problem, self.rows, self.horizon)
        later = np.minimum.accumulate(reduced[:, ::-1], axis=1)[:, ::-1]
        object.__setattr__(self, "capacities", capacities)  # of the rows from each one on
        object.__setattr__(self, "reduced", reduced)
        object.__setattr__(self, "later", later)

    capacities: IntArray = None  # type: ignore[assignment]
    reduced: IntArray = None  # type: ignore[assignment]
    later: IntArray = None  # type: ignore[assignment]

    @property
    def capacity(self) -> int:
        """Return the priced capacity of all rows, units."""
        return int(self.capacities[0])

    @property
    def bound(self) -> int:
        """Return the Lagrangian bound on the rounds of waiting."""
        return -(-(int(self.later[:, 0].sum()) - self.capacity) // ONE)

    def costs(self, width: int) -> Costs:
        """Return the reduced costs of cells of ``width`` rounds."""
        begins = np.arange(0, self.horizon + 1, width)
        cell = np.minimum.reduceat(self.reduced, begins, axis=1)
        later = np.ascontiguousarray(self.later[:, begins])
        cell[:, -1] = later[:, -1]
        return Costs(cell, later, self.capacity)
