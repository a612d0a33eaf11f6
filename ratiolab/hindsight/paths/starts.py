"""What may start in each layer of a walk, in which order, and at what cost."""

import numpy as np

from ratiolab.hindsight.paths.kernels import Step
from ratiolab.hindsight.paths.potentials import NEVER, Direction
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance


class Starts:
    """Starts of a walk in one direction that remembers a set of requests.

    Attributes
    ----------
    order : requests in the order in which a layer starts them.
    twins : of each request, the remembered equal one that must start before it, as a bit.
    due : least cost of the starts of each request from each layer on, shape (n, END + 1).
    """

    def __init__(
        self, instance: Instance, direction: Direction, limit: int, remembered: int
    ) -> None:
        self.direction, self.limit, self.remembered = direction, limit, remembered
        sign = 1 if direction.forward else -1
        output = instance.output.tolist()
        self.order = sorted(range(len(instance)), key=lambda i: (output[i], sign * i))
        self.twins = twins(instance, remembered, direction.forward)
        least = np.minimum.accumulate(direction.excess[:, ::-1], axis=1)[:, ::-1]
        self.due: IntArray = np.minimum(least, limit + 1)

    def at(self, t: int) -> list[int]:
        """Return the requests that may start in layer t."""
        return [i for i in self.order if self.direction.excess[i, t] <= self.limit]

    def step(self, t: int) -> Step:
        """Return the costs of the step from layer t to t + 1."""
        direction = self.direction
        begun = t - direction.age
        excess = np.where(
            begun >= 0, direction.excess[direction.owner, np.maximum(begun, 0)], NEVER
        )
        due, after = self.due[:, t].copy(), self.due[:, t + 1].copy()
        return Step(
            *(excess, direction.pay[t + 1], direction.tail[t + 1], due, after),
            *(np.uint64(self.remembered), int(direction.slack[t + 1]), self.limit),
        )


def twins(instance: Instance, remembered: int, forward: bool) -> list[int]:
    """Return, of each request, the remembered equal one that must start before it, as a bit."""
    kinds, found = list(instance.requests), [0] * len(instance)
    last: dict[tuple[int, int, int], int] = {}
    for i in range(len(instance)) if forward else range(len(instance) - 1, -1, -1):
        if remembered >> i & 1:
            found[i] = last.get(kinds[i], 0)
            last[kinds[i]] = 1 << i
    return found
