"""Jaillet et al., Lemma 4.7: the optimum from below."""

import itertools
from fractions import Fraction

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.papers.claim import PROVED, TIGHTENED, ClaimResult, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._cases import Case, small
from ratiolab.theory.worst_case.equal_prompts import LOWER, LOWER_PRINTED, Factors, linear_bound


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
    cases = [*small(6 if slow else 5), *tight]
    broken, proven_holds, closest = None, True, Fraction(0)
    for case in cases:
        optimum = brute_force(case.instance()).total_latency
        bound = linear_bound(claimed, *case)
        closest = max(closest, bound / optimum)
        proven_holds &= linear_bound(LOWER, *case) <= optimum
        if bound > optimum and broken is None:
            broken = f"s = {case.prompt}, M = {case.memory}, outputs {case.outputs}: OPT {optimum}"
    looser = claimed.volume <= LOWER.volume and claimed.length <= LOWER.length
    return ClaimResult(
        verdict_on_bound(broken is not None, looser and proven_holds, claimed == LOWER),
        PROVED if looser else f"{len(cases)} cases checked",
        f"OPT >= {claimed.volume} A/M + {claimed.length} C",
        f"OPT >= {LOWER.volume} A/M + {LOWER.length} C; claimed bound / OPT up to "
        f"{float(closest):.4f}",
        "proof by mean times of the memory slots; the "
        "factor of A is best possible: n requests with s = 0, o = 1, M = 1 have OPT = n(n+1)/2 "
        f"and A = n**2. {len(cases)} optima by brute force obey it. The printed proof gives a "
        "request o + 1 rounds; the model gives it o, and the bound OPT >= C that is used needs "
        "no more",
        broken,
    )
