"""Runs to caps, one start after the other at the pace that memory is expected to allow.

The queue is ordered by a key of each request; a subclass says which key and which cap. A request
runs until its cap; then it is killed and returns with the next one. A request starts when its turn
has come, each start delaying the next by the volume that it is expected to take over M; and when
the memory that all running requests are expected to hold leaves room for it, now and at rounds
ahead. When nothing runs, it starts at once. Should memory overflow, the requests that ran least
return to the queue with the caps that they had.

The rule looks at every round. Rounds in which it could do nothing are skipped: before the next turn
has come; while the next round has no room, which only an end or a kill can change; and, while the
curves stay as they are, rounds for which it is seen ahead that memory further on has none.
"""

from abc import ABC, abstractmethod
from heapq import heappop, heappush
from math import floor
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ratiolab.model.footprint import held, volume
from ratiolab.online.pacing.columns import Columns
from ratiolab.online.pacing.kernels import BOUND, CLOSE, FIRST, number_fitting, tokens_ahead
from ratiolab.online.pacing.survival import HORIZONS, Survival, horizons
from ratiolab.online.pacing.waiting import Entry, Waiting
from ratiolab.online.policy import Setting
from ratiolab.online.view import NEVER, Decision, View

BLOCK = 64
"""Requests whose start is weighed together."""

FORESIGHT = 32
"""Rounds that are looked at together for the first in which the next request may fit."""


class PacedRun(ABC):
    """One run of a policy that paces its starts by a learned survival curve.

    Parameters
    ----------
    setting : memory, and whether evicted requests keep their tokens.
    pace : part of the expected volume by which a start delays the next, in (0, 1].
    margin : share of memory that expectations leave free, in [0, 1).
    kinds : number of kinds of requests.

    Attributes
    ----------
    curves : survival curves of the lengths seen so far, by kind of request.
    kind : of each request, counted from 0.
    bound : age that each request that waits is known to outlive.
    cap : age at which it is to be killed, if it runs; more than its bound.
    key : its place in the queue; the least goes first, equal ones in random order.
    kept : tokens that it would start with.
    """

    moving: ClassVar[bool] = False
    """Whether all survival curves are brought up to date whenever starts are weighed."""

    def __init__(
        self, setting: Setting, pace: float, margin: float, rng: Generator, kinds: int = 1
    ) -> None:
        self._memory, self._keeps, self.rng = setting.memory, setting.keeps, rng
        self._pace = pace
        # what may be expected, one round ahead and later; the first round ahead is the next one
        self._limit = np.full(HORIZONS + 3, (1 - margin) * self._memory)
        self._limit[0] = self._memory
        self._logs = np.zeros((kinds, setting.memory + 2))
        self.curves: dict[int, Survival] = {}
        self.kind: dict[int, int] = {}
        self.bound: dict[int, int] = {}
        self.cap: dict[int, int] = {}
        self.key: dict[int, float] = {}
        self.kept: dict[int, int] = {}
        self._tie: dict[int, float] = {}
        self.queue = Waiting()
        self._columns = Columns()
        self._turn: dict[int, int] = {}  # of the last start, counted from 0
        self._starts = 0
        self._kills: list[tuple[int, int, int]] = []  # round, turn, request; some have ended
        self._clock = 0.0

    @abstractmethod
    def learned(self, view: View) -> None:
        """Take note of what has ended and arrived, before what has arrived enters."""

    def next_learning(self) -> int:
        """Return the round in which `learned` is to be called next, if requests run."""
        return NEVER

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
        for i in view.completed:
            self._leave(view, i)
        for i in view.arrived:
            self.bound[i], self.kept[i] = view.lower[i] - 1, 0
            kind = self.kind[i] = self.kind_of(view.prompt[i])
            if kind not in self.curves:
                self.curves[kind] = Survival(self._memory, self._logs[kind])
        self.learned(view)
        for i in view.arrived:
            self.enter(view, i)
            self._tie[i] = float(self.rng.random())
            self.enqueue(view, i)
        evicted = self._at_their_caps(view)
        evicted += self._overflowing(view)
        admitted, wake = self._admit(view)
        if self._columns:
            wake = min(wake, self._next_kill(), max(self.next_learning(), view.now + 1))
        return Decision(admitted, evicted, wake=wake)

    def observe(self, kind: int, now: int) -> Survival:
        """Enter how far those of a kind that run have come; returns its survival curve."""
        curve = self.curves[kind]
        curve.saw_running(self._columns.table, len(self._columns), self._row(kind), now)
        return curve

    def enqueue(self, view: View, i: int) -> None:
        """Let a request wait with the key that it has."""
        known = self.kind[i], view.prompt[i], self.bound[i], self.kept[i], self.cap[i]
        self.queue.push(Entry(self.key[i], self._tie[i], i, *known))

    def _row(self, kind: int) -> int:
        return kind * self._logs.shape[1]

    def _start(self, entry: Entry, now: int) -> None:
        _, _, i, _, _, _, kept, cap = entry
        self.cap[i], self.key[i] = cap, entry.key
        self._turn[i] = self._starts
        heappush(self._kills, (now - kept + cap, self._starts, i))
        self._starts += 1

    def _leave(self, view: View, i: int) -> None:
        """Take a request out of memory, and enter what its run has shown."""
        first, _, known, *_ = self._columns.remove(i)
        ended = i in view.output
        age = view.output[i] if ended else view.now - first
        self.curve(i).saw(known, age, ended)
        self.bound[i] = max(known, age)
        if self._keeps:
            self.kept[i] = age

    def _next_kill(self) -> int:
        """Return the round in which a running request reaches its cap next."""
        while self._kills:
            due, turn, i = self._kills[0]
            if i in self._columns and self._turn[i] == turn:
                return due
            heappop(self._kills)
        return NEVER

    def _at_their_caps(self, view: View) -> list[int]:
        due = []
        while self._next_kill() <= view.now:
            due.append(heappop(self._kills)[1:])
        killed = [i for _, i in sorted(due)]
        for i in killed:
            self._leave(view, i)
            self.reached(view, i)
            self.enqueue(view, i)
        return killed

    def _overflowing(self, view: View) -> list[int]:
        """Take out the youngest until the others fit in the next round."""
        out = list[int]()
        if self._room(view.now) >= 0:
            return out
        first = self._columns.table[FIRST].tolist()  # of those who run, and beyond
        for _, i in sorted(zip(first, self._columns.requests, strict=False), reverse=True):
            if self._room(view.now) >= 0:
                break
            self._leave(view, i)
            self.enqueue(view, i)
            out.append(i)
        return out

    def _room(self, now: int) -> int:
        """Return the tokens that the running requests leave in the next round."""
        return self._memory - self._columns.tokens - len(self._columns) * (now + 1)

    def _admit(self, view: View) -> tuple[list[int], int]:
        """Return the requests to start, and the next round to look without an arrival or end."""
        admitted, queue = list[int](), self.queue
        if not queue:
            return admitted, NEVER
        now, running = view.now, len(self._columns) > 0
        # where nothing runs, what was expected to fill memory has ended early
        self._clock = max(self._clock, float(now)) if running else float(now)
        if running and (again := self._earliest(now, now)) > now:
            return admitted, again
        for kind in self.curves if self.moving else ():
            self.observe(kind, now).learn()
        ahead = horizons(queue.first.cap)
        limit = self._limit[: len(ahead)]
        room, columns = limit.copy(), self._columns
        while queue:
            # those who run are weighed along with the first block
            block, steps, clock, before = list[Entry](), list[float](), self._clock, len(columns)
            while queue and len(block) < BLOCK and clock < now + 1 - CLOSE:
                entry = queue.pop()
                block.append(entry)
                steps.append(self._step(entry))
                clock += steps[-1]
                _, _, i, kind, prompt, bound, kept, cap = entry
                columns.add(i, now - kept, prompt, bound, cap, self._row(kind))
            if not block:
                break
            begin = before if admitted else 0
            needed = self._expected(begin, now, ahead, now + int(ahead[-1]))
            number = number_fitting(needed, before - begin, room)
            if number == 0 and not running and not admitted:
                number = 1
            for entry in reversed(block[number:]):
                columns.remove(entry.request)
                queue.push(entry)
            for entry, step in zip(block[:number], steps, strict=False):
                self._clock += step
                self._start(entry, now)
                admitted.append(entry.request)
            if number < BLOCK:
                break
            room -= needed[before - begin :].cumsum(axis=0)[-1]
        if admitted or self.moving:
            return admitted, self._earliest(now, now + 1)
        first = needed[len(columns)]
        worst = int((first - room).argmax())
        return admitted, self._foreseen(now, int(ahead[worst]), limit[worst] - first[worst])

    def _earliest(self, now: int, after: int) -> int:
        """Return the first round that may start a request, not before `after`; now or later."""
        if not self.queue:
            return NEVER
        first = self.queue.first
        if self._room(now) < held(first.prompt + first.kept, 1):
            return NEVER  # until then everybody grows
        turn = max(after, floor(self._clock) - 1)
        while not self._clock < turn + 1 - CLOSE:
            turn += 1
        return turn

    def _expected(self, begin: int, now: int, ahead: Any, until: int, step: int = 0) -> Any:
        """Return the tokens that requests are expected to hold, shape (requests, rounds ahead).

        Parameters
        ----------
        begin : the first column of a request that counts.
        until : the last of these rounds; `kernels.tokens_ahead` has the others.
        """
        table, number = self._columns.table, len(self._columns)
        most = max(
            until - int(table[FIRST, begin:number].min()), int(table[BOUND, begin:number].max())
        )
        for curve in self.curves.values():
            if curve.right < most:
                curve.reach(most)
        alive, tokens = np.empty((2, number - begin, len(ahead)))
        tokens_ahead(table, begin, now, step, ahead, self._logs.ravel(), alive, tokens)
        np.exp(alive, alive)
        alive *= tokens
        return alive

    def _foreseen(self, now: int, ahead: int, room: float) -> int:
        """Return the first of the next rounds in which all leave room at a round ahead of it.

        Returns the round after the searched ones if there is none.
        """
        last = min(now + FORESIGHT, self._next_kill())
        later = np.full(last - now, ahead)
        needed = self._expected(0, now + 1, later, last + ahead, 1)
        fits = needed.sum(axis=0) <= room + CLOSE
        return now + 1 + int(fits.argmax()) if fits.any() else last + 1

    def _step(self, entry: Entry) -> float:
        if entry.key <= 0:
            return 0.0
        curve = self.curves[entry.kind]
        tokens = curve.expected_volume(entry.prompt, entry.bound, entry.cap)
        return float(self._pace * (tokens - volume(entry.prompt, entry.kept)) / self._memory)
