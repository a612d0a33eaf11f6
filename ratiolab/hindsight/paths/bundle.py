"""Multipliers that make paths dearer: a proximal bundle method.

For multipliers v let L(v) be the least of latency + sum over i of v_i (1 - starts of i) over all
paths. It is what walks that remember nobody prove, whatever the potentials; it is concave, and each
cheapest path gives a plane above it. The next v is the best under the planes known, less a
penalty for the distance from the best v so far: Kiwiel (1990), Proximity control in bundle methods
for convex nondifferentiable minimization, Mathematical Programming 46. Potentials are made anew for
each v (`ratiolab.hindsight.paths.refit`).

Where requests arrive over time, a walk ends in one path and gives one plane. Forty more, of paths
that leave the cheapest one at some layer, gain nothing: with 50 requests thirteen walks prove 8134
instead of 8133. Nor do targets a little above the best value, at the width of `widths.MERGED`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.refit import Refit
from ratiolab.hindsight.programs.highs import SolverError
from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model.instance import Instance

FIRST_STEP = 4.0
"""First weight of distance: a step is so many times the mean direction of planes."""

LONGER, SHORTER = 2.0, 0.85
"""The weight grows after steps that gain half of what was expected, and shrinks after bad ones."""

SERIOUS = 0.1
"""Part of what was expected that a step has to gain, to go on from there."""

LEAST_GAIN = 0.01
"""The search ends with a step that gains less, in rounds, and finds no new plane."""

STALLED, GAINED = 5, 0.03
"""Walks that merge become wider when so many steps close less than this part of the gap."""

MOST_PIVOTS = 3_000
"""Steps of the small quadratic program."""


class Step(NamedTuple):
    """A step: the best value so far and, when it rose, the complete walk that proves it.

    ``width`` is that of the walk of the step, 0 when it merged nothing.
    """

    value: float
    passes: Passes | None
    width: int


def steps(
    refit: Refit,
    multipliers: FloatArray,
    upper: Callable[[], int],
    widths: Sequence[int],
    stop: Callable[[], bool],
    *,
    merges: bool = False,
    known: Passes | None = None,
) -> Iterator[Step]:
    """Yield what each step has found.

    Walks that merge are never incomplete; their cheapest paths need not fit, and then planes are
    above what they prove. Where the best merged nothing, wider ones prove no more.

    Parameters
    ----------
    refit : makes potentials for multipliers.
    multipliers : the first ones, rounds. upper : latency of the best schedule.
    widths : states that a layer of a walk may keep, at first and when little more is gained; what
        it leaves out ends the search, unless it ``merges`` them.
    known : a complete walk under the first multipliers, which is not made again.
    """
    best = multipliers
    for width in widths:
        merged = False
        for step, center in _climb(refit, best, upper, width, stop, merges, known):
            best = center
            merged = merged if step.passes is None else step.width > 0
            yield step
        known = None
        if not merged:
            return


def _climb(
    refit: Refit,
    center: FloatArray,
    upper: Callable[[], int],
    width: int,
    stop: Callable[[], bool],
    merges: bool,
    known: Passes | None,
) -> Iterator[tuple[Step, FloatArray]]:
    best, planes, weight = -np.inf, Planes(refit.instance), FIRST_STEP
    trial, expected, values = center, float(upper()), [-np.inf] * STALLED
    while not stop():
        target = upper() if merges else min(expected, upper())
        try:
            passes = known or _passes(refit, trial, target)
        except SolverError:  # what is proven stays
            return
        if known is not None and known.back is not None:
            walked = known.back.walked
        else:
            walked = passes.merge(width, stop) if merges else passes.go(width, stop)
        if walked.table is None:
            return
        before, known = best, None
        value = (passes.base + walked.least) / passes.potentials.unit
        serious = value > best + SERIOUS * max(0.0, expected - best) or best == -np.inf
        if serious:
            half = best + 0.5 * (expected - best)
            weight *= LONGER if best > -np.inf and value > half else 1.0
            center, best = trial, value
        else:
            weight *= SHORTER
        yield Step(best, passes if serious else None, passes.width), center
        values.append(best)
        if merges and best < values[-1 - STALLED] + GAINED * (upper() - best):
            return
        new = [planes.add(path) for path in walked.paths]
        if not any(new) and best < before + LEAST_GAIN:
            return
        trial, expected = planes.best(center, weight)


def _passes(refit: Refit, multipliers: FloatArray, target: float) -> Passes:
    potentials, rounded, made = refit(multipliers)
    return Passes(potentials, rounded, made, int(target) + 2)


class Planes:
    """Planes above L: a path gives its latency and, for each request, 1 less its starts."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.slope = np.zeros((0, len(instance)))
        self.height = np.zeros(0)

    def add(self, path: list[tuple[int, int]]) -> bool:
        """Add the plane of a path; return whether it is new."""
        instance = self.instance
        start, request = np.array(path, np.int64).T
        slope = 1.0 - np.bincount(request, minlength=len(instance))
        height = (start + instance.output[request] - instance.arrival[request]).sum()
        if ((self.slope == slope).all(axis=1) & (self.height == height)).any():
            return False
        self.slope = np.vstack([self.slope, slope])
        self.height = np.append(self.height, float(height))
        return True

    def best(self, center: FloatArray, weight: float) -> tuple[FloatArray, float]:
        """Return the best multipliers, penalised by their distance, and their value by planes.

        The dual program chooses a mean of planes; pairs of its parts are improved in turn.
        """
        now, gram = self.slope @ center + self.height, self.slope @ self.slope.T
        part = np.zeros(len(now))
        part[now.argmin()] = 1.0
        for _ in range(MOST_PIVOTS):
            gradient = now + weight * (gram @ part)
            least = int(gradient.argmin())
            most = int(np.where(part > 0, gradient, -np.inf).argmax())
            if gradient[most] - gradient[least] < 1e-4:
                break
            curve = gram[least, least] + gram[most, most] - 2 * gram[least, most]
            step = (gradient[most] - gradient[least]) / (weight * max(curve, 1e-9))
            step = min(float(part[most]), step)
            part[least] += step
            part[most] -= step
        trial = center + weight * (part @ self.slope)
        return trial, float((self.slope @ trial + self.height).min())
