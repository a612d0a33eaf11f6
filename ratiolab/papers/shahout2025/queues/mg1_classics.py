"""Classical mean response times of the M/G/1 queue, the limits of limited preemption.

Adaptive quadrature of the textbook formulas; no code is shared with `mg1`, so each is an
independent check of it. `density` is f(x), the density of the size; `rate` the arrival
rate, below 1 / E[S].
"""

from __future__ import annotations

import math
from collections.abc import Callable


def srpt(rate: float, density: Callable[[float], float]) -> float:
    """Return the mean response time of SRPT by adaptive quadrature.

    Source: Schrage, Miller (1966).
    """

    def wait(x: float) -> float:
        return _integral(lambda t: t * t * density(t), 0, x) + x * x * _tail(density, x)

    def at(x: float) -> float:
        idle = 1 - rate * _integral(lambda t: t * density(t), 0, x)
        return density(x) * rate * wait(x) / (2 * idle**2) + _tail(density, x) / idle

    return _integral(at, 0, math.inf)


def _integral(f: Callable[[float], float], low: float, high: float) -> float:
    from scipy.integrate import quad

    return float(quad(f, low, high, epsabs=1e-13, epsrel=1e-12, limit=200)[0])


def _tail(density: Callable[[float], float], x: float) -> float:
    return _integral(density, x, math.inf)
