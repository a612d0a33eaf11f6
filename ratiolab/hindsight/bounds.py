"""Lower bounds on the hindsight optimum that need no solver, each with its proof.

All arithmetic is in Python integers, so a bound is a theorem about the instance and not about
rounding. The bounds hold for every schedule without evictions, hence (evictions that lose all
tokens never help a scheduler that knows everything) for every schedule.

Slots. The memory of all rounds is laid out on one line of unit *slots*: time t = 1, 2, ... owns the
M slots (t - 1) M, ..., t M - 1. A request holding y tokens at time t fills y slots of t. Since it
holds nothing before a + 1, its slots lie at a M or later. Hence a schedule gives each request
``volume`` slots of its own, after its release a M, and completes it no earlier than the time that
owns its last slot: a preemptive schedule of one machine that does one slot at a time.

Fleets. Replicas of memories M_1, ..., M_R own M_1 + ... + M_R slots of each time together, and
every argument stands: it speaks of what is held in all, and no rule but that of memory mentions a
replica. More is seen when tokens are weighed by a dual feasible function f
(`ratiolab.hindsight.dual_feasible`, where it is shown that sizes of sum m have at most f(m) in all
after f): replica r holds at most f(M_r) at any time, so all own f(M_1) + ... + f(M_R) slots of it,
and a request of s + g tokens fills f(s + g) of them. As f never falls, a request that fills any
slot fills one at its completion. A request that fills none is counted with its output alone. All
this is about rounds: under a clock a pooled memory would do the work of its tokens one after
another, which replicas do at once, and its bound is false.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple, TypeAlias

from ratiolab.hindsight.dual_feasible import dual_feasible, names
from ratiolab.model.fleet import Fleet
from ratiolab.model.instance import Instance

FRACTION_BITS = 64
"""Binary digits kept of each fraction of `mean_busy_time`, always rounded down."""

FUNCTIONS = 4
"""Dual feasible functions that are tried by default: few, as each costs as much as two bounds."""


@dataclass(frozen=True)
class LowerBound:
    """A proven lower bound on the total latency of every schedule, and its source."""

    value: int
    source: str


class Piece(NamedTuple):
    """Slots ``begin`` to ``end`` (half open), in which one machine serves one request."""

    request: int
    begin: int
    end: int
    last: bool


class Slots(NamedTuple):
    """Slots that each time owns, and that each request fills.

    Parameters
    ----------
    capacity : slots of a time.
    sizes : slots of each request.
    moments : sum of age times slots of each request.
    """

    capacity: int
    sizes: list[int]
    moments: list[int]

    @classmethod
    def of(
        cls, instance: Instance, memories: Sequence[int] = (), function: str = "identity"
    ) -> "Slots":
        """Return the slots of replicas, tokens weighed by a dual feasible function.

        Without ``memories`` there is one replica, with the memory of the instance.
        """
        f = dual_feasible(function, instance.memory)
        counts = Counter(memories or (instance.memory,))
        capacity = sum(number * f(memory) for memory, number in counts.items())
        return cls(capacity, *f.sums(instance.prompt, instance.output))


def alone(instance: Instance, _: Slots | None = None) -> LowerBound:
    """Bound latency by the sum of all outputs: no request is faster than alone. Cost O(n).

    >>> alone(Instance("two", 10, [0, 3], [1, 1], [2, 4])).value
    6
    """
    return LowerBound(sum(instance.output.tolist()), "alone")


def volume(instance: Instance, slots: Slots | None = None) -> LowerBound:
    """Bound completions in order, each held back by memory volume and by its rank alone.

    Let C(1) <= ... <= C(n) be the completions of any schedule in order. (i) In slots the schedule
    is a preemptive schedule of one machine; among those, shortest remaining volume first completes
    the most requests by any moment (Schrage 1968; processor sharing does not help), so C(j) is at
    least the time that owns its j-th completion slot. (ii) Every completion is at least a + o, so
    C(j) is at least the j-th smallest a + o. The sum over j of the larger of the two is a bound.
    Cost O(n log n).

    Parameters
    ----------
    slots : by default those of one replica, in tokens.

    >>> volume(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).value
    11
    """
    slots = slots or Slots.of(instance)
    filling, total = _filling(instance, slots)
    capacity, arrivals = slots.capacity, instance.arrival.tolist()
    pieces = _pieces(instance, slots, filling, shortest_remaining=True)
    ends = sorted(piece.end for piece in pieces if piece.last)
    earliest = (instance.arrival + instance.output).tolist()
    for end, soonest in zip(ends, sorted(earliest[i] for i in filling), strict=True):
        total += max(-(-end // capacity), soonest)
    return LowerBound(total - sum(arrivals[i] for i in filling), "volume")


def mean_busy_time(instance: Instance, slots: Slots | None = None) -> LowerBound:
    """Bound the sum of mean busy times, minimised over all ways to share the slots.

    A request that starts at p holds s + g tokens at p + g, so the mean of the times of its slots is
    f = p + G/v with v its volume and G = sum over g = 1..o of g (s + g); its completion p + o
    is f + o - G/v, a constant away. The sum of all f is linear in the slots: a slot of time t
    given to request i costs t / v_i. If an earlier slot that i may use serves j with v_j >= v_i
    and a later one serves i, exchanging them costs (t_early - t_late)(1/v_i - 1/v_j) <= 0; so
    always serving the released request of smallest volume is optimal. Preemptive, O(n log n).

    The fractions are rounded down to `FRACTION_BITS` binary digits, the sum of latencies, an
    integer, up.

    Parameters
    ----------
    slots : by default those of one replica, in tokens.

    Source: the mean-busy-time relaxation of Goemans et al. (2002), Single machine scheduling with
    release dates, SIAM J. Discrete Math. 15, applied to memory volume.

    >>> mean_busy_time(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).value
    11
    """
    slots = slots or Slots.of(instance)
    filling, total = _filling(instance, slots)
    weights = [0] * len(instance)  # sum of times of a request's slots
    for piece in _pieces(instance, slots, filling, shortest_remaining=False):
        begin, end = (_times(slot, slots.capacity) for slot in (piece.begin, piece.end))
        weights[filling[piece.request]] += end - begin
    arrival, output = instance.arrival.tolist(), instance.output.tolist()
    scaled = 0
    for i in filling:
        total += output[i] - arrival[i]
        scaled += ((weights[i] - slots.moments[i]) << FRACTION_BITS) // slots.sizes[i]
    return LowerBound(total - (-scaled >> FRACTION_BITS), "mean-busy-time")


def _filling(instance: Instance, slots: Slots) -> tuple[list[int], int]:
    """Return the requests that fill slots, and the outputs of all others."""
    filling = [i for i, size in enumerate(slots.sizes) if size]
    if len(filling) == len(instance):
        return filling, 0
    rest = (o for o, size in zip(instance.output.tolist(), slots.sizes, strict=True) if not size)
    return filling, sum(rest)


Bound: TypeAlias = Callable[..., LowerBound]
"""A bound of an instance and, but for `alone`, of slots."""

BOUNDS: tuple[Bound, ...] = (alone, volume, mean_busy_time)


def best_lower_bound(instance: Instance) -> LowerBound:
    """Return the largest of all bounds; the simplest among equals. Cost O(n log n)."""
    return max((bound(instance) for bound in BOUNDS), key=lambda bound: bound.value)


def fleet_lower_bound(fleet: Fleet, most: int = FUNCTIONS) -> tuple[LowerBound, str]:
    """Return the largest bound for a fleet, and the dual feasible function that it is found with.

    Parameters
    ----------
    most : functions that are tried: the identity, and those after which the requests fill most.

    Cost O(n log n) a function.

    >>> big = Instance("big", 9, [0] * 3, [5] * 3, [2] * 3)  # two replicas, no two fit one
    >>> fleet_lower_bound(Fleet(big, 2))
    (LowerBound(value=8, source='mean-busy-time'), 'rounding-1')
    """
    instance, memories = fleet.instance, fleet.memories
    slots = {name: Slots.of(instance, memories, name) for name in names(instance.memory)}
    first, *rest = slots
    rest.sort(key=lambda name: -sum(slots[name].sizes) / slots[name].capacity)
    best, function = alone(instance), first
    for name in [first, *rest][:most]:
        for bound in BOUNDS:
            found = bound(instance, slots[name])
            if found.value > best.value:
                best, function = found, name
    return best, function


def _times(slot: int, memory: int) -> int:
    """Return the sum of the times that own the slots before this one."""
    full, rest = divmod(slot, memory)
    return memory * full * (full + 1) // 2 + rest * (full + 1)


def _pieces(
    instance: Instance, slots: Slots, filling: list[int], *, shortest_remaining: bool
) -> Iterator[Piece]:
    """Yield the slots of one machine that serves the requests which fill any."""
    arrivals = instance.arrival.tolist()
    releases = [slots.capacity * arrivals[i] for i in filling]
    sizes = [slots.sizes[i] for i in filling]
    return one_machine(releases, sizes, shortest_remaining=shortest_remaining)


def one_machine(
    released: Sequence[int],
    sizes: Sequence[int],
    *,
    shortest_remaining: bool,
    ranks: Sequence[float] | None = None,
) -> Iterator[Piece]:
    """Yield the pieces of one machine that serves the least remaining (or else total) size.

    Parameters
    ----------
    released : when each request may begin, in the unit of `sizes`.
    sizes : how long the machine needs for each, at least 1.
    ranks : what is served least first in place of the total size.
    """
    fixed = sizes if ranks is None else ranks
    order = sorted(range(len(released)), key=released.__getitem__)
    moments: list[float] = [*(released[i] for i in order), inf]
    remaining = list(sizes)
    waiting: list[tuple[float, int]] = []
    slot = place = 0
    while place < len(order) or waiting:
        if not waiting:
            slot = max(slot, released[order[place]])
        while moments[place] <= slot:
            i = order[place]
            heappush(waiting, (fixed[i], i))
            place += 1
        rank, i = heappop(waiting)
        begin, left = slot, remaining[i]
        while moments[place] < slot + left:
            new = order[place]
            heappush(waiting, (fixed[new], new))
            left -= released[new] - slot
            slot = released[new]
            place += 1
            if shortest_remaining:
                rank = left
            if (fixed[new], new) < (rank, i):
                remaining[i] = left
                heappush(waiting, (rank, i))
                break
        else:
            slot, left = slot + left, 0
        yield Piece(i, begin, slot, last=not left)
