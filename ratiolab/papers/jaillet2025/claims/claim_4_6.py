"""Jaillet et al., Claim 4.6: a high peak means much volume around it."""

from collections.abc import Iterator
from fractions import Fraction

from ratiolab.papers.claim import PROVED, TIGHTENED, ClaimResult, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._cases import SECTION_4, Case, simulated
from ratiolab.theory.worst_case.equal_prompts import volume

BEST = Fraction(1, 2)
"""The proved factor; the proof stands in proofs/claim_4_6.md."""

GAP = Case(3, (2, 2, 3, 3, 3, 4), 14)
"""The request of output 4 holds memory at the peak of the interval 4..6 of the class {2, 3}."""


def quotients(case: Case) -> Iterator[Fraction]:
    """Yield the class's volume in each three intervals over peak(middle) vol(B)/(s + B)."""
    schedule = case.mc_sf()
    usage = [0] * (schedule.makespan + 1)
    for start, output in zip(schedule.starts.tolist(), case.outputs, strict=True):
        for age in range(1, output + 1):
            usage[start + age] += case.prompt + age
    for level, members in case.classes(schedule).items():
        longest = 2**level - 1
        first, last = min(p for p, _ in members) + 1, max(p + o for p, o in members)
        own = [0] * (schedule.makespan + 1)
        for start, output in members:
            for age in range(1, output + 1):
                own[start + age] += case.prompt + age
        unit = Fraction(volume(case.prompt, longest), case.prompt + longest)
        for begin in range(first, last + 1 - 2 * longest, longest):
            middle = usage[begin + longest : begin + 2 * longest]
            around = own[begin : min(begin + 3 * longest, last + 1)]
            yield sum(around) / (max(middle) * unit)


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
        f"volume >= {claimed} peak vol(B)/(s + B)",
        f"volume >= {BEST} peak vol(B)/(s + B); least quotient found {float(least):.4f}",
        f"{len(found)} triples of intervals in simulations. The printed step "
        "that only the class is in memory at the peak fails in the last interval but one, where "
        f"longer requests may run already, as on {tuple(GAP)}; the proof repairs it",
        None if least >= claimed else f"quotient {least}",
    )
