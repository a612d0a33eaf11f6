"""The papers: one folder each, found by what it holds.

A folder ``ratiolab/papers/KEY`` declares ``PAPER`` in its ``__init__``. What else it may hold is
found by name, so that a new paper touches no file outside its own folder:

- ``claims/STATEMENT.py`` declares claims with ``@PAPER.claim`` on the functions that check them;
- ``experiments/NAME.md`` is the template of a page, with the study ``NAME.toml`` and the module
  ``NAME.py``, whose function ``page`` fills it, beside it;
- ``tasks.py`` holds ``TASKS``: what the cells of its studies compute beyond the library's tasks.

Modules whose name begins with an underscore are helpers and are not searched.
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from ratiolab.papers.claim import AGAINST, FALSE, HOLDS, Claim, ClaimResult, Verdict
from ratiolab.studies.tasks import register

PACKAGE = "ratiolab.papers"


@dataclass(frozen=True)
class Paper:
    """A paper whose statements and experiments are checked here.

    Parameters
    ----------
    key : name of the folder, and first part of the ids of its claims.
    authors : authors with the year, as in ``Jaillet et al. (2025)``.
    order : its place on pages that go through all papers.
    arxiv : arXiv id, with its version where one was read.
    excerpt : what was read of the paper, when it was not the paper itself.
    """

    key: str
    authors: str
    order: int
    arxiv: str = ""
    excerpt: str = ""

    @property
    def title(self) -> str:
        """Authors, year, and arXiv id."""
        return ", ".join(filter(None, (self.authors, self.arxiv and f"arXiv {self.arxiv}")))

    def cite(self, place: str) -> str:
        """Return the source of a statement at a place of the paper, as in ``Theorem 4, p. 13``."""
        parts = (self.authors, place, self.excerpt and f"from {self.excerpt}")
        return ", ".join(filter(None, (*parts, self.arxiv and f"arXiv {self.arxiv}")))

    def claim(
        self,
        place: str,
        *,
        expected: Verdict = HOLDS,
        claimed: Any,
        control: Any,
        control_verdict: Verdict | None = None,
        recheck: Callable[[], str] | None = None,
        assumes: str | tuple[str, ...] = (),
        proof: str | None = None,
        name: str | None = None,
        statement: str | None = None,
    ) -> Callable[[Callable[..., ClaimResult]], Claim]:
        """Declare a claim of this paper on its check; see `Claim` for the parameters.

        Most statements hold, so that is the expected verdict unless told otherwise.
        The name of the check gives the id, and its docstring is the statement; where several
        claims share one check, `name` and `statement` do. A control of a claim that does not stand
        holds unless told otherwise, and that of any other is false.
        """

        def declare(decide: Callable[..., ClaimResult]) -> Claim:
            return Claim(
                id=f"{self.key}/{(name or decide.__name__).replace('_', '-')}",
                source=self.cite(place),
                statement=" ".join((statement or decide.__doc__ or "").split()),
                assumptions=(assumes,) if isinstance(assumes, str) else assumes,
                expected=expected,
                decide=decide,
                claimed=claimed,
                control=control,
                control_verdict=control_verdict or (HOLDS if expected in AGAINST else FALSE),
                recheck=recheck,
                proof=proof,
            )

        return declare


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
