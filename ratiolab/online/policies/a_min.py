"""A_min: believe the lower bound, and learn from evictions."""

from dataclasses import dataclass
from heapq import heappush
from typing import ClassVar, Literal

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online.forecast import Forecast
from ratiolab.online.policies.prefix import Key, Victims, admit_prefix
from ratiolab.online.policy import RESTARTING, Decide, Policy, Setting, TieBreak
from ratiolab.online.view import Decision, Information, View


@dataclass(frozen=True)
class AMin(Policy):
    """Smallest lower bound first, in and out; an evicted request keeps what its age has proved.

    Every request starts with its own lower bound, so that one interval for all gives Algorithm 2
    and several give Algorithm 5. When the running requests would overflow in the next round, the
    ones of smallest bound are evicted until the others fit, and return to the queue of the next
    round.
    Then the longest prefix of the queue, by bound, is admitted that satisfies (3) with bounds in
    place of outputs; a running request that has outlived its bound counts as ending next round.

    Parameters
    ----------
    ties : how equal bounds are ordered, in the queue and among the candidates for eviction. A
        request draws one key when it enters the queue and another when it starts.
    bound : ``certified`` (default) raises the bound of an evicted request of age k to k + 1, which
        the analysis needs: it is unfinished, so its output exceeds k. ``printed`` sets it to k, as
        the pseudo-code does, even if that is below the bound it had.
    victim : the running request that is evicted first: the one of ``smallest`` bound (default), as
        printed, or of ``largest``, an ablation that keeps what will end soonest. The request of
        least bound then always runs to its end.
    """

    ties: TieBreak = "random"
    bound: Literal["certified", "printed"] = "certified"
    victim: Literal["smallest", "largest"] = "smallest"

    name: ClassVar[str] = "a-min"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Algorithms 2 and 5, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.LOWER_BOUND
    semantics: ClassVar[tuple[Preemption, ...]] = RESTARTING

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self, setting)


class _Run:
    def __init__(self, policy: AMin, setting: Setting) -> None:
        self._printed = policy.bound == "printed"
        self._sign = 1 if policy.victim == "smallest" else -1
        self._ties = setting.ties
        self._forecast = Forecast(setting.memory)
        self._queue: list[tuple[Key, int]] = []
        self._bound: dict[int, int] = {}
        self._victims = Victims()

    def __call__(self, view: View) -> Decision:
        for i in view.completed:
            self._forecast.remove(i)
        for i in view.arrived:
            self._bound[i] = view.lower[i]
            self._enqueue(i)
        evicted = self._victims.evict(view)
        for i in evicted:
            self._forecast.remove(i)
        admitted: list[int] = []
        again = admit_prefix(view, self._forecast.believed, self._queue, self._bound, admitted)
        for i in admitted:
            self._victims.push(i, (self._sign * self._bound[i], self._ties.running(i)), view.now)
        for i in evicted:
            age = view.now - view.running[i]
            self._bound[i] = age if self._printed else max(self._bound[i], age + 1)
            self._enqueue(i)
        return Decision(admitted, evicted, wake=view.now + 1 if evicted else again)

    def _enqueue(self, i: int) -> None:
        heappush(self._queue, ((self._bound[i], self._ties.queue(i)), i))
