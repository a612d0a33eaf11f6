"""Sums over small sets of requests on the one server of Figure 1."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, TypeAlias

from ratiolab.papers.gogineni2024.round_robin import serve

Measure: TypeAlias = Literal["ttft", "completion"]

WORDS: dict[Measure, str] = {"ttft": "first token", "completion": "completion"}
ONE_SERVER = (
    "one server, one token per round, all requests present at time 0, exact lengths, no cost of "
    "switching: the setting of Figure 1"
)


def small(budget_is_slow: bool) -> Iterator[tuple[int, ...]]:
    """Yield all sets of up to four requests of up to five tokens; five of six when slow."""
    most, longest = (5, 6) if budget_is_slow else (4, 5)
    for n in range(1, most + 1):
        yield from product(range(1, longest + 1), repeat=n)


def total(
    measure: Measure, lengths: Sequence[int], *, shortest_first: bool, quantum: int | None
) -> int:
    """Sum of first tokens or completions."""
    service = serve(lengths, shortest_first=shortest_first, quantum=quantum)
    return sum(getattr(service, measure))
