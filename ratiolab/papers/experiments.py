"""Every experiment by its name, found in the folders of the papers by its template."""

from functools import cache
from importlib.resources import files

from ratiolab.papers.experiment import Experiment
from ratiolab.papers.paper import PACKAGE, papers


@cache
def experiments() -> dict[str, Experiment]:
    """Return what ``ratiolab reproduce`` knows, by name."""
    folders = {f"{PACKAGE}.{paper}": files(f"{PACKAGE}.{paper}") for paper in papers()}
    found = [
        Experiment(f"{package}.experiments.{template.removesuffix('.md')}")
        for package, folder in folders.items()
        if (folder / "experiments").is_dir()
        for template in sorted(file.name for file in (folder / "experiments").iterdir())
        if template.endswith(".md") and not template.startswith("_")
    ]
    return {experiment.name: experiment for experiment in found}
