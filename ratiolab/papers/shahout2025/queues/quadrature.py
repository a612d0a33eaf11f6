"""Rules of integration for densities: nodes and weights on (0, inf) and (0, 1), shape (nodes,)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def half_line(nodes: int) -> tuple[Array, Array]:
    """Return the nodes and weights of a double-exponential rule on (0, inf).

    The trapezoidal rule in v after s = exp(v - exp(-v)): for integrands that vary on the
    scale 1, may be singular at 0 and decay at least like exp(-sqrt(s)).

    Source: Takahasi, Mori (1974).
    """
    v, step = np.linspace(-3.5, 6.6, nodes, retstep=True)
    s = np.exp(v - np.exp(-v))
    return s, s * (1 + np.exp(-v)) * float(step)


def log_line(nodes: int) -> tuple[Array, Array]:
    """Return the nodes and weights of the trapezoidal rule in log s on (0, inf).

    For integrands like exp(-s - r/s)/s, which live on several scales at once.
    """
    v, step = np.linspace(-34.0, 6.6, nodes, retstep=True)
    s = np.exp(v)
    return s, s * float(step)


def unit_interval(nodes: int) -> tuple[Array, Array]:
    """Return nodes and weights of the tanh-sinh rule on (0, 1). Source: Takahasi, Mori (1974)."""
    v, step = np.linspace(-3.0, 3.0, nodes, retstep=True)
    x = 1 / (1 + np.exp(-math.pi * np.sinh(v)))
    complement = 1 / (1 + np.exp(math.pi * np.sinh(v)))
    return x, math.pi * np.cosh(v) * x * complement * float(step)
