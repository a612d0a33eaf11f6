"""Gogineni, Paul, Stec, Zhang (2024)."""

from ratiolab.papers.paper import Paper

PAPER = Paper("gogineni2024", "Gogineni, Paul, Stec, Zhang (2024)", order=5)
