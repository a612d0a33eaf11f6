"""Requests as columns of an array, so that the memory of all is expected in one go."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import held

FIRST, PROMPT, BOUND, CAP, ROW = range(5)
"""Columns: the round in which a request had or would have had no token; its prompt; the age that it
is known to outlive, as far as survival curves have been told; the age at which it is killed; where
the row of its survival curve begins."""


class Columns:
    """The running requests; who ends makes room for the last one.

    Attributes
    ----------
    tokens : tokens of all at time t: tokens + number of requests * t.
    """

    def __init__(self) -> None:
        self.tokens = 0
        self._table: NDArray[np.int64] = np.empty((5, 64), dtype=np.int64)
        self._place: dict[int, int] = {}
        self._requests: list[int] = []

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, request: int) -> bool:
        return request in self._place

    @property
    def requests(self) -> Iterable[int]:
        """The running requests, in no order."""
        return self._requests

    def add(self, request: int, *facts: int) -> None:
        """Add a request that starts; the facts are its columns."""
        place = len(self._requests)
        if place == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.empty_like(self._table)], axis=1)
        self._table[:, place] = facts
        self.tokens += held(facts[PROMPT], -facts[FIRST])
        self._place[request] = place
        self._requests.append(request)

    def remove(self, request: int) -> list[int]:
        """Remove a request and return its columns."""
        place = self._place.pop(request)
        facts: list[int] = self._table[:, place].tolist()
        self.tokens -= held(facts[PROMPT], -facts[FIRST])
        last = self._requests.pop()
        if last != request:
            self._table[:, place] = self._table[:, len(self._requests)]
            self._place[last] = place
            self._requests[place] = last
        return facts

    @property
    def all(self) -> NDArray[np.int64]:
        """All columns, as a view of shape (5, requests)."""
        return self._table[:, : len(self._requests)]


def expected_tokens(logs: Any, facts: Any, now: Any, ahead: Any) -> Any:
    """Return the tokens that requests are expected to hold, shape (requests, rounds ahead).

    Parameters
    ----------
    logs : logarithms of the shares that outlive each age, rows of survival curves one behind the
        other.
    facts : columns of the requests, shape (5, requests).
    now, ahead : present rounds, and rounds after them; arrays of the same length, or numbers.
    """
    first, prompt, bound, cap, row = facts[:, :, None]
    age = now - first
    then = age + ahead
    known = np.maximum(bound, age)
    outlived = row + known
    # the curve has no ages beyond the caps, where nothing counts anyway
    before = np.maximum(row + np.minimum(then, cap) - 1, outlived)
    alive = np.exp(logs.take(before) - logs.take(outlived))
    return np.where(then <= cap, alive * (prompt + then), 0.0)
