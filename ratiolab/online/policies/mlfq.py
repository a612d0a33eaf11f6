"""Skip-join multi-level feedback queues.

Source: Wu et al. (2023), FastServe, arXiv 2305.05920; its published scheduler, at
https://github.com/LLMServe/FastServe, fastserve/scheduler.py of commit 6da4b75.

That scheduler and the differences here. A request joins the first queue whose slice holds
the measured time of its prefill alone: so here, with rounds in place of time. Slices are 10 ms
times 2^k, in as many queues as it takes: a decoding batch of a large model takes longer, so its
first slices are a round each (``slice=1``), where the default is 4 rounds and the last of 8 queues
has no slice. A request that has run for longer than the slice goes down one queue, to its front;
here, for as long as the slice, and to its end. A request that has not run for 3 s is put at the
front of the first
queue, looked at every 1,000 batches; here at its end, as soon as ``patience`` is over. A batch is
limited in prompt tokens as well. The cache of requests without a place in a batch stays on the
device, then on the host, and is moved back ahead of need; here it is ``recompute`` by default,
``swap`` or ``pause``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Annotated, Any, ClassVar, NamedTuple

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online.policies.prefix import keep_and_start
from ratiolab.online.policy import KEEPING, Count, Decide, Interval, Limit, Policy, Setting
from ratiolab.online.rules import Containers, OnLists, Rule, asked
from ratiolab.online.view import NEVER, Decision, View


@dataclass(frozen=True)
class MLFQ(Policy):
    """Queues of falling priority and growing slices; long prompts skip the first ones.

    A request that has used up the slice of its queue goes to the end of the next one, whose slice
    is `ratio` times as long; the last queue has no slice. A prompt counts as the rounds that its
    prefill takes, and a request joins the first queue whose slice holds it. A request that has
    waited too long goes to the first queue. Every batch is filled from the first queue down, in
    order of joining; a running request without a place in it is preempted.

    The system counts time where this counts rounds; the head of the module says what else differs.

    Parameters
    ----------
    slice : rounds in the first queue, at least 1.
    ratio : ratio of the slices of two queues in a row, at least 2.
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
    many: ClassVar[int] = 20_000

    def start(self, setting: Setting, rng: Generator) -> Decide:
        own = self.remember(OnLists())
        serve = asked(serve_queues, own, lambda view, i: self._rounds(view.prompt[i]))

        def decide(view: View) -> Decision:
            decision = serve(view)
            unserved = {*view.paused, *decision.evict} - {*decision.admit}
            last = sorted(unserved, key=lambda i: (own.queue[i], own.place[i]), reverse=True)
            return decision._replace(drop=last)

        return decide

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of the queues."""
        return Rule(serve_queues, self.remember, [*map(self._rounds, known.prompt)])

    def remember(self, make: Containers) -> "Queues":
        """Return the state of a run before its first round."""
        limits = self.batch or NEVER, min(self.patience, NEVER - 1)
        columns = [make.column() for _ in range(6)]
        slices = make.copied([*self._slices(), NEVER])
        return Queues(*limits, slices, make.scalars(2), *columns, *map(make.heap, (3, 3, 2, 1, 1)))

    def _rounds(self, prompt: int) -> int:
        """Return the rounds that a prefill counts as."""
        return max(1, -(-prompt // self.prompt))

    def _slices(self) -> Iterator[int]:
        """Yield the slices of all queues but the last, as far as they end before all time."""
        rounds = self.slice
        for _ in range(self.queues - 1):
            if rounds >= NEVER:
                return
            yield rounds
            rounds *= self.ratio


class Queues(NamedTuple):
    """State of the queues.

    Parameters
    ----------
    most : requests in memory at once.
    patience : rounds of waiting after which a request goes to the first queue.
    slices : rounds of each queue; the last has no end.
    v : how often a request has joined a queue, and how many wait.
    key : rounds that the prefill of each request counts as.
    queue, place : of each request, and the number of its joining.
    left, ends : rounds of its slice while it waits, and the round in which the slice ends.
    since : round from which it waits without a break, or -1.
    running : of the running requests, in order: queue, place, request.
    waiting : heap of queue, place and request of waiting requests; entries before a promotion are
        past.
    waits : heap of rounds and requests; some have ended.
    admit, evict : the last decision.
    """

    most: int
    patience: int
    slices: Any
    v: Any
    key: Any
    queue: Any
    place: Any
    left: Any
    ends: Any
    since: Any
    running: Any
    waiting: Any
    waits: Any
    admit: Any
    evict: Any


JOINED, WAIT = range(2)
"""Places in `Queues.v`."""


def serve_queues(view: Any, own: Queues) -> int:
    """Decide as the queues do; return when to be asked again."""
    now = view.now
    own.admit.clear()
    own.evict.clear()
    for i in view.completed:
        own.running.remove((own.queue[i], own.place[i], i))
    for i in view.arrived:
        queue = 0
        while own.slices[queue] < own.key[i]:
            queue += 1
        _join(own, i, queue)
        own.v[WAIT] += 1
        _wait(own, i, now)
    for queue, _, i in [rank for rank in own.running if own.ends[rank[2]] <= now]:
        _join(own, i, queue + 1)
        own.ends[i] = now + own.left[i]
    _promote(own, now)
    ranked = sorted([(own.queue[i], own.place[i], i) for _, _, i in own.running])
    kept = keep_and_start(view, ranked, own.waiting, own.most, own.admit, own.place)
    own.running.clear()
    own.running.extend(ranked[:kept])
    for i in own.admit:
        own.v[WAIT] -= 1
        own.since[i] = -1
        prefilled = 0 if view.generated[i] else own.key[i] - 1
        own.ends[i] = now + own.left[i] - prefilled
        own.running.append((own.queue[i], own.place[i], i))
    own.running.sort()
    for _, _, i in ranked[kept:]:
        own.evict.append(i)
        own.left[i] = own.ends[i] - now
        own.v[WAIT] += 1
        _wait(own, i, now)
    ends = NEVER
    for _, _, i in own.running:
        ends = min(ends, own.ends[i])
    wake: int = max(now + 1, ends)
    return min(wake, _longest_wait(own) + own.patience) if own.patience else wake


def _join(own: Queues, i: int, queue: int) -> None:
    """Put a request at the end of a queue."""
    own.queue[i], own.place[i], own.left[i] = queue, own.v[JOINED], own.slices[queue]
    own.v[JOINED] += 1


def _wait(own: Queues, i: int, now: int) -> None:
    """Let a request wait from now on, in its place."""
    own.since[i] = now
    heappush(own.waits, (now, i))
    heappush(own.waiting, (own.queue[i], own.place[i], i))


def _promote(own: Queues, now: int) -> None:
    """Put requests that waited too long into the first queue, in the order of their places."""
    starved = own.running[:0]  # an empty list of such ranks
    while own.patience and _longest_wait(own) <= now - own.patience:
        _, i = heappop(own.waits)
        starved.append((own.queue[i], own.place[i], i))
    for _, _, i in sorted(starved):
        _join(own, i, 0)
        _wait(own, i, now)
    if len(own.waiting) > 2 * own.v[WAIT]:
        ranks = [rank for rank in own.waiting if own.place[rank[2]] == rank[1]]
        own.waiting.clear()
        own.waiting.extend(ranks)
        heapify(own.waiting)


def _longest_wait(own: Queues) -> int:
    """Return the round since which a request waits longest; `NEVER` when none does."""
    while len(own.waits) and own.since[own.waits[0][1]] != own.waits[0][0]:
        heappop(own.waits)
    return own.waits[0][0] if len(own.waits) else NEVER
