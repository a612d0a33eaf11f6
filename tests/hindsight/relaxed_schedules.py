"""Costs of relaxed schedules by definition, and tiny instances with duals and multipliers."""

from collections.abc import Iterator

import numpy as np
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.certificates.certificate import DualCertificate
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling.weights import Direction, Weights, directions
from ratiolab.model import Instance

Running = tuple[tuple[int, int], ...]


class ByDefinition:
    """Costs of relaxed schedules by trying all, forward, up to a limit of cost."""

    def __init__(self, potentials: Weights, multipliers: list[int]) -> None:
        self.requests = list(potentials.instance.requests)
        self.memory = potentials.instance.memory
        self.potentials, self.multipliers = potentials, multipliers
        self.cost = potentials.costs(200)

    def weight(self, i: int, age: int, time: int) -> int:
        _, prompt, output = self.requests[i]
        late = time > self.potentials.horizon
        return 0 if late else int(self.potentials.weight[time, prompt + age, output - age])

    def fits(self, running: Running) -> bool:
        longest = max(output for _, _, output in self.requests)
        held = [
            sum(
                self.requests[i][1] + age + later
                for i, age in running
                if age + later <= self.requests[i][2]
            )
            for later in range(1, longest + 1)
        ]
        return max(held) <= self.memory

    def starts(self, running: Running, t: int, first: int = 0) -> Iterator[Running]:
        yield running
        for i in range(first, len(self.requests)):
            more = (*running, (i, 0))
            if self.requests[i][0] <= t and self.fits(more):
                yield from self.starts(more, t, i + 1)

    def least(self, limit: int, once: int) -> int:
        """The least cost, or limit + 1, if requests of ``once`` start exactly once."""
        layer: dict[tuple[Running, int], int] = {((), 0): 0}
        end, t, best = self.potentials.horizon, 0, limit + 1
        while layer:
            for (running, mask), cost in layer.items():
                if t >= end and not running and mask == once:
                    best = min(best, cost)
            following: dict[tuple[Running, int], int] = {}
            for (running, mask), cost in layer.items():
                if t > end and not running and mask == once:
                    continue
                for held in self.starts(running, t):
                    new = [i for i, age in held if age == 0]
                    bits = sum(1 << i for i in new if once >> i & 1)
                    if mask & bits:
                        continue
                    paid = cost + sum(int(self.cost[i, t]) - self.multipliers[i] for i in new)
                    if t + 1 <= end:
                        paid += int(self.potentials.capacity[t + 1])
                    paid -= sum(self.weight(i, age + 1, t + 1) for i, age in held)
                    if paid > limit or t > 150:
                        continue
                    aged = ((i, age + 1) for i, age in held)
                    left = tuple(sorted((i, g) for i, g in aged if g < self.requests[i][2]))
                    key = left, mask | bits
                    following[key] = min(paid, following.get(key, paid))
            if t > end:
                following = {k: v for k, v in following.items() if k != ((), k[1]) or once != k[1]}
            layer, t = following, t + 1
        return best


def small(seed: int) -> Instance:
    return tiny(seed, most=4, longest=4)


def drawn(seed: int) -> tuple[Instance, DualCertificate, Weights, np.ndarray]:
    """A tiny instance with duals of few rounds, and multipliers lowered at random."""
    instance = small(seed)
    proven = cut_bound(instance, rounds=seed % 3).certificate
    potentials = Weights.of(instance, proven.duals)
    rng = np.random.default_rng(seed)
    lower = potentials.unit * rng.integers(0, 3, len(instance)) * (seed % 3 > 0)
    return instance, proven, potentials, potentials.least - lower


def backward(seed: int) -> tuple[Instance, Direction, int]:
    """Return a tiny instance, the tables of its sweeps backward, and the cost of the optimum."""
    instance = tiny(seed, most=5, longest=4)
    potentials = Weights.of(instance, cut_bound(instance, rounds=seed % 3).certificate.duals)
    base = int(potentials.least.sum() - potentials.capacity.sum())
    limit = least_latency(instance) * potentials.unit - base
    return instance, directions(potentials, potentials.least, limit)[1], limit


def many(n: int) -> Instance:
    rng = np.random.default_rng(n)
    prompt, output = rng.integers(1, 4, n), rng.integers(1, 5, n)
    return Instance("many", 9, np.sort(rng.integers(0, n, n)), prompt, output)
