r"""How A_min's quotient grows with the width of the interval.

The secular function ``f_u(mu) = w^T (mu B + K/2)^-1 w / 2``, with ``w`` and ``K`` of `amin`, is
below one exactly where ``(1 + mu) B - A`` is positive definite. At ``s = 0, l = 1`` it obeys, as
``u`` grows with ``mu`` fixed,

    f_u(mu) = ln(u) / (4 mu + 1) + H(mu) + C(mu) u^-p + O(u^-2),    p = sqrt(1 + 3 mu / (1 + mu)).

For large lengths ``A x = (1+mu) B x`` turns into Euler's equation for the tails,
``(1+mu) (t^2 X'' + 3 t X') - 3 mu X = -W / t`` with ``W`` the mean length. Its particular solution
``W / ((4 mu + 1) t)`` earns the logarithm; the powers ``t^(-1 +- p)`` are the two ends. Solving
``f_u(mu) = 1`` for large ``mu`` gives

    rho = L/4 + 3/4 + (ln 2)/2 + gamma/4 - pi^2 / (24 L) + O(L^-2),    L = ln u.

The first terms come from ``H(mu) = S / (2 mu) - c / (4 mu^2) + O(mu^-3)`` with ``S`` the constant
in ``w^T B^-1 w = sum 1/(2k-1) = L/2 + S``, so ``S = ln 2 + gamma/2``, and ``c`` that in
``w^T B^-1 K B^-1 w = L/4 + c``; numerically (30 digits, an integer relation) ``c = (ln 2)/2 +
gamma/4 + pi^2/24``. Every coefficient but the last is thus derived, the last one identified.

Source: derived here from Corollary 1 of Chen, Ye, Zhou (2025), arXiv 2508.14544v2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, pi

import numpy as np

from ratiolab.theory.rayleigh.amin import check_range

EULER_GAMMA = 0.57721566490153286


def expansion(log_upper: float) -> float:
    """Return ``L/4 + 3/4 + (ln 2)/2 + gamma/4 - pi^2/(24 L)``, the radius up to ``O(L^-2)``.

    Prompt 0 and shortest output 1; `log_upper` is ``L = ln u > 0``. Cost O(1).

    Source: derived here, see the module.
    """
    if not log_upper > 0:
        raise ValueError(f"log_upper: {log_upper} is not positive")
    constant = 3 / 4 + log(2) / 2 + EULER_GAMMA / 4
    return log_upper / 4 + constant - pi**2 / (24 * log_upper)


def closed_bound(lower: int, upper: int, prompt: int = 0) -> Fraction:
    """Return an exact upper bound on the radius.

    It is ``3/2 + s/(2l) + (1/2) sum_{k=l+1}^{u} 1/(s+2k-1)``.

    The secular function is at most ``w^T B^-1 w / (2 mu)``, which is one at ``rho - 1`` or beyond.
    At ``s = 0, l = 1`` the bound exceeds the radius by 1/4 in the limit; the trace ``H_u`` is four
    times the radius. Cost O(u - l) rational additions.

    Source: derived here; it sharpens Theorem 5 of Chen, Ye, Zhou (2025), arXiv 2508.14544v2, and
    makes it hold for every prompt, with ``s/l`` in the bound.

    >>> closed_bound(1, 2)
    Fraction(5, 3)
    """
    check_range(lower, upper, prompt)
    later = sum((Fraction(1, prompt + 2 * k - 1) for k in range(lower + 1, upper + 1)), Fraction(0))
    return Fraction(3, 2) + Fraction(prompt, 2 * lower) + later / 2


@dataclass(frozen=True)
class LogFit:
    """Least-squares fit ``scale ln(u + shift) + offset``, with its coefficient of determination."""

    scale: float
    shift: float
    offset: float
    r_squared: float

    def __call__(self, upper: float) -> float:
        """Return the value of the fitted curve at `upper`."""
        return self.scale * log(upper + self.shift) + self.offset


def log_fit(uppers: Sequence[float], values: Sequence[float]) -> LogFit:
    """Fit ``a ln(u + b) + c``, the form of Figure 1, by least squares.

    For a given shift the rest is linear; the shift is sought by a bounded scalar search.

    At least four points, with distinct uppers.

    Source: Chen, Ye, Zhou (2025), Figure 1, arXiv 2508.14544v2. The printed coefficients are those
    of ``u = 3..2000`` with ``u - 1`` in the place of ``u``.
    """
    from scipy.optimize import minimize_scalar

    u, v = np.asarray(uppers, dtype=float), np.asarray(values, dtype=float)
    if u.shape != v.shape or u.size < 4:
        raise ValueError(f"uppers: {u.size} points for {v.size} values; at least 4 pairs needed")

    def solve(gap: float) -> tuple[float, float, float]:
        columns = np.column_stack([np.log(u - u.min() + exp(gap)), np.ones_like(u)])
        scale, offset = np.linalg.lstsq(columns, v, rcond=None)[0]
        error = v - columns @ (scale, offset)
        return float(error @ error), float(scale), float(offset)

    span = log(u.max() - u.min())
    search = minimize_scalar(
        lambda gap: solve(gap)[0], bounds=(-12.0, span), method="bounded", options={"xatol": 1e-10}
    )
    error, scale, offset = solve(search.x)
    spread = float(((v - v.mean()) ** 2).sum())
    return LogFit(scale, exp(search.x) - float(u.min()), offset, 1 - error / spread)
