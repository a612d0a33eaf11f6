"""Jaillet et al., Theorem 4.1: no deterministic algorithm is better than order sqrt(n)."""

from fractions import Fraction

from ratiolab.papers.claim import PROVED, TIGHTENED, UNDECIDED, ClaimResult
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.theory.worst_case.late_rush import printed, sharper

PRINTED = Fraction(1, 392)
"""Square of sqrt(2)/28: sqrt(M)/28 with M = 2 (n - 1)."""

SUPREMUM = Fraction(1, 9)
"""Square of 1/3, which the sharper families come as near as one likes."""


@PAPER.claim(
    "Theorem 4.1, p. 8, proof p. 28",
    expected=TIGHTENED,
    claimed=PRINTED,
    control=Fraction(1, 4),
    control_verdict=UNDECIDED,
    assumes=("arrivals chosen by an adversary", "no evictions, as in the paper's model"),
    proof="ratiolab.theory.worst_case.late_rush",
)
def theorem_4_1(claimed: Fraction, slow: bool) -> ClaimResult:
    """Every deterministic algorithm has a competitive ratio of order at least sqrt(n); the proof
    gives sqrt(M)/28 with n = M/2 + 1 requests, that is sqrt(2)/28 sqrt(n - 1).
    """
    roots = (2, 3, 4, 6, 8, 10) + ((16, 20) if slow else ())
    shapes = [(2, 1), (2, 2), (2, 4), (3, 1), (3, 2), (4, 1)] + ([(4, 3)] if slow else [])
    paper = [(rush.forced() ** 2 / (rush.requests - 1)) for rush in map(printed, roots)]
    proven = True
    for h, i in shapes:
        rush = sharper(h, i)
        proven &= rush.forced() >= Fraction(4 * h, 3 * (4 * h + 1)) * 2 * h * i
    enough = all(square >= claimed for square in paper)
    if not (proven and claimed < SUPREMUM):
        verdict = UNDECIDED  # these families do not force it; others might
    else:
        verdict = TIGHTENED if enough else UNDECIDED
    least = float(min(paper)) ** 0.5
    return ClaimResult(
        verdict,
        PROVED if claimed < SUPREMUM else f"{len(roots) + len(shapes)} families",
        f"ratio >= c sqrt(n - 1) for every c < 1/3; the paper's own family forces at least "
        f"{least:.4f} sqrt(n - 1) up to M = {4 * roots[-1] ** 2}",
        evidence="best response computed exactly: for each start of the long request the "
        "algorithm's least latency over the optimum of the instance it provokes, least over all "
        "starts",
    )
