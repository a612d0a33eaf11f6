"""Serving engines as they are, on lengths in the shape of the Azure traces."""

from ratiolab.papers.experiment import Experiment
from ratiolab.papers.ours.experiments import _engines

EXPERIMENT = Experiment(__name__, lambda frame: _engines.page(frame, "engines"))
