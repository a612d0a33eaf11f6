"""Jaillet et al., Lemma 4.4: MC-SF from above."""

from fractions import Fraction

from ratiolab.papers.claim import PROVED, TIGHTENED, ClaimResult, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._cases import SECTION_4, simulated
from ratiolab.theory.worst_case.equal_prompts import (
    UPPER,
    UPPER_PRINTED,
    Factors,
    linear_bound,
    mc_sf_bound,
)


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
    cases = simulated(slow)
    worst, broken, proven_holds = Fraction(0), None, True
    for case in cases:
        prompt, outputs, memory = case
        latency = case.mc_sf().total_latency
        bound = linear_bound(claimed, prompt, outputs, memory)
        worst = max(worst, latency / bound)
        proven_holds &= latency <= mc_sf_bound(*case) <= linear_bound(UPPER, *case)
        if latency > bound and broken is None:
            broken = f"s = {prompt}, M = {memory}, {len(outputs)} outputs to {outputs[-1]}"
    looser = claimed.volume >= UPPER.volume and claimed.length >= UPPER.length
    return ClaimResult(
        verdict_on_bound(broken is not None, looser and proven_holds, claimed == UPPER),
        PROVED if looser else f"{len(cases)} cases checked",
        f"MC-SF <= {claimed.volume} A/M + {claimed.length} C",
        f"MC-SF <= {UPPER.volume} A/M + {UPPER.length} C; MC-SF / claimed bound up to "
        f"{float(worst):.4f}",
        "request k starts by 2/M times the volume before it, for every memory, see "
        f"ours/mc-sf-start-times; {len(cases)} simulations obey that start by start bound",
        broken,
    )
