"""Chen, Ye, Zhou (2025), arXiv 2508.14544v2."""

from ratiolab.papers.paper import Paper

PAPER = Paper("chen2025", "Chen, Ye, Zhou (2025)", order=1, arxiv="2508.14544v2")
