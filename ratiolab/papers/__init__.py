"""The papers: every numbered statement with a verdict and its evidence, and every experiment."""

from ratiolab.papers.claim import Claim, ClaimReport, ClaimResult, Verdict
from ratiolab.papers.experiment import Experiment, experiments, redraw, reproduce
from ratiolab.papers.finding import Finding
from ratiolab.papers.paper import Paper, papers, register_tasks
from ratiolab.papers.registry import all_claims, run_claims, select
from ratiolab.papers.witness import Witness, read_witness

__all__ = [
    "Claim",
    "ClaimReport",
    "ClaimResult",
    "Experiment",
    "Finding",
    "Paper",
    "Verdict",
    "Witness",
    "all_claims",
    "experiments",
    "papers",
    "read_witness",
    "redraw",
    "register_tasks",
    "reproduce",
    "run_claims",
    "select",
]
