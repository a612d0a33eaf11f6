"""Layer by layer through time, guided by the prices that prove the lower bound.

States. Layer t holds what may have happened before round t: the set of requests started, the
requests still running with their ages, and the latency of all started ones. From a state at t,
every set of arrived requests that fits beside the running ones until they complete may start at
t. Requests with equal arrival, prompt and output start in order of index (exchanging them changes
nothing), and a layer passes without any running request only while some have not arrived (an
optimal schedule is never idle otherwise: `ratiolab.hindsight.horizon`, serial horizon).

Bound. Let c_i(p) be the priced cost of a start and R_t the prices times right sides of time t, as
in `ratiolab.hindsight.lagrangian`. Every completion of a state at t has a latency of at least

    sum over started i of c_i(p_i) + sum over others of min over p >= t of c_i(p)
    - sum of R_t' over all t' + sum over t' <= t of (R_t' - prices of what was held at t'),

since the last bracket is what the rows of times t' <= t leave, which the state knows, and those
of later times leave at least 0. All of it is in integers over the prices' denominator. A state
whose bound exceeds upper - 1 cannot lead to a schedule better than one of latency ``upper``.

Dominance. Of two states of a layer with the same started set, one with no more latency, whose
running requests hold no more at any later time, is at least as good: whatever completes the other
one completes it, too.

So as long as no layer is cut down to a width, the search is exact: it finds an optimal schedule
or shows that none is better than the one known. A beam keeps the states of least bound.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight import beam_kernels as kernels
from ratiolab.hindsight.lagrangian import (
    columns,
    item_prices,
    payments,
    reduced_costs,
    scaled_bound,
)
from ratiolab.hindsight.prices import Prices
from ratiolab.model.feasibility import require_feasible
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

MOST_REQUESTS = 64
"""A set of started requests is one machine word."""

WIDTH = 2_000
"""States that a layer keeps by default."""

ROOM = 16
"""States written a layer, as a multiple of the width, before the worst parents are left out."""

LEAST_ROOM = 10_000
"""States written a layer at least."""

COMPARED = 24
"""States of one started set against which another is compared."""

Stop: TypeAlias = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class BeamResult:
    """The best schedule known after the search, and whether nothing was left out.

    ``exhausted`` means that no schedule has a smaller latency.
    """

    schedule: Schedule = field(repr=False)
    exhausted: bool
    states: int
    widest: int


def beam(
    instance: Instance,
    prices: Prices,
    known: Schedule,
    *,
    width: int = WIDTH,
    stop: Stop | None = None,
) -> BeamResult:
    """Search for a schedule better than a known one, exactly if the width suffices.

    Parameters
    ----------
    prices : any nonnegative prices; those of a good bound make states few.
    known : a feasible schedule.
    width : states that a layer keeps, at least 1.
    stop : asked once a layer; True ends the search.

    Raises
    ------
    ValueError
        when the instance has more than `MOST_REQUESTS` requests.

    Cost: up to width states a layer, each with the sets of requests that may start; exponential
    in the worst case for the exact search.

    >>> from ratiolab.hindsight.cut_bound import cut_bound
    >>> from ratiolab.hindsight.heuristics import list_schedule
    >>> four = Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
    >>> result = beam(four, cut_bound(four).certificate.prices, list_schedule(four, [3, 2, 1, 0]))
    >>> result.schedule.total_latency, result.exhausted
    (12, True)
    """
    if len(instance) > MOST_REQUESTS:
        raise ValueError(f"{len(instance)} requests: the search takes at most {MOST_REQUESTS}")
    search = _Search(instance, prices, known, width)
    return search.run(stop or (lambda: False))


def widening_beam(
    instance: Instance,
    prices: Prices,
    known: Schedule,
    *,
    width: int = 100 * WIDTH,
    stop: Stop | None = None,
) -> BeamResult:
    """Beams of growing width, each from the schedule of the one before, until one is exact.

    A narrow beam costs little and often improves the schedule, which leaves the wider ones fewer
    states to keep. Parameters as in `beam`; ``width`` is the largest.
    """
    next_width = min(width, WIDTH)
    while True:
        result = beam(instance, prices, known, width=next_width, stop=stop)
        if result.exhausted or next_width == width or (stop is not None and stop()):
            return result
        known, next_width = result.schedule, min(width, 10 * next_width)


@dataclass(frozen=True, eq=False)
class _Layer:
    """States as columns; ``parent`` is a row of the layer before."""

    started: NDArray[np.uint64]
    bound: IntArray
    latency: IntArray
    count: IntArray
    job: NDArray[np.int16]
    age: NDArray[np.int16]
    parent: IntArray

    @classmethod
    def empty(cls, states: int, most: int) -> "_Layer":
        single = (np.zeros(states, np.int64) for _ in range(4))
        bound, latency, count, parent = single
        job, age = np.zeros((2, states, most), np.int16)
        return cls(np.zeros(states, np.uint64), bound, latency, count, job, age, parent)

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        return (
            self.started, self.bound, self.latency, self.count, self.job, self.age, self.parent
        )  # fmt: skip

    def take(self, states: IntArray) -> "_Layer":
        return _Layer(*(column[states] for column in self.columns))


class _Search:
    def __init__(self, instance: Instance, prices: Prices, known: Schedule, width: int) -> None:
        self.instance, self.schedule, self.width = instance, known, width
        self.denominator = prices.denominator
        memory = instance.memory
        grid = columns(instance, len(prices.memory))
        dense = [table.dense(memory) for table in prices.tables]
        reduced = reduced_costs(grid, prices, dense)
        self.first_bound = scaled_bound(grid, prices, reduced)
        self.priced = item_prices(memory, prices, dense)
        self.paid = payments(memory, prices)
        self.end = len(prices.memory) + int(instance.arrival.max()) + 1
        self.own, self.least = self._costs(grid.group, grid.start, reduced, grid.first)
        keys = list(instance.requests)
        seen: dict[tuple[int, int, int], int] = {}
        self.twin = np.full(len(keys), -1)
        for i, key in enumerate(keys):
            self.twin[i], seen[key] = seen.get(key, -1), i
        self.most = min(len(instance), memory // (int(instance.prompt.min()) + 1))
        self.everyone = np.uint64(2 ** len(instance) - 1)

    def _costs(
        self, group: IntArray, start: IntArray, reduced: IntArray, first: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Priced cost of starting at 0..end, and the least of starting then or later."""
        instance = self.instance
        times = np.arange(self.end + 1)
        own = (times + (instance.output - instance.arrival)[:, None]) * self.denominator
        keys = np.column_stack([instance.arrival, instance.prompt, instance.output])
        member = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        for i, k in enumerate(member.tolist()):
            chosen = slice(first[k], first[k + 1] if k + 1 < len(first) else len(group))
            own[i, start[chosen]] = reduced[chosen]
            own[i, : instance.arrival[i]] = own[i, instance.arrival[i]]  # never used as a start
        return own, np.minimum.accumulate(own[:, ::-1], axis=1)[:, ::-1].copy()

    def run(self, stop: Stop) -> BeamResult:
        layer = _Layer.empty(1, self.most)
        layer.bound[0] = self.first_bound
        layers: list[tuple[IntArray, IntArray]] = []
        exhausted, states, widest, t = True, 0, 0, 0
        while len(layer.started):
            if stop():
                exhausted = False
                break
            layers.append((layer.started.astype(np.int64), layer.parent))
            nxt, complete = self._expand(layer, t)
            exhausted &= complete
            states += len(nxt.started)
            done = np.flatnonzero(nxt.started == self.everyone)
            if len(done):
                best = done[np.argmin(nxt.latency[done])]
                if nxt.latency[best] < self.schedule.total_latency:
                    self._improve(layers, int(nxt.parent[best]), t)
            layer = nxt.take(self._kept(nxt))
            if len(layer.started) > self.width:
                exhausted = False
                layer = layer.take(np.arange(self.width))
            widest = max(widest, len(layer.started))
            t += 1
        return BeamResult(self.schedule, exhausted, states, widest)

    @property
    def limit(self) -> int:
        """Largest bound of a state that could still improve."""
        return (self.schedule.total_latency - 1) * self.denominator

    def _expand(self, layer: _Layer, t: int) -> tuple[_Layer, bool]:
        instance, end = self.instance, self.end
        n = len(instance)
        inside = t < end
        now = self.own[:, t] - self.least[:, t] if inside else np.zeros(n, np.int64)
        wait = np.full(n, self.denominator)
        if inside:
            wait = self.least[:, t + 1] - self.least[:, t]
        rows = t + 1 < len(self.priced)
        room = LEAST_ROOM + 4 * len(layer.started)
        while True:
            out = _Layer.empty(room, self.most)
            written, complete = kernels.expand(
                *layer.columns[:6],
                instance.arrival <= t,
                self.twin,
                now,
                wait,
                t + instance.output - instance.arrival,
                instance.prompt,
                instance.output,
                instance.memory,
                self.limit,
                self.priced[t + 1] if rows else np.zeros_like(self.priced[0]),
                self.paid[t + 1] if rows else 0,
                self.everyone,
                t < int(instance.arrival.max()),
                *out.columns,
            )
            if complete or room > ROOM * self.width:
                return out.take(np.arange(written)), complete
            room *= 4

    def _kept(self, layer: _Layer) -> IntArray:
        """Undominated states that are not complete and may still improve, least bound first."""
        open_ = (layer.started != self.everyone) & (layer.bound <= self.limit)
        order = np.lexsort((layer.latency, layer.started))
        order = order[open_[order]]
        keep = np.zeros(len(layer.started), np.bool_)
        if len(order):
            keep = kernels.undominated(
                order,
                *(layer.started, layer.latency, layer.count, layer.job, layer.age),
                *(self.instance.prompt, self.instance.output, COMPARED),
            )
        kept = order[keep[order]]
        by_bound: IntArray = kept[np.argsort(layer.bound[kept], kind="stable")]
        return by_bound

    def _improve(self, layers: list[tuple[IntArray, IntArray]], parent: int, t: int) -> None:
        """Follow a complete state back to the start of every request."""
        starts = np.full(len(self.instance), -1)
        later = int(self.everyone)
        for time in range(t, -1, -1):
            started, parents = layers[time]
            before = int(started[parent]) % 2**64
            for i in range(len(starts)):
                if (later & ~before) >> i & 1:
                    starts[i] = time
            later, parent = before, int(parents[parent])
        self.schedule = require_feasible(Schedule.from_starts(self.instance, starts))
