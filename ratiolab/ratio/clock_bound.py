"""A lower bound on total latency in seconds, for every schedule under a clock, with its proof.

Work. Call ``fixed * held / M`` of a batch's fixed time, with the tokens that a request holds at its
end, and what the request itself adds to the batch (its prompt prefilled, or a decoding request and
its cache read) the work of the request in that batch. A batch holds at most M tokens, so it lasts
at least as long as the work done in it: a schedule in batches is a schedule of one machine that
works at speed 1, and shares a batch evenly. A request that completes has had all its work in its
last run, after its arrival, and a request that keeps its tokens has had the work of each token
once. Therefore two relaxations for unit rounds hold for seconds: see
`ratiolab.hindsight.bounds`. All arithmetic is in integers, M-ths of a picosecond.

Chunks. An engine may prefill what a request holds over several batches; the last one makes its
next token. Then count the share of the fixed time in that last batch alone, and all that the chunks
add as work of that token. A batch still holds at most M tokens at its end, those whose tokens it
makes included, so it lasts as long as the work done in it; the work of a token is unchanged, or
larger where chunks read earlier ones or an eviction leaves them undone; and it is done no later
than in the batch that makes the token, so that as much time as before follows it. Every argument
stands, whether an engine takes the room of a prompt at once or chunk by chunk.

Replicas. R equal replicas each make batches of their own. At any moment at most R batches are under
way, each lasts at least as long as the work done in it, with M the memory of *one* replica, and so
R replicas do at most R seconds of work in a second: their schedule is one of a machine that works
at speed R. On that machine the same two rules are best. The batches that follow a token of a
request are batches of this request, one after another, wherever it runs. A single replica of memory
R M is no relaxation: it would do one after another what the replicas do at once. Replicas of
different memory are bounded as R of the largest: a batch that fits a memory fits a larger one, and
lasts as long there.
"""

from collections.abc import Sequence
from operator import sub
from typing import NamedTuple

from ratiolab.hindsight.bounds import FRACTION_BITS, one_machine
from ratiolab.model import Instance, Preemption
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online.clock import BatchTime


def clock_lower_bound(
    instance: Instance,
    clock: BatchTime,
    preemption: Preemption = "restart",
    replicas: int = 1,
) -> float:
    """Return a lower bound on the total latency of every schedule under these semantics.

    The larger of two. *Completions in order*: the j-th completion is no earlier than the j-th of
    the machine that always does the least remaining work, and than the j-th smallest arrival plus
    isolated latency. *Mean busy times*: o - k - 1 batches follow the work of the (k+1)-th token,
    each of `fixed` at least, and half its own batch; the sum of the mean times of all work is least
    when the machine always serves the released request of least work.

    Under ``restart`` only the last run counts, and under ``swap`` resumed runs decode: every token
    but the first is decoded. Under ``recompute`` and ``pause`` the batch that makes a token may
    instead prefill all that the request holds, and the work of the token is the smaller of both.

    Parameters
    ----------
    instance : it states the seconds of a tick, unless all requests arrive at 0.
    clock : how long a batch takes.
    preemption : what an eviction costs.
    replicas : equal replicas that serve the requests, each with the memory of the instance.

    Returns
    -------
    Seconds. Cost O(n log n).

    Source: own proof; the relaxations are those of `ratiolab.hindsight.bounds`.

    >>> pair = Instance("pair", 3, [0, 0], [0, 0], [2, 2])  # 6 token-seconds, 3 at once
    >>> clock_lower_bound(pair, BatchTime(fixed=1, tick=1))
    4.0
    """
    speed = instance.memory * replicas
    arrivals = clock.arrivals(instance)
    needs = _needs(instance, clock, refills=EVICTIONS[preemption].refills)
    works = [need.work for need in needs]
    # picoseconds from the mean time of a request's work to its completion, times 2**bits
    fixed = clock.whole[0]
    tails = sum((fixed * need.later << FRACTION_BITS) // (2 * need.work) for need in needs)
    releases = [speed * arrival for arrival in arrivals]
    soonest = sorted(a + need.isolated for a, need in zip(arrivals, needs, strict=True))
    completions = max(_in_order(releases, works, soonest, speed), sum(soonest))
    busy = (_mean_times(releases, works) // speed + tails) >> FRACTION_BITS
    return (max(completions, busy) - sum(arrivals)) / PICOSECONDS


def ttft_lower_bound(instance: Instance, clock: BatchTime, replicas: int = 1) -> float:
    """Return a lower bound on the total time to first token of every schedule, seconds.

    The first token of a request needs a batch after its arrival that prefills its prompt: the
    bound on the total latency of the same requests with one token of output.
    """
    first = instance.without_predictions().replace(output=[1] * len(instance))
    return clock_lower_bound(first, clock, replicas=replicas)


def works_of(
    instance: Instance, clock: BatchTime, preemption: Preemption
) -> list[tuple[int, int, int]]:
    """Return the work of the first token of each request, that of all others, and its time alone.

    Works are in M-ths of a picosecond, times in picoseconds.
    """
    fixed, prefill, *_ = clock.whole
    needs = _needs(instance, clock, refills=EVICTIONS[preemption].refills)
    memory, found = instance.memory, []
    for prompt, need in zip(instance.prompt.tolist(), needs, strict=True):
        first = fixed * (prompt + 1) + memory * prefill * prompt
        found.append((first, need.work - first, need.isolated))
    return found


class _Need(NamedTuple):
    """A request's work; work times twice the batches that follow it, its own half; time alone."""

    work: int
    later: int
    isolated: int


def _needs(instance: Instance, clock: BatchTime, *, refills: bool) -> list[_Need]:
    """Return the need of each request.

    The batch that makes a token of a request which holds h tokens adds c + d h picoseconds to it:
    the request decodes, or prefills all that it holds if that is quicker, which it is up to some h.
    """
    memory = instance.memory
    fixed, prefill, decode, kv, _ = clock.whole
    quicker = 0  # most tokens whose prefill is no slower than decoding
    if refills:
        quicker = decode // (prefill - kv) if prefill > kv else memory
    needs = []
    for prompt, output in zip(instance.prompt.tolist(), instance.output.tolist(), strict=True):
        end = prompt + output
        added = prefill * prompt
        work = fixed * (prompt + 1) + memory * added
        later = work * (2 * output - 1)
        middle = min(max(quicker, prompt), end - 1)
        for first, last, c, d in ((prompt, middle, 0, prefill), (middle, end - 1, decode, kv)):
            if first == last:
                continue
            count, total, squares = map(sub, _powers(last), _powers(first))
            added += c * count + d * total
            c, d = fixed + memory * c, fixed + memory * d
            work += c * count + d * total
            later += (2 * end - 1) * (c * count + d * total) - 2 * (c * total + d * squares)
        needs.append(_Need(work, later, fixed * output + added))
    return needs


def _powers(last: int) -> tuple[int, int, int]:
    """Return how many numbers 1 to `last` there are, their sum, and the sum of their squares."""
    return last, last * (last + 1) // 2, last * (last + 1) * (2 * last + 1) // 6


def _in_order(releases: list[int], works: list[int], soonest: list[int], speed: int) -> int:
    pieces = one_machine(releases, works, shortest_remaining=True)
    ends = sorted(piece.end for piece in pieces if piece.last)
    return sum(max(end // speed, least) for end, least in zip(ends, soonest, strict=True))


def _mean_times(releases: Sequence[int], works: Sequence[int]) -> int:
    """Return the sum of the mean times of all works, rounded down, times 2**FRACTION_BITS."""
    moments = [0] * len(works)
    for piece in one_machine(releases, works, shortest_remaining=False):
        moments[piece.request] += piece.end**2 - piece.begin**2
    return sum(
        (moment << FRACTION_BITS) // (2 * work) for moment, work in zip(moments, works, strict=True)
    )
