"""Round robin under a memory limit, in order of arrival and in order of predicted length.

Source: Gogineni, Paul, Stec, Zhang, Round-Robin Shortest Job First Inference Scheduling for LLMs,
Algorithm 1. What the rule costs on one server without memory:
`ratiolab.theory.worst_case.round_robin`.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar, Literal

from numpy.random import Generator

from ratiolab.model import Preemption, held
from ratiolab.online.policies.prefix import Key, Victims, held_next
from ratiolab.online.policy import KEEPING, Count, Decide, Limit, Policy, Setting
from ratiolab.online.view import NEVER, Decision, Information, View


@dataclass(frozen=True)
class RoundRobin(Policy):
    """Base of round robin under a memory limit.

    Parameters
    ----------
    quantum : tokens of a slice, at least 1; the paper chooses 5.
    starts : ``all`` (default) preempts for one waiting request after the other until one does not
        fit; ``one`` is Algorithm 1 to the letter, which serves the first request and returns;
        ``fill`` preempts for the first request alone, and others start while there is room.
    counts : a slice is counted from the last start (``run``, default), or it is the first tokens
        of a request, which may be preempted after every later one (``request``); Algorithm 1 can be
        read either way.
    batch : most requests in memory at once; 0 (default) leaves it to the memory. vLLM takes 256.
    """

    quantum: Count = 5
    starts: Literal["all", "one", "fill"] = "all"
    counts: Literal["run", "request"] = "run"
    batch: Limit = 0

    preemption: ClassVar[Preemption] = "recompute"
    semantics: ClassVar[tuple[Preemption, ...]] = KEEPING


@dataclass(frozen=True)
class RR(RoundRobin):
    """Slices of so many tokens in turn: the request that has waited longest goes next.

    The queue is sorted by the round in which a request was placed on it. Its first request starts
    if the next round fits and the batch is not full; if not, running requests that have had their
    slice are preempted, by default in the order of their starts, until it can or no such request is
    left, even if it does not fit then either, as printed. A preempted request is placed at the end
    of the queue of the next round; of the requests placed in one round new arrivals go first, then
    the order is that of the last start. When the running requests alone would not fit in the next
    round, they leave in the same order, slice or no slice, until they do; no request starts in such
    a round. No request is preempted while none waits.

    Parameters
    ----------
    victim : the running request that is preempted first: the one that started ``first`` (default),
        which gives all requests the same share, or ``last``, as vLLM preempts.
    """

    victim: Literal["first", "last"] = "first"

    name: ClassVar[str] = "rr"
    source: ClassVar[str] = "round robin as compared by Gogineni et al., Section 3.4"

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(setting, self, shortest=False, sign=1 if self.victim == "first" else -1)


@dataclass(frozen=True)
class RRSJF(RoundRobin):
    """Round robin in which shorter predictions go first among requests placed in the same round.

    As ``rr``, but requests placed on the queue in the same round are sorted by predicted length,
    and the longest prediction is preempted first.
    """

    name: ClassVar[str] = "rr-sjf"
    source: ClassVar[str] = "Gogineni et al., RR-SJF, Algorithm 1"
    information: ClassVar[Information] = Information.PREDICTION

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(setting, self, shortest=True)


class _Run:
    def __init__(
        self, setting: Setting, policy: RoundRobin, *, shortest: bool, sign: int = 1
    ) -> None:
        self._sign = sign  # of the order of starts in which requests are preempted
        self._quantum, self._starts, self._shortest = policy.quantum, policy.starts, shortest
        self._by_run = policy.counts == "run"
        self._most = policy.batch or NEVER
        self._turn: dict[int, int] = {}  # of the last start, counted from 0
        self._turns = 0
        self._queue: list[tuple[int, int, int]] = []  # round of placing, rank, request
        self._returning: list[tuple[int, int, int]] = []
        self._victims = Victims()
        # round from which on a request may be preempted, key of leaving, request, start
        self._slices: list[tuple[int, Key, int, int]] = []
        # key of leaving, request, start of runs that had their slice; those that ended are skipped
        self._served: list[tuple[Key, int, int]] = []

    def __call__(self, view: View) -> Decision:
        now = view.now
        for entry in self._returning:
            heappush(self._queue, entry)
        for i in view.arrived:
            heappush(self._queue, (now, self._rank(view, i), i))
        while self._slices and self._slices[0][0] <= now:
            heappush(self._served, heappop(self._slices)[1:])
        evicted = self._victims.evict(view)
        admitted = [] if evicted else self._serve(view, evicted)
        self._returning = [(now, self._rank(view, i), i) for i in evicted]
        return Decision(admitted, evicted, wake=self._wake(now, bool(evicted)))

    def _serve(self, view: View, evicted: list[int]) -> list[int]:
        """Return the requests that start; the ones preempted for them are added to `evicted`."""
        now, admitted = view.now, list[int]()
        tokens, running = view.tokens, len(view.running)
        while self._queue and not (self._starts == "one" and admitted):
            i = self._queue[0][-1]
            needed = held(view.prompt[i] + view.generated[i], 1)
            preempting = not admitted or self._starts == "all"
            fits = tokens + needed <= view.memory and running < self._most
            while preempting and self._served and not fits:
                _, j, start = heappop(self._served)
                if view.running.get(j) == start:
                    tokens -= held_next(view, j)
                    running -= 1
                    evicted.append(j)
                    fits = tokens + needed <= view.memory and running < self._most
            if not fits:
                break
            heappop(self._queue)
            tokens += needed
            running += 1
            self._turn[i] = self._turns
            self._turns += 1
            key = (-view.predicted[i], -i) if self._shortest else (self._sign * self._turn[i],)
            self._victims.push(i, key, now)
            had = 0 if self._by_run else view.generated[i]
            heappush(self._slices, (now + max(1, self._quantum - had), key, i, now))
            admitted.append(i)
        return admitted

    def _rank(self, view: View, i: int) -> int:
        """Return the rank of a request among all placed on the queue in the same round."""
        return view.predicted[i] if self._shortest else self._turn.get(i, -1)

    def _wake(self, now: int, preempted: bool) -> int:
        if preempted or (self._queue and self._starts != "all"):
            return now + 1
        if not self._queue:
            return NEVER  # no request is preempted while none waits
        # no run that had its slice is left; the next to have had it may end first: an event
        return self._slices[0][0] if self._slices else NEVER
