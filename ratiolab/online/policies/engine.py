"""The step of a serving engine: who leaves when memory would overflow, and who joins the batch.

The rules are those of vLLM's scheduler, version 1 (vllm/v1/core/sched/scheduler.py, read at commit
00024d3): a batch takes at most so many requests; when the running ones alone would overflow, one
victim after the other leaves, its cache is built again from prompt and tokens when it returns, and
nobody joins in such a step; else requests join in the order of the queue until the first that does
not fit.

Three things differ. A request holds room for the token that it is making, one token more than vLLM
counts; and memory is counted in tokens, not in blocks of 16. When vLLM's victim is the very
request whose turn it is, those after it in the list skip a step; here they make their tokens.
"""

from abc import abstractmethod
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar, Literal, TypeAlias

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.model.footprint import held
from ratiolab.online.policies.greedy import most_of
from ratiolab.online.policies.prefix import Key
from ratiolab.online.policy import KEEPING, Decide, Policy, Setting
from ratiolab.online.view import NEVER, Decision, Information, View

Victim: TypeAlias = Literal["last", "least-computed", "most-computed", "longest-remaining"]
"""The running request that leaves first: the one admitted last; the one of which the fewest tokens
have been computed, prompt included, or the most; the one with the most predicted tokens to come. Of
equals, the one admitted last."""


@dataclass(frozen=True)
class Engine(Policy):
    """Base of the schedulers of serving engines.

    Parameters
    ----------
    batch : most requests in a batch (vLLM's max_num_seqs); 0 leaves it to the memory.
    """

    batch: int = 256

    preemption: ClassVar[Preemption] = "recompute"
    semantics: ClassVar[tuple[Preemption, ...]] = KEEPING

    def __post_init__(self) -> None:
        most_of(self.name, self.batch)

    @abstractmethod
    def key(self, view: View, request: int) -> Key:
        """Return the key of an arriving request; the least goes first."""

    def returns_first(self) -> bool:
        """Return whether an evicted request goes to the front of the queue, whatever its key."""
        return False

    def leaves(self, view: View, request: int, turn: int) -> Key:
        """Return the key of a running request; the least leaves first.

        Parameters
        ----------
        turn : of its last admission, counted from 0.
        """
        return (*(-part for part in self.key(view, request)), -request)

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Steps(self)


def victim_key(victim: Victim, view: View, request: int, turn: int) -> Key:
    """Return the key of a running request under a rule for victims; the least leaves first."""
    made = view.generated[request] + view.now - view.running[request]
    match victim:
        case "last":
            return (-turn,)
        case "least-computed":
            return (view.prompt[request] + made, -turn)
        case "most-computed":
            return (-view.prompt[request] - made, -turn)
        case "longest-remaining":
            return (made - view.predicted[request], -turn)


def needs(victim: Victim) -> Information:
    """Return the information that a rule for victims needs."""
    return Information.PREDICTION if victim == "longest-remaining" else Information.NOTHING


class _Steps:
    """One run of an engine."""

    def __init__(self, policy: Engine) -> None:
        self._policy = policy
        self._most = most_of(policy.name, policy.batch)
        self._queue: list[tuple[Key, int]] = []
        self._turn: dict[int, int] = {}
        self._turns = 0
        self._returned = 0

    def __call__(self, view: View) -> Decision:
        for i in view.arrived:
            heappush(self._queue, (self._policy.key(view, i), i))
        now, running = view.now, view.running
        tokens = sum(
            held(view.prompt[i] + view.generated[i], now + 1 - start)
            for i, start in running.items()
        )
        evicted: list[int] = []
        if tokens > view.memory:
            evicted = self._evict(view, tokens - view.memory)
            return Decision((), evicted, wake=now + 1)
        admitted: list[int] = []
        while self._queue and len(running) + len(admitted) < self._most:
            _, i = self._queue[0]
            tokens += held(view.prompt[i] + view.generated[i], 1)
            if tokens > view.memory:
                break
            heappop(self._queue)
            self._turn[i] = self._turns
            self._turns += 1
            admitted.append(i)
        # without an event the next round only gets fuller
        return Decision(admitted, wake=NEVER)

    def _evict(self, view: View, excess: int) -> list[int]:
        """Return the victims in order, until so many tokens of the next round are free."""
        policy, evicted = self._policy, list[int]()
        order = sorted(view.running, key=lambda i: policy.leaves(view, i, self._turn[i]))
        for i in order:
            if excess <= 0:
                break
            made = view.generated[i] + view.now - view.running[i]
            excess -= held(view.prompt[i] + made, 1)
            self._returned += 1
            front = (-self._returned,) if policy.returns_first() else policy.key(view, i)
            heappush(self._queue, (front, i))
            evicted.append(i)
        return evicted
