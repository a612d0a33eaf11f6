"""Jaillet et al., Claim 4.8: when the next length first finishes in the linear program."""

from collections import Counter
from typing import Literal, TypeAlias

from ratiolab.papers.claim import HOLDS, PROVED, ClaimResult, decided
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._cases import drawn, small
from ratiolab.theory.worst_case.equal_prompts import volume
from ratiolab.theory.worst_case.finish_program import finish_plan

Counted: TypeAlias = Literal["shorter", "shorter and equal"]


@PAPER.claim(
    "Claim 4.8, p. 13",
    expected=HOLDS,
    claimed="shorter",
    control="shorter and equal",
    assumes="t* of length o + 1 is read as that of the next length that occurs",
    proof="claim_4_8",
)
def claim_4_8(claimed: Counted, slow: bool) -> ClaimResult:
    """In the optimal solution of the linear program (9), the first time at which a request of the
    next length finishes is at least 1/M times the volume of all shorter requests.
    """
    cases = [*small(), *drawn(cases=200 if slow else 30)]
    lengths, broken = 0, None
    for case in cases:
        plan = finish_plan(*case)
        assert plan.value == plan.dual, case
        before = 0
        for output, number in sorted(Counter(case.outputs).items()):
            own = number * volume(case.prompt, output)
            needed = before + (own if claimed == "shorter and equal" else 0)
            if plan.first(output) * case.memory < needed and broken is None:
                broken = (
                    f"s = {case.prompt}, M = {case.memory}, outputs {case.outputs}: "
                    f"t* of {output} is {plan.first(output)}, volume {needed}"
                )
            lengths, before = lengths + 1, before + own
    return decided(
        not broken,
        f"{len(cases)} cases checked" if broken else PROVED,
        f"t* of a length is at least 1/M times the volume of the {claimed} ones",
        broken or f"true of {lengths} lengths in {len(cases)} programs",
        "the program is solved exactly by the greedy rule, optimal because a dual solution has the "
        "same value in each case. Proof: volume grows with length, so the optimum finishes shorter "
        "ones first, and what is finished by time t fits in t M",
        broken,
    )
