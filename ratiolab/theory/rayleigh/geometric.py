"""The Lemma 2 quotient of Chen, Ye, Zhou (2025) for geometric and weighted geometric lengths.

Here s = 0 and l = 1, where the quotient is x'Ax / x'Bx with B_ij = min(i,j)**2 and
A_ij = ij/2 + min(i,j)**2 - min(i,j)**3 / (2 max(i,j)): the paper's Corollary 1, expanded. Hence

    R = 1 + (m**2 - T) / (2 D),   m = E[o],   D = E[min(o,o')**2],   T = E[min(o,o')**3 / max(o,o')]

for independent copies o, o' of the length, and T = 2 sum_j (x_j/j) sum_{i<j} i**3 x_i + sum_i
i**2 x_i**2. Whether the printed A_min follows Lemma 2 is another question; nothing here decides it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ratiolab.theory.laws.distributions import LengthDistribution, Number

if TYPE_CHECKING:
    from sympy import Expr, Symbol


@cache
def symbol() -> Symbol:
    """Return the positive sympy symbol q of the closed forms below."""
    import sympy as sp

    return sp.Symbol("q", positive=True)


def _power_sum(power: int, q: Any) -> Expr:
    """Return sum over m >= 0 of m**power q**m, by applying q d/dq to 1/(1-q)."""
    import sympy as sp

    z = sp.Dummy("z")
    value = 1 / (1 - z)
    for _ in range(power):
        value = sp.factor(z * sp.diff(value, z))
    return value.subs(z, q)


def _polynomial_sum(polynomial: Any, k: Any, q: Any) -> Expr:
    """Return sum over k >= 1 of polynomial(k) q**(k-1)."""
    import sympy as sp

    shifted = sp.Poly(sp.expand(polynomial.subs(k, k + 1)), k)
    return sp.factor(sum(c * _power_sum(e, q) for (e,), c in shifted.terms()))


def _tail(polynomial: Any, k: Any, q: Any) -> Expr:
    """Return the polynomial P(k) with sum over i >= k of polynomial(i) q**(i-1) = q**(k-1) P(k)."""
    import sympy as sp

    m = sp.Dummy("m")
    shifted = sp.Poly(sp.expand(polynomial.subs(k, k + m)), m)
    return sp.expand(sum(c * _power_sum(e, q) for (e,), c in shifted.terms()))


@cache
def geometric_quotient() -> Expr:
    """Return the Lemma 2 quotient of P(o = k) = (1-q) q**(k-1), k = 1, 2, ..., as a function of q.

    s = 0, l = 1, u infinite. The inner sum of T is C - q**(j-1) P(j) with the cubic
    P(j) = sum_{m>=0} (j+m)**3 q**m and C = P(1); division by j leaves logarithms of 1-q and
    1-q**2; only ln(1+q) remains. The result,
    1 + (3q**3 + 7q**2 + 7q + 1) / (1+q**2) - (1+q)**2 (q**2 + 4q + 1) ln(1+q) / (q (1+q**2)),
    increases on (0, 1); `ratiolab.papers.chen2025.claims.geometric_lengths` has the proof.

    Source: own derivation, for Chen, Ye, Zhou (2025), Section 5.2, arXiv 2508.14544v2.
    """
    import sympy as sp

    q = symbol()
    k = sp.Dummy("k")
    p = 1 - q
    cubic = sp.Poly(_tail(k**3, k, q), k)
    # sum_j q**(j-1)/j = -ln(1-q)/q, and the same at q**2, with ln(1-q**2) = ln(1-q) + ln(1+q).
    crossed = cubic.eval(1) * (-sp.log(1 - q) / q)
    for (power,), c in cubic.terms():
        if power:
            crossed -= c * _polynomial_sum(k ** (power - 1), k, q**2)
        else:
            crossed += c * (sp.log(1 - q) + sp.log(1 + q)) / q**2
    longest = 2 * p**2 * crossed + p**2 * _polynomial_sum(k**2, k, q**2)
    mean = p * _polynomial_sum(k, k, q)
    # P(min >= k) = q**(2k-2), so E[min**2] sums (2k-1) q**(2k-2).
    smallest = _polynomial_sum(2 * k - 1, k, q**2)
    excess = sp.expand((mean**2 - longest) / (2 * smallest))
    return 1 + sp.collect(excess, [sp.log(1 - q), sp.log(1 + q)], sp.factor)


def geometric_limit() -> Expr:
    """Return the supremum of `geometric_quotient`, its value at q -> 1: 10 - 12 ln 2 = 1.6822...

    Source: own derivation, for Chen, Ye, Zhou (2025), Section 5.2, arXiv 2508.14544v2.

    >>> geometric_limit()
    10 - 12*log(2)
    """
    return geometric_quotient().subs(symbol(), 1)


@cache
def linearly_weighted_quotient() -> Expr:
    """Return the Lemma 2 quotient of P(o = k) = k (1-q)**2 q**(k-1), k = 1, 2, ...

    Numerator and denominator of Lemma 2 at s = 0, l = 1 are summed term by term; both are rational
    in q, and so is the quotient, which agrees with the closed form printed in Theorem 8.

    Source: Chen, Ye, Zhou (2025), Theorem 8, arXiv 2508.14544v2; derived here from Lemma 2.
    """
    import sympy as sp

    q = symbol()
    k = sp.Dummy("k")
    work = _tail(k**2, k, q)  # sum_{i>=k} i x_i
    done = _tail(sp.Integer(1), k, q)  # sum_{i>=k} x_i / i
    i = sp.Dummy("i")
    left = sp.expand(_tail((k - i), k, q).subs(i, k))  # sum_{i>=k} (i-k) x_i / i
    numerator = _polynomial_sum(sp.expand(work * (done + 2 * left)), k, q**2)
    # sum_{i>k} x_i = sum_{i>=k} x_i - x_k
    denominator = _polynomial_sum(sp.expand(k**3 * (2 * _tail(k, k, q) - k)), k, q**2)
    return sp.factor(numerator / denominator)


def printed_denominator() -> Expr:
    """Return the denominator sum of Theorem 8 as printed, which is a misprint.

    The proof prints sum k**3 q**(k-1) (2 k q**(k-1) + sum_{i>k} i q**(i-1)): the 2 stands at the
    wrong term. Lemma 2 needs k q**(k-1) + 2 sum_{i>k} i q**(i-1), and only that sum equals the
    closed form printed beside it.

    Source: Chen, Ye, Zhou (2025), proof of Theorem 8, arXiv 2508.14544v2.
    """
    import sympy as sp

    q = symbol()
    k = sp.Dummy("k")
    return _polynomial_sum(sp.expand(k**3 * (k + _tail(k, k, q))), k, q**2)


def quotient(distribution: LengthDistribution) -> Number:
    """Return the Lemma 2 quotient at s = 0 of a distribution with lower = 1, in O(upper).

    Uses the reduced form of the module docstring; a Fraction for an exact distribution.

    >>> from ratiolab.theory.laws.distributions import uniform
    >>> quotient(uniform(1, 2))
    Fraction(17, 14)
    """
    if distribution.lower != 1:
        raise ValueError(f"lower {distribution.lower}: the reduced quotient needs lower = 1")
    cubes: Number = 0
    longest: Number = 0
    smallest: Number = 0
    tails = distribution.tail
    for k, (x, tail) in enumerate(zip(distribution.probabilities, tails, strict=True), 1):
        longest += 2 * x * cubes / k + k * k * x * x
        cubes += k**3 * x
        smallest += (2 * k - 1) * tail * tail
    return 1 + (distribution.mean**2 - longest) / (2 * smallest)
