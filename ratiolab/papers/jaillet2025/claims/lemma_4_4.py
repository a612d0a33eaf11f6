"""Jaillet et al., Lemma 4.4: MC-SF from above."""

from fractions import Fraction

from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict
from ratiolab.papers.jaillet2025.claims._cases import ARXIV, PAPER, SECTION_4, drawn, equal, small
from ratiolab.theory.worst_case.jaillet import (
    UPPER,
    UPPER_PRINTED,
    Factors,
    linear_bound,
    mc_sf_bound,
)


def check(claimed: Factors, budget: Budget) -> ClaimResult:
    """Simulate MC-SF on every case, against the claimed bound and against the proven one."""
    cases = [*small(), *equal(), *drawn(cases=600 if budget.slow else 60)]
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
    if broken:
        verdict = Verdict.FALSE
    elif not (looser and proven_holds):
        verdict = Verdict.UNDECIDED
    else:
        verdict = Verdict.HOLDS if claimed == UPPER else Verdict.TIGHTENED
    return ClaimResult(
        verdict,
        "proved" if looser else f"{len(cases)} cases checked",
        f"MC-SF <= {claimed.volume} A/M + {claimed.length} C",
        f"MC-SF <= {UPPER.volume} A/M + {UPPER.length} C; MC-SF / claimed bound up to "
        f"{float(worst):.4f}",
        "proof in ratiolab.theory.worst_case.jaillet: whenever request k waits, the peaks of "
        "the running requests exceed M - (s + o_k); adding over rounds bounds its start by 4/M "
        f"times the volume before it. {len(cases)} simulations obey that start by start bound",
        broken,
    )


CLAIM = Claim(
    id="jaillet2025/lemma-4-4",
    source=f"{PAPER}, Lemma 4.4, p. 10, {ARXIV}",
    statement=(
        "MC-SF has total latency at most 1536 A/M + 24 C, with C the sum of the outputs and A the "
        "sum over requests of the volume of the outputs that are no longer, by lengths."
    ),
    direction=Direction.UPPER,
    assumptions=SECTION_4,
    expected=Verdict.TIGHTENED,
    check=check,
    claimed=UPPER_PRINTED,
    control=Factors(Fraction(1, 2), Fraction(1)),
    control_verdict=Verdict.FALSE,
)
