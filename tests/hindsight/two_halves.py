"""A second witness of an optimum: every schedule of small cost is cheap in one half of time.

It shares the duals of cuts and the footprint with `ratiolab.hindsight.labelling` and its checker,
and nothing else: it has neither multipliers nor passes, and splits the cost instead of joining
whole tables.

**Costs.** Duals give every item the weight W_t(m, r) and every time R_t >= W_t(Q) for all that may
be held. With c_i(p) the latency of i started at p plus the weights of its items, v_i = min c_i,

    latency = sum v - sum R + sum of (c_i(p_i) - v_i) + sum of (R_t - W_t(Q_t)),

in units, rounded down as is allowed for sums of integers; no term of the last sums is negative.
Claim: no schedule has a latency of at most L, that is, a cost of at most B.

**Halves.** Let G(t) be what a schedule pays for starts before t and times up to t, H(t) the rest of
its cost. Forward, all prefixes are listed while G(t) <= F; backward, all suffixes while H(t) <= B -
F. A schedule of cost at most B that is not listed forward to its end has a first t with G(t) > F,
so that H(t) <= B - F: it is a child of a listed prefix beside a listed suffix. If no schedule is
listed to its end, and no child beyond F has a suffix with which it costs at most B, there is none.
Children beyond F may be left out at once for which no listed suffix pays that little.

**Watched requests.** Only these are known to start once; the others may start again, or never. That
allows more than schedules, so a claim about it is no weaker.

**Replacement.** X replaces A, both with the same watched requests started, when at every later time
X holds no more and would have paid no more if nothing else started. What completes A completes X,
and then G is nowhere larger than it was after t; alike backward, for H. So what replaces is listed,
too, and the argument goes on with a schedule that costs no more. (That X has *in the end* paid no
more would not do: it may pay earlier, and leave its half.)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from two_halves_states import IntArray, Layer, Side, aged, begun, fits, undominated

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.model import Instance
from ratiolab.model.footprint import held

UNIT = 2**16
NEVER = 2**30
CROWD = 5_000
"""Twice so many states of a layer that is not complete are compared, and twice those left then."""

COMPARED = 200
"""Labels against which another is compared."""


class TwoHalves:
    """The claims that no schedule of an instance has a latency of at most some number."""

    def __init__(self, instance: Instance, duals: Duals) -> None:
        self.instance, self.requests = instance, list(instance.requests)
        self.memory, self.horizon = instance.memory, len(duals.memory)
        self.weight, self.capacity = _potentials(instance, duals)
        late = self.horizon + int(instance.arrival.max()) + 1
        self.least = [
            min(self._cost(i, p) for p in range(arrival, late))
            for i, (arrival, _, _) in enumerate(self.requests)
        ]
        self.base = sum(self.least) - sum(self.capacity)
        self.states = [0, 0]

    def _cost(self, i: int, start: int) -> int:
        arrival, prompt, output = self.requests[i]
        items = (
            int(self.weight[start + age, held(prompt, age), output - age])
            for age in range(1, output + 1)
            if start + age <= self.horizon
        )
        return UNIT * (start + output - arrival) + sum(items)

    def refutes(self, latency: int, part: float = 0.5, watched: int | None = None) -> bool:
        """Return whether no schedule has this latency or less.

        Parameters
        ----------
        part : of the limit that the forward half has.
        watched : a bit for each request; None for all.
        """
        limit = UNIT * latency - self.base
        if limit < 0:
            return True
        output = [o for _, _, o in self.requests]
        self.watched = 2 ** len(output) - 1 if watched is None else watched
        rho: list[dict[int, int]] = [{} for _ in output]
        for i, (arrival, _, o) in enumerate(self.requests):
            p = arrival
            while p <= self.horizon or UNIT * (p + o - arrival) - self.least[i] <= limit:
                rho[i][p] = self._cost(i, p) - self.least[i]
                p += 1
        end = max(self.horizon, *(max(row) + o for row, o in zip(rho, output, strict=True)))
        forward, backward = (self._side(side, rho, end, limit) for side in (True, False))
        most = self.memory // (min(s for _, s, _ in self.requests) + 1)
        first = int(part * limit)
        once = np.uint64(self.watched)
        table, layer = [], Layer.room(1, most, max(output))
        for t in range(end):
            table.append(self._sorted(layer))
            layer = self._next(layer, backward, t, limit, (limit, limit))
            layer = layer.rows(layer.paid[:, 0] <= limit - first)
            self.states[1] += len(layer.mask)
        table.append(self._sorted(layer))
        layer = Layer.room(1, most, max(output))
        raw, past = self._seen(end)
        for t in range(end):
            rest, *other = table[end - t - 1]
            layer = self._next(layer, forward, t, limit, (first, limit - rest))
            within = layer.paid[:, 0] <= first
            if fits(layer.rows(~within), t + 1, once, limit, raw, past, *other):
                return False
            layer = layer.rows(within)
            self.states[0] += len(layer.mask)
        return not (layer.mask == once).any()

    def _side(self, forward: bool, rho: list[dict[int, int]], end: int, limit: int) -> Side:
        n, output = len(self.requests), [o for _, _, o in self.requests]
        longest = max(output)
        paid = np.full((n, end + 2), NEVER, np.int32)
        change = np.zeros((n, end + 2, longest + 1), np.int32)
        tokens = np.zeros((n, longest), np.uint8)
        rises = np.zeros(end + 2, np.int32)
        for time in range(1, min(end, self.horizon) + 1):
            rises[time if forward else end + 1 - time] = self.capacity[time]
        for i, (_, prompt, o) in enumerate(self.requests):
            ages = range(1, o + 1) if forward else range(o, 0, -1)
            tokens[i, :o] = [held(prompt, age) for age in ages]
            for p, cost in rho[i].items():
                layer = p if forward else end - p - o
                if cost > limit or layer < 0:
                    continue
                paid[i, layer] = cost
                pays = [
                    int(self.weight[p + age, held(prompt, age), o - age])
                    if p + age <= self.horizon
                    else 0
                    for age in ages
                ]
                change[i, layer, 1:] = -np.cumsum(pays + [0] * (longest - o))
                change[i, layer, 0 if forward else o :] += cost
        due = np.minimum.accumulate(paid[:, ::-1], axis=1)[:, ::-1]
        order = sorted(range(n) if forward else range(n - 1, -1, -1), key=lambda i: output[i])
        bits, before, last = np.zeros(n, np.uint64), np.zeros(n, np.uint64), {}
        due = np.minimum(due, limit + 1)
        for i in order:
            if not self.watched >> i & 1:
                due[i] = 0
                continue
            bits[i] = 1 << i
            before[i] = last.get(self.requests[i], 0)
            last[self.requests[i]] = 1 << i
        return Side(
            tuple(order),
            paid,
            due,
            paid * (not forward),
            change,
            tokens,
            rises,
            bits,
            before,
        )

    def _next(self, layer: Layer, side: Side, t: int, limit: int, half: tuple[int, int]) -> Layer:
        """Return all states of the next layer that cost at most the limit.

        Parameters
        ----------
        half : what a half may pay; and what those beyond it may, for some suffix to be left.
        """
        seen = CROWD
        for i in side.order:
            if side.rho[i, t] <= limit:
                layer = begun(layer, i, t, side, self.memory, limit, half)
                if len(layer.mask) > 2 * seen:
                    layer = self._undominated(layer)
                    seen = max(CROWD, len(layer.mask))
        aged(layer, t + 1, side, self.instance.output)
        paid = layer.paid[:, 0]
        possible = (layer.low <= limit) & ((paid <= half[0]) | (paid <= half[1]))
        return self._undominated(layer.rows(possible))

    def _undominated(self, layer: Layer) -> Layer:
        order = np.lexsort((layer.paid[:, 0], layer.paid[:, -1], layer.mask))
        return layer.rows(order[undominated(layer, order, COMPARED)])

    def _sorted(self, layer: Layer) -> tuple[Any, ...]:
        """Return the least that is paid, and the states by watched requests, then total."""
        order = np.lexsort((layer.paid[:, -1], layer.mask))
        masks, begin = np.unique(layer.mask[order], return_index=True)
        edges = np.append(begin, len(order))
        least = int(layer.paid[:, 0].min(initial=NEVER))
        return least, masks, edges, layer.paid[order, -1], layer.tokens[order]

    def _seen(self, end: int) -> tuple[IntArray, NDArray[np.uint8]]:
        """Return what both halves count, latency - v, of what began at a time, and its past tokens.

        ``past[i, age]`` are those at t, t - 1, ... of request i that has run for so long at t.
        """
        n, longest = len(self.requests), max(o for _, _, o in self.requests)
        raw = np.zeros((n, end), np.int64)
        past = np.zeros((n, longest + 1, longest), np.uint8)
        for i, (arrival, prompt, o) in enumerate(self.requests):
            raw[i] = UNIT * (np.arange(end) + o - arrival) - self.least[i]
            for age in range(1, o):
                past[i, age, :age] = [held(prompt, g) for g in range(age, 0, -1)]
        return raw, past


def _potentials(instance: Instance, duals: Duals) -> tuple[IntArray, list[int]]:
    """Return W at times 0.. and R, in units, from the definition of the duals."""
    size = instance.memory + 1
    weight = np.zeros((len(duals.memory) + 1, size, size), np.int64)
    capacity = [0] + [dual * instance.memory for dual in duals.memory]
    weight[1:] = np.array(duals.memory, np.int64)[:, None, None] * np.arange(size)[:, None]
    for table, begin, end, dual in duals.cuts:
        dense = np.zeros((size, size), np.int64)
        for m, r, value in duals.tables[table].items:
            dense[m:, r:] = np.maximum(dense[m:, r:], value)
        weight[begin:end] += dual * dense
        for t in range(begin, end):
            capacity[t] += dual * duals.tables[table].cap
    assert max(int(weight.max()), max(capacity)) < 2**46
    scaled = weight * UNIT // duals.denominator
    return scaled, [r * UNIT // duals.denominator for r in capacity]
