"""Geometric slices with staggered starts: restarts bound what an unknown length can cost."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model import Preemption, volume
from ratiolab.online.forecast import Forecast
from ratiolab.online.policies.kill_restart import whole_caps
from ratiolab.online.policies.prefix import Timers
from ratiolab.online.policy import RESTARTING, Decide, Growth, Policy, Setting
from ratiolab.online.view import NEVER, Decision, Information, View


@dataclass(frozen=True)
class GSA(Policy):
    """Phases of slices 1, b, b**2, ...: a request that outlives its slice is killed and returns.

    In phase k a request may run for b**k rounds, rounded down and at most M - s. Starts are
    staggered (`slot`), so that the requests of a phase have evenly spread ages and not one common
    peak. When its start is due, a request waits until the prospective check allows it with slices
    in place of outputs: memory never overflows. The queue is ordered by phase, then by arrival; a
    phase starts while the last requests of the one before still run, and late arrivals go first.

    This is the natural reading of the paper's abstract, which serves a backlog at round 0; its
    constants are not claimed for it. ``kill-restart`` grants peaks at once instead of staggering,
    starts at a lower bound, and grows its caps by memory and time together.

    Parameters
    ----------
    base : growth b > 1 of the slices.
    """

    base: Growth = 2.0

    name: ClassVar[str] = "gsa"
    source: ClassVar[str] = "after Feng, Yang, Zhang (2026), arXiv 2601.22996v1"
    semantics: ClassVar[tuple[Preemption, ...]] = RESTARTING

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return GSARun(setting.memory, self.base)


@dataclass(frozen=True)
class GBA(GSA):
    """The phases of ``gsa``, each serving the requests that end in its slice: none is killed.

    A request of output o is of the first phase whose slice is at least o. The batches of the
    phases follow one another, shorter outputs first, equals by arrival; a request starts when its
    staggered start is due and the prospective check, with slices in place of outputs, allows it.

    The paper's abstract calls it the clairvoyant counterpart of its algorithm, from the same
    framework, and gives no more. This is the natural reading of that; its constants are not
    claimed for it.
    """

    name: ClassVar[str] = "gba"
    source: ClassVar[str] = "after Feng, Yang, Zhang (2026), arXiv 2601.22996v1"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return GSARun(setting.memory, self.base, length=lambda view, i: view.output[i])


def slot(prompt: int, allowed: int, memory: int) -> int:
    """Return how long the next start waits after this one, in rounds times memory, rounded up.

    Requests with a slice of c rounds that start d rounds apart have ages c, c - d, ... and hold up
    to s + s c/d + c/2 + c c/(2d) tokens: M for d = c (2s + c) / (2M - 2s - c). When several start
    in a round, s c + c (c + 1)/2 over M is larger and counts. After c rounds none is left.

    >>> [slot(0, 64, 96), slot(0, 2, 300), slot(3, 1, 4)]  # 32 rounds, 1/100 and 1 round
    [3072, 3, 4]
    """
    spread = -(-memory * allowed * (2 * prompt + allowed) // (2 * memory - 2 * prompt - allowed))
    return min(max(spread, volume(prompt, allowed)), allowed * memory)


class GSARun:
    """One run of ``gsa``.

    Parameters
    ----------
    memory, base : tokens, and growth of the slices.
    length : output of a request, if known: it starts in the first phase in which it can end.
    """

    def __init__(
        self, memory: int, base: float, length: Callable[[View, int], int] = lambda view, i: 1
    ) -> None:
        self._memory, self._length = memory, length
        self._forecast = Forecast(memory)
        self._following = whole_caps(base, 1)
        self._slices: list[int] = []
        self._phase: dict[int, int] = {}
        self._queue: list[tuple[int, int, int]] = []  # (phase, arrival, request)
        self._kills = Timers()
        self._clock = 0  # when the next start is due, in rounds times memory

    def __call__(self, view: View) -> Decision:
        for i in view.completed:
            self._forecast.remove(i)
        for i in view.arrived:
            self._enqueue(view, i, self._first(self._length(view, i)))
        killed = self._kills.pop(view)
        for i in killed:
            self._forecast.remove(i)
            self._enqueue(view, i, self._phase[i] + 1)
        admitted, again = self._admit(view)
        return Decision(admitted, killed, wake=min(again, self._kills.next))

    def _admit(self, view: View) -> tuple[list[int], int]:
        admitted: list[int] = []
        while self._queue:
            if self._clock // self._memory > view.now:
                return admitted, self._clock // self._memory
            phase, _, i = self._queue[0]
            prompt = view.prompt[i]
            allowed = min(self._slices[phase], self._memory - prompt)
            again = self._forecast.earliest(prompt, allowed, view.now)
            if again > view.now:
                return admitted, again
            heappop(self._queue)
            due = max(self._clock, view.now * self._memory)
            self._clock = due + slot(prompt, allowed, self._memory)
            self._forecast.add(i, prompt, view.now, allowed)
            self._kills.push(view.now + allowed, i, view.now)
            admitted.append(i)
        return admitted, NEVER

    def _first(self, length: int) -> int:
        while not self._slices or self._slices[-1] < length:
            self._slices.append(next(self._following))
        return bisect_left(self._slices, length)

    def _enqueue(self, view: View, i: int, phase: int) -> None:
        while len(self._slices) <= phase:
            self._slices.append(next(self._following))
        self._phase[i] = phase
        heappush(self._queue, (phase, view.arrival[i], i))
