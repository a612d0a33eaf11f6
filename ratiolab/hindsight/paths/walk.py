"""Walks over paths that forget who has started, from either end of time.

Paths. A path starts, in each round, a set of arrived requests that fits beside what runs until all
complete. It may start a request again in another round, or never: every schedule is a path.

Cost. With potentials W_t(m, r) and R_t (`ratiolab.hindsight.paths.potentials`) and a multiplier v_i
for each request, let c_i(p) be the latency of i started at p plus the weights of its items, and

    rho_i(p) = c_i(p) - v_i >= 0,       slack_t(Q) = R_t - W_t(Q) >= 0 of what is held at time t.

The cost of a path is the sum of rho over its starts and of slack over all times. For a schedule,
unit times its latency is sum v - sum R plus its cost. A walk has a limit B: of interest are paths
of cost at most B.

States. Layer t of a walk forward holds what may run after time t, and its cost: rho of all starts
before t, and slack up to t. It never falls along a path, so states of cost above B are dropped. A
walk backward is the same with time reversed, and footprints falling.

Dominance. State X replaces A when it holds no more at any later time and has settled no more:
settled is the cost less what running requests will still pay. What completes A completes X, and
then costs differ as what is settled. This holds for the cost of whole paths alone: it says nothing
about when they pay, so that the least cost in a layer bounds nothing from the other end. Starts of
a round are made one by one, in rising output, with dominance in between, and the cost before the
slack of the round bounds a partial state.

Remembered requests start exactly once; equal ones among them, in order of index. States with
different sets of them started are not compared, and the least later rho of those not started adds
to the cost.

Join. A state X forward and one Y backward at the same layer have settled s and e. A path through
X has, from the other side, a state that runs the same, and so costs s + e less what running
requests settled twice: latency less multiplier, each. A *complete* table of the other direction,
one that left out nothing within its limit, has a state that holds no more at any past time, with
the same remembered requests on its side, and has settled no more. The least such e bounds the cost
of all paths through X from below. The other walk may have remembered fewer.

Merged states. A walk that remembers nobody may merge states, and leaves out none at any width:
`ratiolab.hindsight.paths.merging`. Its cheapest path need not fit, and bounds all others.

A layer keeps the best states up to a width. A walk that leaves out nothing within the limit proves
that no path costs less than the cheapest it found; one that leaves some out, still finds paths.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ratiolab.hindsight.paths import kernels
from ratiolab.hindsight.paths.completions import Completions, Kept
from ratiolab.hindsight.paths.kernels import States, Step
from ratiolab.hindsight.paths.partials import Partials
from ratiolab.hindsight.paths.potentials import MOST_REQUESTS, NEVER, Direction
from ratiolab.hindsight.paths.room import Room
from ratiolab.hindsight.paths.starts import Starts
from ratiolab.hindsight.paths.walked import Table, Walked, path_to
from ratiolab.hindsight.paths.widths import LEAST_WIDTH
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

PARTIAL, PARTIAL_MERGED, MOST_PARTIAL = 4, 8, 500_000
"""Partial states of a layer, as a multiple of its width, above which some are left out, or merged;
the larger multiple is up to so many: nobody asks whether to stop while they are merged."""

CROWD, GROWN = 2_000, 2.0
"""Partial states are compared when there are so many, and so many times those of before."""

COMPARED, EARLY, LEAST_EARLY = 256, 8, 16
"""States against which another is compared; the part of them among partial ones, and so many at
least. Twice as many before they are merged, as each that goes leaves room for another."""

MOST_STATES = 5_000_000
"""States of all layers of a walk that is to be complete, at which it ends: half a gigabyte. Long
solves may allow it more.

A checker's walk compares states in its own way, and may keep more: it is allowed 1.6 times as many
as `ratiolab.hindsight.memory.ROOMIEST` lets a walk have, so that it can repeat what was found
(`ratiolab.hindsight.certificates.effort.most_kept`).
"""

FULL = 80
"""A walk that merges may keep more: so many layers of its width. Of its states it keeps what paths
need then, sixteen bytes of a hundred. With 60 requests and the same multipliers 16,000, 32,000 and
64,000 states a layer prove 11784, 11811 and 11830 in 10, 13 and 18 seconds.
"""

WIDE = 60
"""Layers among which a walk that merges shares the states that are left of the most, unless fewer
are to come: the last ones of a walk back are wide, the others narrow. Where it has merged once, no
layer is wider than then, as a checker knows one width.
"""

RECORDED = 75
"""Partial states that a walk records for each that a layer may keep, twenty bytes each. Steps after
as many are made again when they are asked for."""

MOST_RECORDED = 30_000_000
"""Partial states that a walk records at most."""

PATHS = 12
"""Paths that a walk returns at most."""


def walk(
    instance: Instance,
    direction: Direction,
    limit: int,
    width: int,
    *,
    remembered: int = 0,
    join: Table | None = None,
    guide: Completions | None = None,
    whole: bool = False,
    merges: bool = False,
    keeps: bool = False,
    pace: Callable[[int, int], int] | None = None,
    most: int = MOST_STATES,
    compared: int = COMPARED,
    stop: Callable[[], bool] = lambda: False,
) -> Walked:
    """Walk through all layers in one direction.

    Parameters
    ----------
    limit : B, units. width : states of a layer.
    remembered : set of requests, a bit each. join : table of the other direction.
    guide : of a walk the same way that remembered some of these, with a limit no smaller.
    whole : whether the walk ends when it leaves out what is of interest, merges states, or keeps
        more than ``most``.
    merges : whether a layer merges states beyond its width, and so leaves out none: nobody is
        remembered, and the cheapest path need not fit, but costs no more than any that does.
    keeps : whether such a walk, too, keeps what completions are made from, of ``most`` states.
    pace : returns the width of the next of so many layers, after one of so many states.
    compared : states against which another is compared.
    stop : asked before each start of a layer; True ends the walk.
    """
    return _Walk(
        *(instance, direction, limit, width, remembered),
        *(join, guide, whole, merges, keeps),
        *(pace, most, compared, stop),
    ).run()


@dataclass(eq=False)
class _Walk:
    instance: Instance
    direction: Direction
    limit: int
    width: int
    remembered: int
    table: Table | None
    guide: Completions | None
    whole: bool
    merges: bool
    keeps: bool
    pace: Callable[[int, int], int] | None
    most_states: int
    compared: int
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        instance, direction, limit = self.instance, self.direction, self.limit
        remembered, guide = self.remembered, self.guide
        if self.merges and (remembered or self.table or guide):
            raise ValueError("a walk that merges remembers nobody, and no other bounds it")
        if remembered >= 2**MOST_REQUESTS and (self.table or guide or self.whole):
            raise ValueError(f"none but the first {MOST_REQUESTS} requests are in a table or guide")
        if guide is not None and (guide.limit < limit or guide.known & ~remembered):
            raise ValueError("a walk bounds those with no larger limit that remember as much")
        self.room = Room(instance, direction, limit, remembered > 0)
        self.starts = Starts(instance, direction, limit, remembered)
        self.stopped, self.merged, self.within = False, 0, list[int]()
        self.most_kept = self.most_states if self.keeps else max(MOST_STATES, FULL * self.width)

    def run(self) -> Walked:
        """Return what the walk found."""
        layer = self.room.empty(1)
        layers, states, widths = [layer], 1, list[int]()
        history: list[Partials | None] = []  # of each step, as far as it is recorded
        recorded, room = 0, self.room
        records = self.whole or self.keeps
        most_recorded = records * min(RECORDED * self.width, MOST_RECORDED)
        for t in range(self.direction.end):
            if self.pace is not None:
                self.width = self.pace(self.direction.end - t, len(layer.mask))
            if self.merges:
                self.width = min(self.width, self._fits(self.direction.end - t, states))
            over = room.left <= self.limit or self.merged or states > self.most_states
            self.stopped = self.stop() or (self.whole and bool(over))
            widths.append(self.width)
            room.partials = Partials() if recorded < most_recorded else None
            layer = layer if self.stopped else self._next(layer, t)
            if room.partials is not None:
                recorded += room.partials.number
            history.append(room.partials)
            if self.stopped:
                return Walked(0, 0, [], None, 0, False)
            states += len(layer.mask)
            layers.append(layer)
            most = MOST_STATES if self.merged else self.most_states
            if self.merges and not self.keeps and states > most:
                layers = [kept if kept.slim else kept.ways() for kept in layers]
        done = np.where(self.starts.all_started(layer.mask), layer.cost, self.limit + 1)
        best = np.argsort(done, kind="stable")[:PATHS]
        best = best[done[best] <= self.limit]
        least = int(done[best[0]]) if len(best) else self.limit + 1
        paths = [path_to(layers, row, self.direction, self.instance) for row in best.tolist()]
        if room.left <= self.limit:
            return Walked(least, room.left, paths, None, states, True, within=tuple(self.within))
        table = kept = None
        if self.remembered < 2**MOST_REQUESTS and not layers[0].slim:
            table = Table(self.remembered, layers)
            if self.keeps or not self.merged:
                again = partial(self._again, widths)
                kept = Kept(layers, history, again, self.starts, room.full, self.guide)
        more = kept, self.merged, tuple(self.within)
        return Walked(least, room.left, paths, table, states, True, *more)

    def _again(self, widths: list[int], layer: States, t: int) -> Partials | None:
        """Return the partial states of the step from layer t, made again; None when stopped."""
        self.room.partials, self.width = (partials := Partials()), widths[t]
        self._next(layer, t)
        self.room.partials = None
        return None if self.stopped else partials

    def _next(self, layer: States, t: int) -> States:
        """Return the states of layer t + 1."""
        step, room = self.starts.step(t), self.room
        number = self._starts(layer, t, step)
        states = room.states
        kernels.finish(states, number, step)
        rows = room.within(number, self.limit)
        if self.table is not None:
            self.table.bound(states, rows, self.limit, self.direction, t + 1)
            rows = room.within(number, self.limit)
        if self.guide is not None:
            self.guide.bound(states, rows, self.limit, t + 1)
            rows = room.within(number, self.limit)
        if not self.merges:
            rows = room.fewest(rows, PARTIAL * self.width)
        if t + 1 < self.direction.end:  # at the end all states are paths, and some are asked for
            crowded = self.merges and len(rows) > self.width
            rows = room.undominated(rows, self.compared << crowded)
        self.within.append(len(rows))
        if self.merges:
            rows = self._merged(rows, self.width, t, 2)
        else:
            rows = room.fewest(rows, self.width)
        if room.partials is not None:
            room.partials.stay(rows)
        return states.take(rows)

    def _merged(self, rows: IntArray, width: int, t: int, ahead: int) -> IntArray:
        """Merge states into so many at most; tokens begin so many times ahead of layer t."""
        if len(rows) <= width:
            return rows
        self.merged = max(self.merged, self.width)
        return self.room.merged(rows, width, t, ahead)

    def _fits(self, layers: int, states: int) -> int:
        """Return how wide a layer may be before so many more, after so many states."""
        left = max(0, self.most_kept - states) // min(layers, WIDE)
        return max(LEAST_WIDTH, min(left, self.merged or left))

    def _starts(self, layer: States, t: int, step: Step) -> int:
        """Write the states with all sets of starts of a layer; return their number."""
        direction, room = self.direction, self.room
        room.reserve(len(layer.cost), 0)
        number = int(kernels.advance(layer, step, direction.ends, room.states))
        if room.partials is not None:
            room.partials.begin(room.states.parent[:number], room.states.settled[:number])
        seen, theta, most_partial = max(number, CROWD), NEVER, self._most_partial()
        early = max(LEAST_EARLY, self.compared // EARLY)
        chosen = np.array(self.starts.at(t), np.int64)
        pairs, bits, begun = direction.first[chosen], self.starts.bits(chosen, t), 0
        while begun < len(chosen):
            before = number
            number, done, left, no_room = kernels.start_each(
                *(room.states, room.origin, number, begun, chosen, pairs, bits),
                *(direction.ends, step, direction.tokens, room.full, theta, int(GROWN * seen)),
            )
            room.left = min(room.left, int(left))
            if room.partials is not None:
                new = slice(before, number)
                room.partials.made(room.origin[new], room.states.settled[new])
            if self.stop():  # a layer of many states takes seconds
                self.stopped = True
                break
            begun = done
            if no_room:
                room.reserve(2 * len(room.states.cost), number)
            elif begun < len(chosen):
                crowded = number > most_partial
                rows = room.undominated(np.arange(number), early << crowded)
                if len(rows) > most_partial:
                    rows = self._merged(rows, most_partial // 2, t, 1)
                elif not self.merges and len(rows) > PARTIAL * self.width:
                    rows = room.fewest(rows, PARTIAL * self.width // 2)
                    theta = int(room.states.low[rows].max())
                room.keep(rows)
                number = len(rows)
                seen = max(number, CROWD)
        return number

    def _most_partial(self) -> int:
        """Return the number of partial states above which some are merged."""
        several = min(PARTIAL_MERGED * self.width, MOST_PARTIAL)
        return max(PARTIAL * self.width, several) if self.merges else NEVER
