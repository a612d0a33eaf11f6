"""Lagrange multipliers of the start-once constraints: a level bundle method.

For multipliers v let L(v) be the least of latency + sum over i of v_i (1 - starts of i) over all
relaxed schedules. It is concave, and each relaxed schedule gives a linear function above it, a cut
of the model. The next v is the one nearest to the best so far at which the model reaches a level, a
part of the way to what it allows at most. Restricted diagrams supply relaxed schedules.

Source: Lemarechal, Nemirovskii and Nesterov (1995), New variants of bundle methods, Mathematical
Programming 69.
"""

from collections.abc import Callable, Iterable

import numpy as np

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.labelling.capacity_prices import CapacityPrices
from ratiolab.hindsight.labelling.cutting_planes import CuttingPlanes
from ratiolab.hindsight.labelling.dssr import Prices
from ratiolab.hindsight.labelling.sweep import Path, sweep
from ratiolab.hindsight.labelling.weights import directions
from ratiolab.hindsight.params import BundleParams
from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model.instance import Instance


class Multipliers:
    """Ascent of the Lagrangian dual.

    Parameters
    ----------
    duals : their tables and spans are those of all prices.
    first : the first multipliers, rounds, shape (n,).
    upper : returns the latency of the best schedule.

    Attributes
    ----------
    center : the best multipliers so far.
    best : the model's value there, at first minus infinity.
    trial : the next multipliers.
    expected : the model's value there.
    """

    def __init__(
        self,
        instance: Instance,
        duals: Duals,
        first: FloatArray,
        upper: Callable[[], int],
        params: BundleParams,
    ) -> None:
        self.refit, self.upper, self.params = CapacityPrices(instance, duals), upper, params
        self.planes = CuttingPlanes(instance)
        self.center = self.trial = first
        self.best, self.expected = -np.inf, float(upper())

    def prices(self) -> Prices:
        """Return prices for the best multipliers."""
        return Prices(*self.refit(self.center))

    def again(self) -> None:
        """Let the next step look at the best multipliers once more, with a wider diagram."""
        self.trial, self.best = self.center, -np.inf

    def step(self, width: int, stop: Callable[[], bool]) -> bool:
        """Take relaxed schedules under the next multipliers; return False if stopped."""
        params, prices = self.params, Prices(*self.refit(self.trial))
        limit = prices.limit(min(self.expected, self.upper()) + 2)
        side = directions(prices.potentials, prices.multipliers, limit)[1]
        found = sweep(
            *(self.refit.instance, side, limit, width),
            overflow="drop",
            compared=params.compared,
            stop=stop,
        )
        if found is None:
            return False
        value = (prices.base + found.least) / prices.potentials.unit
        gain = params.serious * max(0.0, self.expected - self.best)
        if self.best == -np.inf or value > self.best + gain:
            self.center, self.best = self.trial, value
        self.learn(found.paths)
        if found.paths:  # none where a restricted diagram finds nothing within the limit
            self.planes.keep(self.center, params.most_cuts)
            weight = self.planes.weight(self.center, params.level, self.upper())[0]
            self.trial, self.expected = self.planes.best(self.center, weight)
        return True

    def learn(self, paths: Iterable[Path]) -> None:
        """Take relaxed schedules, the cheapest first, which may lower the value at the center."""
        for path in paths:
            self.planes.add(path)
        self.best = min(self.best, self.planes.value(self.center))
