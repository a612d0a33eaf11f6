"""Worst cases of the fluid ratios over two lengths and over all distributions, in closed form.

Notation: l, u, s are ``lower``, ``upper``, ``prompt``; alpha = l/u; g(k) = k (s + k). The functions
of this module that return a sympy expression also accept sympy symbols.

All suprema over every distribution rest on one computation. With Y_k = P(o >= k), Y_l = 1, H-SF
costs D = sum_k d_k Y_k**2, where d_l = g(l) and d_k = g(k) - g(k-1), and E[h(o)] = sum_k e_k Y_k
with e_l = h(l), e_k = h(k) - h(k-1). Hence D is diagonal in Y, and the numerator E[1] E[h(o)] has
rank two. Its largest generalised eigenvalue is (Q + sqrt(P R)) / 2 with P = 1/g(l), Q = h(l)/g(l)
and R = sum_k e_k**2 / d_k; it is attained at Y_k proportional to e_k/d_k for k > l, which is a
distribution whenever those Y_k do not increase and stay below Y_l.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

from ratiolab.theory.laws.distributions import LengthDistribution, check_range, from_weights

if TYPE_CHECKING:
    from sympy import Expr

#: Up to this many lengths above the first a sum of reciprocals is written as one rational number.
RATIONAL_TERMS = 40


def _area(length: Any, prompt: Any) -> Any:
    return length * (prompt + length)


def max_length_supremum(lower: int, upper: int, prompt: int = 0) -> Expr:
    """Return the exact supremum of the A_max ratio over all distributions on lower..upper.

    With h(o) = o every e_k after the first is 1 and d_k = s + 2k - 1, so the supremum is
    (s+u)/(s+l) [1 + sqrt(1 + (s+l)/l sum_{k=l+1}^{u} 1/(s+2k-1))] / 2,
    attained (see `max_length_maximiser`). A_max is M / (s + u) parallel servers.

    Exact in O(1): a surd, or a difference of digammas when there are many lengths.

    Source: corrects Chen, Ye, Zhou (2025), Theorem 2, arXiv 2508.14544v2; own derivation.

    >>> max_length_supremum(1, 2)
    1 + 2*sqrt(3)/3
    >>> max_length_supremum(1, 5, 1)
    3/2 + sqrt(2055)/20
    """
    import sympy as sp

    check_range(lower, upper, prompt)
    if upper - lower <= RATIONAL_TERMS:
        steps = (Fraction(1, prompt + 2 * k - 1) for k in range(lower + 1, upper + 1))
        total = sp.Rational(sum(steps, Fraction()))
    else:
        low, high = (sp.Rational(prompt + 1, 2) + k for k in (lower, upper))
        digamma = [sp.polygamma(0, end, evaluate=False) for end in (high, low)]
        total = (digamma[0] - digamma[1]) / 2
    inside = 1 + sp.Rational(prompt + lower, lower) * total
    factor = sp.Rational(prompt + upper, 2 * (prompt + lower))
    return factor * (1 + sp.sqrt(inside))


def max_length_supremum_continuum(lower: Any, upper: Any, prompt: Any = 0) -> Expr:
    """Return the supremum of the A_max ratio when lengths are real numbers in [lower, upper].

    (s+u)/(s+l) [1 + sqrt(1 + (1 + s/l) ln((s+2u)/(s+2l)) / 2)] / 2: the sum of
    `max_length_supremum` is the midpoint rule for this logarithm, and 1/(s + 2x) is convex, so the
    value bounds every integer one from above and is their limit when l, u, s grow in proportion.
    At s = 0 it is (1 + sqrt(1 + L/2)) / (2 alpha), L = ln(1/alpha), which grows as
    sqrt(L/8) / alpha. By ln(1+y) <= y it never exceeds (1 + alpha**-0.5) / (2 alpha): what
    Theorem 2 prints as a lower bound is an upper one in this model.

    Source: own derivation, for Chen, Ye, Zhou (2025), Theorem 2, arXiv 2508.14544v2.
    """
    import sympy as sp

    l, u, s = map(sp.sympify, (lower, upper, prompt))  # noqa: E741
    inside = 1 + (1 + s / l) * sp.log((s + 2 * u) / (s + 2 * l)) / 2
    return (s + u) / (s + l) * (1 + sp.sqrt(inside)) / 2


def max_length_two_point_supremum(lower: Any, upper: Any, prompt: Any = 0) -> Expr:
    """Return the supremum of the A_max ratio over distributions on {lower, upper}.

    (s+u)/(s+l) [1 + sqrt(1 + (s+l)(u-l) / (l (s+l+u)))] / 2. At s = 0 this is
    (1 + sqrt(2/(1+alpha))) / (2 alpha): of order 1/alpha, not the alpha**-1.5 of the printed
    Theorem 2, whose last equality does not hold.

    Source: corrects Chen, Ye, Zhou (2025), Theorem 2, arXiv 2508.14544v2; own derivation.

    >>> max_length_two_point_supremum(1, 8)
    28/3
    """
    import sympy as sp

    l, u, s = map(sp.sympify, (lower, upper, prompt))  # noqa: E741
    inside = 1 + (s + l) * (u - l) / (l * (s + l + u))
    return (s + u) / (s + l) * (1 + sp.sqrt(inside)) / 2


def max_length_maximiser(lower: int, upper: int, prompt: int = 0) -> LengthDistribution:
    """Return the distribution on lower..upper with the largest A_max ratio, in floats.

    It has an atom at ``lower`` and P(o >= k) proportional to 1/(s + 2k - 1) above; O(upper-lower).
    """
    check_range(lower, upper, prompt)
    steps = [1 / (prompt + 2 * k - 1) for k in range(lower + 1, upper + 1)]
    first = _area(lower, prompt)
    scale = sqrt(first * (lower / (prompt + lower) + sum(steps)))
    tail = [(scale + lower) / first, *steps, 0.0]
    weights = [a - b for a, b in pairwise(tail)]
    return from_weights(lower, weights, "worst case of A_max")


def random_order_supremum(lower: Any, upper: Any, prompt: Any = 0) -> Expr:
    """Return the supremum of the A_random ratio: (1 + sqrt(g(u)/g(l))) / 2.

    With h = g, e_k = d_k: R = g(u), Q = 1, and Y is constant above l. Hence the worst case over all
    distributions has two lengths, x_l / x_u = sqrt(g(u)/g(l)) - 1. At s = 0 it is the printed
    (1 + 1/alpha) / 2; for s > 0 it is smaller.

    Source: Chen, Ye, Zhou (2025), Theorem EC.1 part 2, arXiv 2508.14544v2; own derivation.

    >>> random_order_supremum(1, 3)
    2
    """
    import sympy as sp

    l, u, s = map(sp.sympify, (lower, upper, prompt))  # noqa: E741
    return (1 + sp.sqrt(_area(u, s) / _area(l, s))) / 2


def area_root(lower: Any, upper: Any, prompt: Any = 0) -> Expr:
    """Return r = sqrt(g(l)/g(u)), which takes the place of alpha once s > 0; alpha <= r <= 1.

    >>> area_root(1, 4)
    1/4
    """
    import sympy as sp

    l, u, s = map(sp.sympify, (lower, upper, prompt))  # noqa: E741
    return sp.sqrt(_area(l, s) / _area(u, s))


def promote_short_supremum(lower: int, upper: int, prompt: int = 0) -> Expr:
    """Return the exact maximum of the A_ell ratio over two-point distributions.

    With t = x_l/x_u and r = sqrt(g(l)/g(u)) the ratio is
    1 + r**2 (t+2) / (r**2 t**2 + 2 r**2 t + 1). For r <= 1/2 its maximum 1 + r / (2 (1-r)) lies at
    t = 1/r - 2, because the difference of the two sides has numerator (r t + 2r - 1)**2; for
    r >= 1/2 it is 1 + 2 r**2, at t = 0. At s = 0, r = alpha, and this is the printed Theorem 7,
    though the inequality its proof cites does not give it; for s > 0, r > alpha and the printed
    bound is exceeded.

    Source: Chen, Ye, Zhou (2025), Theorem 7, arXiv 2508.14544v2; own derivation for s > 0.

    >>> promote_short_supremum(1, 4), promote_short_supremum(3, 4)
    (7/6, 17/8)
    """
    import sympy as sp

    check_range(lower, upper, prompt)
    r = area_root(lower, upper, prompt)
    if 2 * r <= 1:
        return 1 + r / (2 * (1 - r))
    return 1 + 2 * r**2 if lower < upper else sp.Integer(1)


def lower_bound_two_point_supremum(lower: Any, upper: Any, prompt: Any = 0) -> Expr:
    """Return the maximum of the Lemma 2 quotient over two-point distributions.

    With t = x_l/x_u the quotient is 1 + c t / (g(l) t**2 + 2 g(l) t + g(u)),
    c = (s+l)/(s+u) (g(u) - g(l)). Its maximum, at t = sqrt(g(u)/g(l)), is
    1 + (s+l)/(s+u) (1/r - 1) / 2 with r = sqrt(g(l)/g(u)). At s = 0 this is the printed
    (3 - alpha) / 2. With rho = (s+l)/(s+u), from alpha at s = 0 to 1, the excess over 1 is
    (sqrt(rho/alpha) - rho) / 2, concave in rho: every s > 0 breaks the printed bound when
    alpha <= (3 - sqrt(5))/2, small s when alpha < 1/2, none when alpha >= 1/2. The limit for large
    s, (1 + alpha**-0.5) / 2, is unbounded: "s = 0 without loss of generality" in the proof of
    Theorem 5 does not hold for the quotient of Lemma 2.

    Source: Chen, Ye, Zhou (2025), Theorem 6, arXiv 2508.14544v2; own derivation for s > 0.

    >>> lower_bound_two_point_supremum(1, 4)
    11/8
    """
    import sympy as sp

    l, u, s = map(sp.sympify, (lower, upper, prompt))  # noqa: E741
    return 1 + (s + l) / (s + u) * (1 / area_root(l, u, s) - 1) / 2


def switch_alpha(prompt_over_upper: Any = 0) -> Expr:
    """Return the alpha at which A_ell and the Lemma 2 quotient have equal two-point maxima.

    Setting `promote_short_supremum` equal to `lower_bound_two_point_supremum` gives
    sqrt(alpha) (1 + sqrt((s+l)/(s+u))) = 1. With sigma = s/u and z = sqrt(alpha) that is
    z**4 - z**2 + 2 (sigma+1) z - (sigma+1) = 0. At its root r = 1 - z <= 1/2, so the first branch
    of Theorem 7 is the right one. A_ell is better below. The root falls from (3 - sqrt(5))/2 at
    sigma = 0 to 1/4 as sigma grows.

    Source: Chen, Ye, Zhou (2025), Section 5.1, arXiv 2508.14544v2; own derivation for s > 0.

    >>> switch_alpha()
    3/2 - sqrt(5)/2
    """
    import sympy as sp

    sigma = sp.nsimplify(prompt_over_upper, rational=True)
    if sigma < 0:
        raise ValueError(f"prompt_over_upper {prompt_over_upper} is negative")
    if sigma == 0:
        return (3 - sp.sqrt(5)) / 2
    z = sp.Symbol("z", positive=True)
    polynomial = sp.Poly(z**4 - z**2 + 2 * (sigma + 1) * z - (sigma + 1), z)
    # The polynomial increases on (0, 1), from -(sigma+1) to sigma+1: one root there.
    return next(root for root in polynomial.real_roots() if 0 < root < 1) ** 2
