"""Believed memory of the running requests, and when another one fits under it."""

from bisect import bisect_left, bisect_right, insort

import numpy as np

from ratiolab.model.footprint import held, peak
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
        self._ahead: list[tuple[int, int, int]] = []  # (end, request, constant), sorted, end > now
        self._stale = False
        self._ends: list[int] = []
        self._room: list[int] = []  # P_j
        self._beyond: list[int] = [0]  # constants of the requests that end at e_j or later

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, request: int) -> bool:
        return request in self._entries

    def add(self, request: int, prompt: int, start: int, length: int) -> None:
        """Start a request that is believed to run for `length` rounds."""
        constant = held(prompt, -start)
        self._entries[request] = (start + length, constant)
        self._constant += constant
        insort(self._ahead, (start + length, request, constant))
        self._stale = True

    def remove(self, request: int) -> None:
        """Remove a request from memory: it completed or was evicted."""
        end, constant = self._entries.pop(request)
        self._constant -= constant
        place = bisect_left(self._ahead, (end, request, constant))
        if place < len(self._ahead) and self._ahead[place][1] == request:
            del self._ahead[place]
            self._stale = True

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
        ends, count = self._ends, len(self._ends)
        horizon = ends[0] if ends else NEVER
        start = now
        while start < horizon:
            if self.tokens_next(start) + held(prompt, 1) > self.memory:
                return NEVER  # every running request still grows
            finish = start + length
            active = bisect_left(ends, finish)
            tokens = self._beyond[active] + (count - active) * finish
            # at a fixed time t a later start k holds k' - k fewer tokens: solve s + t - k <= room
            needed = held(prompt, finish) + tokens - self.memory
            inside = bisect_right(ends, finish, active)
            if inside:
                needed = max(needed, prompt - self._room[inside - 1])
            if needed <= start:
                return start
            start = needed
        return horizon

    def fits(self, prompt: int, length: int, now: int) -> bool:
        """Return whether a request that starts now fits."""
        return self.earliest(prompt, length, now) == now

    def _advance(self, now: int) -> None:
        """Forget the ends that have passed: their requests finished or outlived the belief."""
        passed = bisect_right(self._ahead, now, key=lambda entry: entry[0])
        if passed:
            del self._ahead[:passed]
            self._stale = True

    def _refresh(self) -> None:
        table = np.array(self._ahead, dtype=np.int64).reshape(-1, 3)
        ends = table[:, 0]
        beyond = np.cumsum(table[::-1, 2])[::-1]
        active = np.arange(len(ends), 0, -1)
        room = self.memory - (beyond + active * ends) - ends
        self._room = np.minimum.accumulate(room).tolist()
        self._ends = ends.tolist()
        self._beyond = [*beyond.tolist(), 0]
        self._stale = False
