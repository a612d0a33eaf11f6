"""Chen et al., Corollary 1: Lemma 2 at s = 0, l = 1 as a Rayleigh quotient."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._lemma2 import latency
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.theory.laws.distributions import LengthDistribution
from ratiolab.theory.limits.fluid import shortest_first_latency

Entry = Callable[[Any, Any], Any]
"""Entries (i, j) with i <= j."""


def _a(i: Any, j: Any) -> Any:
    return (Fraction(i) if isinstance(i, int) else i) / j * ((i + j) ** 2 - 2 * i**2) / 2


def _a_without_half(i: Any, j: Any) -> Any:
    return (Fraction(i) if isinstance(i, int) else i) / j * ((i + j) ** 2 - i**2) / 3


@PAPER.claim(
    "Corollary 1, p. 16, proof p. ec13",
    claimed=(_a, lambda i, j: i**2),
    control=(_a_without_half, lambda i, j: i**2),
    assumes="Lemma 2 as the ratio of A_min",
    proof="periods",
)
def corollary_1(claimed: tuple[Entry, Entry]) -> ClaimResult:
    """At s = 0, l = 1 the ratio is the maximum of x'A x / x'B x with a_ij = min^2/(ij) ((i+j)^2/2 -
    min^2) and b_ij = min^2.
    """
    import sympy as sp

    entry_a, entry_b = claimed
    i, j, k = sp.symbols("i j k", positive=True, integer=True)
    # x_i x_j, i < j, in the numerator: period k <= i has work and remainder of both.
    terms = i * (1 / j + 2 * (j - k) / j) + j * (1 / i + 2 * (i - k) / i)
    cross = sp.summation(terms, (k, 1, i))
    numerator = sp.simplify(cross - 2 * entry_a(i, j)) == 0
    square = sp.simplify(sp.summation(1 + 2 * (i - k), (k, 1, i)) - entry_a(i, i)) == 0
    denominator = sp.simplify(2 * i**2 - 2 * entry_b(i, j)) == 0
    wrong = cases = 0
    for large in range(1, 8):
        for small in range(1, large + 1):
            shares = [Fraction(0)] * large
            shares[large - 1] += Fraction(1, 2)
            shares[small - 1] += Fraction(1, 2)
            forms = [
                (f(small, small) + f(large, large) + 2 * f(small, large)) * Fraction(1, 4)
                for f in claimed
            ]
            hindsight = shortest_first_latency(LengthDistribution(1, tuple(shares)))
            cases += 1
            wrong += forms != [latency(shares, 1, 0), hindsight]
    holds = numerator and square and denominator and wrong == 0
    return decided(
        holds,
        PROVED if holds else f"{cases} cases",
        f"cross terms {numerator}, squares {square}, denominator {denominator}; "
        f"{cases - wrong} of {cases} pairs of lengths agree",
        evidence="setting s = 0, l = 1 does lose generality: see theorem-5-any-prompt",
        witness=f"{wrong} of {cases} pairs differ",
    )
