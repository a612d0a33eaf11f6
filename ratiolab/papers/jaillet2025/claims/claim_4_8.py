"""Jaillet et al., Claim 4.8: when the next length first finishes in the linear program."""

from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._bounds import first_finishes
from ratiolab.papers.jaillet2025.claims._cases import drawn, small


@PAPER.claim(
    "Claim 4.8, p. 13",
    claimed="shorter",
    control="shorter and equal",
    assumes="t* of length o + 1 is read as that of the next length that occurs",
    proof="claim_4_8",
)
def claim_4_8(counted: str, slow: bool) -> ClaimResult:
    """In the optimal solution of the linear program (9), the first time at which a request of the
    next length finishes is at least 1/M times the volume of all shorter requests.
    """
    cases = [*small(), *drawn(cases=200 if slow else 30)]
    lengths, broken = first_finishes(cases, counted)
    return decided(
        not broken,
        f"{len(cases)} cases checked" if broken else PROVED,
        broken or f"true of {lengths} lengths in {len(cases)} programs",
        evidence="solved by the greedy rule; a dual solution has the same value in each case",
        witness=broken,
    )
