"""Jaillet et al., Lemma 4.5: how long MC-SF processes one class of lengths."""

from fractions import Fraction

from ratiolab.papers.claim import TIGHTENED, ClaimResult
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._bounds import judge_classes
from ratiolab.papers.jaillet2025.claims._cases import SECTION_4, simulated
from ratiolab.theory.worst_case.equal_prompts import CLASS_PRINTED, Factors


@PAPER.claim(
    "Lemma 4.5, p. 10",
    expected=TIGHTENED,
    claimed=CLASS_PRINTED,
    control=Factors(Fraction(1), Fraction(1)),
    assumes=SECTION_4,
    proof="ratiolab.theory.worst_case.equal_prompts",
)
def lemma_4_5(claimed: Factors, slow: bool) -> ClaimResult:
    """The requests with outputs from 2**l to B = 2**(l+1) - 1, of volume W together, are processed
    by MC-SF within 192 W/M + 5 B rounds from first to last.
    """
    return judge_classes(claimed, simulated(slow))
