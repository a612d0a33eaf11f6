"""Semantics of preemption: what an eviction costs, in one place.

A new semantics is a name of `Preemption` and an entry of `EVICTIONS`. The account of a run
(`ratiolab.online.account`), schedules, bounds, reports and checkers of certificates ask the entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ratiolab.model.instance import shown

Preemption: TypeAlias = Literal["restart", "recompute", "swap", "pause"]
"""Cost of an eviction: every token (``restart``); none, but the cache is built again from
prompt and tokens when the request resumes (``recompute``); none, and the cache goes to the host
and back (``swap``); nothing while memory lasts (``pause``): the request only stops, its cache stays
until others need the memory, and from then on it is a request evicted under ``recompute``. The
last three allow the same runs; a clock tells them apart, and the memory that is in use."""


@dataclass(frozen=True)
class Eviction:
    """Effect of an eviction on tokens, cache and memory.

    Parameters
    ----------
    keeps_tokens : whether the request keeps the tokens that it has made.
    refills : whether its cache may have to be built again from prompt and kept tokens.
    moves : whether its cache goes to the host and back.
    stays : whether its cache stays in memory until the next batch needs the room.
    in_chunks : whether a policy may limit the tokens of a batch.
    rule : description in one line.
    mark : the end of the run in a picture of a schedule.
    """

    rule: str
    mark: str
    keeps_tokens: bool = True
    refills: bool = False
    moves: bool = False
    stays: bool = False
    in_chunks: bool = False


EVICTIONS: Mapping[Preemption, Eviction] = {
    "restart": Eviction(
        "an evicted request loses its tokens and starts again",
        "runs, then evicted: its tokens are lost",
        keeps_tokens=False,
        in_chunks=True,
    ),
    "recompute": Eviction(
        "an evicted request keeps its tokens and fills its cache again",
        "runs, then evicted: its cache is built again",
        refills=True,
        in_chunks=True,
    ),
    "swap": Eviction(
        "the cache of an evicted request is moved to the host and back",
        "runs, then evicted to the host",
        moves=True,
    ),
    "pause": Eviction(
        "the cache of an evicted request stays until others need the memory",
        "runs, then paused",
        refills=True,
        stays=True,
    ),
}
"""Every semantics by its name."""


def require_preemption(preemption: object) -> None:
    """Raise ValueError unless these are semantics of preemption that the model knows."""
    if preemption not in tuple(EVICTIONS):
        known = ", ".join(EVICTIONS)
        raise ValueError(f"preemption {shown(preemption)} must be one of {known}")
