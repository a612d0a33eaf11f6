"""Jaillet et al., Lemma 4.7: the optimum from below."""

import itertools
from dataclasses import replace
from fractions import Fraction

from ratiolab.papers.claim import TIGHTENED, ClaimResult
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._bounds import judge_lower
from ratiolab.papers.jaillet2025.claims._cases import Case, small
from ratiolab.theory.worst_case.equal_prompts import LOWER, LOWER_PRINTED, Factors


@PAPER.claim(
    "Lemma 4.7, p. 12",
    expected=TIGHTENED,
    claimed=LOWER_PRINTED,
    control=Factors(Fraction(1), Fraction(1, 3)),
    assumes=("all requests arrive at round 0 with the same prompt", "M >= max(s + o)"),
    proof="ratiolab.theory.worst_case.volume_bound.volume_lower_bound",
)
def lemma_4_7(claimed: Factors, slow: bool) -> ClaimResult:
    """The optimal total latency is at least A/(6 M) + C/6, A and C as in Lemma 4.4."""
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
