"""Jaillet et al. (2025), arXiv 2502.07115v5."""

from ratiolab.papers.paper import Paper

PAPER = Paper("jaillet2025", "Jaillet et al. (2025)", order=2, arxiv="2502.07115v5")
