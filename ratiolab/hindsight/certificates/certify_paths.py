"""The checker of bounds by walks from both ends of time.

Claim: no schedule has a latency below ``bound``. All numbers are integers, U times what they stand
for. The duals give every item the weight W_t(m, r) and every time R_t, such that W_t(Q) <= R_t for
what may be held at t; in units of 1 / U both are rounded down, which keeps this, as a sum of
integers that is at most x is at most floor(x). With multipliers v_i <= min c_i, c_i(p) the latency
of i started at p plus the weights of its items, a schedule with starts p_i that holds Q_t at t has

    U latency = sum v - sum R + sum of (c_i(p_i) - v_i) + sum of (R_t - W_t(Q_t)),

and no term of the two last sums is negative; together they are its cost. A path starts in each
round any arrived requests that fit until all complete, whether they have run before or not. The
claim is proven when no path that starts each request of some set once costs at most

    B = U (bound - 1) - sum v + sum R.

Each pass walks through all layers, the first backward in time, the next forward, and so on, and
keeps what may belong to a path of cost at most B. Paid at layer t is the rho = c - v of all that
started before t and what times up to t have left of R. Dropped are

- states for which paid, with the least later rho of watched requests that have not started, exceeds
  B; watched requests start once, equal ones in order;
- states that another replaces, with the same watched requests started, which holds no more at any
  later time and whose total, paid less all that what runs will pay, is no larger: what completes
  the former completes the latter, at no more cost;
- states for which the total and that of every fitting state of the pass before, less what both
  count of what runs (U latency - v), exceed B. A state of the other direction fits when it holds no
  more at past times and when on its side just those requests that it watched have started that
  remain or run now. Each path of cost at most B has such a state there, or one that replaced it.

Nothing else is left out, so the last pass must keep no path. Watched sets may only grow from pass
to pass. Nothing here is the solver's but the footprint.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.certificates import path_states as states
from ratiolab.hindsight.certificates.certificate import PathCertificate
from ratiolab.hindsight.certificates.path_states import Layer, Start
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance

MOST_REQUESTS = 64
"""Sets of watched requests are words."""

MOST_MEMORY = 127
"""Tokens of two states must fit a byte."""

MOST_STATES = 2 * 10**8
"""States, partial ones too, after which the checker refuses, so that a hostile file cannot keep it
busy."""

MOST_KEPT = 8 * 10**6
"""States of a pass after which it does, and of a layer half as many partial ones."""

MOST_CELLS = 10**7
"""Pairs times layers after which it does."""

MOST_PASSES = 100
"""Passes after which it does."""

LARGEST = 2**60
"""Sums of numbers stay below it, so that 64-bit integers never overflow."""

COMPARED, COMPARED_PARTIAL = 4_096, 512
"""States against which another is compared, in a complete layer and before."""

CROWDED, MORE = 3_000, 1.6
"""Partial states are compared when there are so many, and so many times those of before."""

NEVER = 2**62


def require_no_path(
    certificate: PathCertificate,
    instance: Instance,
    items: list[list[list[int]]],
    paid: list[int],
) -> None:
    """Raise `ValueError` unless the passes prove the bound of a certificate.

    Parameters
    ----------
    items : dual cost of request i at age g = 1, 2, ..., output at times 1..T,
        ``items[i][g-1][t-1]``.
    paid : R_t at times 1..T.

    Raises
    ------
    ValueError
        when they do not, or checking would take too long.

    Cost: that of the walks, up to `MOST_STATES` states.
    """
    unit, multipliers, passes = certificate.unit, certificate.multipliers, certificate.passes
    n = len(instance)
    if n > MOST_REQUESTS or instance.memory > MOST_MEMORY:
        size = f"{n} requests and memory {instance.memory}"
        raise ValueError(f"{size}: paths are checked up to {MOST_REQUESTS} and {MOST_MEMORY}")
    if unit < 1 or len(multipliers) != n or not 1 <= len(passes) <= MOST_PASSES:
        raise ValueError(f"paths need a unit, {n} multipliers, and 1 to {MOST_PASSES} passes")
    known = 0
    for number, watched in enumerate(passes):
        if not 0 <= watched < 2**n or known & ~watched:
            raise ValueError(f"pass {number}: {watched} is no set with all that was watched before")
        known = watched
    denominator = certificate.duals.denominator
    weight = [[[x * unit // denominator for x in row] for row in own] for own in items]
    capacity = [x * unit // denominator for x in paid]
    limit = unit * (certificate.bound - 1) - sum(multipliers) + sum(capacity)
    costs = _Costs(instance, unit, multipliers, weight, capacity, limit)
    layers: list[Layer] | None = None
    least, known, left = 0, 0, MOST_STATES
    for number, watched in enumerate(passes):
        walk = _Walk(instance, costs, number % 2, watched, limit, (known, layers), left)
        layers, known = walk.run(), watched
        left = walk.left
        done = layers[-1].paid[layers[-1].begun == np.uint64(watched)]
        least = int(done.min(initial=limit + 1))
    if limit >= 0 and least <= limit:
        latency = (sum(multipliers) - sum(capacity) + least) / unit
        raise ValueError(f"bound {certificate.bound} is claimed, a path costs {latency:.3f}")


class _Costs:
    """Costs in both directions; the pair (request i, age g) is the number ``first[i] + g``.

    Arrays begin with the direction, 0 for backward.
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
        if large + unit * (latest + 3 * max(output)) > LARGEST:
            raise ValueError("numbers are too large for walks")
        cells = (latest + 2 * max(output)) * sum(output)
        if cells > MOST_CELLS:
            raise ValueError(f"{cells} pairs and layers are more than {MOST_CELLS}")
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
        end, self.longest, self.output = self.end, max(output), np.array(output)
        self.first = np.cumsum([0, *output[:-1]])
        self.owner = np.repeat(np.arange(n), output)
        self.age = np.arange(sum(output)) - self.first[self.owner]
        self.last = self.age + 1 == self.output[self.owner]
        self.bit = np.left_shift(np.uint64(1), self.owner.astype(np.uint64))
        self.rho = np.full((2, n, end + 2), NEVER)  # of starts
        self.raw = np.zeros((2, n, end + 2), np.int64)  # their latency less multiplier
        self.price = np.zeros((2, end + 2, sum(output)), np.int64)  # of pairs at the next time
        self.capacity = np.zeros((2, end + 2), np.int64)
        self.tokens = np.zeros((2, sum(output), self.longest), np.uint8)
        times = range(1, min(horizon, end) + 1)
        for t in times:
            self.capacity[1, t] = self.capacity[0, end + 1 - t] = capacity[t - 1]
        for i, (arrival, prompt, o) in enumerate(requests):
            for p in range(end - o + 1):
                mirror = end - p - o
                late = unit * (p + o - arrival) - multipliers[i]
                self.raw[1, i, p] = self.raw[0, i, mirror] = late
                if p in rho[i]:
                    self.rho[1, i, p] = self.rho[0, i, mirror] = rho[i][p]
            for g in range(o):
                pair, back = self.first[i] + g, self.first[i] + o - 1 - g
                for t in times:
                    self.price[1, t, pair] = weight[i][g][t - 1]
                    self.price[0, end + 1 - t, back] = weight[i][g][t - 1]
                for later in range(g + 1, o + 1):
                    self.tokens[1, pair, later - g - 1] = held(prompt, later)
                    self.tokens[0, pair, later - g - 1] = held(prompt, o + 1 - later)
        self.later = self.price.copy()
        for pair in np.flatnonzero(~self.last)[::-1]:
            self.later[:, :-1, pair] += self.later[:, 1:, pair + 1]
        # the pair (i, g) is (i, o - g) from the other side; at age 0 nothing runs yet
        back = np.where(self.age > 0, self.output[self.owner] - self.age, 0)
        self.opposite = self.first[self.owner] + back


class _Walk:
    """One pass, given the watched requests and the layers of the pass before, if there is one."""

    def __init__(
        self,
        instance: Instance,
        costs: _Costs,
        side: int,
        watched: int,
        limit: int,
        before: tuple[int, list[Layer] | None],
        left: int,
    ) -> None:
        self.memory, self.costs, self.side = instance.memory, costs, side
        self.watched, self.limit, self.before = watched, limit, before
        self.left, self.kept = left, 0
        self.most = instance.memory // (int(instance.prompt.min()) + 1)
        self.room = Layer.room(20_000, self.most, costs.longest)
        order = range(len(instance)) if side else range(len(instance) - 1, -1, -1)
        requests = list(instance.requests)
        self.candidates = sorted(order, key=lambda i: requests[i][2])  # equal ones stay in order
        self.needs = dict.fromkeys(order, 0)
        last: dict[tuple[int, int, int], int] = {}
        for i in order:
            if watched >> i & 1:
                self.needs[i] = last.get(requests[i], 0)
                last[requests[i]] = 1 << i
        least = np.minimum.accumulate(costs.rho[side][:, ::-1], axis=1)[:, ::-1]
        self.waiting = np.minimum(least, max(limit, 0) + 1)

    def run(self) -> list[Layer]:
        """Return the states of all layers, by watched requests and then total."""
        layers = [Layer.room(1, self.most, self.costs.longest)]
        for t in range(self.costs.end):
            layers.append(self._next(layers[-1], t))
            self.kept += len(layers[-1].paid)
            if self.kept > MOST_KEPT:
                raise ValueError(f"a pass takes more than {MOST_KEPT} states")
        return layers

    def _next(self, layer: Layer, t: int) -> Layer:
        costs, side, watched = self.costs, self.side, np.uint64(self.watched)
        price, waiting = costs.price[side, t + 1], self.waiting[:, t].copy()
        self._enlarge(len(layer.paid), 0)
        capacity = costs.capacity[side, t + 1]
        n = states.age(layer, self.limit, capacity, price, costs.last, watched, waiting, self.room)
        seen = max(n, CROWDED)
        possible = [i for i in self.candidates if costs.rho[side, i, t] <= self.limit]
        for i in possible:
            start = self._start(i, t)
            while (number := states.begin(self.room, n, self.limit, start)) < 0:
                self._enlarge(2 * len(self.room.paid), n)
            self.left -= number - n
            if self.left < 0:
                raise ValueError(f"the walks take more than {MOST_STATES} states")
            n = number
            if n > MORE * seen and i != possible[-1]:
                rows = self._kept(np.arange(n), COMPARED_PARTIAL)
                n = len(rows)
                self.room.put(self.room.rows(rows), n)
                seen = max(n, CROWDED)
        states.bounds(self.room, n, watched, self.waiting[:, t + 1].copy())
        known, layers = self.before
        if layers is not None:
            chosen = np.flatnonzero(self.room.safe[:n] <= self.limit)
            start = np.maximum(t + 1 - costs.age, 0)
            raw = costs.raw[side, costs.owner, start]
            past, other = costs.tokens[1 - side][costs.opposite], layers[costs.end - t - 1]
            states.joined(
                *(self.room, chosen, self.limit, other, np.uint64(known), raw, past, costs.bit)
            )
        within = np.flatnonzero(self.room.safe[:n] <= self.limit)
        return self.room.rows(self._kept(within, COMPARED))

    def _start(self, i: int, t: int) -> Start:
        costs, side, watched = self.costs, self.side, self.watched >> i & 1
        pair, tokens = int(costs.first[i]), costs.tokens[self.side, costs.first[i]]
        ends, price = bool(costs.last[pair]), int(costs.price[side, t + 1, pair])
        return Start(
            pair,
            int(costs.rho[side, i, t]),
            price,
            int(costs.later[side, t + 1, pair]) - price,
            ends,
            np.uint64(watched << i),
            np.uint64(self.needs[i]),
            int(self.waiting[i, t]) if watched else 0,
            (self.memory - tokens.astype(np.int64)).astype(np.uint8),
            tokens,
        )

    def _kept(self, rows: IntArray, compared: int) -> IntArray:
        rows = rows[np.lexsort((self.room.total[rows], self.room.begun[rows]))]
        good: NDArray[np.bool_] = states.kept(self.room, rows, compared)
        return rows[good]

    def _enlarge(self, size: int, n: int) -> None:
        if size <= len(self.room.paid):
            return
        if size > MOST_KEPT // 2:
            raise ValueError(f"a layer takes more than {MOST_KEPT // 2} states")
        larger = Layer.room(size, self.most, self.costs.longest)
        larger.put(self.room, n)
        self.room = larger
