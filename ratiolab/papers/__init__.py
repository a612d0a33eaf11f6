"""The papers: every numbered statement with a verdict and its evidence, and every experiment."""

from ratiolab.papers.claim import Claim, ClaimReport, ClaimResult, Verdict, decided
from ratiolab.papers.experiment import Experiment, experiments, redraw, reproduce
from ratiolab.papers.finding import Finding
from ratiolab.papers.paper import Paper, papers, register_tasks
from ratiolab.papers.registry import add_paper, all_claims, run_claims, run_controls, select
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
    "add_paper",
    "all_claims",
    "decided",
    "experiments",
    "papers",
    "read_witness",
    "redraw",
    "register_tasks",
    "reproduce",
    "run_claims",
    "run_controls",
    "select",
]
