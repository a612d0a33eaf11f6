"""Every experiment by its name, found in the folders of the papers."""

from functools import cache

from ratiolab.papers.experiment import Experiment
from ratiolab.papers.paper import modules, papers


@cache
def experiments() -> dict[str, Experiment]:
    """Return what ``ratiolab reproduce`` knows, by name."""
    found = [module.EXPERIMENT for paper in papers() for module in modules(paper, "experiments")]
    return {experiment.name: experiment for experiment in found}
