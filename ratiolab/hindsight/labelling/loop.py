"""The labelling loop: it raises the bound of duals until the bound meets the best schedule.

    width = first width
    sweeps at the multipliers of the cuts, given up if the first leaves anything out
    until the bound meets the schedule, or time is over:
        ascent: steps of the bundle method, by restricted diagrams
        sweeps with critical sets of 0, 4, 8, 12, ..., all requests, each within its width
        or, where the first of these falls below what the multipliers promise:
        a relaxed diagram of this width; the last one takes the time that is left
        width = 4 width

The search for schedules takes its turn in between. Nothing here depends on the number of requests,
except that a critical set holds 64 of them at most.
"""

from collections.abc import Callable
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate, PathCertificate
from ratiolab.hindsight.labelling.dssr import Dssr, Prices
from ratiolab.hindsight.labelling.multipliers import Multipliers
from ratiolab.hindsight.labelling.weights import MOST_REQUESTS, Weights
from ratiolab.hindsight.params import SolveParams
from ratiolab.hindsight.programs.highs import SolverError
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule


class Surroundings(NamedTuple):
    """Callbacks of the loop.

    Parameters
    ----------
    upper : returns the latency of the best schedule.
    stop : whether the loop is to end.
    found : called with each better schedule or proven bound.
    left : returns the seconds until ``stop``, infinity without a limit.
    search : lets the search for schedules go on.
    """

    upper: Callable[[], int]
    stop: Callable[[], bool]
    found: Callable[[Schedule | None, PathCertificate | None], None]
    left: Callable[[], float] = lambda: inf
    search: Callable[[], None] = lambda: None


class Loop:
    """The loop for one instance.

    Parameters
    ----------
    duals : of memory and cuts; their bound is where the loop begins.
    known : a proof by sweeps, from whose multipliers the ascent goes on.

    Raises
    ------
    OverflowError
        when numbers or tables would be too large.
    """

    def __init__(
        self,
        instance: Instance,
        duals: DualCertificate,
        around: Surroundings,
        params: SolveParams,
        known: PathCertificate | None = None,
    ) -> None:
        self.instance, self.around, self.bound = instance, around, duals.bound
        self.params = params.labelling
        self.bundle = params.bundle
        self.duals = duals
        potentials = Weights.of(instance, duals.duals)
        first = potentials.least
        if known is not None and known.unit == potentials.unit:
            first = np.array(known.multipliers, np.int64)
        self.first = Prices(potentials, np.minimum(first, potentials.least), duals)
        self.next = 0.0  # seconds that the next round should take

    @cached_property
    def multipliers(self) -> Multipliers:
        """Return the ascent of the multipliers."""
        first = self.first.multipliers / self.first.potentials.unit
        upper = self.around.upper
        return Multipliers(self.instance, self.duals.duals, first, upper, self.bundle)

    @property
    def ended(self) -> bool:
        """Return whether the bound has met the schedule, or the loop is to end."""
        return self.bound >= self.around.upper() or self.around.stop()

    def run(self) -> None:
        """Go through the rounds; exact sweeps come first, in case they are small."""
        params, left = self.params, self.around.left
        width = min(params.first_width, params.most_width)
        if self._sweeps(width, self.first):
            width *= params.growth
        while not self.ended:
            begun, known = left(), (self.bound, self.multipliers.best)
            last = begun < params.last * self.next
            self._ascend(width, begun / 2 if last else 0.0)
            if not (self._sweeps(width) or self.ended):
                self._relax(width, last=last)
            self.next = params.growth * (begun - left()) if begun < inf else 0.0
            if width == params.most_width and known == (self.bound, self.multipliers.best):
                return
            width = min(params.most_width, params.growth * width)

    def _ascend(self, width: int, until: float) -> None:
        """Make steps to better multipliers, until ``until`` seconds are left."""
        self.multipliers.again()
        for _ in range(self.bundle.steps):
            self.around.search()
            try:
                if self.ended or self.around.left() < until:
                    return
                if not self.multipliers.step(int(self.bundle.beam * width), self.around.stop):
                    return
            except SolverError:  # what is proven stays
                return

    def _sweeps(self, width: int, first: Prices | None = None) -> bool:
        """Prove more by sweeps with growing critical sets; return whether the first one ended.

        The first sweep ends where it cannot reach what the multipliers promise. Under the ``first``
        prices it ends where it leaves anything out.
        """
        params, around, upper = self.params, self.around, self.around.upper()
        if len(self.instance) > MOST_REQUESTS:
            return False
        floor, prices = float(upper), first
        if prices is None:
            best, prices = self.multipliers.best, self.multipliers.prices()
            floor = max(self.bound, best - params.near * (upper - best))
        dssr = Dssr(prices, upper, around.stop, params)
        if not dssr.exact(0, width, floor):
            return False
        assert dssr.last is not None
        paths, critical = dssr.last.paths, 0
        self._tell(dssr)
        while not (dssr.closed or self.ended):
            if not first:
                around.search()
            critical = self._larger(critical, dssr.violations())
            if not dssr.exact(critical, width, self.bound):
                break
            self._tell(dssr)
        if not self.ended:
            self.multipliers.learn(paths)
        return True

    def _larger(self, critical: int, violated: list[int]) -> int:
        """Return a critical set with some further requests, and their equals.

        Once it is large, it holds all requests.
        """
        kinds: list[tuple[int, int, int]] = list(self.instance.requests)
        others = [i for i in violated if not critical >> i & 1]
        new = {kinds[i] for i in others[: self.params.more_critical]}
        if not new or critical.bit_count() >= self.params.large_part * len(kinds):
            return (1 << len(kinds)) - 1
        return critical | sum(1 << j for j, kind in enumerate(kinds) if kind in new)

    def _relax(self, width: int, *, last: bool) -> None:
        """Prove the bound of the multipliers by a relaxed diagram; the last takes all time."""
        target = min(self.around.upper(), self.multipliers.best + 1)  # none costs more than known
        dssr = Dssr(self.multipliers.prices(), int(target), self.around.stop, self.params)
        if dssr.relaxed(self.params.most_width if last else width, self._pace() if last else None):
            self._tell(dssr)

    def _pace(self) -> Callable[[int, int], int]:
        """Return the function that gives the next layer its width, by the time left.

        Layers of few labels leave time to others: each may take twice its share of the remaining
        time.
        """
        params, before, each = self.params, self.around.left(), 0.0
        end = (1 - params.safe) * before

        def width(layers: int, labels: int) -> int:
            nonlocal before, each
            now = self.around.left()
            if labels >= params.first_width / 16:  # fewer say nothing of what a label takes
                each = (before - now) / labels
            before = now
            fits = 2 * (now - end) / layers / each if each else params.most_width
            return int(min(params.most_width, max(params.first_width / 4, fits)))

        return width

    def _tell(self, dssr: Dssr) -> None:
        """Tell of a better bound or schedule."""
        better = dssr.bound > self.bound
        self.bound = max(self.bound, dssr.bound)
        if better or dssr.schedule is not None:
            self.around.found(dssr.schedule, dssr.certificate() if better else None)
