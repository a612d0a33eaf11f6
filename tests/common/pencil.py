r"""The pencil of A_min by other ways than the library's: an inverse by entries, an elimination."""

from fractions import Fraction
from typing import TypeVar

import numpy as np

from ratiolab.theory.rayleigh.amin import Array, check_range

Number = TypeVar("Number", float, Fraction)


def inverse_denominator(lower: int, upper: int, prompt: int = 0) -> tuple[Array, Array]:
    """Return the diagonal and off-diagonal of the tridiagonal ``B^-1``, as Fractions.

    ``b_ij = beta_min(i,j)`` with ``beta_i = i (s+i)`` increasing, a Brownian kernel; its increments
    are ``s + 2k - 1`` after the first, ``l (s+l)``. Cost O(u - l).

    >>> diagonal, off = inverse_denominator(1, 3)
    >>> [str(entry) for entry in diagonal], [str(entry) for entry in off]
    (['4/3', '8/15', '1/5'], ['-1/3', '-1/5'])
    """
    check_range(lower, upper, prompt)
    steps = [lower * (prompt + lower)]
    steps += [prompt + 2 * k - 1 for k in range(lower + 1, upper + 1)]
    conductance = np.array([Fraction(1, step) for step in steps], dtype=object)
    diagonal = conductance.copy()
    diagonal[:-1] += conductance[1:]
    return diagonal, -conductance[1:]


def secular(excess: Number, lower: int, upper: int, prompt: int = 0) -> Number:
    r"""Return ``f(mu)``, below one exactly where ``(1 + mu) B - A`` is positive definite.

    Since ``A - B = (w w^T - K) / 2`` (`amin`), that matrix is ``mu B + K/2 - w w^T / 2`` and
    ``f(mu) = w^T (mu B + K/2)^-1 w / 2``. The inverse is a product of tridiagonal matrices:
    ``mu B + K/2`` sums two Green's functions, ``(s+i)(mu i + s/2)`` and ``i (s+i)^2 / (2 (s+j))``.
    One sweep of an elimination that carries row excesses, so that nothing is subtracted, evaluates
    it in the arithmetic of `excess`: float, Fraction, or mpmath. ``f`` decreases, and
    ``f(rho - 1) = 1``.

    Cost O(u - l) operations, O(1) memory.

    Source: derived here, from Lemma 2 of Chen, Ye, Zhou (2025), arXiv 2508.14544v2.

    >>> secular(Fraction(1, 4), 1, 2)
    Fraction(1, 1)
    """
    check_range(lower, upper, prompt)
    if not excess > 0:
        raise ValueError(f"excess: {excess} is not positive")
    s, mu, one = prompt, excess, excess / excess
    zero = total = carried = left = right = 0 * mu
    # Increments along k of w, of w^2, and of the two Green's ratios p and t = k (s+k)^3.
    dw, dw2 = s + lower, (s + lower) ** 2
    dp, dt = (s + lower) * (mu * lower + one * s / 2), lower * (s + lower) ** 3
    row_excess = 1 / (2 * dp)
    for k in range(lower, upper + 1):
        w = s + k
        if k == upper:
            pivot = carried + row_excess + one * w * dw / dt
            return (total + (left + one * w * dw2 / dt) * (right + dw / dp) / pivot) / 2
        next_p = mu * (s + 2 * k + 1) + one * s / 2
        next_t = (k + 1) * (w + 1) ** 3 - k * w**3
        slack = carried + row_excess + one * w * (dw * next_t - dt) / (dt * next_t)
        left += one * w * (dw2 * next_t - (2 * w + 1) * dt) / (dt * next_t)
        right += (dw * next_p - dp) / (dp * next_p) if k == lower else 2 * mu / (dp * next_p)
        link = 1 / (2 * next_p) + one * w * (w + 1) / next_t
        pivot = link + slack
        total += left * right / pivot
        passed = link / pivot
        carried, left, right = passed * slack, passed * left, passed * right
        dw, dw2, dp, dt, row_excess = 1, 2 * w + 1, next_p, next_t, zero
    raise AssertionError("the sweep returns at the last length")
