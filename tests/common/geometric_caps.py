"""The caps of kill-and-restart by their formula, a second route to those of the policy."""

from fractions import Fraction
from math import sqrt


def geometric_caps(lower, upper, base, prompt=0, offset=0.0):
    """Caps with sqrt(c (s + c)) in geometric progression, the last one at least `upper`.

    The first cap stands at b**offset sqrt(l (s + l)), 0 <= offset < 1, b = `base` > 1. Caps are
    exact when `prompt` and `offset` are 0 and `base` is an int or Fraction.
    """
    caps = []
    while not caps or caps[-1] < upper:
        growth = base ** len(caps) * (1 if offset == 0 else float(base) ** offset)
        if prompt == 0:
            caps.append(lower * growth if isinstance(growth, float) else Fraction(lower * growth))
        else:
            area = float(growth) ** 2 * lower * (prompt + lower)
            # the positive root of c (s + c) = area, free of cancellation
            caps.append(2 * area / (prompt + sqrt(prompt**2 + 4 * area)))
    return tuple(caps)
