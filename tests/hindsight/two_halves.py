"""A second witness of an optimum: every schedule of small cost is cheap in one half of time.

It shares the duals of cuts and the footprint with `ratiolab.hindsight.paths` and its checker, and
nothing else: it remembers all requests, has neither multipliers nor passes, and splits the cost
instead of joining whole tables.

**Costs.** Duals give every item the weight W_t(m, r) and every time R_t >= W_t(Q) for all that may
be held. With c_i(p) the latency of i started at p plus the weights of its items, v_i = min c_i,

    latency = sum v - sum R + sum of (c_i(p_i) - v_i) + sum of (R_t - W_t(Q_t)),

in units, rounded down as is allowed for sums of integers; no term of the last sums is negative.
Claim: no schedule has a latency of at most L, that is, a cost of at most B.

**Halves.** Let G(t) be what a schedule pays for starts before t and times up to t, H(t) the rest of
its cost. Forward, all prefixes are listed while G(t) <= F; backward, all suffixes while
H(t) <= B - F. A schedule of cost at most B that is not listed forward to its end has a first t with
G(t) > F, so that H(t) <= B - F: it is a child of a listed prefix beside a listed suffix. If no
schedule is listed to its end, and no child beyond F has a suffix with which it costs at most B,
there is none.

**Replacement.** X replaces A, both with the same requests started, when at every later time X holds
no more and would have paid no more if nothing else started. What completes A completes X, and then
G is nowhere larger than it was after t; alike backward, for H. So what replaces is listed, too, and
the argument goes on with a schedule that costs no more. (That X has *in the end* paid no more would
not do: it may pay earlier, and leave its half.)
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.model import Instance
from ratiolab.model.footprint import held

UNIT = 2**16
NEVER = 2**30
COMPARED = 200
"""States against which another is compared."""

IntArray = NDArray[np.int64]
compiled: Any = njit(cache=True)


class Side(NamedTuple):
    """Tables of one direction, time running as the direction does.

    Parameters
    ----------
    order : in which requests of a layer begin, equal ones as `before` demands.
    rho : of each request that begins at each layer, `NEVER` for none; due : the least from then on;
    later : what of it is paid when the request has run: all, backward.
    change : what a beginning adds to what is paid now, one time later, ...
    tokens : what it then holds. rises : R of each time. before : equal requests that begin first.
    """

    order: tuple[int, ...]
    rho: NDArray[np.int32]
    due: NDArray[np.int32]
    later: NDArray[np.int32]
    change: NDArray[np.int32]
    tokens: NDArray[np.uint8]
    rises: NDArray[np.int32]
    before: NDArray[np.uint64]


class Layer(NamedTuple):
    """States: who has begun, who runs and since when; tokens and payments from now on.

    ``low`` is what a schedule costs at least: all that is paid and due.
    """

    low: IntArray
    mask: NDArray[np.uint64]
    count: NDArray[np.int16]
    running: NDArray[np.int16]
    since: NDArray[np.int16]
    tokens: NDArray[np.uint8]
    paid: NDArray[np.int32]

    @classmethod
    def room(cls, size: int, most: int, longest: int) -> "Layer":
        running, since = np.zeros((2, size, most), np.int16)
        tokens, paid = np.zeros((size, longest), np.uint8), np.zeros((size, longest + 1), np.int32)
        mask, low = np.zeros(size, np.uint64), np.zeros(size, np.int64)
        count = np.zeros(size, np.int16)
        return cls(low, mask, count, running, since, tokens, paid)

    def rows(self, chosen: Any) -> "Layer":
        return Layer._make(column[chosen] for column in self)


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

    def refutes(self, latency: int, part: float = 0.5) -> bool:
        """Return whether no schedule has this latency or less; `part` is the forward half's."""
        limit = UNIT * latency - self.base
        if limit < 0:
            return True
        n, output = len(self.requests), [o for _, _, o in self.requests]
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
        everyone = np.uint64(2**n - 1)
        table, layer = [], Layer.room(1, most, max(output))
        for t in range(end):
            table.append(self._sorted(layer))
            layer = self._next(layer, backward, t, limit)
            layer = layer.rows(layer.paid[:, 0] <= limit - first)
            self.states[1] += len(layer.mask)
        table.append(self._sorted(layer))
        layer = Layer.room(1, most, max(output))
        for t in range(end):
            layer = self._next(layer, forward, t, limit)
            within = layer.paid[:, 0] <= first
            raw, past = self._seen(end, t + 1)
            other = table[end - t - 1]
            if fits(layer.rows(~within), t + 1, everyone, limit, raw, past, *other):
                return False
            layer = layer.rows(within)
            self.states[0] += len(layer.mask)
        return not (layer.mask == everyone).any()

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
        before, last = np.zeros(n, np.uint64), {}
        for i in order:
            before[i] = last.get(self.requests[i], 0)
            last[self.requests[i]] = 1 << i
        return Side(
            tuple(order),
            paid,
            np.minimum(due, limit + 1),
            paid * (not forward),
            change,
            tokens,
            rises,
            before,
        )

    def _next(self, layer: Layer, side: Side, t: int, limit: int) -> Layer:
        """Return all states of the next layer that cost at most the limit."""
        for i in side.order:
            if side.rho[i, t] <= limit:
                layer = begun(layer, i, t, side, self.memory, limit)
                if len(layer.mask) > 20_000:
                    layer = self._undominated(layer)
        aged(layer, t + 1, side, self.instance.output)
        return self._undominated(layer.rows(layer.low <= limit))

    def _undominated(self, layer: Layer) -> Layer:
        order = np.lexsort((layer.paid[:, 0], layer.paid[:, -1], layer.mask))
        return layer.rows(order[undominated(layer, order, COMPARED)])

    def _sorted(self, layer: Layer) -> tuple[Any, ...]:
        order = np.lexsort((layer.paid[:, -1], layer.mask))
        masks, begin = np.unique(layer.mask[order], return_index=True)
        edges = np.append(begin, len(order))
        return masks, edges, layer.paid[order, -1], layer.tokens[order]

    def _seen(self, end: int, t: int) -> tuple[IntArray, NDArray[np.uint8]]:
        """Return what both halves count, latency - v, of what began before t, and its past tokens.

        ``past[i, age]`` are those at t, t - 1, ... of request i that has run for so long.
        """
        n, longest = len(self.requests), max(o for _, _, o in self.requests)
        raw = np.zeros((n, t + 1), np.int64)
        past = np.zeros((n, longest + 1, longest), np.uint8)
        for i, (arrival, prompt, o) in enumerate(self.requests):
            raw[i] = UNIT * (np.arange(t + 1) + o - arrival) - self.least[i]
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


@compiled
def begun(layer, i, t, side, memory, limit):  # type: ignore[no-untyped-def]
    """Return the states, and these with one more request that begins."""
    bit, before, own = np.uint64(1) << np.uint64(i), side.before[i], side.tokens[i]
    old, longest = len(layer.mask), layer.tokens.shape[1]
    good = np.zeros(old, np.bool_)
    for s in range(old):
        good[s] = not layer.mask[s] & bit and layer.mask[s] & before == before
        if layer.low[s] + side.rho[i, t] - side.due[i, t] > limit:
            good[s] = False
        for y in range(longest):
            if int(layer.tokens[s, y]) + int(own[y]) > memory:
                good[s] = False
                break
    more = np.flatnonzero(good)
    rows = np.concatenate((np.arange(old), more))
    low, mask, count = layer.low[rows], layer.mask[rows], layer.count[rows]
    running, since = layer.running[rows], layer.since[rows]
    tokens, paid = layer.tokens[rows], layer.paid[rows]
    for s in range(old, len(rows)):
        low[s] += side.rho[i, t] - side.due[i, t]
        mask[s] |= bit
        running[s, count[s]] = i
        since[s, count[s]] = t
        count[s] += 1
        for y in range(longest):
            tokens[s, y] += own[y]
        for y in range(longest + 1):
            paid[s, y] += side.change[i, t, y]
    return Layer(low, mask, count, running, since, tokens, paid)


@compiled
def aged(layer, t, side, output):  # type: ignore[no-untyped-def]
    """Move all states to time t."""
    longest = layer.tokens.shape[1]
    for s in range(len(layer.mask)):
        for y in range(longest):
            layer.tokens[s, y] = layer.tokens[s, y + 1] if y + 1 < longest else 0
            layer.paid[s, y] = layer.paid[s, y + 1] + side.rises[t]
        layer.paid[s, longest] += side.rises[t]
        left = 0
        for j in range(layer.count[s]):
            i = layer.running[s, j]
            if t - layer.since[s, j] < output[i]:
                layer.running[s, left], layer.since[s, left] = i, layer.since[s, j]
                left += 1
        layer.count[s] = left
        layer.low[s] = layer.paid[s, 0]
        for i in range(len(output)):
            if not layer.mask[s] >> np.uint64(i) & np.uint64(1):
                layer.low[s] += side.due[i, t]
        for j in range(left):
            layer.low[s] += side.later[layer.running[s, j], layer.since[s, j]]


@compiled
def undominated(layer, order, compared):  # type: ignore[no-untyped-def]
    """Return which states of this order no kept one before them replaces, as far as compared."""
    keep = np.ones(len(order), np.bool_)
    known = np.zeros(compared, np.int64)
    number = turn = 0
    for place in range(len(order)):
        s = order[place]
        if place and layer.mask[s] != layer.mask[order[place - 1]]:
            number = turn = 0
        for k in range(number):
            x = known[k]
            better = True
            for y in range(layer.tokens.shape[1]):
                if layer.tokens[x, y] > layer.tokens[s, y] or layer.paid[x, y] > layer.paid[s, y]:
                    better = False
                    break
            if better:
                keep[place] = False
                known[k], known[k // 2] = known[k // 2], x
                break
        if keep[place]:
            if number < compared:
                known[number] = s
                number += 1
            else:
                known[compared // 2 + turn] = s
                turn = (turn + 1) % (compared - compared // 2)
    return keep


@compiled
def fits(layer, t, everyone, limit, raw, past, masks, edges, settled, tokens):  # type: ignore[no-untyped-def]
    """Return whether some state and some suffix together cost at most the limit."""
    longest = tokens.shape[1]
    own = np.zeros(longest, np.int64)
    for s in range(len(layer.mask)):
        want, most = everyone & ~layer.mask[s], limit - layer.paid[s, longest]
        own[:] = 0
        for j in range(layer.count[s]):
            i, start = layer.running[s, j], layer.since[s, j]
            want |= np.uint64(1) << np.uint64(i)
            most += raw[i, start]
            for y in range(longest):
                own[y] += past[i, t - start, y]
        group = np.searchsorted(masks, want)
        if group == len(masks) or masks[group] != want:
            continue
        for k in range(edges[group], edges[group + 1]):
            if settled[k] > most:
                break
            inside = True
            for y in range(longest):
                if tokens[k, y] > own[y]:
                    inside = False
                    break
            if inside:
                return True
    return False
