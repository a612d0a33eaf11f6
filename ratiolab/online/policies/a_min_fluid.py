"""The policy that Lemma 2 of Chen et al. describes: A_min with random caps.

Source: built from Chen, Ye, Zhou (2025), Lemma 1 and Proposition 1, arXiv 2508.14544v2.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model import Preemption, held, peak
from ratiolab.online.policies.prefix import Timers
from ratiolab.online.policy import RESTARTING, Decide, Policy, Setting
from ratiolab.online.view import Decision, Information, View


@dataclass(frozen=True)
class AMinFluid(Policy):
    """Smallest lower bound first; requests past their bound are thinned out as they grow.

    A request that starts with bound b is granted s + b tokens. From age b on it is evicted at age
    a with probability 1/(s+a+1), independently of all others, and its bound becomes a + 1: it
    reaches age j with probability (s+b)/(s+j) (Lemma 1), so its expected tokens stay s + b while
    it is unfinished. An output j thus costs j (s+b) memory-rounds a run and j (s+j) in all: with
    many requests the latency is the numerator of Lemma 2, which the printed A_min does not follow.
    Requests are admitted, by bound and equals at random, while memory has room for the grants and
    for what requests past their bound will hold in the next round. Should it overflow nevertheless,
    requests past their bound are evicted at random until the others fit.
    """

    name: ClassVar[str] = "a-min-fluid"
    source: ClassVar[str] = "after Chen, Ye, Zhou (2025), Lemmas 1 and 2, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.LOWER_BOUND
    semantics: ClassVar[tuple[Preemption, ...]] = RESTARTING
    randomized: ClassVar[bool] = True

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(setting, rng)


class _Run:
    def __init__(self, setting: Setting, rng: Generator) -> None:
        self._memory, self._ties, self._rng = setting.memory, setting.ties, rng
        self._bound: dict[int, int] = {}
        self._queue: list[tuple[int, float, int]] = []  # (bound, tie, request)
        self._reaching = Timers()  # when a run reaches its bound
        self._ending = Timers()  # when it is to be evicted
        self._victims: list[tuple[float, int, int]] = []  # (tie, request, start), past the bound
        self._start: dict[int, int] = {}
        self._grant: dict[int, int] = {}  # of running requests that are not past their bound
        # Tokens at time t, of all requests and of those past their bound: constant + number * t.
        self._constant = self._late_constant = 0
        self._granted = 0

    def __call__(self, view: View) -> Decision:
        evicted: list[int] = []
        for i in view.completed:
            self._remove(view, i)
        for i in view.arrived:
            self._bound[i] = view.lower[i]
            heappush(self._queue, (self._bound[i], self._ties.queue(i), i))
        for i in self._reaching.pop(view):
            self._granted -= self._grant.pop(i)
            self._late_constant += held(view.prompt[i], -self._start[i])
            heappush(self._victims, (self._ties.running(i), i, self._start[i]))
        for i in self._ending.pop(view):
            self._evict(view, i, evicted)
        while self._constant + len(self._start) * (view.now + 1) > self._memory:
            _, i, start = heappop(self._victims)
            if self._start.get(i) == start:
                self._evict(view, i, evicted)
        admitted = self._admit(view)
        return Decision(admitted, evicted, wake=min(self._reaching.next, self._ending.next))

    def _admit(self, view: View) -> list[int]:
        admitted: list[int] = []
        late = len(self._start) - len(self._grant)
        free = self._memory - self._granted - self._late_constant - late * (view.now + 1)
        while self._queue:
            bound, _, i = self._queue[0]
            grant = peak(view.prompt[i], bound)
            if grant > free:
                break
            heappop(self._queue)
            free -= grant
            # It reaches age j iff U <= (s+b)/(s+j); no run is longer than the memory.
            reach = grant / (1 - self._rng.random())
            age = int(min(reach, 2 * self._memory)) - view.prompt[i]
            self._reaching.push(view.now + bound, i, view.now)
            self._ending.push(view.now + max(age, bound), i, view.now)
            self._start[i], self._grant[i] = view.now, grant
            self._granted += grant
            self._constant += held(view.prompt[i], -view.now)
            admitted.append(i)
        return admitted

    def _evict(self, view: View, i: int, evicted: list[int]) -> None:
        self._bound[i] = view.now - self._start[i] + 1
        self._remove(view, i)
        heappush(self._queue, (self._bound[i], self._ties.queue(i), i))
        evicted.append(i)

    def _remove(self, view: View, i: int) -> None:
        constant = held(view.prompt[i], -self._start.pop(i))
        self._constant -= constant
        if i in self._grant:
            self._granted -= self._grant.pop(i)
        else:
            self._late_constant -= constant
