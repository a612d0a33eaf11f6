"""The layered search itself; `ratiolab.hindsight.layers.beam` explains and proves it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.prices import Prices
from ratiolab.hindsight.layers import beam_kernels as kernels
from ratiolab.hindsight.layers.guide import Guide
from ratiolab.hindsight.layers.layer import Layer
from ratiolab.hindsight.layers.walk import Stop, Walk
from ratiolab.hindsight.layers.windows import NONE, Windows
from ratiolab.model.feasibility import require_feasible
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

COMPARED = 24
"""States of one started set against which another is compared."""

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


class LayeredSearch(Walk):
    """One run through the layers.

    Parameters
    ----------
    bounding : leave out what is no better than something left out before: the bound is as good,
        and schedules are not looked for.
    windows : what is known to follow, under the same prices.
    """

    def __init__(
        self,
        instance: Instance,
        prices: Prices,
        known: Schedule,
        width: int,
        found: Found,
        bounding: bool = False,
        windows: Windows = NONE,
    ) -> None:
        guide = Guide(instance, prices)
        self.schedule, self.found, self.windows = known, found, windows
        super().__init__(guide, width, self._of_interest(guide), bounding)
        self.above = guide.above_least(guide.end + 1)
        self.twin = np.full(len(instance), -1)
        seen: dict[tuple[int, int, int], int] = {}
        for i, key in enumerate(instance.requests):
            self.twin[i], seen[key] = seen.get(key, -1), i
        self.everyone = np.uint64(2 ** len(instance) - 1)

    def _of_interest(self, guide: Guide) -> int:
        return (self.schedule.total_latency - 1) * guide.denominator

    def run(self, stop: Stop) -> BeamResult:
        layer = Layer.empty(1, self.most)
        layer.bound[0] = layer.least[0] = self.guide.first_bound
        layers: list[tuple[IntArray, IntArray]] = []
        states, widest, t = 0, 0, 0
        while len(layer.started):
            if stop():
                self.leave_out(layer.least)
                break
            layers.append((layer.started.astype(np.int64), layer.parent))
            nxt = self._expand(layer, t)
            states += len(nxt.started)
            done = np.flatnonzero(nxt.started == self.everyone)
            if len(done):
                best = done[np.argmin(nxt.latency[done])]
                if nxt.latency[best] < self.schedule.total_latency:
                    self._improve(layers, int(nxt.parent[best]), t)
            layer = self.narrowed(nxt.take(self._kept(nxt)))
            widest = max(widest, len(layer.started))
            t += 1
        lower, exhausted = self.schedule.total_latency, self.left_out is None
        if self.left_out is not None:
            lower = min(lower, -(-self.left_out // self.guide.denominator))
        return BeamResult(self.schedule, lower, exhausted, states, widest)

    def _expand(self, layer: Layer, t: int) -> Layer:
        """States of the next layer."""
        instance, guide = self.instance, self.guide
        n, inside = len(instance), t < guide.end
        now, due = np.zeros((2, n), np.int64)
        wait = np.full(n, guide.denominator)
        ahead = self.windows.ahead(t + 1) if inside else 0
        if inside:
            now = guide.own[:, t] - guide.least[:, t]
            wait = guide.least[:, t + 1] - guide.least[:, t]
            due = guide.least[:, t + 1] - guide.least[:, 0]
        cost = t + instance.output - instance.arrival
        promised = ahead, self.above, due
        return self.children(layer, t, self.twin, now, wait, cost, self.everyone, promised)

    def _kept(self, layer: Layer) -> IntArray:
        """Undominated states that are not complete and may still improve."""
        open_ = (layer.started != self.everyone) & (layer.least <= self.limit)
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
        self.ceiling = self._of_interest(self.guide)
        self.found(self.schedule)
