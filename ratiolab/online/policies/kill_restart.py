"""Kill and restart: run every request up to a cap, kill it, run it again with a larger cap.

Source: own design; constants proved in `ratiolab.theory.limits.kill_restart`. Feng, Yang, Zhang
(2026), arXiv 2601.22996, prove a constant for a related policy with geometric slices.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import log, sqrt
from typing import ClassVar, Literal

from numpy.random import Generator

from ratiolab.model import Preemption, peak
from ratiolab.online.policies.prefix import Timers
from ratiolab.online.policy import RESTARTING, Decide, Growth, Policy, Setting
from ratiolab.online.view import NEVER, Decision, Information, View

_ROUNDING = 1e-9  # a cap that is a whole number must not be rounded to the one below


@dataclass(frozen=True)
class KillRestart(Policy):
    """Geometrically growing caps: a request that reaches its cap is killed and gets the next one.

    With prompt s and lower bound l the caps c make sqrt(c (s + c)) grow by the factor `base` from
    sqrt(l (s + l)) on; without prompt they are l, l b, l b^2, ..., rounded down. The peak s + c is
    granted at the start, so memory never overflows. The queue is ordered by c (s + c), equals at
    random, and admission stops at the first misfit.

    Parameters
    ----------
    base : growth b > 1 of the caps. The default is next to the best one with a random offset,
        2.2324; without it 1 + sqrt(2)/2 is best for ``refill`` and 3/2 for ``batches``.
    offset : ``random`` (default) draws U uniform on [0, 1) once a run and starts all caps at
        b^U sqrt(l (s + l)); ``none`` starts at the lower bound.
    places : ``refill`` (default) gives the place of a request that ends or is killed to the next
        one; ``batches`` starts the next batch when the last one is gone, which is at its cap
        unless all of it ends before.
    """

    base: Growth = 2.25
    offset: Literal["random", "none"] = "random"
    places: Literal["refill", "batches"] = "refill"

    name: ClassVar[str] = "kill-restart"
    source: ClassVar[str] = (
        "ratiolab.theory.limits.kill_restart; compare Feng et al., arXiv 2601.22996"
    )
    information: ClassVar[Information] = Information.LOWER_BOUND
    semantics: ClassVar[tuple[Preemption, ...]] = RESTARTING
    randomized: ClassVar[bool] = True

    def start(self, setting: Setting, rng: Generator) -> Decide:
        shift = float(rng.random()) if self.offset == "random" else 0.0
        return _Run(self, setting, shift)


def whole_caps(base: float, lower: int, prompt: int = 0, shift: float = 0.0) -> Iterator[int]:
    """Yield the caps of a request, tokens: geometric in sqrt(c (s + c)), rounded down, increasing.

    >>> from itertools import islice
    >>> list(islice(whole_caps(1.5, 2), 6))
    [2, 3, 4, 6, 10, 15]
    """
    last, step, first = 0, 0, lower * (prompt + lower)
    while True:
        cap = _cap(base, lower, prompt, step + shift)
        if cap is None:  # longer than any memory
            cap = max(NEVER, 2 * last)
        step += 1
        if cap > last:
            yield cap
            last = cap
        else:  # a base near 1: on to the step whose cap is the next whole number, or just before it
            area = (last + 1) * (prompt + last + 1)
            step = max(step, int(log(area / first) / (2 * log(base)) - shift) - 1)


def _cap(base: float, lower: int, prompt: int, steps: float) -> int | None:
    """Return a cap, tokens, after ``steps`` steps; None for a number that floats do not hold."""
    try:
        area = base ** (2 * steps) * lower * (prompt + lower)
        # the positive root of c (s + c) = area, free of cancellation
        return int(2 * area / (prompt + sqrt(prompt**2 + 4 * area)) + _ROUNDING)
    except (OverflowError, ValueError):  # of a power, and of an infinity or what comes of it
        return None


class _Run:
    def __init__(self, policy: KillRestart, setting: Setting, shift: float) -> None:
        self._base, self._shift = policy.base, shift
        self._refill = policy.places == "refill"
        self._tie = setting.ties.queue
        self._caps: dict[int, Iterator[int]] = {}
        self._queue: list[tuple[int, float, int, int]] = []  # (c (s + c), tie, request, c)
        self._kills = Timers()
        self._granted: dict[int, int] = {}
        self._free = setting.memory

    def __call__(self, view: View) -> Decision:
        for i in view.completed:
            self._free += self._granted.pop(i)
        for i in view.arrived:
            self._caps[i] = whole_caps(self._base, view.lower[i], view.prompt[i], self._shift)
            self._enqueue(view, i)
        killed = self._kills.pop(view)
        for i in killed:
            self._free += self._granted.pop(i)
            self._enqueue(view, i)
        admitted: list[int] = []
        if self._refill or not self._granted:
            while self._queue:
                _, _, i, cap = self._queue[0]
                tokens = peak(view.prompt[i], cap)
                if tokens > self._free:
                    break
                heappop(self._queue)
                self._free -= tokens
                self._granted[i] = tokens
                self._kills.push(view.now + cap, i, view.now)
                admitted.append(i)
        return Decision(admitted, killed, wake=self._kills.next)

    def _enqueue(self, view: View, i: int) -> None:
        # nothing longer than what fits beside the prompt can complete at all
        cap = min(next(self._caps[i]), view.memory - view.prompt[i])
        heappush(self._queue, (cap * peak(view.prompt[i], cap), self._tie(i), i, cap))
