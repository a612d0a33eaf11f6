"""Walks over paths from both ends that bound each other layer by layer, with faults to choose from.

`ratiolab.hindsight.paths.walk` defines paths, costs, and dominance by what is settled, and joins
tables of states. A simpler way to let both directions prune each other is a number a layer: f(t) is
at most what every path of cost at most B has paid at t from the front, h(t) from the end. It is
tempting, and easily wrong, which is why the product has no such numbers and tests keep them:

- to let X replace A within a walk that makes f, X must have *paid* no more at every later time, not
  only settled no more: what replaces A may pay earlier, and f then excludes what leads through A;
- of what a narrow walk leaves out, f may use what was *paid*, not a bound of its total: a path
  through it pays the rest later.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.paths.potentials import Potentials
from ratiolab.model import Instance

EVERYTHING = 10**6
"""A width that leaves nothing out."""

Running = tuple[tuple[int, int], ...]
"""Requests that run, each with the rounds that it has run."""


class Rules(NamedTuple):
    """What a walk does.

    Parameters
    ----------
    replace : "never"; "paid", dominance that f and h allow; "settled", which they do not.
    left_out : "paid" or "total", what f and h use of states that a narrow walk leaves out.
    """

    replace: str = "paid"
    left_out: str = "paid"


class TwoSided:
    """Paths of an instance under duals, in units of potentials, by plain enumeration."""

    def __init__(self, instance: Instance, duals: Duals) -> None:
        self.requests, self.memory = list(instance.requests), instance.memory
        self.potentials = Potentials.of(instance, duals)
        self.least = self.potentials.least.tolist()
        self.base = int(self.potentials.least.sum() - self.potentials.capacity.sum())

    def limit(self, latency: int) -> int:
        """Return the cost of a schedule of this latency."""
        return latency * self.potentials.unit - self.base

    def proves(self, limit: int, rules: Rules, widths: list[int]) -> bool:
        """Return whether walks in alternating directions claim that no path is that cheap."""
        return self.least_cost(limit, rules, widths) > limit

    def least_cost(self, limit: int, rules: Rules, widths: list[int]) -> int:
        """Return the least cost of the paths that the last walk keeps or leaves out."""
        self._set(limit)
        other, least = [0] * (self.end + 1), 0
        for number, width in enumerate(widths):
            other, least = self._walk(number % 2 == 0, other, rules, width)
        return least

    def claimed(self, limit: int, rules: Rules) -> list[int]:
        """Return f: what paths of cost at most a limit have paid by each time, as walks claim."""
        self._set(limit)
        return self._walk(True, [0] * (self.end + 1), rules, EVERYTHING)[0]

    def paid(self, limit: int) -> list[int]:
        """Return the least that any path of cost at most a limit has paid by each time: all tried.

        Nothing replaces anything here, and every path has a prefix and a suffix that run the same.
        """
        self._set(limit)
        layers = []
        for forward in (True, False):
            self._walk(forward, [0] * (self.end + 1), Rules("never"), EVERYTHING)
            layers.append(self.layers)
        found = [limit + 1] * (self.end + 1)
        for t in range(self.end + 1):
            for running, paid in layers[0].get(t, {}).items():
                rest = layers[1].get(t, {}).get(running)
                if rest is not None and paid + rest - self.started(running, t) <= limit:
                    found[t] = min(found[t], paid)
        return found

    def _set(self, limit: int) -> None:
        self.bound = limit
        late = self.bound // self.potentials.unit + max(o for _, _, o in self.requests)
        last = max(self.potentials.horizon, max(a for a, _, _ in self.requests)) + late
        self.end = last + max(o for _, _, o in self.requests) + 1
        cost = self.potentials.costs(self.end)
        self.rho = [(cost[i] - self.least[i]).tolist() for i in range(len(self.requests))]

    def weight(self, i: int, age: int, time: int) -> int:
        if time > self.potentials.horizon:
            return 0
        _, prompt, output = self.requests[i]
        return int(self.potentials.weight[time, prompt + age, output - age])

    def pays(self, running: Running, t: int, forward: bool) -> list[int]:
        """Return what those that run will pay of R at the next times of a direction, summed up."""
        sums, total = [0], 0
        for k in range(max(o for _, _, o in self.requests)):
            for i, age in running:
                at = age + 1 + k if forward else age - k
                if 1 <= at <= self.requests[i][2]:
                    total += self.weight(i, at, t + at - age)
            sums.append(total)
        return sums

    def held(self, running: Running, forward: bool) -> list[int]:
        """Return the tokens that they hold at the next times of a direction."""
        longest = max(o for _, _, o in self.requests)
        ages = [
            [(i, age + 1 + k if forward else age - k) for i, age in running] for k in range(longest)
        ]
        return [
            sum(self.requests[i][1] + at for i, at in row if 1 <= at <= self.requests[i][2])
            for row in ages
        ]

    def subsets(self, running: Running, possible: Running, forward: bool) -> Iterator[Running]:
        """Yield the sets of all those that run and some of the possible ones, as far as they fit.

        Backward, footprints fall, so that the first time decides.
        """
        yield running
        for k, pair in enumerate(possible):
            more = (*running, pair)
            if max(self.held(more, forward)) <= self.memory:
                yield from self.subsets(more, possible[k + 1 :], forward)

    def started(self, running: Running, t: int) -> int:
        """Return the rho of those that run after time t."""
        return sum(self.rho[i][t - age] for i, age in running)

    def _walk(
        self, forward: bool, other: list[int], rules: Rules, width: int
    ) -> tuple[list[int], int]:
        """Return the bound of each layer, and the least cost of what is kept or left out."""
        layer: dict[Running, int] = {(): 0}
        self.layers = {0 if forward else self.end: layer}
        bounds, left_out, open_ = [0] * (self.end + 1), self.bound + 1, self.bound + 1
        for step in range(self.end):
            t = step if forward else self.end - step
            after = t + 1 if forward else t - 1
            following: dict[Running, int] = {}
            for running, paid in layer.items():
                for now in self.subsets(running, self._possible(t, forward), forward):
                    new = now[len(running) :]
                    cost = paid + self.started(new, t) + self._slack(now, t, forward)
                    aged = tuple(sorted((i, age + (after - t)) for i, age in now))
                    key = tuple(p for p in aged if 0 < p[1] < self.requests[p[0]][2])
                    if self._total(key, cost, after, other) <= self.bound:
                        following[key] = min(cost, following.get(key, cost))
            kept = self._undominated(following, after, forward, rules.replace)
            kept.sort(key=lambda state: self._total(*state, after, other))
            for key, cost in kept[width:]:
                total = self._total(key, cost, after, other)
                open_ = min(open_, total)
                left_out = min(left_out, cost if rules.left_out == "paid" else total)
            layer = self.layers[after] = dict(kept[:width])
            bounds[after] = min(left_out, *layer.values()) if layer else left_out
        return bounds, min(open_, layer.get((), open_))

    def _possible(self, t: int, forward: bool) -> Running:
        """Return what may start at t, or end there."""
        if forward:
            return tuple((i, 0) for i, (arrival, _, _) in enumerate(self.requests) if arrival <= t)
        return tuple((i, o) for i, (arrival, _, o) in enumerate(self.requests) if t - o >= arrival)

    def _slack(self, now: Running, t: int, forward: bool) -> int:
        time = t + 1 if forward else t
        capacity = int(self.potentials.capacity[time]) if time <= self.potentials.horizon else 0
        return capacity - sum(self.weight(i, age + forward, time) for i, age in now)

    def _total(self, running: Running, paid: int, t: int, other: list[int]) -> int:
        """Return what paths through a state cost at least; both ends have paid for what runs."""
        return max(paid, paid - self.started(running, t) + other[t])

    def _undominated(
        self, states: dict[Running, int], t: int, forward: bool, replace: str
    ) -> list[tuple[Running, int]]:
        if replace == "never":
            return list(states.items())
        rows = []
        for running, paid in states.items():
            later = paid - np.array(self.pays(running, t, forward))
            compared = later if replace == "paid" else later[-1:]
            held = self.held(running, forward)
            rows.append((int(later[-1]), np.array([*held, *compared]), running, paid))
        rows.sort(key=lambda row: (row[0], row[2]))
        kept: list[tuple[np.ndarray, Running, int]] = []
        for _, own, running, paid in rows:
            if not any((better <= own).all() for better, _, _ in kept):
                kept.append((own, running, paid))
        return [(running, paid) for _, running, paid in kept]
