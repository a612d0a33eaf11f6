"""Jaillet et al., Lemma 4.5: how long MC-SF processes one class of lengths."""

from fractions import Fraction

from ratiolab.papers.claim import PROVED, TIGHTENED, ClaimResult, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._cases import SECTION_4, Case, simulated
from ratiolab.theory.worst_case.equal_prompts import CLASS, CLASS_PRINTED, Factors, class_bound


def spans(case: Case) -> list[tuple[list[int], int]]:
    """Return, for each class of lengths 2**l to 2**(l+1) - 1, its outputs and its span.

    The span is the distance between the first and the last time at which MC-SF processes the class;
    a start in p is processed at p + 1 to p + o.
    """
    return [
        ([o for _, o in members], max(p + o for p, o in members) - min(p for p, _ in members) - 1)
        for members in case.classes(case.mc_sf()).values()
    ]


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
    cases = simulated(slow)
    count, worst, broken, proven_holds = 0, Fraction(0), None, True
    for case in cases:
        for outputs, distance in spans(case):
            bound = class_bound(claimed, case.prompt, outputs, case.memory)
            proven_holds &= distance <= class_bound(CLASS, case.prompt, outputs, case.memory)
            count, worst = count + 1, max(worst, distance / bound)
            if distance > bound and broken is None:
                broken = (
                    f"s = {case.prompt}, M = {case.memory}, {len(outputs)} outputs "
                    f"{outputs[0]} to {outputs[-1]}: {distance} rounds"
                )
    looser = claimed.volume >= CLASS.volume and claimed.length >= CLASS.length
    return ClaimResult(
        verdict_on_bound(broken is not None, looser and proven_holds, claimed == CLASS),
        PROVED if looser else f"{count} classes checked",
        f"distance <= {claimed.volume} W/M + {claimed.length} B",
        f"distance <= {CLASS.volume} W/M + {CLASS.length} B; distance / claimed bound up to "
        f"{float(worst):.4f}",
        "proof without intervals and without Claim 4.6; "
        f"{count} classes in {len(cases)} simulations obey it",
        broken,
    )
