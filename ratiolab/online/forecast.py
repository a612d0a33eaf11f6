"""Believed memory of the running requests, and when another one fits under it."""

import numpy as np

from ratiolab.model.footprint import IntArray, held, peak
from ratiolab.online.view import NEVER


class Forecast:
    """Memory over time if every running request ends when it is believed to.

    A request with prompt s that starts at round k with believed length b fits iff at every time t
    in (k, k + b] the running requests believed active at t leave room for its s + t - k tokens.
    Between believed ends memory only grows, so only the believed ends inside and its own end need
    a look. A running request that has outlived its believed end is taken to end in the next round,
    whenever that is: it counts at t = k + 1 only.

    With e_1 <= e_2 <= ... the ends, U_j the tokens at e_j and P_j the least M - U_i - e_i over
    i <= j, the ends inside ask for s - k <= P_j with j the last of them: one binary search. A
    change costs O(running) in a few vector operations, made when the next question comes.

    Source: Jaillet et al. (2025), (5), arXiv 2502.07115v5; Chen, Ye, Zhou (2025), (3),
    arXiv 2508.14544v2.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self._constant = 0  # tokens of all running requests at time t: constant + running * t
        self._entries: dict[int, tuple[int, int]] = {}  # request -> (believed end, its constant)
        # believed ends beyond now, ascending, and the constants of their requests
        self._ahead: IntArray = np.empty((2, 64), dtype=np.int64)
        self._count = 0
        self._stale = False
        self._room: IntArray = np.empty(0, dtype=np.int64)  # P_j
        self._beyond: IntArray = np.zeros(1, dtype=np.int64)  # constants of e_j and all later ends

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, request: int) -> bool:
        return request in self._entries

    def add(self, request: int, prompt: int, start: int, length: int) -> None:
        """Start a request that is believed to run for `length` rounds."""
        end, constant = start + length, held(prompt, -start)
        self._entries[request] = (end, constant)
        self._constant += constant
        if self._count == self._ahead.shape[1]:
            self._ahead = np.concatenate([self._ahead, np.empty_like(self._ahead)], axis=1)
        place = self._before(end)
        self._ahead[:, place + 1 : self._count + 1] = self._ahead[:, place : self._count]
        self._ahead[:, place] = end, constant
        self._count += 1
        self._stale = True

    def remove(self, request: int) -> None:
        """Remove a request from memory: it completed or was evicted."""
        end, constant = self._entries.pop(request)
        self._constant -= constant
        place = self._before(end)
        while place < self._count and self._ahead[0, place] == end:
            if self._ahead[1, place] == constant:  # one of equals is as good as another
                self._drop(place, place + 1)
                return
            place += 1

    def tokens_next(self, now: int) -> int:
        """Return the tokens that the running requests hold in the next round."""
        return self._constant + len(self._entries) * (now + 1)

    def overflows(self, now: int) -> bool:
        """Return whether the running requests alone exceed the memory in the next round."""
        return self.tokens_next(now) > self.memory

    def earliest(self, prompt: int, length: int, now: int) -> int:
        """Return the first round in which a request fits: now itself, or when to ask again.

        The answer holds while no request starts, ends or is evicted. It is never later than the
        next believed end, where beliefs change, and `NEVER` when only an event can make room, or
        nothing can because the request does not fit alone.
        """
        if peak(prompt, length) > self.memory:
            return NEVER
        self._advance(now)
        if self._stale:
            self._refresh()
        ends, count = self._ahead[0, : self._count], self._count
        horizon = int(ends[0]) if count else NEVER
        start = now
        while start < horizon:
            if self.tokens_next(start) + held(prompt, 1) > self.memory:
                return NEVER  # every running request still grows
            finish = start + length
            active = int(ends.searchsorted(finish))
            tokens = int(self._beyond[active]) + (count - active) * finish
            # at a fixed time t a later start k holds k' - k fewer tokens: solve s + t - k <= room
            needed = held(prompt, finish) + tokens - self.memory
            inside = int(ends.searchsorted(finish, "right"))
            if inside:
                needed = max(needed, prompt - int(self._room[inside - 1]))
            if needed <= start:
                return start
            start = needed
        return horizon

    def fits(self, prompt: int, length: int, now: int) -> bool:
        """Return whether a request that starts now fits."""
        return self.earliest(prompt, length, now) == now

    def _before(self, end: int) -> int:
        """Return how many believed ends are earlier."""
        return int(self._ahead[0, : self._count].searchsorted(end))

    def _advance(self, now: int) -> None:
        """Forget the ends that have passed: their requests finished or outlived the belief."""
        if self._count and self._ahead[0, 0] <= now:
            self._drop(0, self._before(now + 1))

    def _drop(self, begin: int, end: int) -> None:
        """Forget the believed ends at some places."""
        left = self._count - (end - begin)
        self._ahead[:, begin:left] = self._ahead[:, end : self._count]
        self._count, self._stale = left, True

    def _refresh(self) -> None:
        ends, constants = self._ahead[:, : self._count]
        self._beyond = np.zeros(self._count + 1, dtype=np.int64)
        constants[::-1].cumsum(out=self._beyond[-2::-1])
        active = np.arange(self._count, 0, -1)
        room = self.memory - (self._beyond[:-1] + active * ends) - ends
        self._room = np.minimum.accumulate(room)
        self._stale = False
