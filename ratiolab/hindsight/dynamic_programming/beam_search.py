"""One beam search; `ratiolab.hindsight.dynamic_programming.beam` explains and proves it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.dynamic_programming import beam_kernels as kernels
from ratiolab.hindsight.dynamic_programming.beam_kernels import Layer
from ratiolab.hindsight.dynamic_programming.reduced_costs import ReducedCosts
from ratiolab.model import Instance, IntArray, Schedule, require_feasible

MOST_REQUESTS = 64
"""A set of started requests is one machine word."""

CAPACITY = 16
"""States written a layer, as a multiple of the width, before the worst parents are left out."""

LEAST_CAPACITY = 10_000
"""States written a layer at least."""

COMPARED = 24
"""States of one started set against which another is compared."""

Stop: TypeAlias = Callable[[], bool]


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


class BeamSearch:
    """One pass through the layers that keeps states up to a limit.

    Parameters
    ----------
    width : states that a layer keeps.
    found : called with each better schedule.
    bounding : leave out what is no better than something left out before: the bound is as good,
        and schedules are not looked for.
    """

    def __init__(
        self,
        instance: Instance,
        duals: Duals,
        known: Schedule,
        width: int,
        found: Callable[[Schedule], None],
        bounding: bool = False,
    ) -> None:
        self.instance, self.reduced = instance, ReducedCosts(instance, duals)
        self.requests = Requests.of(instance)
        self.schedule, self.found = known, found
        self.width, self.bounding = width, bounding
        self.left_out: int | None = None
        self.most = min(len(instance), instance.memory // (int(instance.prompt.min()) + 1))
        self.last_arrival = int(instance.arrival.max())
        self.twin = np.full(len(instance), -1)
        seen: dict[tuple[int, int, int], int] = {}
        for i, key in enumerate(instance.requests):
            self.twin[i], seen[key] = seen.get(key, -1), i
        self.everyone = np.uint64(2 ** len(instance) - 1)

    @property
    def limit(self) -> int:
        """Return the largest bound of a state that is of interest, scaled."""
        limit = (self.schedule.total_latency - 1) * self.reduced.denominator
        if self.bounding and self.left_out is not None:
            return min(limit, self.left_out - 1)
        return limit

    def leave_out(self, bounds: IntArray) -> None:
        """Remember the least bound of the states that are not searched further."""
        if len(bounds):
            least = int(bounds.min())
            self.left_out = least if self.left_out is None else min(self.left_out, least)

    def run(self, stop: Stop) -> BeamResult:
        """Search all layers, or until stopped."""
        layer = Layer.empty(1, self.most)
        layer.bound[0] = self.reduced.first_bound
        layers: list[tuple[IntArray, IntArray]] = []
        states, widest, t = 0, 0, 0
        while len(layer.started):
            if stop():
                self.leave_out(layer.bound)
                break
            layers.append((layer.started.astype(np.int64), layer.parent))
            children = self._children(layer, t)
            states += len(children.started)
            done = np.flatnonzero(children.started == self.everyone)
            if len(done):
                best = done[np.argmin(children.latency[done])]
                if children.latency[best] < self.schedule.total_latency:
                    self._improve(layers, int(children.parent[best]), t)
            layer = self._narrowed(children.take(self._undominated(children)))
            widest = max(widest, len(layer.started))
            t += 1
        lower, exhausted = self.schedule.total_latency, self.left_out is None
        if self.left_out is not None:
            lower = min(lower, -(-self.left_out // self.reduced.denominator))
        return BeamResult(self.schedule, lower, exhausted, states, widest)

    def _children(self, layer: Layer, t: int) -> Layer:
        """Return the states of the next layer; those beyond the capacity are left out."""
        step = self._round(t)
        capacity, most = LEAST_CAPACITY + 4 * len(layer.started), CAPACITY * self.width
        while True:
            out = Layer.empty(capacity, self.most)
            step = step._replace(limit=self.limit)
            written, parents = kernels.expand(layer, self.requests, step, out)
            if parents == len(layer.started):
                return out.take(np.arange(written))
            if capacity <= most:
                capacity *= 4
            elif self.bounding:  # at a lower limit, all fit
                self.leave_out(np.partition(out.bound, capacity // 4)[capacity // 4 :])
            else:
                self.leave_out(layer.bound[parents:])
                return out.take(np.arange(written))

    def _round(self, t: int) -> kernels.Round:
        """Return rules and reduced costs of the step from t to t + 1."""
        instance, reduced = self.instance, self.reduced
        now, wait = np.zeros(len(instance), np.int64), np.full(len(instance), reduced.denominator)
        if t < reduced.end:
            now = reduced.own[:, t] - reduced.least[:, t]
            wait = reduced.least[:, t + 1] - reduced.least[:, t]
        item_cost, capacity_cost = reduced.row(t + 1)
        return kernels.Round(
            arrived=instance.arrival <= t,
            twin=self.twin,
            now=now,
            wait=wait,
            cost=t + instance.output - instance.arrival,
            item_cost=item_cost,
            capacity_cost=capacity_cost,
            limit=self.limit,
            everyone=self.everyone,
            may_idle=t < self.last_arrival,
        )

    def _undominated(self, layer: Layer) -> IntArray:
        """Return the undominated states that are not complete and may still improve."""
        unfinished = (layer.started != self.everyone) & (layer.bound <= self.limit)
        order = np.lexsort((layer.latency, layer.started))
        order = order[unfinished[order]]
        keep = np.zeros(len(layer.started), np.bool_)
        if len(order):
            keep = kernels.undominated(order, layer, self.requests, COMPARED)
        kept: IntArray = order[keep[order]]
        return kept

    def _narrowed(self, layer: Layer) -> Layer:
        """Return the states of least bound within the limit, at most as many as the width."""
        possible = np.flatnonzero(layer.bound <= self.limit)
        possible = possible[np.argsort(layer.bound[possible], kind="stable")]
        self.leave_out(layer.bound[possible[self.width :]])
        return layer.take(possible[: self.width])

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
