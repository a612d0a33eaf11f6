"""A_ell, made for outputs that are either short or long, and the switch between it and A_min."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappush
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online.forecast import Forecast
from ratiolab.online.policies.a_min import AMin
from ratiolab.online.policies.prefix import Key, admit_prefix
from ratiolab.online.policy import RESTARTING, Decide, Policy, Setting, TieBreak
from ratiolab.online.view import NEVER, Decision, Information, View


@dataclass(frozen=True)
class AEll(Policy):
    """Lower bound for every request; a request unfinished by then is long and goes to the end.

    A request is first believed to need its lower bound, and is evicted at exactly that age if it
    is unfinished; from then on it is believed to need its upper bound. The queue is first come
    first served, promoted requests behind all others in the order of their eviction; admission
    stops at the first misfit. No request ever outlives what is believed: memory never overflows.

    Parameters
    ----------
    ties : order of requests that arrive, or are evicted, in the same round.
    """

    ties: TieBreak = "random"

    name: ClassVar[str] = "a-ell"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Algorithm 6, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.INTERVAL
    semantics: ClassVar[tuple[Preemption, ...]] = RESTARTING

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(setting)


class _Run:
    def __init__(self, setting: Setting) -> None:
        self._ties = setting.ties
        self._forecast = Forecast(setting.memory)
        self._queue: list[tuple[Key, int]] = []
        self._length: dict[int, int] = {}
        self._trials: dict[int, int] = {}  # request on trial -> the round in which the trial ends

    def __call__(self, view: View) -> Decision:
        for i in view.completed:
            self._forecast.remove(i)
            self._trials.pop(i, None)
        for i in view.arrived:
            self._length[i] = view.lower[i]
            heappush(self._queue, ((0, view.now, self._ties.queue(i)), i))
        evicted = [i for i, end in self._trials.items() if end == view.now]
        for i in evicted:
            del self._trials[i]
            self._forecast.remove(i)
            self._length[i] = view.upper[i]
            heappush(self._queue, ((1, view.now, self._ties.queue(i)), i))
        admitted: list[int] = []
        believed = self._forecast.believed
        again = admit_prefix(view, believed, self._queue, self._length, admitted)
        for i in admitted:
            if self._length[i] < view.upper[i]:
                self._trials[i] = view.now + self._length[i]
        return Decision(admitted, evicted, wake=min(again, *self._trials.values(), NEVER))


@dataclass(frozen=True)
class ASwitch(Policy):
    """A_ell when the interval is wide, A_min when it is narrow.

    The interval of the first requests to arrive, from their least lower to their largest upper
    bound, decides once: A_ell if alpha = l/u is below alpha* = (3 - sqrt 5)/2, A_min otherwise.

    Parameters
    ----------
    ties : passed on.
    """

    ties: TieBreak = "random"

    name: ClassVar[str] = "a-switch"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Section 5.1, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.INTERVAL
    semantics: ClassVar[tuple[Preemption, ...]] = RESTARTING

    def start(self, setting: Setting, rng: Generator) -> Decide:
        chosen: deque[Callable[[View], Decision]] = deque(maxlen=1)

        def decide(view: View) -> Decision:
            if not chosen:
                lower = min(view.lower[i] for i in view.arrived)
                upper = max(view.upper[i] for i in view.arrived)
                policy = AEll(self.ties) if prefers_a_ell(lower, upper) else AMin(self.ties)
                chosen.append(policy.start(setting, rng))
            return chosen[0](view)

        return decide


def prefers_a_ell(lower: int, upper: int) -> bool:
    """Return whether l/u < (3 - sqrt 5)/2, decided in integers.

    For alpha in (0, 1] that is alpha^2 - 3 alpha + 1 > 0: the other root exceeds 1.

    >>> [prefers_a_ell(38, 100), prefers_a_ell(39, 100)]
    [True, False]
    """
    return lower * lower - 3 * lower * upper + upper * upper > 0
