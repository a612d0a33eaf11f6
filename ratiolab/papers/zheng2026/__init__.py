"""Zheng et al. (2026), arXiv 2604.00499."""

from ratiolab.papers.paper import Paper

PAPER = Paper("zheng2026", "Zheng et al. (2026), arXiv 2604.00499", order=4)
