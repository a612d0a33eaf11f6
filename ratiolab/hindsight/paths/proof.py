"""A proof by passes within a limit of time: targets rise as long as walks stay small."""

from collections.abc import Callable
from typing import TypeAlias

from ratiolab.hindsight.certificates.certificate import DualCertificate, PathCertificate
from ratiolab.hindsight.paths import bundle
from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.potentials import Potentials
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

FIRST_WIDTH = 2_000
"""Width of the walk that looks for a cheap path first."""

WIDTH = 100_000
"""Width of the walks after it, which are to be complete."""

MOST_WIDTH = 400_000
"""Width at which walks end that are not complete: layers of half a gigabyte."""

BEAMS = 2_000, 8_000, 32_000
"""Widths of the walks that look for schedules."""

LEAST_BUNDLE = 16
"""With fewer requests, walks that remember some close the gap sooner under the first multipliers:
potentials made for other ones leave more slack."""

PATIENCE, GAINED = 10, 0.05
"""The search for multipliers ends when so many steps close less than this part of the gap."""

FIRST_STEPS = 4
"""The first target above what paths cost that remember nobody is so far of the way to go."""


Found: TypeAlias = Callable[[Schedule | None, PathCertificate | None], None]


def prove(
    instance: Instance,
    duals: DualCertificate,
    upper: Callable[[], int],
    stop: Callable[[], bool],
    found: Found,
    most: int = MOST_WIDTH,
) -> None:
    """Raise the bound of duals until it meets the best schedule, or time or memory is over.

    Parameters
    ----------
    upper : returns the latency of the best schedule known by now.
    found : called with each better schedule or proven bound.
    most : states that a layer may keep.

    Raises
    ------
    OverflowError
        when numbers or tables would be too large.
    """
    potentials = Potentials.of(instance, duals.duals)
    _Proof(potentials, potentials.least, duals, upper, stop, found, most).run()


class _Proof:
    def __init__(
        self,
        potentials: Potentials,
        multipliers: IntArray,
        proven: DualCertificate,
        upper: Callable[[], int],
        stop: Callable[[], bool],
        found: Found,
        most: int,
    ) -> None:
        self.potentials, self.multipliers, self.proven = potentials, multipliers, proven
        self.upper, self.stop, self.found = upper, stop, found
        self.most, self.width = most, min(WIDTH, most)
        self.bound = proven.bound
        self.ladder: tuple[int, ...] = ()

    @property
    def ended(self) -> bool:
        """Return whether the bound has met the schedule, or time is over."""
        return self.bound >= self.upper() or self.stop()

    def run(self) -> None:
        """Prove what paths cost that remember nobody, then ever more."""
        self._first()
        self._beam(BEAMS[0])
        if len(self.potentials.instance) >= LEAST_BUNDLE:
            self._raise_multipliers()
        for width in BEAMS:
            self._beam(width)
        step = max(1, (self.upper() - self.bound) // FIRST_STEPS)
        while not self.ended:
            before, target = self.bound, min(self.upper(), self.bound + step)
            if self._reach(target):
                step = max(1, 2 * (self.bound - before))
            elif step > 1:
                step //= 2
            elif 2 * self.width <= self.most:
                self.width *= 2
            else:
                return

    def _first(self) -> None:
        """Prove what paths that remember nobody cost: a narrow walk says how far to look."""
        target, width = self.upper(), FIRST_WIDTH
        while not self.ended:
            passes = self._passes(target)
            walked = passes.go(width, self.stop)
            self._keep(passes)
            if walked.table is not None or width == self.most:
                return
            width = min(8 * width, self.most)
            target = min(target, passes.latency(walked.least))

    def _beam(self, width: int) -> None:
        """Look for a better schedule."""
        if not self.ended:
            passes = self._passes(self.upper())
            passes.beam(min(width, self.width), self.stop)
            if passes.schedule is not None:
                self.found(passes.schedule, None)

    def _raise_multipliers(self) -> None:
        """Look for multipliers that make the cheapest path dearer, as long as that gains."""
        instance, first = self.potentials.instance, self.multipliers / self.potentials.unit
        values: list[float] = []
        for value, passes in bundle.steps(
            instance, self.proven, first, self.upper, self.width, lambda: self.ended
        ):
            values.append(value)
            if passes is not None and passes.bound >= self.bound:
                self.potentials, self.multipliers = passes.potentials, passes.multipliers
                self.proven = passes.proven
                self._keep(passes)
            if len(values) > PATIENCE:
                gained = value - values[-1 - PATIENCE]
                if gained < GAINED * (self.upper() - value):
                    return

    def _reach(self, target: int) -> bool:
        """Return whether passes prove a target, or as much as the schedule that they find."""
        passes = self._passes(target)
        while not passes.closed:
            walked = passes.go(self.width, self.stop)
            self._keep(passes)
            if walked.table is None:
                return False
        return True

    def _passes(self, target: int) -> Passes:
        return Passes(self.potentials, self.multipliers, self.proven, target, self.ladder)

    def _keep(self, passes: Passes) -> None:
        if len(passes.sets) > len(self.ladder):
            self.ladder = tuple(passes.sets)
        better = passes.bound > self.bound
        self.bound = max(self.bound, passes.bound)
        if better or passes.schedule is not None:
            self.found(passes.schedule, passes.certificate() if better else None)
