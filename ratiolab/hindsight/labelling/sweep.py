"""Labelling sweeps: a dynamic program over rounds that forgets which requests have started.

Relaxed schedules. A relaxed schedule starts, in each round, a set of arrived requests that fits
beside what runs until all complete. It may start a request again in another round, or never. Every
schedule is a relaxed schedule.

Cost. With weights W_t(m, r) and R_t (`ratiolab.hindsight.labelling.weights`) and a multiplier v_i
for each request, let c_i(p) be the latency of i started at p plus the weights of its items, and

    rho_i(p) = c_i(p) - v_i >= 0,       slack_t(Q) = R_t - W_t(Q) >= 0 of what is held at time t.

The cost of a relaxed schedule is the sum of rho over its starts and of slack over all times. For a
schedule, unit times its latency is sum v - sum R plus its cost. A sweep has a limit: relaxed
schedules of at most this cost are of interest.

Labels. Layer t of a sweep forward holds what may run after time t, and its cost: rho of all starts
before t, and slack up to t. Cost never falls along a relaxed schedule, so labels above the limit
are dropped. A sweep backward is the same with time reversed, and footprints falling.

Dominance. A label dominates another if it holds no more at any later time and has settled no more:
settled is the cost less what running requests will still pay. A completion of the dominated label
completes the other one, and adds as much to the settled cost. Starts of a round are made one by
one, in rising output, with dominance in between.

Critical requests start exactly once, equal ones in order of index. Labels with different critical
requests started are not compared, and the least later rho of those not started adds to the cost.

Overflow. A layer keeps the best labels up to a width. What happens to the others is one of

- ``lower``: they are left out, and the limit falls to just below the least of their bounds. Below
  the limit nothing is missing, so a sweep of any width proves something, and completion bounds
  (`ratiolab.hindsight.labelling.completion_bounds`) hold up to it.
- ``drop``: they are left out (a restricted diagram). The result is a relaxed schedule; nothing is
  proven.
- ``merge``: labels are merged until there is room (a relaxed diagram), and none is left out. The
  cheapest label of the last layer then bounds all relaxed schedules from below.

Sources: Righini and Salani (2008), Networks 51; Bergman, Cire, van Hoeve and Hooker (2016),
Decision Diagrams for Optimization, Chapter 4.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.labelling import label_kernels
from ratiolab.hindsight.labelling.completion_bounds import CompletionBounds, Kept
from ratiolab.hindsight.labelling.label_kernels import Labels, Step
from ratiolab.hindsight.labelling.label_pool import Ancestry, Extensions, LabelPool
from ratiolab.hindsight.labelling.weights import NEVER, Direction
from ratiolab.hindsight.params import DEFAULT, LabellingParams
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

Overflow: TypeAlias = Literal["lower", "drop", "merge"]

Path: TypeAlias = list[tuple[int, int]]
"""A relaxed schedule: (start round, request) of each start."""


@dataclass(frozen=True, eq=False)
class Swept:
    """Findings of a sweep.

    Parameters
    ----------
    least : least cost of a label of the last layer, or the limit plus one.
    limit : up to which nothing was left out, unless labels were dropped.
    paths : the cheapest relaxed schedules within the limit, the cheapest first; none where labels
        may have been merged.
    labels, widest : labels of all layers, and of the largest one.
    merged : whether labels were merged.
    kept : what completion bounds are made from, if the limit fell where a layer was full.
    """

    least: int
    limit: int
    paths: list[Path] = field(repr=False)
    labels: int
    widest: int
    merged: bool = False
    kept: Kept | None = field(default=None, repr=False)


def sweep(
    instance: Instance,
    direction: Direction,
    limit: int,
    width: int,
    *,
    overflow: Overflow,
    critical: int = 0,
    guide: CompletionBounds | None = None,
    floor: int = -NEVER,
    pace: Callable[[int, int], int] | None = None,
    compared: int | None = None,
    params: LabellingParams = DEFAULT.labelling,
    stop: Callable[[], bool] = lambda: False,
) -> Swept | None:
    """Sweep through all layers in one direction; None when stopped.

    Parameters
    ----------
    limit : cost of relaxed schedules of interest, units.
    width : labels of a layer.
    critical : set of requests that start exactly once, a bit each.
    guide : completion bounds of a sweep the same way with fewer critical requests, whose limit is
        no smaller.
    floor : the sweep ends when its limit falls below.
    pace : returns the width of the next layer, from the number of layers left and the labels of the
        last.
    compared : labels that each is compared with, if not as ``params`` say.
    stop : asked before each start of a layer; True ends the sweep.

    Raises
    ------
    ValueError
        when merged labels would have to tell critical requests apart, or the guide does not fit.
    """
    if overflow == "merge" and (critical or guide):
        raise ValueError("a relaxed diagram has no critical requests and no completion bounds")
    if guide is not None and (guide.limit < limit or guide.known & ~critical):
        raise ValueError("completion bounds hold for no larger limit and more critical requests")
    compared = params.compared if compared is None else compared
    given = instance, direction, limit, width, overflow, critical, guide, floor, pace, compared
    return _Sweep(*given, params, stop).run()


@dataclass(eq=False)
class _Sweep:
    instance: Instance
    direction: Direction
    limit: int
    width: int
    overflow: Overflow
    critical: int
    guide: CompletionBounds | None
    floor: int
    pace: Callable[[int, int], int] | None
    compared: int
    params: LabellingParams
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        self.lowers, self.merges = self.overflow == "lower", self.overflow == "merge"
        self.room = LabelPool(self.instance, self.direction, self.limit, self.critical > 0)
        self.starts = Extensions(self.instance, self.direction, self.limit, self.critical)
        self.limits: list[int] = []  # at the begin of each layer, for steps that are made again
        self.stopped = self.merged = False

    def run(self) -> Swept | None:
        """Return what the sweep found, None when it was stopped."""
        layer, room = self.room.empty(1), self.room
        layers, history, ways = [layer], list[Ancestry | None](), list[Way]()
        widest = labels = recorded = 0
        for t in range(end := self.direction.end):
            if self.stop() or (self.lowers and labels > self.params.most_labels):
                return None
            if self.pace is not None:
                self.width = self.pace(end - t, len(layer.mask))
            records = self.lowers and recorded < self.params.most_recorded
            room.partials = Ancestry() if records else None
            self.limits.append(self.limit)
            layer = self._next(layer, t)
            if self.stopped:
                return None
            labels, widest = labels + len(layer.mask), max(widest, len(layer.mask))
            if self.lowers:
                self._fall()
                if self.limit < self.floor:
                    return None
                layers.append(layer)
                history.append(room.partials)
                recorded += 0 if room.partials is None else room.partials.number
            if not self.merges:
                ways.append((layer.parent, layer.began))
        done = np.where(self.starts.all_started(layer.mask), layer.cost, self.limit + 1)
        best = np.argsort(done, kind="stable")[: self.params.paths]
        best = best[done[best] <= self.limit]
        least = int(done[best[0]]) if len(best) else self.limit + 1
        rows = [] if self.merges else best.tolist()
        paths = [_path_to(ways, row, self.direction, self.instance) for row in rows]
        kept = None
        if self.lowers:
            kept = Kept(layers, history, self._again, self.starts, room.full, self.guide)
        return Swept(least, self.limit, paths, labels, widest, self.merged, kept)

    def _fall(self) -> None:
        """Lower the limit to just below all that has been left out."""
        self.limit = self.starts.limit = min(self.limit, self.room.left - 1)

    def _again(self, layer: Labels, t: int) -> Ancestry | None:
        """Return the partial labels of the step from layer t, made again; None when stopped."""
        now, self.room.partials = self.limit, (partials := Ancestry())
        self.limit = self.starts.limit = self.limits[t]
        try:
            self._next(layer, t)
        finally:
            self.limit = self.starts.limit = now
            self.room.partials = None
        return None if self.stopped else partials

    def _next(self, layer: Labels, t: int) -> Labels:
        """Return the labels of layer t + 1."""
        step, room = self.starts.step(t), self.room
        number = self._extend(layer, t, step)
        labels = room.labels
        label_kernels.finish(labels, number, step)
        rows = room.within(number, self.limit)
        if self.guide is not None:
            self.guide.bound(labels, rows, self.limit, t + 1)
            rows = room.within(number, self.limit)
        if not self.merges:
            rows = room.fewest(rows, self.params.partial * self.width)
        if t + 1 < self.direction.end:  # at the end several of the labels are asked for
            crowded = self.merges and len(rows) > self.width
            rows = room.undominated(rows, self.compared << crowded)
        rows = self._fit(rows, self.width, t, 2)
        if room.partials is not None:
            room.partials.stay(rows)
        return labels.take(rows)

    def _fit(self, rows: IntArray, width: int, t: int, ahead: int) -> IntArray:
        """Merge or leave out labels beyond a width; tokens begin ``ahead`` times after layer t."""
        if len(rows) <= width:
            return rows
        if not self.merges:
            return self.room.fewest(rows, width)
        self.merged = True
        return self.room.merged(rows, width, t, ahead)

    def _extend(self, layer: Labels, t: int, step: Step) -> int:
        """Write the labels with all sets of starts of a layer; return their number."""
        direction, room, params = self.direction, self.room, self.params
        room.reserve(len(layer.cost), 0)
        number = int(label_kernels.advance(layer, step, direction.ends, room.labels))
        if room.partials is not None:
            room.partials.begin(room.labels.parent[:number], room.labels.settled[:number])
        seen, theta, most = max(number, params.crowd), NEVER, params.partial * self.width
        chosen = self.starts.at(t)
        pairs, bits, begun = direction.first[chosen], self.starts.bits(chosen, t), 0
        while begun < len(chosen):
            before = number
            number, done, left, no_room = label_kernels.start_each(
                *(room.labels, room.origin, number, begun, chosen, pairs, bits),
                *(direction.ends, step, direction.tokens, room.beside, theta, 2 * seen),
            )
            room.left = min(room.left, int(left))
            if room.partials is not None:
                new = slice(before, number)
                room.partials.made(room.origin[new], room.labels.settled[new])
            if self.stop():  # a layer of many labels takes seconds
                self.stopped = True
                break
            begun = done
            if no_room:
                room.reserve(2 * len(room.labels.cost), number)
            elif begun < len(chosen):
                crowded = self.merges and number > most
                rows = room.undominated(np.arange(number), (params.compared // 8) << crowded)
                if len(rows) > most:
                    rows = self._fit(rows, most // 2, t, 1)
                    if not self.merges:
                        theta = int(room.labels.low[rows].max())
                room.keep(rows)
                number = len(rows)
                seen = max(number, params.crowd)
        return number


Way: TypeAlias = tuple[NDArray[np.int32], NDArray[np.uint64]]
"""Rows of the layer before, and starts, of the labels of a layer."""


def _path_to(ways: list[Way], row: int, direction: Direction, instance: Instance) -> Path:
    """Return the relaxed schedule that leads to a label of the last layer."""
    path = []
    for t in range(len(ways) - 1, -1, -1):
        parent, began = ways[t]
        for place, word in enumerate(began[row].tolist()):
            while word:  # most layers start nothing
                lowest = word & -word
                word ^= lowest
                i = 64 * place + lowest.bit_length() - 1
                late = direction.end - t - int(instance.output[i])
                path.append((t if direction.forward else late, i))
        row = int(parent[row])
    return path


def schedule_of(path: Path, instance: Instance) -> Schedule:
    """Return the schedule that a relaxed schedule is if it starts each request once."""
    starts = np.zeros(len(instance), np.int64)
    for start, i in path:
        starts[i] = start
    return Schedule.from_starts(instance, starts)
