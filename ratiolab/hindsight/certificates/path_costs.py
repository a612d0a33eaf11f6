"""Costs of the paths of a certificate, backward in time.

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
