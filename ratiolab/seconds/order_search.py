"""A good schedule in seconds: a search over the order of the queue under a batch-time clock.

A policy that can be deployed is an upper bound on the best schedule; a policy that knows every
length gives a better bound, and a searched order a still better one. With the bound of
`ratiolab.ratio.clock_bound` it bounds the best schedule in seconds from both sides, as `solve` does
in rounds.
"""

import math
import time
from collections import deque
from copy import deepcopy
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from ratiolab.hindsight.compilation import compile_halves, is_done
from ratiolab.hindsight.schedules.annealing import Cooling, cooled, largest, most_running
from ratiolab.model import Instance, IntArray, Preemption
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online import Information, Simulation, make, simulate
from ratiolab.online.clock import BatchTime, picoseconds
from ratiolab.online.policy import Decide, Policy, Setting
from ratiolab.online.view import NEVER, Decision, View
from ratiolab.seconds.beam import beams, first_of
from ratiolab.seconds.beam_kernels import compact
from ratiolab.seconds.duals import Flag, in_closed_form, parts_of, value
from ratiolab.seconds.order_kernels import (
    FIELDS,
    HIGHEST,
    STRIDE,
    Served,
    Timed,
    anneal,
    serve,
)

BEGIN = "swf", "swf-fit", "svf-fit", "mc-sf"
"""Policies whose orders a search begins with."""

LONGEST = 2**62
"""Picoseconds of arrivals that a search takes, 53 days: its sums are 64-bit integers."""

FEW = 400
"""Most requests whose orders are annealed: with more, annealing finds nothing better than beams."""

BEAMS = 0.5
"""Part of the time for beams where an annealing follows; else they have all of it."""

HOT, COLD, REACH, GIVE = 0.01, 0.001, 8, 6.0
"""First and last temperature in mean latencies; places of a move; temperatures that may be lost."""


@dataclass(frozen=True)
class Planned(Policy):
    """A schedule that is known in advance: each request starts in a batch that is given.

    Parameters
    ----------
    starts : batch in which each request starts; rounds in which the server idles do not count.
    """

    starts: tuple[int, ...] = field(repr=False)

    name: ClassVar[str] = "searched order"
    source: ClassVar[str] = "ratiolab"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def start(self, setting: Setting, rng: Generator) -> Decide:
        queue = deque(sorted(range(len(self.starts)), key=self.starts.__getitem__))
        idled = 0

        def decide(view: View) -> Decision:
            nonlocal idled
            admitted = []
            while queue and self.starts[queue[0]] + idled <= view.now:
                if queue[0] not in view.waiting:
                    break  # the server idles until it arrives
                admitted.append(queue.popleft())
            if not view.running and not view.waiting:
                idled += 1
            wake = self.starts[queue[0]] + idled if queue else NEVER
            return Decision(admitted, wake=wake)

        return decide


def timed_of(instance: Instance, clock: BatchTime) -> Timed:
    """Return an instance and a clock as the compiled search reads them, from the first arrival."""
    arrivals = clock.arrivals(instance)
    first = min(arrivals)
    if max(arrivals) - first >= LONGEST:
        raise ValueError(
            f"{instance.name}: a search takes {LONGEST // PICOSECONDS:,} seconds of arrivals at "
            "most; leave --search out, or cut a window with --start and --stop"
        )
    due = np.array([arrival - first for arrival in arrivals], np.int64)
    parts = (clock.fixed, clock.prefill, clock.decode, clock.kv)
    return Timed(
        *(due, np.argsort(due, kind="stable"), instance.prompt, instance.output, instance.memory),
        *(most_running(instance), *map(picoseconds, parts)),
    )


def served(timed: Timed, order: IntArray, release: IntArray | None = None) -> Served:
    """Return the run of an order; its last total is the sum of completion times, picoseconds.

    Parameters
    ----------
    release : when each request may start, not before it arrives; None for arrivals.
    """
    release = timed.due if release is None else release
    n, rows = len(order), len(order) // STRIDE + 2
    ends = np.zeros((rows, timed.running), np.int64)
    known = Served(
        order.copy(),
        release.copy(),
        np.argsort(release, kind="stable"),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.full(n // STRIDE + 1, np.inf),
        np.zeros((rows, FIELDS), np.int64),
        np.zeros(rows + 1),
        ends,
        ends.copy(),
    )
    known.state[0, HIGHEST] = -1
    new = deepcopy(known)
    serve(timed, known, new, 0, 0.0)
    return new


def search_order(
    instance: Instance,
    clock: BatchTime,
    seconds: float,
    *,
    preemption: Preemption = "restart",
    seed: int = 0,
    over: Flag | None = None,
) -> Simulation:
    """Return the run of the least total latency under a clock that is found within some time.

    It has no evictions, so that it is a schedule under all semantics of evictions; ``preemption``
    is what the run says of itself.

    Parameters
    ----------
    instance : it states the seconds of a tick, unless clock does or all arrive at 0.
    seconds : of the search; 0 compares the policies that it would begin with.
    over : ends it with the best that was found, when it is set, as Ctrl-C does.

    Examples
    --------
    >>> pair = Instance("pair", 4, [0, 0], [1, 1], [3, 1])
    >>> total_seconds(search_order(pair, BatchTime(fixed=1, tick=1), 0))
    4.0
    """
    if seconds:
        compile_search(len(instance))
    began, over = time.perf_counter(), np.zeros(1, np.bool_) if over is None else over

    def used(share: float = 1.0) -> float:
        """Return the part of a share of the time that is used."""
        passed = time.perf_counter() - began
        return min(1.0, passed / (share * seconds)) if seconds and not over[0] else 1.0

    def run(policy: Policy) -> Simulation:
        return simulate(instance, policy, preemption=preemption, clock=clock)

    timed, few = timed_of(instance, clock), len(instance) <= FEW
    share = BEAMS if few else 1.0
    best = run(make(BEGIN[0]))
    for key in BEGIN[1:]:
        if not seconds or used() < 1:
            best = min(best, run(make(key)), key=total_seconds)
    try:
        starts = beams(instance, clock, timed, lambda: used(share), share * seconds)
        if starts is not None:
            best = min(best, run(Planned(tuple(starts.tolist()))), key=total_seconds)
        if used() >= 1 or not few:
            return best
        order = np.lexsort((instance.volume, best.schedule.starts))
        known = served(timed, order, _releases(timed, best))
        mean = (known.total[-1] - timed.due.sum(dtype=float)) / len(order)
        cooling = Cooling(HOT * mean, COLD * mean, REACH, GIVE)
        starts = known.began.copy()
        cooled(anneal, timed, known, starts, largest(instance), cooling, used, seed=seed)
        return min(best, run(Planned(tuple(starts.tolist()))), key=total_seconds)
    except KeyboardInterrupt:
        return best


def compile_search(requests: int) -> None:
    """Compile what a search calls, and bounds after it, unless this has been done here.

    Parameters
    ----------
    requests : number of them; with few there is more to compile.
    """
    kind, there = ("search-few", _orders_and_duals) if requests <= FEW else ("search", _duals)
    if not is_done(kind):
        compile_halves(kind, _beam, there)


def _pair() -> tuple[Instance, BatchTime]:
    """Return two requests, whose search takes no time once it is compiled."""
    return Instance("pair", 4, [0, 0], [1, 1], [3, 1]), BatchTime(fixed=1, tick=1)


def _beam() -> None:
    """Do in little what `beams` does, with a log that gets full."""
    timed, parts = timed_of(*_pair()), iter((0.0, 0.0))
    beams(*_pair(), timed, lambda: next(parts, 1.0), 0.001)
    compact(*first_of(timed, 1), np.zeros((1, 3), np.int64))


def _orders_and_duals() -> None:
    """Do in little what a search does after beams, and a certificate."""
    pair, parts = _pair(), iter((0.0, 0.5))
    timed = timed_of(*pair)
    known = served(timed, np.arange(2))
    columns = anneal, timed, known, known.order.copy(), largest(pair[0])
    cooled(*columns, Cooling(1.0, 0.1, REACH, GIVE), lambda: next(parts, 1.0))
    _duals()


def _duals() -> None:
    """Do in little what a certificate does."""
    duals = parts_of(*_pair(), refills=False, groups=1)
    value(duals, in_closed_form(duals, 1.0, 4))


def _releases(timed: Timed, run: Simulation) -> IntArray:
    """Return releases under which requests start as in a run, half of a batch before they do."""
    assert run.times is not None
    assert run.arrivals is not None
    seconds = run.times[run.schedule.starts] - run.arrivals.min()
    started = (seconds * PICOSECONDS).astype(np.int64) - timed.fixed // 2
    releases: IntArray = np.maximum(timed.due, started)
    return releases


def total_seconds(run: Simulation) -> float:
    """Return the total latency of a run under a clock; infinite when it did not end."""
    if run.outcome != "complete" or run.times is None or run.arrivals is None:
        return math.inf
    return float((run.times[run.schedule.completion] - run.arrivals).sum())
