"""Semantics of preemption: what an eviction costs, in one place.

A new semantics is a name of `ratiolab.model.run.Preemption` and an entry of `EVICTIONS`. The
account of a run (`ratiolab.online.account`), schedules, bounds and reports ask the entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ratiolab.model.run import Preemption


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
    rule : one line for people.
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
