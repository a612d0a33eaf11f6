"""Jaillet et al., Section 4: the lemmas and claims that Theorem 4.3 rests on.

MC-SF from above (4.4), how long it processes one class of lengths (4.5) and how much volume is
around a high peak (4.6); the optimum from below (4.7), by when the next length first finishes in
the linear program (4.8).
"""

import itertools
from dataclasses import replace
from fractions import Fraction

from ratiolab.papers.claim import PROVED, ClaimResult, decided, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._bounds import (
    first_finishes,
    judge_classes,
    judge_lower,
    judge_upper,
    quotients,
)
from ratiolab.papers.jaillet2025.claims._cases import SECTION_4, Case, drawn, simulated, small
from ratiolab.theory.worst_case.equal_prompts import (
    CLASS_PRINTED,
    LOWER,
    LOWER_PRINTED,
    UPPER_PRINTED,
    Factors,
)


@PAPER.claim(claimed=UPPER_PRINTED, control=Factors(Fraction(1, 2), Fraction(1)), assumes=SECTION_4)
def lemma_4_4(claimed: Factors, slow: bool) -> ClaimResult:
    """MC-SF has total latency at most 1536 A/M + 24 C, with C the sum of the outputs and A the sum
    over requests of the volume of the outputs that are no longer, by lengths.

    Source: Lemma 4.4, p. 10
    Verdict: tightened
    Proof: ours/mc_sf_constant
    """
    return judge_upper(claimed, simulated(slow))


@PAPER.claim(claimed=CLASS_PRINTED, control=Factors(Fraction(1), Fraction(1)), assumes=SECTION_4)
def lemma_4_5(claimed: Factors, slow: bool) -> ClaimResult:
    """The requests with outputs from 2**l to B = 2**(l+1) - 1, of volume W together, are processed
    by MC-SF within 192 W/M + 5 B rounds from first to last.

    Source: Lemma 4.5, p. 10
    Verdict: tightened
    Proof: ratiolab.theory.worst_case.equal_prompts
    """
    return judge_classes(claimed, simulated(slow))


BEST = Fraction(1, 2)
"""The proved factor; the proof stands in proofs/claim_4_6.md."""

GAP = Case(3, (2, 2, 3, 3, 3, 4), 14)
"""The request of output 4 holds memory at the peak of the interval 4..6 of the class {2, 3}."""


@PAPER.claim(claimed=Fraction(1, 4), control=Fraction(2), assumes=SECTION_4)
def claim_4_6(claimed: Fraction, slow: bool) -> ClaimResult:
    """Cut the time in which MC-SF processes a class into intervals of its largest output B: in any
    three consecutive ones the class has volume at least peak(middle) vol(B)/(s+B)/4.

    Source: Claim 4.6, p. 10
    Verdict: tightened
    Proof: claim_4_6
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


@PAPER.claim(claimed=LOWER_PRINTED, control=Factors(Fraction(1), Fraction(1, 3)))
def lemma_4_7(claimed: Factors, slow: bool) -> ClaimResult:
    """The optimal total latency is at least A/(6 M) + C/6, A and C as in Lemma 4.4.

    Source: Lemma 4.7, p. 12
    Verdict: tightened
    Assumes: all requests arrive at round 0 with the same prompt
    Assumes: M >= max(s + o)
    Proof: ratiolab.papers.jaillet2025.volume_bound.volume_lower_bound
    """
    tight = [
        Case(prompt, outputs, prompt + outputs[-1])
        for n in range(1, 6)
        for outputs in itertools.combinations_with_replacement(range(1, 4), n)
        for prompt in (0, 1, 3)
    ]
    result = judge_lower(claimed, LOWER, [*small(6 if slow else 5), *tight])
    return replace(
        result,
        evidence=f"{result.evidence}. The factor of A is best possible: n requests with s = 0, "
        "o = 1, M = 1 have OPT = n(n+1)/2 and A = n**2. The printed proof gives a request o + 1 "
        "rounds; the model gives it o",
    )


@PAPER.claim(claimed="shorter", control="shorter and equal")
def claim_4_8(counted: str, slow: bool) -> ClaimResult:
    """In the optimal solution of the linear program (9), the first time at which a request of the
    next length finishes is at least 1/M times the volume of all shorter requests.

    Source: Claim 4.8, p. 13
    Assumes: t* of length o + 1 is read as that of the next length that occurs
    Proof: claim_4_8
    Evidence: solved by the greedy rule; a dual solution has the same value in each case
    """
    cases = [*small(), *drawn(cases=200 if slow else 30)]
    lengths, broken = first_finishes(cases, counted)
    return decided(
        not broken,
        f"{len(cases)} cases checked" if broken else PROVED,
        broken or f"true of {lengths} lengths in {len(cases)} programs",
        witness=broken,
    )
