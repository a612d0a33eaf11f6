"""Theorems and experiments of this project."""

from ratiolab.papers.paper import Paper

PAPER = Paper("ours", "This project", order=6)
