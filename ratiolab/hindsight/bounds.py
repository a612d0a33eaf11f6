"""Lower bounds on the hindsight optimum that need no solver, each with its proof.

All arithmetic is in Python integers, so a bound is a theorem about the instance and not about
rounding. The bounds hold for every schedule without evictions, hence (evictions that lose all
tokens never help a scheduler that knows everything) for every schedule.

Slots. The memory of all rounds is laid out on one line of unit *slots*: time t = 1, 2, ... owns the
M slots (t - 1) M, ..., t M - 1. A request holding y tokens at time t fills y slots of t. Since it
holds nothing before a + 1, its slots lie at a M or later. So a schedule gives each request
``volume`` slots of its own, after its release a M, and completes it no earlier than the time that
owns its last slot: a preemptive schedule of one machine that does one slot at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from ratiolab.model.instance import Instance

FRACTION_BITS = 64
"""Binary digits kept of each fraction of `mean_busy_time`, always rounded down."""


@dataclass(frozen=True)
class LowerBound:
    """A proven lower bound on the total latency of every schedule, and its source."""

    value: int
    source: str


class Piece(NamedTuple):
    """Slots ``begin`` to ``end`` (half open) that one machine spends on one request."""

    request: int
    begin: int
    end: int
    last: bool


def alone(instance: Instance) -> LowerBound:
    """Bound latency by the sum of all outputs: no request is faster than alone. Cost O(n).

    >>> alone(Instance("two", 10, [0, 3], [1, 1], [2, 4])).value
    6
    """
    return LowerBound(sum(instance.output.tolist()), "alone")


def volume(instance: Instance) -> LowerBound:
    """Bound completions in order, each held back by memory volume and by its rank alone.

    Let C(1) <= ... <= C(n) be the completions of any schedule in order. (i) In slots the schedule
    is a preemptive schedule of one machine; among those, shortest remaining volume first completes
    the most requests by any moment (Schrage 1968; processor sharing does not help), so C(j) is at
    least the time that owns its j-th completion slot. (ii) Every completion is at least a + o, so
    C(j) is at least the j-th smallest a + o. The sum over j of the larger of the two is a bound.
    Cost O(n log n).

    >>> volume(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).value
    11
    """
    ends = [piece.end for piece in preempt(instance, shortest_remaining=True) if piece.last]
    memory = instance.memory
    earliest = sorted((instance.arrival + instance.output).tolist())
    total = sum(
        max(-(-end // memory), soonest) for end, soonest in zip(sorted(ends), earliest, strict=True)
    )
    return LowerBound(total - sum(instance.arrival.tolist()), "volume")


def mean_busy_time(instance: Instance) -> LowerBound:
    """Bound the sum of mean busy times, minimised over all ways to share the slots.

    A request that starts at p holds s + g tokens at p + g, so the mean of the times of its slots is
    f = p + G/v with v its volume and G = sum over g = 1..o of g (s + g); its completion p + o
    is f + o - G/v, a constant away. The sum of all f is linear in the slots: a slot of time t
    given to request i costs t / v_i. If an earlier slot that i may use serves j with v_j >= v_i
    and a later one serves i, exchanging them costs (t_early - t_late)(1/v_i - 1/v_j) <= 0; so
    always serving the released request of smallest volume is optimal. Preemptive, O(n log n).

    The fractions are rounded down to `FRACTION_BITS` binary digits, the sum of latencies, an
    integer, up.

    Source: the mean-busy-time relaxation of Goemans et al. (2002), Single machine scheduling with
    release dates, SIAM J. Discrete Math. 15, applied to memory volume.

    >>> mean_busy_time(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).value
    11
    """
    memory = instance.memory
    weights = [0] * len(instance)  # sum of times of a request's slots
    for piece in preempt(instance, shortest_remaining=False):
        weights[piece.request] += _times(piece.end, memory) - _times(piece.begin, memory)
    total = scaled = 0
    columns = (instance.arrival, instance.prompt, instance.output, instance.volume)
    for weight, arrival, prompt, output, tokens in zip(
        weights, *(c.tolist() for c in columns), strict=True
    ):
        growth = prompt * output * (output + 1) // 2 + output * (output + 1) * (2 * output + 1) // 6
        total += output - arrival
        scaled += ((weight - growth) << FRACTION_BITS) // tokens
    return LowerBound(total - (-scaled >> FRACTION_BITS), "mean-busy-time")


BOUNDS: tuple[Callable[[Instance], LowerBound], ...] = (alone, volume, mean_busy_time)


def best_lower_bound(instance: Instance) -> LowerBound:
    """Return the largest of all bounds; the simplest among equals. Cost O(n log n)."""
    return max((bound(instance) for bound in BOUNDS), key=lambda bound: bound.value)


def _times(slot: int, memory: int) -> int:
    """Return the sum of the times that own the slots before this one."""
    full, rest = divmod(slot, memory)
    return memory * full * (full + 1) // 2 + rest * (full + 1)


def preempt(instance: Instance, *, shortest_remaining: bool) -> Iterator[Piece]:
    """Yield the slots of one machine that serves the least remaining (or else total) volume."""
    releases = [a * instance.memory for a in instance.arrival.tolist()]
    return one_machine(releases, instance.volume.tolist(), shortest_remaining=shortest_remaining)


def one_machine(
    released: Sequence[int], sizes: Sequence[int], *, shortest_remaining: bool
) -> Iterator[Piece]:
    """Yield the pieces of one machine that serves the least remaining (or else total) size.

    Parameters
    ----------
    released : when each request may begin, in the unit of `sizes`.
    sizes : how long the machine needs for each, at least 1.
    """
    releases = [(release, i) for i, release in enumerate(released)]
    heapify(releases)
    remaining = list(sizes)
    waiting: list[tuple[int, int]] = []
    slot = 0
    while releases or waiting:
        if not waiting:
            slot = max(slot, releases[0][0])
        while releases and releases[0][0] <= slot:
            i = heappop(releases)[1]
            heappush(waiting, (sizes[i], i))
        i = heappop(waiting)[1]
        end = slot + remaining[i]
        if releases:
            end = min(end, releases[0][0])
        remaining[i] -= end - slot
        yield Piece(i, slot, end, last=not remaining[i])
        if remaining[i]:
            heappush(waiting, (remaining[i] if shortest_remaining else sizes[i], i))
        slot = end
