"""Shahout et al. (2025), arXiv 2410.01035."""

from ratiolab.papers.paper import Paper

PAPER = Paper("shahout2025", "Shahout et al. (2025)", order=3, arxiv="2410.01035")
