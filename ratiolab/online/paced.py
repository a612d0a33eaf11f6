"""Runs to caps, one start after the other at the pace that memory is expected to allow.

The queue is ordered by a key of each request; a subclass says which key and which cap. A request
runs until its cap; then it is killed and returns with the next one. A request starts when its turn
has come, each start delaying the next by the volume that it is expected to take over M; and when
the memory that all running requests are expected to hold leaves room for it, now and at rounds
ahead. When nothing runs, it starts at once. Should memory overflow, the requests that ran least
return to the queue with the caps that they had.
"""

from abc import ABC, abstractmethod
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.random import Generator

from ratiolab.model.footprint import held, volume
from ratiolab.online.policy import Setting
from ratiolab.online.survival import Survival, horizons
from ratiolab.online.view import NEVER, Decision, View

BLOCK = 64
"""Requests whose start is weighed together."""

CLOSE = 1e-9
"""Difference of expected tokens, or of rounds, that rounding may make."""


def require_pace(name: str, pace: float, margin: float) -> None:
    """Refuse a pace or a margin that makes no sense; the parameters of `PacedRun`."""
    if not 0 < pace <= 1:
        raise ValueError(f"policy {name}: pace {pace} is not in (0, 1]")
    if not 0 <= margin < 1:
        raise ValueError(f"policy {name}: margin {margin} is not in [0, 1)")


class PacedRun(ABC):
    """One run of a policy that paces its starts by a learned survival curve.

    Parameters
    ----------
    setting : memory, and whether evicted requests keep their tokens.
    pace : part of the expected volume by which a start delays the next, in (0, 1].
    margin : share of memory that expectations leave free, in [0, 1).

    Attributes
    ----------
    curves : survival curves of the lengths seen so far, by kind of request.
    kind : of each request.
    bound : age that each request is known to outlive.
    cap : age at which it is to be killed, if it runs; more than its bound.
    key : its place in the queue; the least goes first, equal ones in random order.
    kept : tokens that it would start with.
    """

    def __init__(self, setting: Setting, pace: float, margin: float, rng: Generator) -> None:
        self._memory, self._keeps, self.rng = setting.memory, setting.keeps, rng
        self._pace, self._margin = pace, margin
        self.curves: dict[int, Survival] = {}
        self.kind: dict[int, int] = {}
        self.bound: dict[int, int] = {}
        self.cap: dict[int, int] = {}
        self.key: dict[int, float] = {}
        self.kept: dict[int, int] = {}
        self._tie: dict[int, float] = {}
        self._queue: list[tuple[float, float, int]] = []  # (key, tie, request)
        # running: the round in which it had or would have had no token, and age when last seen
        self._ages: dict[int, tuple[int, int]] = {}
        self._clock = 0.0

    @abstractmethod
    def learned(self, view: View) -> None:
        """Bring the survival curves up to date, before what has arrived enters."""

    def kind_of(self, prompt: int) -> int:
        """Return the kind of requests with a prompt; all are of one."""
        return 0

    def curve(self, i: int) -> Survival:
        """Return the survival curve for a request."""
        return self.curves[self.kind[i]]

    @abstractmethod
    def enter(self, view: View, i: int) -> None:
        """Set cap and key of a request that has arrived."""

    @abstractmethod
    def reached(self, view: View, i: int) -> None:
        """Set cap and key of a request that has been killed at its cap."""

    def __call__(self, view: View) -> Decision:
        self._learn(view)
        for i in view.arrived:
            self.bound[i], self.kept[i] = view.lower[i] - 1, 0
            self.kind[i] = self.kind_of(view.prompt[i])
            if self.kind[i] not in self.curves:
                self.curves[self.kind[i]] = Survival(self._memory)
        self.learned(view)
        for i in view.arrived:
            self.enter(view, i)
            self._tie[i] = float(self.rng.random())
            self.enqueue(i)
        evicted = self._at_their_caps(view)
        evicted += self._overflowing(view)
        admitted = self._admit(view)
        for i in admitted:
            self._ages[i] = (view.now - self.kept[i], self.kept[i])
        return Decision(admitted, evicted, wake=view.now + 1 if self._ages else NEVER)

    def _learn(self, view: View) -> None:
        ended = set(view.completed)
        for i, (start, seen) in list(self._ages.items()):
            age = view.output[i] if i in ended else view.now - start
            above = max(seen, self.bound[i])
            if age > above:
                self.curve(i).saw(above, age, i in ended)
                self.bound[i] = age
            if i in ended:
                del self._ages[i]
            else:
                self._ages[i] = (start, age)

    def enqueue(self, i: int) -> None:
        """Let a request wait with the key that it has."""
        heappush(self._queue, (self.key[i], self._tie[i], i))

    def take_queue(self) -> list[tuple[float, float, int]]:
        """Empty the queue; the entries are (key, tie, request), in no order."""
        entries, self._queue = self._queue, []
        return entries

    def _leave(self, i: int) -> None:
        """Take a request out of memory."""
        _, age = self._ages.pop(i)
        if self._keeps:
            self.kept[i] = age

    def _at_their_caps(self, view: View) -> list[int]:
        killed = [i for i, (_, age) in self._ages.items() if age >= self.cap[i]]
        for i in killed:
            self._leave(i)
            self.reached(view, i)
            self.enqueue(i)
        return killed

    def _overflowing(self, view: View) -> list[int]:
        """Take out the youngest until the others fit in the next round."""
        tokens = sum(held(view.prompt[i], age + 1) for i, (_, age) in self._ages.items())
        out = []
        for i, (_, age) in sorted(self._ages.items(), key=lambda entry: (entry[1][1], -entry[0])):
            if tokens <= self._memory:
                break
            tokens -= held(view.prompt[i], age + 1)
            self._leave(i)
            self.enqueue(i)
            out.append(i)
        return out

    def _admit(self, view: View) -> list[int]:
        if not self._queue:
            return []
        now = view.now
        ahead = horizons(self.cap[self._queue[0][2]])
        room = np.where(ahead == 1, self._memory, (1 - self._margin) * self._memory)
        if self._ages:
            room = room - self._expected(view, list(self._ages), ahead).sum(0)
            self._clock = max(self._clock, float(now))
        else:  # what was expected to fill memory has ended early
            self._clock = float(now)
        admitted: list[int] = []
        while self._queue:
            block: list[tuple[float, float, int]] = []
            clock = self._clock
            while self._queue and len(block) < BLOCK and clock < now + 1 - CLOSE:
                block.append(heappop(self._queue))
                clock += self._step(view, block[-1][2])
            if not block:
                break
            chosen = [i for _, _, i in block]
            needed = np.cumsum(self._expected(view, chosen, ahead), axis=0)
            fits = (needed <= room + CLOSE).all(axis=1)
            number = len(chosen) if fits.all() else int(fits.argmin())
            if number == 0 and not self._ages and not admitted:
                number = 1
            for entry in block[number:]:
                heappush(self._queue, entry)
            for i in chosen[:number]:
                self._clock += self._step(view, i)
            admitted += chosen[:number]
            if number < len(chosen):
                break
            room = room - needed[-1]
        return admitted

    def _step(self, view: View, i: int) -> float:
        if self.key[i] <= 0:
            return 0.0
        tokens = self.curve(i).expected_volume(view.prompt[i], self.bound[i], self.cap[i])
        return self._pace * (tokens - volume(view.prompt[i], self.kept[i])) / self._memory

    def _expected(self, view: View, requests: list[int], ahead: Any) -> Any:
        """Return the tokens that requests are expected to hold, shape (requests, rounds ahead)."""
        table = np.array(
            [
                (
                    self.kind[i],
                    self._ages[i][1] if i in self._ages else self.kept[i],
                    view.prompt[i],
                    self.bound[i],
                    self.cap[i],
                )
                for i in requests
            ]
        )
        kinds = table[:, 0]
        tokens = np.empty((len(requests), len(ahead)))
        for kind in set(kinds.tolist()):
            rows = kinds == kind
            age, prompt, bound, cap = table[rows, 1:].T
            tokens[rows] = self.curves[kind].expected_memory(age, prompt, bound, cap, ahead)
        return tokens
