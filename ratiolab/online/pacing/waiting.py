"""A queue of requests with keys that may all change at once."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np


class Entry(NamedTuple):
    """A request that waits; the least entry goes first.

    Parameters
    ----------
    key, tie, request : its place in the queue.
    kind, prompt, bound, kept : the number of its kind; its prompt; the age
        that it is known to outlive; the tokens that it would start with.
    cap : age at which its run would be killed.
    """

    key: float
    tie: float
    request: int
    kind: int
    prompt: int
    bound: int
    kept: int
    cap: int


Replan: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]
"""From the keys of entries and their whole numbers, shape (6, entries), to new keys and caps."""


class Waiting:
    """The queue: a heap beside the entries whose keys changed together, which are sorted arrays."""

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._keys: Any = np.empty((2, 0))  # key and tie
        self._facts: Any = np.empty((6, 0), dtype=np.int64)  # the other parts of entries
        self._next: Entry | None = None  # the first of the sorted ones
        self._place = 0

    def __bool__(self) -> bool:
        return self._next is not None or bool(self._heap)

    @property
    def first(self) -> Entry:
        """The entry that goes first."""
        if self._next is None or (self._heap and self._heap[0] < self._next):
            return self._heap[0]
        return self._next

    def push(self, entry: Entry) -> None:
        """Add an entry."""
        heappush(self._heap, entry)

    def pop(self) -> Entry:
        """Take out the entry that goes first."""
        entry = self._next
        if entry is None or (self._heap and self._heap[0] < entry):
            return heappop(self._heap)
        self._place += 1
        self._look()
        return entry

    def change(self, replan: Replan) -> None:
        """Give all entries new keys and caps."""
        pushed = np.array([entry[:2] for entry in self._heap]).reshape(-1, 2).T
        facts = np.array([entry[2:] for entry in self._heap], dtype=np.int64).reshape(-1, 6).T
        keys = np.concatenate([self._keys[:, self._place :], pushed], axis=1)
        facts = np.concatenate([self._facts[:, self._place :], facts], axis=1)
        keys[0], facts[-1] = replan(keys[0], facts)
        order = np.lexsort((facts[0], keys[1], keys[0]))
        self._keys, self._facts, self._place = keys[:, order], facts[:, order], 0
        self._heap = []
        self._look()

    def _look(self) -> None:
        self._next = None
        if self._place < self._keys.shape[1]:
            keys, facts = self._keys[:, self._place].tolist(), self._facts[:, self._place].tolist()
            self._next = Entry(*keys, *facts)
