"""Jaillet et al., Lemma 4.4: MC-SF from above."""

from fractions import Fraction

from ratiolab.papers.claim import TIGHTENED, ClaimResult
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._bounds import judge_upper
from ratiolab.papers.jaillet2025.claims._cases import SECTION_4, simulated
from ratiolab.theory.worst_case.equal_prompts import UPPER_PRINTED, Factors


@PAPER.claim(
    "Lemma 4.4, p. 10",
    expected=TIGHTENED,
    claimed=UPPER_PRINTED,
    control=Factors(Fraction(1, 2), Fraction(1)),
    assumes=SECTION_4,
    proof="ours/mc_sf_constant",
)
def lemma_4_4(claimed: Factors, slow: bool) -> ClaimResult:
    """MC-SF has total latency at most 1536 A/M + 24 C, with C the sum of the outputs and A the sum
    over requests of the volume of the outputs that are no longer, by lengths.
    """
    return judge_upper(claimed, simulated(slow))
