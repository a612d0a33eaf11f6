"""Zheng et al. (2026), arXiv 2604.00499."""

from ratiolab.papers.paper import Paper

PAPER = Paper(
    "zheng2026", "Zheng et al. (2026)", order=4, arxiv="2604.00499", excerpt="a published summary"
)
