"""The ascent by deflected subgradients, in floating point, that bounds by duals share.

Steps are as long as would reach, were the bound linear, a target a little above the best bound so
far; the aim is how far, as a part of it. An upper bound would be a poor target: the optimum of the
relaxation may be far below. The direction is a long mean of subgradients, which is the use of
memory by requests started in parts.

Source: deflection: Camerini, Fratta, Maffioli (1975), Math. Programming Study 3; a target that
adapts: Goffin, Kiwiel (1999), Math. Programming 85.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

CLOSER = 0.7
"""What the aim is multiplied by when it comes closer."""


class Steps(NamedTuple):
    """How an ascent steps.

    Parameters
    ----------
    most : steps at most.
    deflection : part of the newest subgradient in the direction of a step.
    patience : steps without a better bound before the aim comes closer.
    least_aim : aim at which the ascent ends.
    """

    most: int
    deflection: float
    patience: int
    least_aim: float = 0.0


def climb(
    value: Callable[[FloatArray], tuple[float, FloatArray]],
    duals: FloatArray,
    aim: float,
    steps: Steps,
    stop: Callable[[float], bool],
) -> tuple[FloatArray, float, float]:
    """Return the best duals met, their value, and the aim at the end.

    Parameters
    ----------
    value : of nonnegative duals of any shape, and a subgradient of that shape.
    aim : how far above the best bound the ascent aims at first, as a part of it.
    stop : asked before each step with the best value so far; True ends the ascent.
    """
    best_value, excess = value(duals)
    best, direction, failures = duals, excess, 0
    for _ in range(steps.most):
        if aim < steps.least_aim or stop(best_value):
            break
        usable = np.where((duals <= 0) & (direction < 0), 0.0, direction)
        norm = float(np.vdot(usable, usable))
        if norm == 0:
            break
        duals = np.maximum(0.0, duals + aim * best_value / norm * usable)
        reached, excess = value(duals)
        failures += 1
        if reached > best_value:
            best_value, best, failures = reached, duals, 0
        elif failures == steps.patience:
            duals, aim, failures = best, aim * CLOSER, 0
        direction = (1 - steps.deflection) * direction + steps.deflection * excess
    return best, best_value, aim
