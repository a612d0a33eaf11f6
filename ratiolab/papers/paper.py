"""The papers: one folder each, found by what it holds.

A folder ``ratiolab/papers/KEY`` declares ``PAPER`` in its ``__init__``. What else it may hold is
found by name, so that a new paper touches no file outside its own folder:

- ``claims/STATEMENT.py`` holds ``CLAIM``, or ``CLAIMS`` for several related ones;
- ``experiments/NAME.py`` holds ``EXPERIMENT``, with the study ``NAME.toml`` beside it;
- ``tasks.py`` holds ``TASKS``: what the cells of its studies compute beyond the library's tasks.

Modules whose name begins with an underscore are helpers and are not searched.
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from ratiolab.studies.tasks import register

PACKAGE = "ratiolab.papers"


@dataclass(frozen=True)
class Paper:
    """A paper whose statements and experiments are checked here.

    Parameters
    ----------
    key : name of the folder, and first part of the ids of its claims.
    title : authors, year, and arXiv id with version where there is one.
    order : its place on pages that go through all papers.
    """

    key: str
    title: str
    order: int


@cache
def papers() -> dict[str, Paper]:
    """Return every paper by its key, in the order of pages."""
    found = [
        importlib.import_module(f"{PACKAGE}.{module.name}").PAPER
        for module in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__)
        if module.ispkg
    ]
    return {paper.key: paper for paper in sorted(found, key=lambda paper: paper.order)}


def modules(paper: str, folder: str) -> Iterator[ModuleType]:
    """Import the modules of a folder of a paper, sorted by name; none without such a folder."""
    name = f"{PACKAGE}.{paper}.{folder}"
    if importlib.util.find_spec(name) is None:
        return
    for module in pkgutil.iter_modules(importlib.import_module(name).__path__):
        if not module.name.startswith("_"):
            yield importlib.import_module(f"{name}.{module.name}")


@cache
def register_tasks() -> None:
    """Let studies name the tasks that papers bring along."""
    for key in papers():
        name = f"{PACKAGE}.{key}.tasks"
        if importlib.util.find_spec(name) is not None:
            for task in importlib.import_module(name).TASKS:
                register(task)
