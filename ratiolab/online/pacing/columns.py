"""Requests as columns of a table, so that the memory of all is expected in one go."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import held
from ratiolab.online.pacing.kernels import FIRST, PROMPT


class Columns:
    """The running requests; who ends makes room for the last one.

    Attributes
    ----------
    tokens : tokens of all at time t: tokens + number of requests * t.
    table : the requests, in the first columns; its rows are those of `pacing.kernels`.
    """

    def __init__(self) -> None:
        self.tokens = 0
        self.table: NDArray[np.int64] = np.empty((5, 64), dtype=np.int64)
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
        if place == self.table.shape[1]:
            self.table = np.concatenate([self.table, np.empty_like(self.table)], axis=1)
        for row, fact in enumerate(facts):
            self.table[row, place] = fact
        self.tokens += held(facts[PROMPT], -facts[FIRST])
        self._place[request] = place
        self._requests.append(request)

    def remove(self, request: int) -> list[int]:
        """Remove a request and return its columns."""
        place = self._place.pop(request)
        facts: list[int] = self.table[:, place].tolist()
        self.tokens -= held(facts[PROMPT], -facts[FIRST])
        last = self._requests.pop()
        if last != request:
            self.table[:, place] = self.table[:, len(self._requests)]
            self._place[last] = place
            self._requests[place] = last
        return facts
