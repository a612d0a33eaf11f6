"""TIE, Theorem 3.2: termination probabilities near zero give a power law of lengths."""

from collections.abc import Callable
from fractions import Fraction
from math import factorial

from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER

Constant = Callable[[int], int]
"""The factor Gamma(a) as a function of an integer exponent a."""


@PAPER.claim(
    "Theorem 3.2",
    claimed=lambda a: factorial(a - 1),
    control=lambda a: 1,
    assumes=(
        "one trajectory ends at each token with the same probability p, independently",
        "a > 0; proof for every a, exact tails for integers a",
    ),
    proof="power_law_tail",
)
def power_law_tail(gamma: Constant, slow: bool) -> ClaimResult:
    """If the density of termination probabilities over trajectories behaves as c p^(a-1) near p =
    0, then the length L satisfies P(L > n) ~ c Gamma(a) / n^a.
    """
    top = 6 if slow else 4
    far = []
    worst = Fraction(0)
    for a in range(1, 7):
        for n in (10**k for k in range(1, top + 1)):
            exact = Fraction(factorial(a))  # a B(a, n + 1) = a! n! / (n + a)!
            for i in range(1, a + 1):
                exact /= n + i
            gap = 1 - exact / (Fraction(a * gamma(a)) / n**a)
            worst = max(worst, abs(gap))
            if not 0 <= gap <= Fraction(a * (a + 1), 2 * n):
                far.append((a, n))
    return decided(
        not far,
        PROVED,
        f"{len(far)} of {6 * top} exact tails outside [1 - a (a + 1) / (2 n), 1] of the formula",
        evidence="exact family f = a p^(a-1): the ratio is the product of n/(n + i), i = 1 .. a",
        witness=f"a = {far[0][0]}, n = {far[0][1]}" if far else None,
    )
