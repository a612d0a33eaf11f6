"""One pass of the checker of path certificates, through all layers backward in time.

`ratiolab.hindsight.certificates.certify_paths` says what paths cost, what may be left out, and why.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates import path_states as states
from ratiolab.hindsight.certificates.path_bounds import Bounds, Trail, alike, bounded
from ratiolab.hindsight.certificates.path_merges import merged
from ratiolab.hindsight.certificates.path_states import (
    Layer,
    Start,
    by_two,
    by_two_for_each,
    by_two_runs,
)
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance

NEVER = 2**62
"""Cost of a start that no path of interest has."""


class Costs:
    """Costs of starts and of what runs; the pair (request i, age g) is ``first[i] + g``.

    Layers and ages are counted from the end: what starts last is of layer 0.
    """

    def __init__(
        self,
        instance: Instance,
        unit: int,
        multipliers: Sequence[int],
        weight: list[list[list[int]]],
        capacity: list[int],
        limit: int,
    ) -> None:
        horizon, requests = len(capacity), list(instance.requests)
        n, output = len(requests), [o for _, _, o in requests]
        latest = (
            max(horizon, int(instance.arrival.max())) + max(0, limit + max(multipliers)) // unit
        )
        large = sum(map(abs, multipliers)) + sum(capacity) + abs(limit)
        if large + unit * (latest + 3 * max(output)) > effort.LARGEST_SUM:
            raise ValueError("numbers are too large for labelling")
        cells = (latest + 2 * max(output)) * sum(output)
        if cells > effort.MOST_CELLS:
            raise ValueError(f"{cells} pairs and layers are more than {effort.MOST_CELLS}")
        effort.layers_effort(latest, n, cells).require_affordable()
        rho: list[dict[int, int]] = [{} for _ in requests]
        self.end = horizon
        for i, (arrival, _, o) in enumerate(requests):
            p = arrival
            while True:
                cost = unit * (p + o - arrival) - multipliers[i]
                if p >= horizon and cost > max(limit, 0):
                    break
                cost += sum(weight[i][g][p + g] for g in range(min(o, max(0, horizon - p))))
                if cost < 0:
                    raise ValueError(f"multiplier {multipliers[i]} of request {i} is too large")
                if cost <= limit:
                    rho[i][p] = cost
                    self.end = max(self.end, p + o)
                p += 1
        end, self.longest = self.end, max(output)
        self.first = np.cumsum([0, *output[:-1]])
        self.last = np.zeros(sum(output), np.bool_)
        self.last[np.cumsum(output) - 1] = True
        self.rho = np.full((n, end + 2), NEVER)  # of starts
        self.price = np.zeros((end + 2, sum(output)), np.int64)  # of pairs at the next time
        self.capacity = np.zeros(end + 2, np.int64)
        self.tokens = np.zeros((sum(output), self.longest), np.uint8)
        times = range(1, min(horizon, end) + 1)
        for t in times:
            self.capacity[end + 1 - t] = capacity[t - 1]
        for i, (_, prompt, o) in enumerate(requests):
            for p, cost in rho[i].items():
                self.rho[i, end - p - o] = cost
            for g in range(o):
                pair = self.first[i] + o - 1 - g
                for t in times:
                    self.price[end + 1 - t, pair] = weight[i][g][t - 1]
                for later in range(g + 1, o + 1):
                    self.tokens[self.first[i] + g, later - g - 1] = held(prompt, o + 1 - later)
        self.later = self.price.copy()
        for pair in np.flatnonzero(~self.last)[::-1]:
            self.later[:-1, pair] += self.later[1:, pair + 1]


COMPARED, COMPARED_PARTIAL = 256, 64
"""States against which another is compared, in a complete layer and before."""

CROWDED, MORE = 3_000, 1.6
"""Partial states are compared above this number, and above this multiple of the last time."""

MOST_FOLLOWED = 40_000_000
"""States whose successors a pass keeps, twenty bytes each; steps after that are made
again."""

MOST_PARTIAL, LARGE = 8, 3_000_000
"""Partial states of a layer that merges, as a multiple of its width; a wide layer has
the second number, or half that multiple if it is more."""

TIMES_PRICE = 2
"""Factor on the price of tokens that merged states differ in."""


class Walk:
    """One pass, given the watched requests, and what those of passes before and their layers are.

    Parameters
    ----------
    rests : of all passes before, the last one first.
    width : states of a layer beyond which a pass merges them; 0 for a pass that merges none.
    """

    def __init__(
        self,
        instance: Instance,
        costs: Costs,
        watched: int,
        limit: int,
        left: int,
        rests: Sequence[tuple[int, list[Bounds]]] = (),
        width: int = 0,
    ) -> None:
        self.memory, self.costs = instance.memory, costs
        self.watched, self.limit, self.rests = watched, limit, rests
        self.left, self.kept, self.width = left, 0, width
        self.most = instance.memory // (int(instance.prompt.min()) + 1)
        self.room = Layer.room(20_000, self.most, costs.longest)
        self.came = np.zeros(20_000, np.int64)
        self.trail: Trail | None = None
        self.trails: list[Trail | None] = []
        order = range(len(instance) - 1, -1, -1)
        requests = list(instance.requests)
        self.candidates = sorted(order, key=lambda i: requests[i][2])  # equal ones stay in order
        self.needs = dict.fromkeys(order, 0)
        last: dict[tuple[int, int, int], int] = {}
        for i in order:
            if watched >> i & 1:
                self.needs[i] = last.get(requests[i], 0)
                last[requests[i]] = 1 << i
        least = np.minimum.accumulate(costs.rho[:, ::-1], axis=1)[:, ::-1]
        self.waiting = np.minimum(least, max(limit, 0) + 1)

    def run(self, *, follow: bool = False) -> list[Layer]:
        """Return the states of all layers, by watched requests and then total.

        Their successors are kept if another pass is to ``follow``, as far as there is room. A
        pass that merges keeps and returns only the last layer.
        """
        room = MOST_FOLLOWED if follow else 0
        layers = [Layer.room(1, self.most, self.costs.longest)]
        for t in range(self.costs.end):
            layers.append(self._next(layers[-1], t, follow=room > 0))
            room -= 0 if self.trail is None else self.trail.number
            self.trails.append(self.trail)
            if self.width:
                del layers[0]
            self.kept = len(layers[-1].paid) + (0 if self.width else self.kept)
            if self.kept > effort.most_kept():
                raise effort.TooCostlyError(f"a pass takes more than {effort.most_kept()} states")
        return layers

    def leave(self, left: int) -> None:
        """Note how many states the passes may still take; raise `TooCostlyError` below zero."""
        self.left = left
        if left < 0:
            most = effort.most_states()
            raise effort.TooCostlyError(f"the passes take more than {most} states")

    def follow(self, layer: Layer, t: int) -> Trail:
        """Return what becomes of the states of layer t in the step to the next one."""
        self.trail = self.trails[t]
        if self.trail is None:
            self._next(layer, t, follow=True)
        assert self.trail is not None
        return self.trail

    def _next(self, layer: Layer, t: int, *, follow: bool = False) -> Layer:
        costs, watched = self.costs, np.uint64(self.watched)
        price, waiting = costs.price[t + 1], self.waiting[:, t].copy()
        self._enlarge(len(layer.paid), 0)
        capacity = costs.capacity[t + 1]
        new = self.room, self.came
        n = states.age(layer, self.limit, capacity, price, costs.last, watched, waiting, *new)
        self.trail = Trail(self.came[:n], self.room.total[:n]) if follow else None
        seen = max(n, CROWDED)
        possible = self.possible(t)
        for i in possible:
            start = self.start(i, t)
            while (number := states.begin(self.room, n, self.limit, start, self.came)) < 0:
                self._enlarge(2 * len(self.room.paid), n)
            self.leave(self.left - (number - n))
            if self.trail is not None:
                self.trail.made(self.came[n:number], self.room.total[n:number])
            n = number
            if n > MORE * seen and i != possible[-1]:
                rows = self._kept(np.arange(n), COMPARED_PARTIAL)
                most = min(MOST_PARTIAL * self.width, max(LARGE, MOST_PARTIAL * self.width // 2))
                if self.width and len(rows) > most:
                    rows = self._merged(rows, most // 2, t, t + 1)
                n = len(rows)
                if self.trail is not None:
                    self.trail.left(rows)
                self.room.put(self.room.rows(rows), n)
                seen = max(n, CROWDED)
        states.bounds(self.room, n, watched, self.waiting[:, t + 1].copy())
        for number, (known, layers) in enumerate(self.rests):
            chosen = np.flatnonzero(self.room.safe[:n] <= self.limit)
            behind = np.uint64(known), layers[t + 1], follow and not number
            chosen = alike(self.room, chosen, behind[0])
            by_two(partial(bounded, self.room, self.limit, *behind), chosen)
        within = np.flatnonzero(self.room.safe[:n] <= self.limit)
        rows = self._kept(within, COMPARED)
        if self.width and len(rows) > self.width:
            rows = self._merged(rows, self.width, t, t + 2)
        if self.trail is not None:
            self.trail.left(rows)
        return self.room.rows(rows)

    def _merged(self, rows: IntArray, most: int, t: int, time: int) -> IntArray:
        """Merge states of layer t + 1 into at most ``most``, whose tokens begin at a time."""
        costs = self.costs
        price = np.zeros(costs.longest, np.int64)
        capacity = costs.capacity[time:][: costs.longest]
        price[: len(capacity)] = TIMES_PRICE * capacity // self.memory
        partial = time == t + 1
        now, room = partial * costs.price[t + 1], partial * int(costs.capacity[t + 1])
        return merged(self.room, rows, most, price, costs.later[t + 2], now, room)

    def possible(self, t: int) -> list[int]:
        """Return what may start in a layer, in order."""
        return [i for i in self.candidates if self.costs.rho[i, t] <= self.limit]

    def start(self, i: int, t: int) -> Start:
        """Return the start of a request in a layer."""
        costs, watched = self.costs, self.watched >> i & 1
        pair, tokens = int(costs.first[i]), costs.tokens[costs.first[i]]
        ends, price = bool(costs.last[pair]), int(costs.price[t + 1, pair])
        return Start(
            pair,
            int(costs.rho[i, t]),
            price,
            int(costs.later[t + 1, pair]) - price,
            ends,
            np.uint64(watched << i),
            np.uint64(self.needs[i]),
            int(self.waiting[i, t]) if watched else 0,
            (self.memory - tokens.astype(np.int64)).astype(np.uint8),
            tokens,
        )

    def _kept(self, rows: IntArray, compared: int) -> IntArray:
        rows = rows[np.lexsort((self.room.total[rows], self.room.begun[rows]))]
        compare = partial(states.kept, self.room, compared)
        if self.width:  # all in one run, and no need that each replaced state is found
            by = by_two_for_each(compare, rows)
        else:
            by = np.concatenate(by_two_runs(compare, rows, self.room.begun))
        if self.trail is not None:
            self.trail.replaced(rows[by >= 0], by[by >= 0])
        return rows[by < 0]

    def _enlarge(self, size: int, n: int) -> None:
        now, most = len(self.room.paid), effort.most_kept() // 2
        if size <= now:
            return
        if now == most:
            raise effort.TooCostlyError(f"a layer takes more than {most} states")
        larger = Layer.room(min(size, most), self.most, self.costs.longest)
        larger.put(self.room, n)
        self.room = larger
        self.came = np.append(self.came, np.zeros(len(larger.paid) - now, np.int64))
