"""Lagrange multipliers of the start-once constraints: a level bundle method.

For multipliers v let L(v) be the least of latency + sum over i of v_i (1 - starts of i) over all
relaxed schedules. It is concave, and each relaxed schedule gives a linear function above it, a cut
of the model. The next v is the one nearest to the best so far at which the model reaches a level, a
part of the way to what it allows at most. Restricted diagrams supply relaxed schedules.

Source: Lemarechal, Nemirovskii and Nesterov (1995), New variants of bundle methods, Mathematical
Programming 69.

The weights of rows for given multipliers leave relaxed schedules the least slack. Weights y >= 0
make all starts cost at least v, and use the least in all:

    min  sum over rows of y cap (times)      s.t.   c_i(p) >= v_i  for each request i and start p.

Rows are tables over spans of times, those of the duals that are given, and the memory between the
ends of all these spans and changes of its dual. The program keeps its basis from one v to the next:
only right sides move. A few hundred of tens of thousands of starts bind, so that the program has
only the starts that some v has needed.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate, dual_certificate
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.labelling.dssr import Prices
from ratiolab.hindsight.labelling.sweep import Path, sweep
from ratiolab.hindsight.labelling.weights import Weights, directions
from ratiolab.hindsight.params import DEFAULT, BundleParams
from ratiolab.hindsight.programs.highs import FloatArray, LinearProgram
from ratiolab.hindsight.relaxation.lagrangian import columns, reduced_costs, scaled_bound
from ratiolab.machine_code import compiled
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance

LACKING = 1e-6
"""Rounds that a start may lack: multipliers that it has are then less by as much."""

TOGETHER = 16
"""Size of the groups of consecutive starts of a request; the start that lacks most joins the
program."""

MOST_STARTS = 2
"""The half with most slack leaves above this multiple of their number after the first refit."""


class CapacityPrices:
    """The program for one instance, with the tables and spans of some duals."""

    def __init__(self, instance: Instance, duals: Duals) -> None:
        self.instance, self.duals, self.horizon = instance, duals, len(duals.memory)
        self.columns = columns(instance, self.horizon)
        self.dense = [table.dense(instance.memory) for table in duals.tables]
        spans = sorted({(table, begin, end) for table, begin, end, _ in duals.cuts})
        changes = (np.flatnonzero(np.diff(duals.memory)) + 2).tolist()
        ends = sorted({1, self.horizon + 1, *changes, *(t for span in spans for t in span[1:])})
        self.rows = spans + [(-1, begin, end) for begin, end in pairwise(ends)]
        arrival, output = instance.arrival, instance.output
        number = np.maximum(0, self.horizon - arrival)
        self.owner = np.repeat(np.arange(len(instance)), number)
        self.start = np.arange(number.sum()) - (np.cumsum(number) - number - arrival)[self.owner]
        self.latency = self.start + (output - arrival)[self.owner]
        self.matrix = self._matrix()
        self.program, size = LinearProgram(), len(self.rows)
        none = np.zeros(size + 1, np.int64)
        cost = np.array([float(end - begin) for _, begin, end in self.rows])
        self.program.add_columns(cost, np.full(size, np.inf), none, none[:0], np.zeros(0))
        self.inside, self.most = np.zeros(0, np.int64), 0

    def __call__(self, multipliers: FloatArray) -> tuple[Weights, IntArray, DualCertificate]:
        """Return weights, multipliers no larger than these that fit them, and what they prove."""
        weight = self._weights(multipliers[self.owner] - self.latency)
        denominator = self.duals.denominator
        memory, cuts = np.zeros(self.horizon + 1, np.int64), []
        for (table, begin, end), amount in zip(self.rows, weight.tolist(), strict=True):
            scaled = int(max(0.0, amount) * denominator / self._cap(table))
            if table < 0:
                memory[begin:end] += scaled
            elif scaled:
                cuts.append((table, begin, end, scaled))
        duals = Duals(denominator, tuple(memory[1:].tolist()), self.duals.tables, tuple(cuts))
        value = scaled_bound(self.columns, duals, reduced_costs(self.columns, duals, self.dense))
        potentials = Weights.of(self.instance, duals, self.dense)
        rounded = np.floor(multipliers * potentials.unit).astype(np.int64)
        proven = dual_certificate(self.instance, duals, value)
        return potentials, np.minimum(potentials.least, rounded), proven

    def _weights(self, need: FloatArray) -> FloatArray:
        """Return the cheapest weights that give each start what it needs, within a tolerance."""
        inside, program = self.inside, self.program
        program.set_rows(need[inside], np.full(len(inside), np.inf))
        while True:
            weight = program.solve().columns
            lacks: FloatArray = need - self.matrix @ weight
            lacking = np.flatnonzero(lacks > LACKING)
            lacking = lacking[~np.isin(lacking, inside)]
            if not len(lacking):
                break
            new = self._worst(lacking, lacks[lacking])
            part = self.matrix[new]
            rows = part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data
            program.add_rows(need[new], np.full(len(new), np.inf), *rows)
            self.inside = inside = np.append(inside, new)
        self.most = self.most or MOST_STARTS * len(inside)
        if len(inside) > self.most:
            idle = np.argsort(lacks[inside], kind="stable")[: len(inside) // 2]
            program.delete_rows(np.sort(idle))
            self.inside = np.delete(inside, idle)
        return weight

    def _worst(self, lacking: IntArray, amount: FloatArray) -> IntArray:
        """Return, of the starts that lack something, those of each few in a row that lack most."""
        group = self.owner[lacking] * (self.horizon + 1) + self.start[lacking] // TOGETHER
        order = np.lexsort((-amount, group))
        first = np.diff(group[order], prepend=-1) != 0
        worst: IntArray = lacking[order[first]]
        return worst

    def _matrix(self) -> Any:
        """Return what one unit of each weight pays to each start, shape (starts, rows), sparse."""
        from scipy.sparse import csr_array, vstack

        memory = self.instance.memory
        tokens = np.repeat(np.arange(memory + 1)[:, None], memory + 1, axis=1)
        tables = [dense / self._cap(table) for table, dense in enumerate(self.dense)]
        weights = np.array([*tables, tokens / memory])  # the last, of number -1, is the memory's
        table, begin, end = np.array(self.rows, np.int64).T
        parts = []
        for i, (_, s, o) in enumerate(self.instance.requests):
            ages: Any = np.arange(1, o + 1)
            paid = np.zeros((len(weights), o + 1))
            np.cumsum(weights[:, held(s, ages), o - ages], axis=1, out=paid[:, 1:])
            start = self.start[self.owner == i][:, None]
            first, last = (np.clip(t - start, 1, o + 1) - 1 for t in (begin, end))
            parts.append(csr_array(paid[table, last] - paid[table, first]))
        return vstack(parts, format="csr")

    def _cap(self, table: int) -> int:
        return self.instance.memory if table < 0 else self.duals.tables[table].cap


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
        """Return the weight with which the best multipliers meet a level, and the largest value.

        The level is so large a part of the way from the value at the center to the largest of all,
        as far as distance hardly counts, or to ``most`` if that is less.
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
