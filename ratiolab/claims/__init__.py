"""Every numbered statement of the papers, with a verdict and its evidence."""

from ratiolab.claims.claim import Budget, Claim, ClaimReport, ClaimResult, Direction, Verdict
from ratiolab.claims.registry import PAPERS, all_claims, run_claims, select
from ratiolab.claims.witness import Witness, read_witness, write_witness

__all__ = [
    "PAPERS",
    "Budget",
    "Claim",
    "ClaimReport",
    "ClaimResult",
    "Direction",
    "Verdict",
    "Witness",
    "all_claims",
    "read_witness",
    "run_claims",
    "select",
    "write_witness",
]
