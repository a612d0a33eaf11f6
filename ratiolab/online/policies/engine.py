"""The step of a serving engine: who leaves when memory would overflow, and who joins the batch.

The rules are those of vLLM's scheduler, version 1 (vllm/v1/core/sched/scheduler.py, read at commit
00024d3). Limits hold for the requests of a batch and for its computed tokens: one for each request
that decodes, the rest for prompts, in chunks if need be, in the order of admission. When the
running requests alone would overflow, one victim after the other leaves, its cache is built again
from prompt and tokens when it returns, and no request joins in such a step. Else requests join in
the order of the queue while the batch computes fewer tokens than it may, until the first that does
not fit. Hence at most one prompt is prefilled in part, that of the request admitted last.

Four things differ from vLLM. A request holds room for the token that it is making, one token more
than vLLM counts; memory is counted in tokens unless blocks are asked for; the room of a whole
prompt is taken when the request joins, as in the engine of Sarathi, and not chunk by chunk; and
when vLLM's victim is the very request whose turn it is, those after it in the list skip a step,
while here they make their tokens. Shared prefixes, speculation and batches in flight are left out.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online import rules
from ratiolab.online.clock import BatchTime
from ratiolab.online.policies.prefix import Key, held_next, made_now
from ratiolab.online.policy import KEEPING, Count, Decide, Limit, Policy, Setting, Shared
from ratiolab.online.rules import Containers, OnLists, Rule, Steps
from ratiolab.online.view import NEVER, Decision, Information, View

Victim: TypeAlias = Literal["last", "least-computed", "most-computed", "longest-remaining"]
"""The running request that leaves first: the one admitted last; the one with the fewest computed
tokens, prompt included, or the most; the one with the most predicted tokens to come. Of
equals, the one admitted last."""


@dataclass(frozen=True)
class Engine(Policy):
    """Base of the schedulers of serving engines.

    Parameters
    ----------
    batch : most requests in a batch (vLLM's max_num_seqs); 0 leaves it to the memory.
    tokens : most tokens that a batch computes (vLLM's max_num_batched_tokens), at least ``batch``;
        prompts beyond it are prefilled in chunks. 0 sets no limit: every prompt is prefilled in
        one batch. With a limit an eviction costs what it does in vLLM, ``recompute``.
    block : tokens of a block of memory; each request holds whole blocks; vLLM's have 16. A
        request alone is served even where its blocks exceed the memory by less than one.
    """

    batch: Limit = 256
    tokens: int = 2048
    block: Count = 1

    preemption: ClassVar[Preemption] = "recompute"
    returns_first: ClassVar[bool] = False
    """Whether an evicted request goes to the front of the queue, whatever its key."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokens < 0 or 0 < self.tokens < (self.batch or NEVER):
            raise ValueError(
                f"policy {self.name}: tokens {self.tokens} must be at least batch, which must then "
                "be limited, or 0 for no limit"
            )

    @property
    def semantics(self) -> tuple[Preemption, ...]:  # type: ignore[override]
        return ("recompute",) if self.tokens else KEEPING

    @property
    def budget(self) -> int:
        return self.tokens

    def key(self, view: View, request: int) -> int | Fraction:
        """Return the key of a waiting request; the least goes first, equals as they arrived."""
        return 0

    def leaves(self, view: View, request: int, turn: int) -> Key:
        """Return the key of a running request; the least leaves first, then the latest arrival.

        Parameters
        ----------
        turn : of its last admission, counted from 0.
        """
        return (-self.key(view, request),)

    @property
    def last_leaves(self) -> bool:
        """Whether the request that was admitted last leaves first."""
        return False

    @property
    def in_order(self) -> bool:
        """Whether the order in which requests leave is known when they start."""
        return self.last_leaves or type(self).leaves is Engine.leaves

    def remember(self, make: Containers) -> Steps:
        """Return the state of a run before its first round."""
        limits = self.batch or NEVER, self.tokens or NEVER, self.block
        return Steps.of(limits, self.returns_first, not self.last_leaves, make)

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Steps(self)

    def shared(self, memory: int, clock: BatchTime | None) -> Shared:
        key = self.key
        return Shared(lambda view, i: (key(view, i), view.arrival[i]), most=self.batch or NEVER)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of an engine whose victims are known when they start."""
        if self.block > 1 or not self.in_order:
            return None
        if type(self).key is Engine.key:
            return Rule(rules.engine_step, self.remember, [0] * len(known))
        key: list[Any] = [self.key(known, i) for i in range(len(known))]
        least = min(key)
        return Rule(rules.engine_step, self.remember, [each - least for each in key])


def victim_key(victim: Victim, view: View, request: int, turn: int) -> Key:
    """Return the key of a running request under a rule for victims; the least leaves first."""
    made = view.generated[request] + made_now(view, request)
    # the keys and values of the latest token are computed in the next batch
    computed = view.prompt[request] + made - view.filling.get(request, 1)
    match victim:
        case "last":
            return (-turn,)
        case "least-computed":
            return (computed, -turn)
        case "most-computed":
            return (-computed, -turn)
        case "longest-remaining":
            return (made - view.predicted[request], -turn)


def needs(victim: Victim) -> Information:
    """Return the information that a rule for victims needs."""
    return Information.PREDICTION if victim == "longest-remaining" else Information.NOTHING


class _Steps:
    """One run of an engine."""

    def __init__(self, policy: Engine) -> None:
        self._policy, self._block = policy, policy.block
        self._own = policy.remember(OnLists())
        self._turn: dict[int, int] = {}

    def __call__(self, view: View) -> Decision:
        own, now, block = self._own, view.now, self._block
        for i in view.arrived:
            own.key[i] = self._policy.key(view, i)
        rules.note_arrivals(view, own)
        sizes = [] if block == 1 else [held_next(view, i) for i in view.running]
        used = view.tokens if block == 1 else sum(rules.blocks_of(own, size) for size in sizes)
        most = view.memory // block
        if used > most and len(view.running) > 1:
            self._evict(view, used - most)
            return Decision((), list(own.evict), wake=now + 1)
        wake = rules.join(view, own, used, sum(view.filling.values()))
        admitted = list(own.admit)
        for turn, i in enumerate(admitted, own.v[rules.TURNS] - len(admitted)):
            self._turn[i] = turn
        sizes += [held_next(view, i) for i in admitted] if block > 1 else []
        if block > 1 and len(sizes) > 1:
            chunks = view.filling or (admitted and self._policy.tokens)
            wake = now + 1 if chunks else min(wake, now + 1 + self._last_fitting(sizes, most))
        return Decision(admitted, wake=wake)

    def _last_fitting(self, sizes: list[int], most: int) -> int:
        """Return for how many rounds after the next one the blocks fit, if all make tokens."""

        def blocks(rounds: int) -> int:
            return sum(rules.blocks_of(self._own, size + rounds) for size in sizes)

        return bisect_right(range(1, most * self._block + 2), most, key=blocks)

    def _evict(self, view: View, excess: int) -> None:
        """Evict victims in order, until ``excess`` blocks of the next round are free."""
        policy, own = self._policy, self._own
        if policy.in_order:
            rules.evict_in_order(view, own, excess)
            return

        def leaves(i: int) -> tuple[Key, int]:
            return policy.leaves(view, i, self._turn[i]), -own.number[i]

        order = sorted(view.running, key=leaves)
        for i in order[: len(order) - 1]:
            if excess <= 0:
                break
            excess -= rules.evict_request(view, own, i)
