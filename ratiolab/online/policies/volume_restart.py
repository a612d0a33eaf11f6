"""Kill and restart with caps geometric in volume, an offset for each request, and learned pace."""

from dataclasses import dataclass
from heapq import heappop, heappush
from math import isqrt
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.model.footprint import volume
from ratiolab.online.policy import RESTARTING, Decide, Policy, Setting
from ratiolab.online.view import NEVER, Decision, Information, View

Offset: TypeAlias = Literal["request", "run", "none"]

BLOCK = 64
"""Requests whose start is weighed together."""

CLOSE = 1e-9
"""Difference of expected tokens, or of rounds, that rounding may make."""

HORIZONS = 14
"""Rounds ahead, in geometric progression, at which expected memory is looked at."""


@dataclass(frozen=True)
class VolumeRestart(Policy):
    """Caps v b**(U + k), in volume, k = 0, 1, ..., each request with a random offset U of its own.

    v is the volume of the lower bound. A request runs until its volume would pass its cap; then it
    is killed and returns with the next one. Smaller caps go first, equal ones in random order. A
    request starts when its turn has come, each start delaying the next by the volume that it is
    expected to take over M; and when the memory that all running requests are expected to hold
    leaves room for it, now and at rounds ahead. When nothing runs, it starts at once. Expectations
    come from the survival curve of the lengths seen so far: at each age, how many reached it and
    how many ended there. Should memory overflow, the requests that ran least return to the queue
    with the caps that they had.

    In the fluid limit, all requests at round 0, caps of this kind cost at most 2.72837 times the
    optimum for all laws of lengths, and no policy that does not know the lengths has a smaller
    constant (`ratiolab.theory.limits.volume_restart`).

    Parameters
    ----------
    base : growth b > 1 of the caps, in volume.
    offset : ``request``, a draw for each; ``run``, one draw for all; ``none``, all are 0.
    pace : part of the expected volume by which a start delays the next, in (0, 1].
    margin : share of memory that expectations leave free, in [0, 1).
    """

    base: float = 13.807
    offset: Offset = "request"
    pace: float = 0.9
    margin: float = 0.02

    name: ClassVar[str] = "volume-restart"
    source: ClassVar[str] = "ratiolab.theory.limits.volume_restart"
    information: ClassVar[Information] = Information.LOWER_BOUND
    semantics: ClassVar[tuple[Preemption, ...]] = RESTARTING
    randomized: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 < self.base < float("inf"):
            raise ValueError(f"policy {self.name}: base {self.base} is not a number above 1")
        if not 0 < self.pace <= 1:
            raise ValueError(f"policy {self.name}: pace {self.pace} is not in (0, 1]")
        if not 0 <= self.margin < 1:
            raise ValueError(f"policy {self.name}: margin {self.margin} is not in [0, 1)")

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self, setting.memory, rng)


def longest_within(prompt: int, area: float) -> int:
    """Return the largest number of tokens whose volume is at most `area`; at least 1.

    >>> [longest_within(0, 6), longest_within(0, 5.9), longest_within(2, 7), longest_within(5, 1)]
    [3, 2, 2, 1]
    """
    twice = 2 * prompt + 1
    tokens = (isqrt(twice * twice + 8 * int(area)) - twice) // 2
    return max(1, tokens)


class Survival:
    """The share of requests that reach each age, learned from those that did or ended there.

    Attributes
    ----------
    log : logarithm of the share that outlives each age, shape (memory + 2,).
    """

    def __init__(self, memory: int) -> None:
        ages = memory + 2
        self._reached, self._ended = np.zeros(ages), np.zeros(ages)
        self.log = np.zeros(ages)
        self._age = np.arange(1, ages)
        self._sum()

    def saw(self, above: int, age: int, ended: bool) -> None:
        """Enter a request known to outlive `above` that went on to an age, and whether it ended."""
        self._reached[above + 1 : age + 1] += 1
        self._ended[age] += ended

    def learn(self) -> None:
        """Bring the curve up to date."""
        share = self._ended / (self._reached + 0.5)
        self.log = np.cumsum(np.log1p(-np.minimum(share, 0.999)))
        self._sum()

    def _sum(self) -> None:
        alive = np.exp(self.log)
        self._alive = np.maximum(alive, 1e-300)
        self._rounds = np.append(0.0, np.cumsum(alive[:-1]))
        self._tokens = np.append(0.0, np.cumsum(self._age * alive[:-1]))

    def expected_volume(self, prompt: int, bound: int, cap: int) -> float:
        """Return the volume of a run to a cap of a request known to outlive `bound`."""
        sure = min(bound, cap)
        beyond = prompt * (self._rounds[cap] - self._rounds[sure])
        beyond += self._tokens[cap] - self._tokens[sure]
        return volume(prompt, sure) + float(beyond / self._alive[sure])

    def expected_memory(self, age: Any, prompt: Any, bound: Any, cap: Any, ahead: Any) -> Any:
        """Return the tokens expected to be held in rounds ahead, shape (requests, rounds)."""
        then = age[:, None] + ahead[None, :]
        known = np.maximum(bound, age)[:, None]
        before = np.minimum(then - 1, len(self.log) - 1)
        alive = np.exp(self.log[np.maximum(before, known)] - self.log[known])
        return np.where(then <= cap[:, None], alive * (prompt[:, None] + then), 0.0)


class _Run:
    def __init__(self, policy: VolumeRestart, memory: int, rng: Generator) -> None:
        self._policy, self._memory, self._rng = policy, memory, rng
        self._common = float(rng.random()) if policy.offset == "run" else 0.0
        self._survival = Survival(memory)
        self._queue: list[tuple[float, float, int]] = []  # (cap in volume, tie, request)
        self._tie: dict[int, float] = {}
        self._area: dict[int, float] = {}
        self._cap: dict[int, int] = {}
        self._bound: dict[int, int] = {}
        self._ages: dict[int, tuple[int, int]] = {}  # running: start, and age when last seen
        self._clock = 0.0

    def __call__(self, view: View) -> Decision:
        self._learn(view)
        for i in view.arrived:
            self._enter(view, i)
        evicted = self._at_their_caps(view)
        evicted += self._overflowing(view)
        admitted = self._admit(view)
        for i in admitted:
            self._ages[i] = (view.now, 0)
        return Decision(admitted, evicted, wake=view.now + 1 if self._ages else NEVER)

    def _learn(self, view: View) -> None:
        ended = set(view.completed)
        for i, (start, seen) in list(self._ages.items()):
            age = view.output[i] if i in ended else view.now - start
            above = max(seen, self._bound[i])
            if age > above:
                self._survival.saw(above, age, i in ended)
                self._bound[i] = age
            if i in ended:
                del self._ages[i]
            else:
                self._ages[i] = (start, age)
        self._survival.learn()

    def _enter(self, view: View, i: int) -> None:
        draw = float(self._rng.random()) if self._policy.offset == "request" else self._common
        self._tie[i] = float(self._rng.random())
        lower, prompt = view.lower[i], view.prompt[i]
        self._bound[i] = lower - 1
        self._area[i] = volume(prompt, lower) * self._policy.base**draw
        self._cap[i] = max(lower, self._tokens(view, i))
        self._enqueue(i)

    def _tokens(self, view: View, i: int) -> int:
        # nothing longer than what fits beside the prompt can complete at all
        most = self._memory - view.prompt[i]
        return min(longest_within(view.prompt[i], min(self._area[i], 4e18)), most)

    def _enqueue(self, i: int) -> None:
        heappush(self._queue, (self._area[i], self._tie[i], i))

    def _at_their_caps(self, view: View) -> list[int]:
        killed = [i for i, (_, age) in self._ages.items() if age >= self._cap[i]]
        for i in killed:
            del self._ages[i]
            while self._cap[i] <= self._bound[i]:
                self._area[i] *= self._policy.base
                self._cap[i] = self._tokens(view, i)
            self._enqueue(i)
        return killed

    def _overflowing(self, view: View) -> list[int]:
        """Take out the youngest until the others fit in the next round."""
        tokens = sum(view.prompt[i] + age + 1 for i, (_, age) in self._ages.items())
        out = []
        for i, (_, age) in sorted(self._ages.items(), key=lambda entry: (entry[1][1], -entry[0])):
            if tokens <= self._memory:
                break
            tokens -= view.prompt[i] + age + 1
            del self._ages[i]
            self._enqueue(i)
            out.append(i)
        return out

    def _admit(self, view: View) -> list[int]:
        if not self._queue:
            return []
        now = view.now
        ahead = horizons(self._cap[self._queue[0][2]])
        room = np.where(ahead == 1, self._memory, (1 - self._policy.margin) * self._memory)
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
        tokens = self._survival.expected_volume(view.prompt[i], self._bound[i], self._cap[i])
        return self._policy.pace * tokens / self._memory

    def _expected(self, view: View, requests: list[int], ahead: Any) -> Any:
        age, prompt, bound, cap = np.array(
            [
                (self._ages.get(i, (0, 0))[1], view.prompt[i], self._bound[i], self._cap[i])
                for i in requests
            ]
        ).T
        return self._survival.expected_memory(age, prompt, bound, cap, ahead)


def horizons(cap: int) -> Any:
    """Return the rounds ahead at which expected memory is looked at: 1, 2, 3, then sparser.

    >>> horizons(6).tolist()
    [1, 2, 3, 4, 5, 6]
    """
    far = np.geomspace(4, max(5, cap), HORIZONS).round().astype(np.int64)
    ahead = np.unique(np.append([1, 2, 3], far))
    return ahead[ahead <= max(1, cap)]
