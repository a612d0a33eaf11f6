"""Chen et al., Figure 3, right: the ratio of A_min for linearly weighted geometric lengths."""

from fractions import Fraction

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import FALSE, PROVED, TIGHTENED, ClaimResult
from ratiolab.theory.rayleigh import amin, geometric


@PAPER.claim(
    "Section 5.3 and Figure 3, right, pp. 21-22",
    expected=TIGHTENED,
    claimed=Fraction(8, 5),
    control=Fraction(3, 2),
    assumes=("Lemma 2 as the ratio of A_min", "s = 0, l = 1, u -> infinity"),
    proof="geometric_lengths",
)
def figure_3_right(claimed: Fraction) -> ClaimResult:
    """For P(o = k) = k (1-q)^2 q^(k-1) the ratio of A_min increases in q, below 1.6."""
    import sympy as sp

    q = geometric.symbol()
    quotient = geometric.linearly_weighted_quotient()
    slope = sp.Poly(sp.numer(sp.together(sp.diff(quotient, q))), q)
    inside = slope.count_roots(0, 1) - sum(slope.eval(end) == 0 for end in (0, 1))
    grows = inside == 0 and slope.eval(sp.Rational(1, 2)) > 0
    limit = Fraction(quotient.subs(q, 1))
    points = [Fraction(k, 8) for k in range(1, 7)]
    cut = [float(amin.quotient([k * float(p) ** (k - 1) for k in range(1, 400)])) for p in points]
    agrees = all(
        abs(value - float(quotient.subs(q, p))) < 1e-12
        for value, p in zip(cut, points, strict=True)
    )
    uniform_like = amin.quotient([1, 2])  # u = 2, q = 1
    peak = amin.quotient([2, 1])  # u = 2, q = 1/4
    holds = grows and agrees and limit < claimed
    return ClaimResult(
        TIGHTENED if holds else FALSE,
        PROVED,
        f"increases in q, below {claimed}",
        f"{'increasing' if grows else 'not increasing'}, supremum {limit} at q -> 1",
        "Lemma 2 summed in closed form, a rational function; its derivative has no root in (0, 1). "
        f"Cut at u it is not monotone: for u = 2 it is {peak} at q = 1/4 and {uniform_like} at "
        "q = 1. The mass peaks near 1/ln(1/q), not log(1/q) as the text has it",
        None if holds else f"q -> 1: {limit}",
    )
