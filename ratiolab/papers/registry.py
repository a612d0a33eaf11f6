"""All claims of all papers: find, choose and check them."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from ratiolab.model.files import PathLike
from ratiolab.model.interrupts import heard
from ratiolab.model.names import unknown
from ratiolab.papers.claim import Claim, ClaimReport, ClaimResult, Verdict
from ratiolab.papers.experiment import experiments
from ratiolab.papers.paper import Paper, load_paper, modules, outside, papers, told
from ratiolab.papers.verdict_table import VerdictTable


@cache
def all_claims() -> tuple[Claim, ...]:
    """Return every claim, by paper and then in natural order of the id.

    A module has its claims as values, or several of one shape in a tuple.
    """
    found = [
        claim
        for paper in papers()
        for module in modules(paper, "claims")
        for value in vars(module).values()
        for claim in (value if isinstance(value, tuple) else (value,))
        if isinstance(claim, Claim)
    ]
    keys = list(papers())
    return tuple(sorted(found, key=lambda claim: (keys.index(claim.paper), _natural(claim.id))))


def add_paper(path: PathLike) -> Paper:
    """Add the claims and experiments of a paper outside the package; its files are run.

    Parameters
    ----------
    path : folder of the paper, whose name is the key, with the files of a paper of the package.

    Raises
    ------
    ValueError
        names the folder, or file and line, and what is wrong there.
    """
    paper = load_paper(path)
    all_claims.cache_clear()
    experiments.cache_clear()
    if not select(paper.key):
        raise ValueError(f"{path}: has no claims; {paper.key}/claims.py declares them")
    return paper


def select(paper: str | None = None, ids: Sequence[str] = ()) -> list[Claim]:
    """Return the claims of a paper, or of some ids, or all.

    Raises
    ------
    ValueError
        for an unknown paper or id.
    """
    if paper is not None and paper not in papers():
        message = unknown("paper", paper, papers(), "`ratiolab claims --list`")
        raise ValueError(f"{message}; --path FOLDER adds a paper of your own")
    known = {claim.id: claim for claim in all_claims()}
    for id_ in ids:
        if id_ not in known:
            raise ValueError(_no_claim(id_, known))
    if ids:
        return [known[id_] for id_ in ids]
    return [claim for claim in known.values() if paper in (None, claim.paper)]


def run_controls(claims: Sequence[Claim], slow: bool = False) -> dict[str, Verdict]:
    """Return the verdict on the control of each claim; each must be its ``control_verdict``."""
    return {claim.id: _checked(claim, claim.control, slow).verdict for claim in claims}


def _checked(claim: Claim, variant: object, slow: bool) -> ClaimResult:
    """Check a variant; an error of a paper outside the package is one line."""
    folder = outside(claim.paper)
    try:
        with heard():
            return claim.check(variant, slow)
    except Exception as error:
        if folder is None:
            raise
        raise ValueError(f"claim {claim.id}: {told(error, folder)}") from None


def _no_claim(id_: str, known: Iterable[str]) -> str:
    if id_ in papers():
        return f"claim {id_!r} is the key of a paper: --paper {id_} takes all its claims"
    message = unknown("claim", id_, known, "`ratiolab claims --list`")
    return f"{message}; --path FOLDER adds the claims of a paper of your own"


def run_claims(
    claims: Sequence[Claim],
    slow: bool = False,
    advance: Callable[[ClaimReport], None] | None = None,
) -> VerdictTable:
    """Check claims one after the other, telling `advance` of each as it is done.

    `slow` lets checks search for minutes where they can.
    """
    reports = VerdictTable()
    for claim in claims:
        began = time.perf_counter()
        result = _checked(claim, claim.claimed, slow)
        reports.append(ClaimReport(claim, result, time.perf_counter() - began))
        if advance is not None:
            advance(reports[-1])
    return reports


def _natural(id_: str) -> tuple[tuple[int, str], ...]:
    parts = re.findall(r"\d+|\D+", id_)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)
