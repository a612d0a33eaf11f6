"""Costs of the paths of a certificate, in both directions of time.

`ratiolab.hindsight.certificates.certify_paths` says what they are.
"""

from collections.abc import Sequence

import numpy as np

from ratiolab.hindsight.certificates import effort
from ratiolab.model.footprint import held
from ratiolab.model.instance import Instance

NEVER = 2**62
"""Cost of a start that no path of interest has."""


class Costs:
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
        if large + unit * (latest + 3 * max(output)) > effort.LARGEST_SUM:
            raise ValueError("numbers are too large for labelling")
        cells = (latest + 2 * max(output)) * sum(output)
        if cells > effort.MOST_CELLS:
            raise ValueError(f"{cells} pairs and layers are more than {effort.MOST_CELLS}")
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
