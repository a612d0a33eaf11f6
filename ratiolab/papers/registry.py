"""All claims of all papers: find, choose and check them.

A module of a paper's folder ``claims`` holds ``CLAIM``, or ``CLAIMS`` for several related ones, as
for a statement that is true of a model and false of the printed algorithm.
"""

import re
import time
from collections.abc import Callable, Sequence
from functools import cache

from ratiolab.papers.claim import Budget, Claim, ClaimReport
from ratiolab.papers.paper import modules, papers


@cache
def all_claims() -> tuple[Claim, ...]:
    """Return every claim, by paper and then in natural order of the id."""
    found: list[Claim] = []
    for paper in papers():
        for module in modules(paper, "claims"):
            found += getattr(module, "CLAIMS", ()) or (module.CLAIM,)
    keys = list(papers())
    return tuple(sorted(found, key=lambda claim: (keys.index(claim.paper), _natural(claim.id))))


def select(paper: str | None = None, ids: Sequence[str] = (), slow: bool = False) -> list[Claim]:
    """The claims of a paper, or of some ids; slow ones only when asked for or named.

    Raises
    ------
    ValueError
        for an unknown paper or id.
    """
    if paper is not None and paper not in papers():
        raise ValueError(f"paper {paper!r} is unknown; known are {', '.join(papers())}")
    known = {claim.id: claim for claim in all_claims()}
    for id_ in ids:
        if id_ not in known:
            raise ValueError(f"claim {id_!r} is unknown; `ratiolab claims --list` shows all")
    if ids:
        return [known[id_] for id_ in ids]
    chosen = [claim for claim in known.values() if paper in (None, claim.paper)]
    return [claim for claim in chosen if slow or not claim.slow]


def run_claims(
    claims: Sequence[Claim],
    budget: Budget | None = None,
    advance: Callable[[ClaimReport], None] | None = None,
) -> list[ClaimReport]:
    """Check claims one after the other, telling `advance` of each as it is done."""
    reports = []
    for claim in claims:
        began = time.perf_counter()
        result = claim.check(claim.claimed, budget or Budget())
        reports.append(ClaimReport(claim, result, time.perf_counter() - began))
        if advance is not None:
            advance(reports[-1])
    return reports


def _natural(id_: str) -> tuple[tuple[int, str], ...]:
    parts = re.findall(r"\d+|\D+", id_)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)
