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

from ratiolab.hindsight.arrays import compiled
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.labelling.capacity_prices import CapacityPrices
from ratiolab.hindsight.labelling.dssr import Prices
from ratiolab.hindsight.labelling.sweep import Path, sweep
from ratiolab.hindsight.labelling.weights import directions
from ratiolab.hindsight.params import DEFAULT, BundleParams
from ratiolab.hindsight.programs.highs import FloatArray
from ratiolab.model.instance import Instance

MOST_PIVOTS, EXACT = 3_000, 1e-4
"""Steps of the small quadratic program at most, and how much they may leave, in rounds."""

LEAST_WEIGHT, LARGEST_WEIGHT = 0.1, 100.0
"""Weights of distance that are tried."""

HALVINGS = 8
"""How often the range of weights is halved to meet a level."""


class CuttingPlanes:
    """Cuts above L: latency of a relaxed schedule, and 1 less its starts of each request."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.slope = np.zeros((0, len(instance)))
        self.height = np.zeros(0)

    def add(self, path: list[tuple[int, int]]) -> bool:
        """Add the cut of a relaxed schedule, which may start nothing; return whether it is new."""
        instance = self.instance
        start, request = np.array(path, np.int64).reshape(-1, 2).T
        slope = 1.0 - np.bincount(request, minlength=len(instance))
        height = (start + instance.output[request] - instance.arrival[request]).sum()
        if ((self.slope == slope).all(axis=1) & (self.height == height)).any():
            return False
        self.slope = np.vstack([self.slope, slope])
        self.height = np.append(self.height, float(height))
        return True

    def value(self, multipliers: FloatArray) -> float:
        """Return the least of the planes at these multipliers."""
        return float((self.slope @ multipliers + self.height).min(initial=np.inf))

    def keep(self, multipliers: FloatArray, number: int) -> None:
        """Keep at most ``number`` planes, the least at these multipliers."""
        if len(self.height) > number:
            least = np.argsort(self.slope @ multipliers + self.height, kind="stable")[:number]
            self.slope, self.height = self.slope[least], self.height[least]

    def best(self, center: FloatArray, weight: float) -> tuple[FloatArray, float]:
        """Return the best multipliers, penalised by their distance, and their value by planes."""
        return self._best(center, weight, *self._start(center))

    def weight(self, center: FloatArray, part: float, most: float) -> tuple[float, float]:
        """Return the weight with which the best multipliers meet a level, by planes.

        The level is so large a part of the way from the value at the center to the largest of all,
        as far as distance hardly counts, or to ``most`` if that is less.

        Returns
        -------
        the weight, and the largest value.
        """
        now, gram, share = self._start(center)
        _, value = self._best(center, LARGEST_WEIGHT, now, gram, share)
        largest, least = min(value, most), float(now.min())
        level = least + part * (largest - least)
        low, high = np.log(LEAST_WEIGHT), np.log(LARGEST_WEIGHT)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            _, reached = self._best(center, np.exp(middle), now, gram, share)
            if reached < level:
                low = middle
            else:
                high = middle
        return float(np.exp(high)), largest

    def _start(self, center: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return planes at a center, products of their slopes, and a mean: of the least alone."""
        now, gram = self.slope @ center + self.height, self.slope @ self.slope.T
        share = np.zeros(len(now))
        share[now.argmin()] = 1.0
        return now, gram, share

    def _best(
        self,
        center: FloatArray,
        weight: float,
        now: FloatArray,
        gram: FloatArray,
        share: FloatArray,
    ) -> tuple[FloatArray, float]:
        _balance(now, gram, weight, share)
        trial = center + weight * (share @ self.slope)
        return trial, self.value(trial)


@compiled
def _balance(now, gram, weight, share):  # type: ignore[no-untyped-def]
    """Choose the mean of planes that the dual program wants: pairs of shares change in turn.

    Parameters
    ----------
    now : planes at the center.
    gram : products of slopes.
    share : of each plane in a mean; changed.
    """
    gradient = now + weight * (gram @ share)
    for _ in range(MOST_PIVOTS):
        least, most = 0, -1
        for k in range(len(now)):
            if gradient[k] < gradient[least]:
                least = k
            if share[k] > 0 and (most < 0 or gradient[k] > gradient[most]):
                most = k
        excess = gradient[most] - gradient[least]
        if excess < EXACT:
            break
        curve = gram[least, least] + gram[most, most] - 2 * gram[least, most]
        step = min(share[most], excess / (weight * max(curve, 1e-9)))
        share[least] += step
        share[most] -= step
        for k in range(len(now)):
            gradient[k] += weight * step * (gram[k, least] - gram[k, most])


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
            compared=DEFAULT.labelling.compared // 4,
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
