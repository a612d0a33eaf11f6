"""Walks over paths that forget who has started, from either end of time.

Paths. A path starts, in each round, a set of arrived requests that fits beside what runs until all
complete. It may start a request again in another round, or never: every schedule is a path.

Cost. With potentials W_t(m, r) and R_t (`ratiolab.hindsight.paths.potentials`) and a multiplier v_i
for each request, let c_i(p) be the latency of i started at p plus the weights of its items, and

    rho_i(p) = c_i(p) - v_i >= 0,       slack_t(Q) = R_t - W_t(Q) >= 0 of what is held at time t.

The cost of a path is the sum of rho over its starts and of slack over all times. For a schedule,
unit times its latency is sum v - sum R plus its cost.

States. Layer t of a walk forward holds what may run after time t. G is rho of all starts before t
and slack up to t; H is what remains, and rho of what still runs, so that the cost of a path is
G + H - rho(Q). A walk backward is the same with time reversed, and footprints falling: what it
calls G is H. Of all walks the limit B says which paths are of interest: those of cost <= B.
A state is dropped when G > B or G - rho(Q) + h > B, where h bounds H at its layer from below
for every path of interest. Left out are, too, states above a threshold when a layer is full.

Dominance. With the same remembered requests started, state X replaces A when it holds no more at
any later time and has settled no more: settled is G less what running requests will still pay, so
what completes A completes X at no more cost. A *strong* walk also asks for G_X less what running
requests pay in the next k times to be no more than that of A, for every k >= 0: then no later G is
more, either, and

    f(t) = the least G of the states of layer t and of all that was left out before

bounds G at t from below for every path of interest: the path itself is in the layer, or one that
replaced it, or was left out when its G was no more than it is at t. The weaker rule would spoil f:
what is settled says nothing about when it is paid. Starts of a round are made one by one, in rising
output, with dominance in between, and a partial state's cost before the slack bounds it.

Remembered requests start exactly once; equal ones among them, in order of index. States with
different sets of them started are not compared, and the least later rho of those not started adds
to G.

Join. A state X forward and one Y backward at the same layer have settled s and e. A path through
X has, from the other side, a state that runs the same, and so costs s + e less what running
requests settled twice: D times latency less multiplier, each. A *complete* table of the other
direction, one that left out nothing below its limit, has a state that holds no more at any past
time, with the remembered requests of the other walk on its side, and has settled no more. The least
such e bounds the cost of all paths through X from below. The other walk may remember fewer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.paths import kernels
from ratiolab.hindsight.paths.kernels import States, Step
from ratiolab.hindsight.paths.potentials import NEVER, Direction
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

FIRST_CAPACITY = 20_000
"""States of a layer for which there is room at first."""

WRITTEN = 6
"""Partial states of a layer, as a multiple of its width, above which some are left out."""

BEFORE = 8
"""States of a layer before dominance, as a multiple of its width, above which some are."""

CROWD, GROWN = 3_000, 1.6
"""Partial states are compared when there are so many, and so many times those of before."""

COMPARED, COMPARED_EARLY = 4_096, 512
"""States against which another is compared; among partial ones."""


class Threshold(NamedTuple):
    """Bounds above which states of a layer are left out: partial, before and after dominance."""

    layer: int
    partial: int
    before: int
    after: int


class Table(NamedTuple):
    """States of a complete walk that settle things, by layer: see `kernels.join`."""

    known: int
    masks: list[NDArray[np.uint64]]
    edges: list[IntArray]
    settled: list[IntArray]
    tokens: list[NDArray[np.uint64]]


@dataclass(frozen=True, eq=False)
class Walked:
    """Findings of a walk.

    Parameters
    ----------
    least : least cost of a path that it found, or the limit plus one.
    left : least bound of what was left out, or the limit plus one.
    costs : f by layer of this direction.
    thresholds : what was left out where.
    path : (start round, request) of the cheapest path, forward, if asked for.
    states : number of states kept; finished : whether it reached the end.
    """

    least: int
    left: int
    costs: IntArray = field(repr=False)
    thresholds: tuple[Threshold, ...] = field(repr=False)
    path: list[tuple[int, int]] = field(repr=False)
    table: Table | None = field(repr=False)
    states: int
    finished: bool


@dataclass(frozen=True)
class Wish:
    """Options of a walk.

    Parameters
    ----------
    limit : B, units. other : bounds of the other direction by its layers.
    width : states of a layer. strong : whether the walk is to give bounds to the other direction.
    remembered : set of requests, a bit each. join : complete table of the other direction.
    store : whether to return a table. trace : whether to return a path.
    """

    limit: int
    other: IntArray
    width: int
    strong: bool = False
    remembered: int = 0
    join: Table | None = None
    store: bool = False
    trace: bool = True


def walk(
    instance: Instance,
    direction: Direction,
    wish: Wish,
    stop: Callable[[], bool] = lambda: False,
) -> Walked:
    """Walk through all layers in one direction."""
    return _Walk(instance, direction, wish, stop).run()


class _Walk:
    def __init__(
        self, instance: Instance, direction: Direction, wish: Wish, stop: Callable[[], bool]
    ) -> None:
        self.instance, self.direction, self.wish, self.stop = instance, direction, wish, stop
        n, memory = len(instance), instance.memory
        output = instance.output
        self.longest = int(output.max())
        most = memory // (int(instance.prompt.min()) + 1)
        words = direction.tokens.shape[1]
        self.most, self.words = most, words
        self.full = kernels_full(memory, words)
        self.room = States.empty(FIRST_CAPACITY, most, words)
        sign = 1 if direction.forward else -1
        self.order = sorted(range(n), key=lambda i: (int(output[i]), sign * i))
        self.twins = _twins(instance, wish.remembered, direction.forward)
        self.bits = np.left_shift(np.uint64(1), direction.owner.astype(np.uint64))
        self.left = np.full(2, wish.limit + 1)
        self.thresholds: list[Threshold] = []
        self.rise = direction.rise
        # least rho of later starts, by request and layer
        if wish.remembered:
            least = np.minimum.accumulate(direction.excess[:, ::-1], axis=1)[:, ::-1]
            self.due = np.minimum(least, wish.limit + 1)

    def run(self) -> Walked:
        direction, wish = self.direction, self.wish
        end, limit = direction.end, wish.limit
        layer = States.empty(1, self.most, self.words)
        costs = np.zeros(end + 1, np.int64)
        parents: list[NDArray[np.int32]] = []
        began: list[NDArray[np.uint64]] = []
        table = Table(wish.remembered, [], [], [], [])
        if wish.store:
            _put(table, layer)
        total, finished = 0, True
        for t in range(end):
            if self.stop():
                finished = False
                break
            layer = self._next(layer, t)
            low = int(layer.cost.min(initial=limit + 1))
            costs[t + 1] = min(low, int(self.left[1]), limit + 1)
            total += len(layer.cost)
            if wish.trace:
                parents.append(layer.parent)
                began.append(layer.began)
            if wish.store:
                _put(table, layer)
            if not len(layer.cost):
                costs[t + 2 :] = costs[t + 1]
                break
        done = (layer.mask == wish.remembered) & (len(parents) == end or not wish.trace)
        least, path = limit + 1, []
        if finished and len(layer.cost):
            value = np.where(done, layer.cost, limit + 1)
            row = int(value.argmin())
            least = int(value[row])
            if wish.trace and least <= limit:
                path = self._path(parents, began, row)
        complete = finished and int(self.left[0]) > limit
        if wish.store and complete:
            for column in table[1:]:  # layers that were not reached have no states
                column.extend([column[0][:0]] * (end + 1 - len(column)))
        return Walked(
            *(least, int(self.left[0]), np.maximum.accumulate(costs), tuple(self.thresholds)),
            *(path, table if wish.store and complete else None, total, finished),
        )

    def _path(
        self, parents: list[NDArray[np.int32]], began: list[NDArray[np.uint64]], row: int
    ) -> list[tuple[int, int]]:
        path = []
        for t in range(len(parents) - 1, -1, -1):
            started = int(began[t][row])
            for i in range(len(self.instance)):
                if started >> i & 1:
                    late = self.direction.end - t - int(self.instance.output[i])
                    path.append((t if self.direction.forward else late, i))
            row = int(parents[t][row])
        return path

    def _step(self, t: int) -> Step:
        direction, wish = self.direction, self.wish
        begun = t - direction.age
        excess = np.where(
            begun >= 0, direction.excess[direction.owner, np.maximum(begun, 0)], NEVER
        )
        future = kernels.payments(direction.pay, direction.ends, t + 1, self.longest)
        pay = direction.pay[t + 1]
        tail = pay.copy()
        runs_on = np.flatnonzero(~direction.ends)
        tail[runs_on] += future[runs_on + 1, -1]
        other = int(wish.other[direction.end - t - 1])
        return Step(
            excess, pay, tail, future, int(direction.slack[t + 1]), wish.limit, other
        )

    def _next(self, layer: States, t: int) -> States:
        """Return the states of layer t + 1."""
        wish, limit, width = self.wish, self.wish.limit, self.wish.width
        step = self._step(t)
        before, partial = self.left.copy(), NEVER
        while (number := self._starts(layer, t, step, partial)) is None:
            self.left[:] = before
            partial = self.cut
        room = self.room
        bound = np.zeros(number, np.int64)
        due, need = step.pay, wish.remembered
        if wish.remembered:
            due = self.due[:, min(t + 1, self.direction.end)].copy()
        kernels.finish(room, number, step, due, np.uint64(need), bound)
        if wish.join is not None:
            self._join(bound, t + 1)
        rows = np.flatnonzero(bound <= limit)
        early = late = NEVER
        if len(rows) > BEFORE * width:
            early = int(np.partition(bound[rows], BEFORE * width)[BEFORE * width])
            rows = self._leave(room, rows, bound, early)
        rows = self._undominated(rows, step, COMPARED)
        if len(rows) > width:
            late = int(np.partition(bound[rows], width - 1)[width - 1])
            rows = self._leave(room, rows, bound, late)
        if min(partial, early, late) < NEVER:
            self.thresholds.append(Threshold(t + 1, partial, early, late))
        return room.take(rows)

    def _leave(self, room: States, rows: IntArray, bound: IntArray, most: int) -> IntArray:
        """Leave out states above a bound; return the others."""
        out = rows[bound[rows] > most]
        if len(out):
            self.left[0] = min(self.left[0], bound[out].min())
            self.left[1] = min(self.left[1], room.cost[out].min())
        kept: IntArray = rows[bound[rows] <= most]
        return kept

    def _starts(self, layer: States, t: int, step: Step, partial: int) -> int | None:
        """Write all sets of starts of a layer; their number, or None with a cut to begin again."""
        direction, wish = self.direction, self.wish
        self._reserve(len(layer.cost), 0)
        number = int(kernels.advance(layer, step, direction.ends, self.room))
        seen, most = max(number, CROWD), WRITTEN * wish.width
        candidates = [i for i in self.order if direction.excess[i, t] <= wish.limit]
        for i in candidates:
            pair = int(direction.first[i])
            bit = np.uint64(1 << i)
            mine = bit if wish.remembered >> i & 1 else np.uint64(0)
            twin = np.uint64(self.twins[i])
            ending = bool(direction.ends[pair])
            while True:
                written = kernels.start(
                    *(self.room, number, pair, bit, mine, twin, ending, step),
                    *(direction.tokens[pair], self.full, partial, self.left),
                )
                if written >= 0:
                    break
                self._reserve(2 * len(self.room.cost), number)
            number = int(written)
            if number > GROWN * seen and i != candidates[-1]:
                rows = self._undominated(np.arange(number), step, COMPARED_EARLY)
                number = len(rows)
                self.room.put(self.room.take(rows), number)
                seen = max(number, CROWD)
                if number > most:
                    spent, held = self.room.spent[:number], self.room.held[:number]
                    key = np.maximum(spent, spent - held + step.other)
                    self.cut = int(np.partition(key, most // 2)[most // 2])
                    if self.cut < partial:
                        return None
        return number

    def _reserve(self, capacity: int, number: int) -> None:
        if capacity > len(self.room.cost):
            larger = States.empty(2 * capacity, self.most, self.words)
            larger.put(self.room, number)
            self.room = larger

    def _undominated(self, rows: IntArray, step: Step, compared: int) -> IntArray:
        settled = self.room.settled[rows]
        if self.wish.remembered:
            rows = rows[np.lexsort((settled, self.room.mask[rows]))]
        else:
            rows = rows[np.argsort(settled, kind="stable")]
        keep = kernels.undominated(self.room, rows, step.future, self.wish.strong, compared)
        kept: IntArray = rows[keep]
        return kept

    def _join(self, bound: IntArray, layer: int) -> None:
        direction, table = self.direction, self.wish.join
        assert table is not None
        k = direction.end - layer
        raw = direction.raw[direction.owner] + direction.rise * (layer - direction.age)
        kernels.join(
            *(self.room, np.flatnonzero(bound <= self.wish.limit), self.wish.limit),
            *(raw, direction.past, self.bits),
            *(table.masks[k], table.edges[k], table.settled[k], table.tokens[k]),
            *(np.uint64(table.known), bound),
        )


def kernels_full(memory: int, words: int) -> NDArray[np.uint64]:
    """Return words whose bytes are all the memory."""
    return np.full(8 * words, memory, np.uint8).view("<u8").astype(np.uint64)


def _twins(instance: Instance, remembered: int, forward: bool) -> list[int]:
    """Return, of each request, the remembered equal one that must start before it, as a bit."""
    kinds, found = list(instance.requests), [0] * len(instance)
    last: dict[tuple[int, int, int], int] = {}
    order = range(len(instance)) if forward else range(len(instance) - 1, -1, -1)
    for i in order:
        if remembered >> i & 1:
            kind = kinds[i]
            found[i] = last.get(kind, 0)
            last[kind] = 1 << i
    return found


def _put(table: Table, layer: States) -> None:
    """Append the states of a layer."""
    rows = np.lexsort((layer.settled, layer.mask))
    masks, begin = np.unique(layer.mask[rows], return_index=True)
    table.masks.append(masks)
    table.edges.append(np.append(begin, len(rows)).astype(np.int64))
    table.settled.append(layer.settled[rows])
    table.tokens.append(layer.tokens[rows])
