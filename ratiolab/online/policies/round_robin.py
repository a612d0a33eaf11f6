"""Round robin under a memory limit, in order of arrival and in order of predicted length.

Source: Gogineni, Paul, Stec, Zhang, Round-Robin Shortest Job First Inference Scheduling for LLMs,
Algorithm 1. The cost of the rule on one server without memory:
`ratiolab.papers.gogineni2024.round_robin`.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online.policy import KEEPING, Count, Decide, Limit, Policy, Setting
from ratiolab.online.rules import Containers, OnLists, Rule, asked
from ratiolab.online.view import NEVER, Information, View

Starts: TypeAlias = Literal["all", "one", "fill"]
STARTS: tuple[Starts, ...] = get_args(Starts)
ALL, ONE, FILL = range(3)
"""How many requests others are preempted for, and how many start, in the order of `STARTS`."""


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
    starts: Starts = "all"
    counts: Literal["run", "request"] = "run"
    batch: Limit = 0

    preemption: ClassVar[Preemption] = "recompute"
    semantics: ClassVar[tuple[Preemption, ...]] = KEEPING
    many: ClassVar[int] = 20_000
    shortest: ClassVar[bool] = False

    @property
    def sign(self) -> int:
        """The sign of the order of starts in which requests are preempted."""
        return 1

    def remember(self, make: Containers) -> "Turns":
        """Return the state of a run before its first round."""
        numbers = self.quantum, self.batch or NEVER, STARTS.index(self.starts)
        columns = make.scalars(3), make.column(), make.column(), make.column()
        heaps = map(make.heap, (3, 3, 4, 1, 1))
        by_run = self.counts == "run"
        return Turns(*numbers, by_run, self.shortest, self.sign, *columns, *heaps)

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return asked(take_turns, self.remember(OnLists()), self._key)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of round robin."""
        key = known.predicted if self.shortest else [0] * len(known)
        return Rule(take_turns, self.remember, key)

    def _key(self, view: View, i: int) -> int:
        return view.predicted[i] if self.shortest else 0


@dataclass(frozen=True)
class RR(RoundRobin):
    """Slices of equal tokens in turn: the request that has waited longest goes next.

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
    victim : the running request that is preempted first: ``first`` started (default), which gives
        all requests the same share, or ``last``, as vLLM preempts.
    """

    victim: Literal["first", "last"] = "first"

    name: ClassVar[str] = "rr"
    source: ClassVar[str] = "round robin as compared by Gogineni et al., Section 3.4"

    @property
    def sign(self) -> int:
        return 1 if self.victim == "first" else -1


@dataclass(frozen=True)
class RRSJF(RoundRobin):
    """Round robin in which shorter predictions go first among requests placed in the same round.

    As ``rr``, but requests placed on the queue in the same round are sorted by predicted length,
    and the longest prediction is preempted first.
    """

    name: ClassVar[str] = "rr-sjf"
    source: ClassVar[str] = "Gogineni et al., RR-SJF, Algorithm 1"
    information: ClassVar[Information] = Information.PREDICTION
    shortest: ClassVar[bool] = True


class Turns(NamedTuple):
    """State of round robin.

    Parameters
    ----------
    quantum : tokens of a slice.
    most : requests in memory at once.
    starts : place in `STARTS`.
    by_run : whether a slice is counted from the last start.
    shortest : whether keys order requests placed in the same round, else their last start.
    sign : of the order of starts in which requests are preempted.
    v : numbers of running requests and of starts, and the round of the last decision.
    key : predicted length of each request.
    turn, start : number and round of its last start; -1 before the first, and when it does not run.
    queue : heap of the round of placing, rank, and request.
    slices : heap of the round from which on a request may be preempted, request and start, of
        requests that have not had their slice; some entries are past.
    served : heap of leaving key (two numbers), request and start of running requests that had
        their slice; some entries are past.
    admit, evict : the last decision.
    """

    quantum: int
    most: int
    starts: int
    by_run: bool
    shortest: bool
    sign: int
    v: Any
    key: Any
    turn: Any
    start: Any
    queue: Any
    slices: Any
    served: Any
    admit: Any
    evict: Any


RUNS, STARTED, DECIDED = range(3)
"""Places in `Turns.v`."""


def take_turns(view: Any, own: Turns) -> int:
    """Decide as round robin does; return when to be asked again."""
    now = view.now
    for i in view.completed:
        own.start[i] = -1
    own.v[RUNS] -= len(view.completed)
    for i in own.evict:
        heappush(own.queue, (own.v[DECIDED], _rank(own, i), i))
    for i in view.arrived:
        own.turn[i] = own.start[i] = -1
        heappush(own.queue, (now, _rank(own, i), i))
    own.admit.clear()
    own.evict.clear()
    own.v[DECIDED] = now
    while len(own.slices) and own.slices[0][0] <= now:
        _, i, start = heappop(own.slices)
        if own.start[i] == start:
            heappush(own.served, _leaving(own, i))
    tokens = view.tokens
    if tokens > view.memory:
        running = [_leaving(own, i) for _, i, start in own.slices if own.start[i] == start]
        running.extend(own.served)
        for entry in sorted(running):
            if tokens > view.memory:
                tokens -= _preempt(view, own, entry)
    if not len(own.evict):
        _serve(view, own, tokens)
    if len(own.evict) or (len(own.queue) and own.starts != ALL):
        return now + 1  # type: ignore[no-any-return]
    # no request is preempted while none waits; where none is left that had its slice, the next to
    # have had it may end first: an event
    return own.slices[0][0] if len(own.queue) and len(own.slices) else NEVER


def _serve(view: Any, own: Turns, tokens: int) -> None:
    """Start requests, and preempt others for them."""
    now = view.now
    while len(own.queue) and not (own.starts == ONE and len(own.admit)):
        i = own.queue[0][2]
        needed = view.prompt[i] + view.generated[i] + 1
        preempting = own.starts == ALL or not len(own.admit)
        while preempting and len(own.served) and not _fits(view, own, tokens + needed):
            tokens -= _preempt(view, own, heappop(own.served))
        if not _fits(view, own, tokens + needed):
            break
        heappop(own.queue)
        tokens += needed
        own.turn[i], own.start[i] = own.v[STARTED], now
        own.v[STARTED] += 1
        own.v[RUNS] += 1
        had = 0 if own.by_run else view.generated[i]
        heappush(own.slices, (now + max(1, own.quantum - had), i, now))
        own.admit.append(i)


def _fits(view: Any, own: Turns, tokens: int) -> bool:
    """Return whether one more request has a place, if all then hold ``tokens``."""
    return tokens <= view.memory and own.v[RUNS] < own.most  # type: ignore[no-any-return]


def _preempt(view: Any, own: Turns, entry: tuple[int, int, int, int]) -> int:
    """Preempt a request unless its entry is past; return the tokens that leave."""
    _, _, i, start = entry
    if own.start[i] != start:
        return 0
    own.start[i] = -1
    own.v[RUNS] -= 1
    own.evict.append(i)
    return view.prompt[i] + view.generated[i] + view.now - start + 1  # type: ignore[no-any-return]


def _leaving(own: Turns, i: int) -> tuple[int, int, int, int]:
    """Return the entry in `served` of a running request."""
    if own.shortest:
        return -own.key[i], -i, i, own.start[i]
    return own.sign * own.turn[i], 0, i, own.start[i]


def _rank(own: Turns, i: int) -> int:
    """Return the rank of a request among all placed on the queue in the same round."""
    return own.key[i] if own.shortest else own.turn[i]  # type: ignore[no-any-return]
