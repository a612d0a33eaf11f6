r"""The maximum of A_min's quotient over distributions, bounded by certificates.

An adversary chooses shares ``x >= 0``; the spectral radius allows every sign. The two agree, for
every prompt and every interval, because each entry of ``B^-1 A`` is positive and the maximiser is
then its Perron vector. Proof. Column ``j`` of ``B^-1 A`` is positive if and only if the slopes
``g_i = (a_ij - a_{i-1,j}) / (b_ii - b_{i-1,i-1})`` fall strictly and end above zero, since ``B`` is
the Brownian kernel of ``beta_i = i (s+i)`` (the first slope is ``a_lj / beta_l``). With
``v = s + 2i - 1``,

    i <= j:  g_i = 1 - s/(4 (s+j)) - 3v/(8 (s+j)) + (j + (s^2-1)/(4 (s+j))) / (2v)
    i  > j:  g_i = ((s+j) + j (s+j)^2 / ((s+i)(s+i-1))) / (2v) > 0,

and both fall in ``i``. They meet in order, ``g_j = (s+j+1) / (2 (s+j))`` above
``g_{j+1} = (s+j) / (2 (s+j+1))``, and the first slope ``1 + (j/l - (s+l)/(s+j)) / 2`` exceeds the
second. (If ``l = j`` it is 1 and the second is below 1/2.)

Certificates, each rechecked in rationals without any of the above:

* from below, a distribution: evaluate Lemma 2 at it, with `amin.quotient`;
* from above, positive tails ``X`` with ``M X <= c D X``, ``M`` and ``D`` as in `spectrum`. Since
  ``2 Y_j Y_k <= Y_j^2 X_k / X_j + Y_k^2 X_j / X_k`` and ``M >= 0``, the form ``c D - M`` is then
  positive semidefinite, so no vector of any sign has a quotient above ``c``.

Source: derived here from Lemma 2 of Chen, Ye, Zhou (2025), arXiv 2508.14544v2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal

import numpy as np

from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.spectrum import TailOperator, Vector, spectral_radius


@dataclass(frozen=True)
class Enclosure:
    """An interval that holds the maximum, and the vectors that prove it.

    Attributes
    ----------
    below, above : the ends
    weights : integer shares whose quotient is `below`, up to scale; None in float arithmetic
    tails : integers ``X_k`` whose largest ratio is `above`; None in float arithmetic
    arithmetic : "exact", or "rounded" where a bound on rounding widens the ends
    """

    below: Fraction
    above: Fraction
    weights: tuple[int, ...] | None
    tails: tuple[int, ...] | None
    arithmetic: Literal["exact", "rounded"]


def tail_bound(tails: Sequence[int], lower: int = 1, prompt: int = 0) -> Fraction:
    """Return the largest ``(M X)_k / (D X)_k``: no quotient exceeds it, whatever the sign of the
    shares.

    The tails are positive integers ``X_l..X_u``.

    Cost O(u - l) rational operations, on short numbers while ``(s+k)(s+k-1)`` divides ``X_k``.

    Source: derived here; Collatz and Wielandt for the principle.

    >>> tail_bound([3, 1])
    Fraction(5, 4)
    """
    amin.check_range(lower, lower, prompt)
    if not tails or min(tails) <= 0:
        raise ValueError("tails: must be positive")
    # Twice M X, row by row, from the definition of M in `spectrum`.
    head, others = (prompt + lower) * tails[0], sum(tails[1:])
    reach = [prompt + k for k in range(lower, lower + len(tails))]
    scaled = [Fraction(0)]
    scaled += [Fraction(x, e * (e - 1)) for x, e in zip(tails[1:], reach[1:], strict=True)]
    above = list(accumulate(reversed(scaled), initial=Fraction(0)))[-2::-1]
    base = lower * reach[0]
    row = reach[0] * others + base * reach[0] * above[0]
    largest = 1 + row / (2 * base * tails[0])
    below = base * reach[0] * tails[0]
    for n in range(1, len(tails)):
        e, k, x = reach[n], lower + n, tails[n]
        growth = e * e + (k - 1) * (2 * e - 1)
        row = head + others - x + Fraction(below, e * (e - 1)) + growth * above[n]
        largest = max(largest, Fraction(1, e) + row / (2 * (e + k - 1) * x))
        below += growth * x
    return largest


def _perron(operator: TailOperator) -> Vector:
    """Return the tails of the maximiser, each to about full relative accuracy."""
    start = spectral_radius(
        operator.upper, operator.lower, operator.prompt, tolerance=1e-22, vector=True
    )
    assert start.vector is not None
    tails = np.cumsum(start.vector[::-1])[::-1]
    for _ in range(3):  # positive products smooth what the basis left
        tails = operator.product(tails)
        tails /= tails[0]
    return tails


def nonnegative_maximum(
    upper: int, lower: int = 1, prompt: int = 0, *, exact: bool = True
) -> Enclosure:
    """Bound the largest quotient of A_min over every distribution of outputs in l..u.

    `exact` certifies in rationals (O(u - l) operations on numbers that grow with u: seconds at
    10^4); otherwise in floats, widened by a proven bound on rounding (any u).

    Source: Chen, Ye, Zhou (2025), Theorem 5, arXiv 2508.14544v2, for the question.

    >>> certificate = nonnegative_maximum(2)
    >>> certificate.below <= Fraction(5, 4) <= certificate.above
    True
    """
    operator = TailOperator(lower, upper, prompt)
    tails = _perron(operator)
    if not exact:
        tails = np.minimum.accumulate(tails)
        ratios = operator.product(tails) / tails
        slack = Fraction(operator.rounding)
        below = Fraction(float(ratios.min())) * (1 - slack)
        above = Fraction(float(ratios.max())) * (1 + slack)
        return Enclosure(below, above, None, None, "rounded")
    reach = [prompt + k for k in range(lower, upper + 1)]
    scale = 2 ** (64 + 3 * (prompt + upper).bit_length())
    exact_tails = [
        max(1, round(Fraction(x) * scale / (e * max(1, e - 1)))) * e * max(1, e - 1)
        for x, e in zip(tails.tolist(), reach, strict=True)
    ]
    shares = np.maximum(-np.diff(tails, append=0.0), 0.0)
    # Multiples of s+i keep the divisions of Lemma 2 whole.
    weights = [
        round(Fraction(x) * scale / e) * e for x, e in zip(shares.tolist(), reach, strict=True)
    ]
    return Enclosure(
        Fraction(amin.quotient(weights, lower, prompt)),
        tail_bound(exact_tails, lower, prompt),
        tuple(weights),
        tuple(exact_tails),
        "exact",
    )
