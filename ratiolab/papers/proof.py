"""Proofs that claims point to: texts in the folder ``proofs`` of a paper, or docstrings."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import cleandoc

from ratiolab.papers.paper import outside


@dataclass(frozen=True)
class Proof:
    """A proof that a reader can follow.

    Parameters
    ----------
    title : what it proves, one line.
    place : path of the text inside the package, or name of the module or function whose docstring
        it is.
    text : Markdown without the title.
    is_text : whether it is a text of its own, which pages print in full.
    """

    title: str
    place: str
    text: str
    is_text: bool


@cache
def read_proof(paper: str, name: str) -> Proof:
    """Read a proof of a paper: ``proofs/<name>.md`` in its folder, or a docstring.

    The first line of a text is its title, after ``#``. A name with dots is that of a module or of a
    function in one; ``other/name`` is a text of another paper. Raise ValueError when there is no
    such text or docstring.
    """
    if "." in name:
        module, _, function = name.rpartition(".")
        # a module is imported as a whole; of a function only its module is
        found = getattr(import_module(module), function, None)
        found = import_module(name) if found is None else found
        lines = cleandoc(found.__doc__ or "").split("\n", 1)
        if len(lines) < 2:
            raise ValueError(f"proof {name}: it has no docstring of more than one line")
        return Proof(lines[0].rstrip("."), name, lines[1].strip(), False)
    *other, name = name.split("/")
    paper = other[0] if other else paper
    folder = outside(paper)
    place = f"{folder or f'ratiolab/papers/{paper}'}/proofs/{name}.md"
    source = files(f"ratiolab.papers.{paper}") / "proofs" / f"{name}.md"
    if not source.is_file():
        raise ValueError(f"proof {name}: there is no file {place}")
    title, _, text = source.read_text(encoding="utf-8").partition("\n")
    return Proof(title.removeprefix("#").strip(), place, text.strip(), True)
