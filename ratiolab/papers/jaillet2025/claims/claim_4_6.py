"""Jaillet et al., Claim 4.6: a high peak means much volume around it."""

from fractions import Fraction

from ratiolab.papers.claim import PROVED, TIGHTENED, ClaimResult, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._bounds import quotients
from ratiolab.papers.jaillet2025.claims._cases import SECTION_4, Case, simulated

BEST = Fraction(1, 2)
"""The proved factor; the proof stands in proofs/claim_4_6.md."""

GAP = Case(3, (2, 2, 3, 3, 3, 4), 14)
"""The request of output 4 holds memory at the peak of the interval 4..6 of the class {2, 3}."""


@PAPER.claim(
    "Claim 4.6, p. 10",
    expected=TIGHTENED,
    claimed=Fraction(1, 4),
    control=Fraction(2),
    assumes=SECTION_4,
    proof="claim_4_6",
)
def claim_4_6(claimed: Fraction, slow: bool) -> ClaimResult:
    """Cut the time in which MC-SF processes a class into intervals of its largest output B: in any
    three consecutive ones the class has volume at least peak(middle) vol(B)/(s+B)/4.
    """
    cases = [GAP, *simulated(slow)]
    found = [quotient for case in cases for quotient in quotients(case)]
    least = min(found)
    return ClaimResult(
        verdict_on_bound(least < claimed, claimed <= BEST <= least, claimed == BEST),
        PROVED if claimed <= BEST else f"{len(found)} triples checked",
        f"volume >= {BEST} peak vol(B)/(s + B); least quotient found {float(least):.4f}",
        evidence=f"{len(found)} triples of intervals in simulations. The printed proof overlooks "
        f"that longer requests may run already in the last interval but one, as on {GAP}",
        witness=None if least >= claimed else f"quotient {least}",
    )
