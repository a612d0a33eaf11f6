"""Multipliers that make paths dearer: a proximal bundle method.

For multipliers v let L(v) be the least of latency + sum over i of v_i (1 - starts of i) over all
paths. It is what walks that remember nobody prove, whatever the potentials; it is concave, and each
path gives a plane above it (`ratiolab.hindsight.paths.planes`). The next v is the best under the
planes known, less a penalty for the distance from the best v so far: Kiwiel (1990), Proximity
control in bundle methods for convex nondifferentiable minimization, Mathematical Programming 46.
Potentials are made anew for each v (`ratiolab.hindsight.paths.refit`). Between walks, the cheapest
paths made of those known give planes, too (`ratiolab.hindsight.paths.switches`): after 14 steps of
50 and 68 requests L(v) is .1 % higher for it.

For many requests L(v) is not known: a walk that proves it would be too wide, and one that merges
states proves less. But a narrow beam back, which leaves states out, mostly ends in the cheapest
path: with 56 requests one of 4,000 states finds it in 2.6 seconds, where a walk of 64,000 that
merges takes 18 and proves .06 % less. So steps are of beams (`Ascent`), and what they lead to is
proven at times.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.planes import Planes
from ratiolab.hindsight.paths.refit import Refit
from ratiolab.hindsight.paths.switches import Switches
from ratiolab.hindsight.paths.walk import walk
from ratiolab.hindsight.paths.walked import Walked
from ratiolab.hindsight.programs.highs import SolverError
from ratiolab.hindsight.programs.highs_lp import FloatArray

FIRST_STEP = 4.0
"""First weight of distance: a step is so many times the mean direction of planes."""

LONGER, SHORTER = 2.0, 0.85
"""The weight grows after steps that gain half of what was expected, and shrinks after bad ones."""

LEVEL, PROMISED = 0.3, 0.03
"""Once steps gain little, or are walks, the next are to come so large a part of the way to what
planes allow at most, as in level methods: Lemarechal, Nemirovskii and Nesterov (1995), New variants
of bundle methods, Mathematical Programming 69. Weights that only shrink after bad steps are too
small by then: with 60 requests 27 steps by levels go as far as 48 without, and with 50, seed 3, 20
seconds of walks as far as 30. The search ends when planes allow no more than the latter part of the
gap to the schedule.
"""

SERIOUS = 0.1
"""Part of what was expected that a step has to gain, to go on from there."""

LEAST_GAIN = 0.01
"""The search ends with a step that gains less, in rounds, and finds no new plane."""

FIRST_BEAM, FIRST_STEPS, BEAM = 1_000, 8, 4_000
"""States that a layer of a beam keeps: after the first of so many steps, which lead far whatever
path they find; and else."""

COMPARED = 64
"""States against which a beam compares another. With 60 requests that takes 2.6 seconds where 256
take 3.2, and the paths cost as much within .02 %."""


FOLLOWED, MADE, NEAR = 3, 12, 0.05
"""Paths of a walk that others are made of, the cheapest; how many paths are made of those known
before the next walk, at most; and the part of what is expected below which another is of use."""

MOST_PLANES = 1_000
"""Planes that are kept, the least at the best multipliers. With 60 requests 42 steps by levels lead
to 11865.4 under 250 planes, and to 11867.7 under all, 600."""


class Step(NamedTuple):
    """A step: the best value so far and, when it rose, the complete walk that proves it."""

    value: float
    passes: Passes | None


class Ascent:
    """A search for multipliers by the cheapest paths that walks find.

    Parameters
    ----------
    refit : makes potentials for multipliers.
    multipliers : the first ones, rounds. upper : latency of the best schedule.

    Attributes
    ----------
    center : the best multipliers so far, rounds; best : the least plane there, at first minus
        infinity.
    levels : whether steps are chosen by levels; most : what planes allow, once they are.
    """

    def __init__(self, refit: Refit, multipliers: FloatArray, upper: Callable[[], int]) -> None:
        self.refit, self.upper = refit, upper
        self.planes, self.weight = Planes(refit.instance), FIRST_STEP
        self.switches = Switches(refit.instance)
        self.center = self.trial = multipliers
        self.best, self.expected = -np.inf, float(upper())
        self.number = 0
        self.levels, self.most = False, float(upper())

    @property
    def narrow(self) -> bool:
        """Return whether the last step was by a narrow beam, which says little of walks to come."""
        return 1 < self.number <= FIRST_STEPS

    @property
    def promising(self) -> bool:
        """Return whether planes allow much more than is reached."""
        return self.most - self.best >= PROMISED * (self.upper() - self.best)

    def by_levels(self) -> None:
        """Choose the next step, and all later ones, by levels."""
        self.levels = True
        self._choose()

    def widen(self) -> None:
        """Let no more steps be by narrow beams."""
        self.number = max(self.number, FIRST_STEPS)

    def passes(self, multipliers: FloatArray, target: float) -> Passes:
        """Return passes under these multipliers, for paths below a target."""
        potentials, rounded, made = self.refit(multipliers)
        return Passes(potentials, rounded, made, int(target) + 2)

    def took(self, passes: Passes, walked: Walked) -> tuple[bool, bool]:
        """Take the paths of a walk at the trial, and choose the next.

        Returns
        -------
        whether the trial was better; and whether a plane is new.
        """
        value = (passes.base + walked.least) / passes.potentials.unit
        before, first = self.best, self.best == -np.inf
        serious = first or value > before + SERIOUS * max(0.0, self.expected - before)
        if serious:
            half = before + 0.5 * (self.expected - before)
            self.weight *= LONGER if not first and value > half else 1.0
            self.center, self.best = self.trial, value
        else:
            self.weight *= SHORTER
        new = [self.planes.add(path) for path in walked.paths]
        for path in walked.paths[:FOLLOWED]:
            self.switches.add(path)
        if len(self.planes.height):
            self._choose()
        return serious, any(new)

    def _choose(self) -> None:
        """Choose the next multipliers, under planes of paths made of those known, too."""
        self.planes.add(self.switches.cheapest(self.center)[1])
        self.planes.keep(self.center, MOST_PLANES)
        self._weigh()
        for _ in range(MADE):
            self.trial, self.expected = self.planes.best(self.center, self.weight)
            value, path = self.switches.cheapest(self.trial)
            least = self.expected - NEAR * max(1.0, self.expected - self.best)
            if value >= least or not self.planes.add(path):
                return
        self._weigh()
        self.trial, self.expected = self.planes.best(self.center, self.weight)

    def _weigh(self) -> None:
        """Choose the weight of distance, if it is by levels."""
        if self.levels:
            self.weight, self.most = self.planes.weight(self.center, LEVEL, self.upper())

    def known(self, passes: Passes, walked: Walked) -> None:
        """Take the paths of a walk at the best multipliers that proves their value."""
        self.best = min(self.best, (passes.base + walked.least) / passes.potentials.unit)
        for path in walked.paths:
            self.planes.add(path)

    def step(self, stop: Callable[[], bool]) -> tuple[Walked | None, bool]:
        """Take the paths of a beam.

        Returns
        -------
        the beam, None when it was stopped; and whether more may be gained.
        """
        self.number += 1
        again = self.number == FIRST_STEPS + 1  # the narrow beams may have missed cheaper paths
        if again:
            self.trial = self.center
        try:
            passes = self.passes(self.trial, min(self.expected, self.upper()))
        except SolverError:
            return None, False
        walked = walk(
            *(self.refit.instance, passes.sides[1], passes.limit),
            FIRST_BEAM if self.narrow else BEAM,
            compared=COMPARED,
            stop=stop,
        )
        if not walked.finished:
            return None, False
        if again:
            self.best = -np.inf
        before = self.best
        _, new = self.took(passes, walked)
        # later beams may find what an earlier one has left out
        self.best = min(self.best, self.planes.value(self.center))
        return walked, new or self.best >= before + LEAST_GAIN


def steps(
    refit: Refit,
    multipliers: FloatArray,
    upper: Callable[[], int],
    width: int,
    stop: Callable[[], bool],
) -> Iterator[Step]:
    """Yield what each step has found, by complete walks; what one leaves out ends the search.

    Parameters
    ----------
    refit : makes potentials for multipliers.
    multipliers : the first ones, rounds. upper : latency of the best schedule.
    width : states that a layer of a walk may keep.
    """
    ascent = Ascent(refit, multipliers, upper)
    while not stop():
        try:
            passes = ascent.passes(ascent.trial, min(ascent.expected, upper()))
        except SolverError:  # what is proven stays
            return
        walked = passes.go(width, stop)
        if walked.table is None:
            return
        before = ascent.best
        serious, new = ascent.took(passes, walked)
        yield Step(ascent.best, passes if serious else None)
        if not new and ascent.best < before + LEAST_GAIN:
            return
