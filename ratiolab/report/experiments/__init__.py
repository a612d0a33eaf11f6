"""The papers' experiments, each a study file, figures and a page of comparison."""

from ratiolab.report.experiments.experiment import Experiment, Finding, redraw, reproduce
from ratiolab.report.experiments.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Experiment", "Finding", "redraw", "reproduce"]
