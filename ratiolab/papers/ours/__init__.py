"""Experiments of this project."""

from ratiolab.papers.paper import Paper

PAPER = Paper("ours", "Experiments of this project", order=6)
