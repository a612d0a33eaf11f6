"""Skip-join multi-level feedback queues.

Source: Wu et al. (2023), FastServe, arXiv 2305.05920; its published scheduler, at
https://github.com/LLMServe/FastServe, fastserve/scheduler.py of commit 6da4b75.

What that scheduler does, and what differs here. A request joins the first queue whose slice holds
the measured time of its prefill alone: so here, with rounds in place of time. Slices are 10 ms
times 2^k, in as many queues as it takes: a decoding batch of a large model takes longer, so its
first slices are a round each (``slice=1``), where the default is 4 rounds and the last of 8 queues
has no slice. Whoever has run for longer than the slice goes down one queue, to its front; here, for
as long as the slice, and to its end. Who has not run for 3 s is put at the front of the first
queue, looked at every 1,000 batches; here at its end, as soon as ``patience`` is over. A batch is
limited in prompt tokens as well. Of those that have no place in a batch the cache stays on the
device, then on the host, and is moved back ahead of need; here it is ``recompute`` by default,
``swap`` or ``pause``.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappush
from typing import Annotated, ClassVar, TypeAlias

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online.policies.prefix import keep_and_start
from ratiolab.online.policy import KEEPING, Count, Decide, Interval, Limit, Policy, Setting
from ratiolab.online.view import NEVER, Decision, View

Place: TypeAlias = tuple[int, int, int]
"""Queue, number in the order of joining, request: the smaller goes first."""


@dataclass(frozen=True)
class MLFQ(Policy):
    """Queues of falling priority and growing slices; long prompts skip the first ones.

    A request that has used up the slice of its queue goes to the end of the next one, whose slice
    is `ratio` times as long; the last queue has no slice. A prompt counts as the rounds that its
    prefill takes, and a request joins the first queue whose slice holds it. Who has waited too long
    goes to the first queue. Every batch is filled from the first queue down, in order of joining;
    whoever has no place in it is preempted.

    The system counts time where this counts rounds; the head of the module says what else differs.

    Parameters
    ----------
    slice : rounds in the first queue, at least 1.
    ratio : of the slices of two queues in a row, at least 2.
    queues : number of queues, at least 1.
    prompt : tokens of a prompt that are prefilled in the time of a decoding round, at least 1. The
        default is, to tens, that of the one clock that was measured, a 70B model's, for 12 requests
        that fill 16,492 tokens, as conversations do: (fixed + 12 decode + 16,492 kv) / prefill. By
        data sheets it is 171 for that model, 186 for one of 8B, and 504 for one of 1B on a smaller
        device (`ratiolab.online.clock`).
    patience : rounds of waiting without a break after which a request goes to the first queue; 0
        never does that.
    batch : most requests in memory at once; 0 leaves it to the memory.
    """

    slice: Count = 4
    ratio: Annotated[int, Interval("[2, inf)")] = 2
    queues: Count = 8
    prompt: Count = 160
    patience: Annotated[int, Interval("[0, inf)")] = 2000
    batch: Limit = 256

    name: ClassVar[str] = "mlfq"
    source: ClassVar[str] = "Wu et al. (2023), arXiv 2305.05920"
    preemption: ClassVar[Preemption] = "recompute"
    semantics: ClassVar[tuple[Preemption, ...]] = KEEPING

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self)


def _slices(policy: MLFQ) -> Iterator[int]:
    """Yield the slices of all queues but the last, as far as they end before all time."""
    rounds = policy.slice
    for _ in range(policy.queues - 1):
        if rounds >= NEVER:
            return
        yield rounds
        rounds *= policy.ratio


class _Run:
    def __init__(self, policy: MLFQ) -> None:
        self._most = policy.batch or NEVER
        self._slices = [*_slices(policy), NEVER]
        self._prompt, self._patience = policy.prompt, policy.patience
        self._place: dict[int, Place] = {}
        self._left: dict[int, int] = {}  # rounds of the slice of a waiting request
        self._ends: dict[int, int] = {}  # round in which the slice of a running request ends
        self._since: dict[int, int] = {}  # round from which a request waits without a break
        self._queue: list[Place] = []  # of the waiting requests; places before a promotion are past
        self._waits: deque[tuple[int, int]] = deque()  # round, request; in order, some are past
        self._joined = 0

    def __call__(self, view: View) -> Decision:
        now, ends = view.now, self._ends
        for i in view.completed:
            del ends[i]
        for i in view.arrived:
            needed = self._rounds(view, i)
            self._join(i, next(k for k, rounds in enumerate(self._slices) if rounds >= needed))
            self._wait(i, now)
            heappush(self._queue, self._place[i])
        for queue, _, i in sorted(self._place[i] for i, end in ends.items() if end <= now):
            self._join(i, queue + 1)
            ends[i] = now + self._left[i]
        self._promote(now)
        ranked = sorted(self._place[i] for i in ends)
        kept, admitted = keep_and_start(view, ranked, self._queue, self._most, self._past)
        evicted = [i for *_, i in ranked[kept:]]
        for i in admitted:
            del self._since[i]
            prefilled = 0 if view.generated[i] else self._rounds(view, i) - 1
            ends[i] = now + self._left[i] - prefilled
        for i in evicted:
            self._left[i] = ends.pop(i) - now
            self._wait(i, now)
            heappush(self._queue, self._place[i])
        drop = sorted({*view.paused, *evicted} - {*admitted}, key=self._place.__getitem__)
        return Decision(admitted, evicted, self._wake(now), drop[::-1])

    def _rounds(self, view: View, i: int) -> int:
        """Return the rounds that a prefill counts as."""
        return max(1, -(-view.prompt[i] // self._prompt))

    def _join(self, i: int, queue: int) -> None:
        self._place[i] = (queue, self._joined, i)
        self._left[i] = self._slices[queue]
        self._joined += 1

    def _promote(self, now: int) -> None:
        """Put those who have waited too long into the first queue, in the order of their places."""
        starved: list[Place] = []
        while self._patience and self._longest_wait() <= now - self._patience:
            starved.append(self._place[self._waits.popleft()[1]])
        for *_, i in sorted(starved):
            self._join(i, 0)
            self._wait(i, now)
            heappush(self._queue, self._place[i])
        if len(self._queue) > 2 * len(self._since):
            self._queue = [self._place[i] for i in self._since]
            heapify(self._queue)

    def _past(self, place: Place) -> bool:
        """Return whether the place of a waiting request was one before its promotion."""
        return self._place[place[-1]] != place

    def _wake(self, now: int) -> int:
        """Return the next round in which a slice ends, or patience."""
        wake = max(now + 1, min(self._ends.values(), default=NEVER))
        return min(wake, self._longest_wait() + self._patience) if self._patience else wake

    def _wait(self, i: int, now: int) -> None:
        self._since[i] = now
        self._waits.append((now, i))

    def _longest_wait(self) -> int:
        """Return the round since which somebody waits longest; `NEVER` when nobody does."""
        while self._waits and self._since.get(self._waits[0][1]) != self._waits[0][0]:
            self._waits.popleft()
        return self._waits[0][0] if self._waits else NEVER
