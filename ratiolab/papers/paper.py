"""The papers: one folder each, found by what it holds.

A folder ``ratiolab/papers/KEY`` declares ``PAPER`` in its ``__init__``. What else it may hold is
found by name, so that a new paper touches no file outside its own folder:

- ``claims.py``, or ``claims/STATEMENT.py`` for many, declares claims with ``@PAPER.claim`` on the
  functions that check them;
- ``experiments/NAME.md`` is the template of a page, with the study ``NAME.toml`` and the module
  ``NAME.py``, whose function ``page`` fills it, beside it;
- ``tasks.py`` holds ``TASKS``: what the cells of its studies compute beyond the library's tasks.

Modules whose name begins with an underscore are helpers and are not searched.
"""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ratiolab.model.files import PathLike
from ratiolab.papers.claim import AGAINST, FALSE, HOLDS, Claim, ClaimResult, Verdict, read
from ratiolab.studies.tasks import register

PACKAGE = "ratiolab.papers"


@dataclass(frozen=True)
class Paper:
    """A paper whose statements and experiments are checked here.

    Parameters
    ----------
    key : name of the folder, and the first part of the id of every claim.
    authors : authors with the year, as in ``Jaillet et al. (2025)``.
    order : place of the paper on pages about all papers.
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
        place: str = "",
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

        The name of the check gives the id, and its docstring is the statement with its fields:
        ``Source:`` the place in the paper, ``Verdict:`` the expected one unless the statement
        holds, ``Assumes:`` an assumption, ``Proof:`` where the proof stands, and ``Evidence:`` what
        a referee should know beside it. The parameters of these names are for claims that share
        them, as `name` and `statement` are for claims that share one check. A control of a claim
        that does not stand holds unless told otherwise, and that of any other is false.
        """

        def declare(decide: Callable[..., ClaimResult]) -> Claim:
            text, fields = read(statement or decide.__doc__ or "")
            (source,) = fields.get("Source", [place])
            verdict = Verdict(*fields.get("Verdict", [expected]))
            shared = (assumes,) if isinstance(assumes, str) else assumes
            return Claim(
                id=f"{self.key}/{(name or decide.__name__).replace('_', '-')}",
                source=self.cite(source),
                statement=text,
                assumptions=(*shared, *fields.get("Assumes", [])),
                expected=verdict,
                decide=decide,
                claimed=claimed,
                control=control,
                control_verdict=control_verdict or (HOLDS if verdict in AGAINST else FALSE),
                recheck=recheck,
                proof=next(iter(fields.get("Proof", [])), proof),
                evidence=" ".join(fields.get("Evidence", [])),
            )

        return declare


_outside: dict[str, Path] = {}
"""Folders of papers outside the package, by key."""


@cache
def papers() -> dict[str, Paper]:
    """Return every paper by its key, in the order of pages."""
    own = pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__)
    names = dict.fromkeys([*(module.name for module in own if module.ispkg), *_outside])
    found = [importlib.import_module(f"{PACKAGE}.{name}").PAPER for name in names]
    return {paper.key: paper for paper in sorted(found, key=lambda paper: paper.order)}


def load_paper(path: PathLike) -> Paper:
    """Load the paper of a folder outside the package, as ``ratiolab.papers.KEY``; its files run."""
    folder = Path(path).resolve()
    key, begin = folder.name, folder / "__init__.py"
    if not begin.is_file():
        raise ValueError(f"{path}: is no paper; {key}/__init__.py must declare PAPER")
    if not key.isidentifier():
        raise ValueError(f"{path}: the folder is the key of the paper, and must be a Python name")
    if _outside.get(key) != folder and (key in papers() or f"{PACKAGE}.{key}" in sys.modules):
        raise ValueError(f"{path}: the key {key} is taken: give the folder another name")
    name = f"{PACKAGE}.{key}"
    for loaded in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
        del sys.modules[loaded]
    spec = importlib.util.spec_from_file_location(
        name, begin, submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    _outside[key] = folder
    try:
        spec.loader.exec_module(module)
        paper = getattr(module, "PAPER", None)
        if not isinstance(paper, Paper) or paper.key != key:
            raise ValueError(f"{begin}: PAPER must be a Paper with the key {key!r}")
        list(modules(key, "claims"))
    except BaseException as error:
        del sys.modules[name], _outside[key]
        if isinstance(error, KeyboardInterrupt) or type(error) is ValueError:
            raise
        raise ValueError(told(error, folder)) from None
    papers.cache_clear()
    return paper


def told(error: BaseException, folder: Path) -> str:
    """Return an error in one line, with the last file and line of a folder that it came through."""
    place = f"{folder}"
    if isinstance(error, SyntaxError):
        place = f"{error.filename}, line {error.lineno}"
        return f"{place}: {type(error).__name__}: {error.msg}"
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if Path(file).is_relative_to(folder):
            place = f"{file}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return f"{place}: {type(error).__name__}: {error}"


def outside(key: str) -> Path | None:
    """Return the folder of a paper outside the package; None for the others."""
    return _outside.get(key)


def modules(paper: str, folder: str) -> Iterator[ModuleType]:
    """Import the modules of a folder of a paper, sorted by name; or the one module of this name."""
    name = f"{PACKAGE}.{paper}.{folder}"
    if importlib.util.find_spec(name) is None:
        return
    found = importlib.import_module(name)
    if not hasattr(found, "__path__"):
        yield found
        return
    for module in pkgutil.iter_modules(found.__path__):
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
