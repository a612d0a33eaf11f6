"""Sweeps under the same prices with growing critical sets: decremental state-space relaxation.

Each sweep has more critical requests than the one before, and prunes with the completion bounds of
all of them. The limit of one is where the next begins. When no relaxed schedule is left within it,
or the cheapest one is a schedule, the optimum is proven.

Sources: Righini and Salani (2008), New dynamic programming algorithms for the resource constrained
elementary shortest path problem, Networks 51; Tanaka, Fujikuma and Araki (2009), An exact algorithm
for single-machine scheduling without machine idle time, Journal of Scheduling 12.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight.certificates.certificate import (
    DualCertificate,
    PathCertificate,
    path_certificate,
)
from ratiolab.hindsight.labelling.completion_bounds import CompletionBounds, completions
from ratiolab.hindsight.labelling.sweep import Overflow, Swept, schedule_of, sweep
from ratiolab.hindsight.labelling.weights import NEVER, Weights, directions
from ratiolab.hindsight.params import LabellingParams
from ratiolab.model.footprint import IntArray
from ratiolab.model.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Prices:
    """Weights, multipliers, and the certificate of the duals that they are rounded from."""

    potentials: Weights
    multipliers: IntArray
    proven: DualCertificate

    @property
    def base(self) -> int:
        """Return a lower bound on the cost of every relaxed schedule, in units."""
        return int(self.multipliers.sum() - self.potentials.capacity.sum())

    def limit(self, target: float) -> int:
        """Return the largest cost of relaxed schedules of latency below a target."""
        return max(0, int((target - 1) * self.potentials.unit) - self.base)

    def latency(self, cost: int) -> int:
        """Return the bound that a least cost proves."""
        return -(-(self.base + cost) // self.potentials.unit)


class Dssr:
    """Sweeps backward in time under the same prices.

    Parameters
    ----------
    target : schedules of latency below it are of interest.

    Attributes
    ----------
    bound : what is proven.
    critical : the critical set of the last sweep.
    schedule : the relaxed schedule of the last sweep, if it is a schedule.
    """

    def __init__(
        self, prices: Prices, target: float, stop: Callable[[], bool], params: LabellingParams
    ) -> None:
        self.prices, self.limit, self.stop, self.params = prices, prices.limit(target), stop, params
        self.instance = prices.potentials.instance
        self.side = directions(prices.potentials, prices.multipliers, self.limit)[1]
        self.sets: list[int] = []
        self.bound, self.width = prices.latency(0), 0
        self.last: Swept | None = None
        self.schedule: Schedule | None = None

    @property
    def closed(self) -> bool:
        """Return whether no relaxed schedule is left within the limit, or the cheapest is one."""
        return self.schedule is not None or self.bound >= self.prices.latency(self.limit + 1)

    def exact(self, critical: int, width: int, floor: float) -> bool:
        """Sweep with a larger critical set; return whether the sweep came to its end.

        It also ends once it can prove no more than the latency ``floor``.
        """
        guide: CompletionBounds | None = None
        if self.last is not None:
            assert self.last.kept is not None
            guide = completions(self.last.kept, self.stop)
            if guide is None:
                return False
        least = int(floor * self.prices.potentials.unit) - self.prices.base
        return self._sweep(critical, width, "lower", guide, min(least, self.limit))

    def relaxed(self, width: int, pace: Callable[[int, int], int] | None) -> bool:
        """Sweep with merged labels, as the only sweep; return whether it came to its end."""
        return self._sweep(0, width, "merge", pace=pace)

    def _sweep(
        self,
        critical: int,
        width: int,
        overflow: Overflow,
        guide: CompletionBounds | None = None,
        floor: int = -NEVER,
        pace: Callable[[int, int], int] | None = None,
    ) -> bool:
        found = sweep(
            *(self.instance, self.side, self.limit, width),
            overflow=overflow,
            critical=critical,
            guide=guide,
            floor=floor,
            pace=pace,
            params=self.params,
            stop=self.stop,
        )
        if found is None:
            return False
        self.last, self.limit = found, found.limit
        self.sets.append(critical)
        self.width = found.widest if found.merged else 0
        self.bound = max(self.bound, self.prices.latency(found.least))
        if found.paths and (self._counts()[0] == 1).all():
            self.schedule = schedule_of(found.paths[0], self.instance)
        return True

    def violations(self) -> list[int]:
        """Return the requests that relaxed schedules start twice or never, most violated first.

        The cheaper a relaxed schedule of the last sweep, the more it counts.
        """
        counts = self._counts()
        weight = np.abs(counts - 1) / np.arange(1, len(counts) + 1)[:, None]
        violated = weight.sum(axis=0)
        return [i for i in np.argsort(-violated, kind="stable").tolist() if violated[i] > 0]

    def _counts(self) -> IntArray:
        """Return how often each relaxed schedule starts each request, shape (schedules, n)."""
        n, paths = len(self.instance), [] if self.last is None else self.last.paths
        counts = [np.bincount([i for _, i in path], minlength=n) for path in paths]
        return np.array(counts, np.int64).reshape(-1, n)

    def certificate(self) -> PathCertificate:
        """Return the certificate of the bound."""
        unit, sets = self.prices.potentials.unit, tuple(self.sets)
        numbers = self.prices.proven, self.bound, unit, self.prices.multipliers, sets
        return path_certificate(*numbers, self.width)
