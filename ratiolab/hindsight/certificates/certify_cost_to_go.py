"""The checker of lower bounds on the cost-to-go, window by window, the latest rounds first.

Cost. All numbers are integers over the denominator D of the duals. With c_i(p), the Lagrangian cost
of request i started at p, rho_i(p), by how much it exceeds its least, R_t, the duals times right
sides of time t, and h_t, the dual cost of what is held at t, a schedule with starts p_i has

    D latency = value + sum of rho_i(p_i) + sum of (R_t - h_t),        no term is negative.

For a time b, Phi(b) is the part of both sums that requests with p_i + o_i > b and times t > b make
up. It does not grow with b, and D latency = value + Phi(0). A window (b, k) claims Phi(b) >= k of
every optimal schedule.

Ways. A way through the window holds at time b pairs (request, age), all different, that fit
together until they complete, and then starts at each time t = b, b + 1, ... a set of arrived
requests that fit beside what runs. It forgets who has started: a request may be in it again, from
another time. When all have arrived and nothing is held at the next time, the way ends. Its cost is
rho of its starts and R_t - h_t of all t > b; what is held together fits, so that no term of it is
negative, either. An optimal schedule is a way from b on: after a time at which it holds nothing and
all have arrived, everything could start a round earlier. So (b, k) is proven when no way costs
less than k.

Search. Layer by layer all ways are tried while v, what is paid up to time t, is below k, up to the
time T of the last duals: to start nothing from then on costs nothing. With q, the rho of what runs
at t, left out are, without loss,

- those with v - q + K >= k, K proven of a window at t or later. From t on the way is one through
  the window at t, and so is its rest through each later one (or the way that holds nothing, if it
  has ended before): q and what is still to be paid come to K at least.
- of two states of layer t the one that holds no less at any later time and has settled no less.
  Settled is v less the duals of all that the running pairs will hold. What follows the one may
  follow the other, as nobody knows who has started, and then costs differ as what is settled. If
  the other then holds nothing for a time though all have arrived, what follows starts a round
  earlier: without the duals of what it holds, which are settled at once, a start at p costs
  D (p + o_i - a_i) less its least c_i, and so the way costs less still.

What is held at b is composed pair by pair; the second rule holds between these steps, too, as the
same further pairs may be added to both.

Nothing here is the solver's but the footprint. The states and the compiled loops over them stand in
`ratiolab.hindsight.certificates.cost_to_go_states`.
"""

import numpy as np

from ratiolab.hindsight.certificates.cost_to_go_states import (
    Pair,
    Round,
    States,
    add,
    packed,
    successors,
)
from ratiolab.hindsight.certificates.effort import MOST_BYTES, TooCostlyError
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance

MOST_STATES = 10**8
"""Sets of starts after which the checker refuses, so that a hostile file cannot keep it busy."""

MOST_LAYERS = 10**5
"""Layers of all windows after which it does."""

MOST_IN_LAYER = 10**6
"""States of one layer after which it does."""

CAPACITY = 50_000
"""States that are written, at first, before those that others make superfluous are left out."""

LARGEST = 2**60
"""Sums of numbers stay below it, so that 64-bit integers never overflow."""


def proven_cost(
    instance: Instance,
    windows: tuple[tuple[int, int], ...],
    own: list[list[int]],
    items: list[list[list[int]]],
    paid: list[int],
) -> int:
    """Return the part of latency beyond the duals that the windows prove, over the denominator.

    Parameters
    ----------
    windows : (time, cost) in falling time, the last time 0.
    own : c_i(p) for p = a_i, ..., max(T, a_i).
    items : dual cost of request i at age g = 1, 2, ..., output at times 1..T,
        ``items[i][g-1][t-1]``.
    paid : R_t at times 1..T.

    Returns
    -------
    the cost of the last window, once all are proven.

    Raises
    ------
    ValueError
        when some way through a window costs less, windows are not in order, or checking takes too
        long.

    Cost: that of the search, up to `MOST_STATES` sets of starts.
    """
    before = len(paid) + 1
    for number, (begin, cost) in enumerate(windows):
        if not 0 <= begin < before:
            raise ValueError(f"window {number} begins at {begin}, not within 0..{before - 1}")
        if cost < 0:
            raise ValueError(f"window {number}: cost {cost} is negative")
        before = begin
    if not windows or before:
        raise ValueError("no window begins at 0")
    if max(max(row) for row in own) + sum(paid) + max(cost for _, cost in windows) > LARGEST:
        raise ValueError("numbers are too large for a search through windows")
    search = _Search(instance, own, items, paid)
    for number, (begin, cost) in enumerate(windows):
        if (least := search.least(begin, cost)) < cost:
            raise ValueError(f"window {number}: cost {cost} is claimed, a way costs {least}")
    return windows[-1][1]


class _Search:
    """Classes of equal requests, costs of starting and holding them, and what is proven yet.

    The pair (class k, age g < o_k) is the number ``first[k] + g``; at age 0 it starts now. What
    belongs to a pair at time t is of its next age, held at time t + 1, and of those after.
    """

    def __init__(
        self,
        instance: Instance,
        own: list[list[int]],
        items: list[list[list[int]]],
        paid: list[int],
    ) -> None:
        kinds: dict[tuple[int, int, int], list[int]] = {}
        for i, request in enumerate(instance.requests):
            kinds.setdefault(request, []).append(i)
        self.memory = instance.memory
        self.own = [own[i] for i, *_ in kinds.values()]
        self.copies = np.array([len(equal) for equal in kinds.values()])
        self.arrival, self.prompt, self.output = np.array(list(kinds)).T
        self.first = np.cumsum(self.output) - self.output
        self.kind = np.repeat(np.arange(len(kinds)), self.output)
        self.age = np.arange(len(self.kind)) - self.first[self.kind]
        self.ends = self.age + 1 == self.output[self.kind]
        self.paid, self.horizon = np.array([*paid, 0]), len(paid)
        self.rest = np.cumsum(self.paid[::-1])[::-1]
        self.dual = np.zeros((self.horizon + 1, len(self.kind)), np.int64)
        tokens = np.zeros((len(self.kind), int(self.output.max())), np.uint8)
        members = [i for i, *_ in kinds.values()]
        for pair, (k, age) in enumerate(zip(self.kind, self.age, strict=True)):
            self.dual[: self.horizon, pair] = items[members[k]][age]
            ages = np.arange(age + 1, self.output[k] + 1)
            tokens[pair, : len(ages)] = held(self.prompt[k], ages)
        self.tail = self.dual.copy()
        for pair in np.flatnonzero(~self.ends)[::-1]:
            self.tail[:-1, pair] += self.tail[1:, pair + 1]
        self.tokens = packed(tokens)
        self.full = packed(np.full((1, tokens.shape[1]), self.memory, np.uint8))[0]
        self.most = self.memory // (int(self.prompt.min()) + 1)
        self.last_arrival = int(self.arrival.max())
        self.proven: list[tuple[int, int]] = []
        self.tried = self.layers = 0

    def least(self, begin: int, cost: int) -> int:
        """Return the least cost of a way through the window from this time on, at most ``cost``."""
        if cost > self._known(begin):
            found = self._through(begin, cost)
            if found < cost:
                return found
            self.proven.append((begin, cost))
        return cost

    def _known(self, time: int) -> int:
        """Return the largest cost that is proven from this time or a later one on."""
        return max((cost for begin, cost in self.proven if begin >= time), default=0)

    def _excess(self, k: int, start: int, limit: int) -> int:
        """Return rho of a start, at most the limit, which stands for starts that are none, too."""
        past, row = start - int(self.arrival[k]), self.own[k]
        if not 0 <= past < len(row):
            return limit
        return min(row[past] - min(row), limit)

    def _count(self, states: int) -> None:
        self.tried += states
        if self.tried > MOST_STATES:
            raise TooCostlyError(f"the search takes more than {MOST_STATES} states")

    def _empty(self, capacity: int) -> States:
        size = 4 * self.most + 8 * len(self.full) + 24
        if capacity > 2 * max(CAPACITY, MOST_IN_LAYER) or 2 * capacity * size > MOST_BYTES:
            most = min(MOST_IN_LAYER, MOST_BYTES // (4 * size))
            raise TooCostlyError(f"a layer takes more than {most} states")
        return States.empty(capacity, self.most, len(self.full))

    def _through(self, begin: int, limit: int) -> int:
        pairs = zip(self.kind.tolist(), self.age.tolist(), strict=True)
        excess = np.array([self._excess(k, begin - age, limit) for k, age in pairs])
        layer, t = self._entries(begin, excess, limit), begin
        while len(layer.value) and t < self.horizon:
            self.layers += 1
            if self.layers > MOST_LAYERS:
                raise TooCostlyError(f"the search takes more than {MOST_LAYERS} layers")
            layer, limit = self._next(layer, t, excess, limit)
            t += 1
            excess[1:] = excess[:-1]
            excess[self.first] = [self._excess(k, t, limit) for k in range(len(self.first))]
        # where duals have ended, it costs nothing to start nothing more
        return min(limit, int(layer.value.min(initial=limit)))

    def _entries(self, begin: int, excess: IntArray, limit: int) -> States:
        """Compose what may run at the begin of a window, pair by pair.

        Those that complete soon come first: what they hold compares at few times, so that few sets
        are needed of them.
        """
        states, capacity = self._empty(CAPACITY), CAPACITY
        settled = excess - self.tail[min(begin, self.horizon)]
        number = narrow = 1
        for pair in np.argsort(self.output[self.kind] - self.age, kind="stable"):
            if self.age[pair] == 0 or excess[pair] >= limit:
                continue
            if number > 2 * narrow:
                kept = states.undominated(number)
                number = narrow = len(kept.value)
                states.put(kept)
            fresh = 0
            for _ in range(self.copies[self.kind[pair]]):
                if 2 * number - fresh > capacity:
                    capacity *= 2
                    larger = self._empty(capacity)
                    larger.put(states)
                    states = larger
                new = Pair(pair, excess[pair], settled[pair], self.tokens[pair])
                fresh, number = number, add(states, fresh, number, new, self.full, limit)
                self._count(number - fresh)
        return states.undominated(number)

    def _next(self, layer: States, t: int, excess: IntArray, limit: int) -> tuple[States, int]:
        """Return the states after round t, and the least cost of ended ways, or the limit."""
        row, capacity = min(t, self.horizon), max(CAPACITY, 2 * len(layer.value))
        may = excess[self.first] < limit
        step = Round(
            starts=self.first[may],
            copies=self.copies[may],
            excess=excess,
            dual=self.dual[row],
            tail=self.tail[row],
            tokens=self.tokens,
            full=self.full,
            ends=self.ends,
            paid=self.paid[row],
            rest=self.rest[row],
            may_end=t >= self.last_arrival,
            known=self._known(t + 1),
        )
        states = self._empty(capacity)
        parent = number = 0
        while True:
            number, after, limit, tried = successors(layer, parent, step, limit, states, number)
            self._count(tried)
            kept = states.undominated(number)
            if after == len(layer.value):
                return kept, limit
            number = len(kept.value)
            if 2 * number > capacity or after == parent:
                capacity *= 2
                states = self._empty(capacity)
            states.put(kept)
            parent = after
