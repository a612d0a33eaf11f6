"""The layered search itself; `ratiolab.hindsight.layers.beam` explains and proves it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.prices import Prices
from ratiolab.hindsight.layers import beam_kernels as kernels
from ratiolab.hindsight.layers.layer import Layer
from ratiolab.hindsight.relaxation.lagrangian import (
    columns,
    item_prices,
    payments,
    reduced_costs,
    scaled_bound,
)
from ratiolab.model.feasibility import require_feasible
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

ROOM = 16
"""States written a layer, as a multiple of the width, before the worst parents are left out."""

LEAST_ROOM = 10_000
"""States written a layer at least."""

COMPARED = 24
"""States of one started set against which another is compared."""

Stop: TypeAlias = Callable[[], bool]
Found: TypeAlias = Callable[[Schedule], None]


@dataclass(frozen=True, eq=False)
class BeamResult:
    """The best schedule known after the search, and what the search proves.

    Parameters
    ----------
    lower : no schedule has a smaller latency.
    exhausted : whether nothing was left out, so that the schedule is optimal.
    states : states of all layers; widest : of the widest.
    """

    schedule: Schedule = field(repr=False)
    lower: int
    exhausted: bool
    states: int
    widest: int


class LayeredSearch:
    """One run through the layers.

    Parameters
    ----------
    bounding : leave out what is no better than something left out before: the bound is as good,
        and schedules are not looked for.
    """

    def __init__(
        self,
        instance: Instance,
        prices: Prices,
        known: Schedule,
        width: int,
        found: Found,
        bounding: bool = False,
    ) -> None:
        self.instance, self.schedule, self.width, self.found = instance, known, width, found
        self.bounding = bounding
        self.left_out: int | None = None
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
        layer = Layer.empty(1, self.most)
        layer.bound[0] = self.first_bound
        layers: list[tuple[IntArray, IntArray]] = []
        states, widest, t = 0, 0, 0
        while len(layer.started):
            if stop():
                self._leave_out(layer.bound)
                break
            layers.append((layer.started.astype(np.int64), layer.parent))
            nxt = self._expand(layer, t)
            states += len(nxt.started)
            done = np.flatnonzero(nxt.started == self.everyone)
            if len(done):
                best = done[np.argmin(nxt.latency[done])]
                if nxt.latency[best] < self.schedule.total_latency:
                    self._improve(layers, int(nxt.parent[best]), t)
            layer = self._narrowed(nxt)
            widest = max(widest, len(layer.started))
            t += 1
        lower, exhausted = self.schedule.total_latency, self.left_out is None
        if self.left_out is not None:
            lower = min(lower, -(-self.left_out // self.denominator))
        return BeamResult(self.schedule, lower, exhausted, states, widest)

    @property
    def limit(self) -> int:
        """Largest bound of a state that is of interest."""
        limit = (self.schedule.total_latency - 1) * self.denominator
        if self.bounding and self.left_out is not None:
            limit = min(limit, self.left_out - 1)
        return limit

    def _leave_out(self, bounds: IntArray) -> None:
        """Remember the least bound of what is not searched further."""
        if len(bounds):
            least = int(bounds.min())
            self.left_out = least if self.left_out is None else min(self.left_out, least)

    def _expand(self, layer: Layer, t: int) -> Layer:
        """States of the next layer; what does not find room is left out."""
        instance, end = self.instance, self.end
        n = len(instance)
        inside = t < end
        now = self.own[:, t] - self.least[:, t] if inside else np.zeros(n, np.int64)
        wait = np.full(n, self.denominator)
        if inside:
            wait = self.least[:, t + 1] - self.least[:, t]
        rows = t + 1 < len(self.priced)
        room, most = LEAST_ROOM + 4 * len(layer.started), ROOM * self.width
        while True:
            out = Layer.empty(room, self.most)
            written, parents = kernels.expand(
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
            if parents == len(layer.started):
                return out.take(np.arange(written))
            if room <= most:
                room *= 4
            elif self.bounding:  # at a lower limit, all find room
                self._leave_out(np.partition(out.bound, room // 4)[room // 4 :])
            else:
                self._leave_out(layer.bound[parents:])
                return out.take(np.arange(written))

    def _narrowed(self, layer: Layer) -> Layer:
        """At most ``width`` states, those of least bound, and these in order."""
        layer = layer.take(self._kept(layer))
        order = np.argsort(layer.bound, kind="stable")
        self._leave_out(layer.bound[order[self.width :]])
        return layer.take(order[: self.width])

    def _kept(self, layer: Layer) -> IntArray:
        """Undominated states that are not complete and may still improve."""
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
        kept: IntArray = order[keep[order]]
        return kept

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
        self.found(self.schedule)
