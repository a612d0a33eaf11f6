"""Extensions of labels: what may start in each layer of a sweep, in which order, and at what cost.

Bits. Labels have a bit for each critical request: that of its index, if all of these are below 64.
Otherwise a bit belongs to a request from the first layer in which it may start to the last, and
then to another. Hence a sweep has any number of critical requests, as long as no more than 64 may
start before and after the same layer.
"""

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.labelling.label_kernels import Step
from ratiolab.hindsight.labelling.weights import MOST_REQUESTS, Direction
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

ONE, NONE = np.uint64(1), np.uint64(0)


class Extensions:
    """Extensions of a sweep in one direction that enforces the single start of critical requests.

    Attributes
    ----------
    order : requests in the order in which a layer starts them.
    twins : of each request, the equal critical request that must start before it, or -1.
    due : least cost of the starts of each request from each layer on, shape (n, END + 1).

    Raises
    ------
    OverflowError
        when a layer needs more bits than a mask has: one for each critical request that may start
        before the layer as well as after it.
    """

    def __init__(self, instance: Instance, direction: Direction, limit: int, critical: int) -> None:
        self.direction, self.limit, self.critical = direction, limit, critical
        n, sign = len(instance), 1 if direction.forward else -1
        output = instance.output.tolist()
        self.order = np.array(sorted(range(n), key=lambda i: (output[i], sign * i)))
        self.twins = np.array(twins(instance, critical, direction.forward))
        least = np.minimum.accumulate(direction.excess[:, ::-1], axis=1)[:, ::-1]
        self.due: IntArray = np.minimum(least, limit + 1)
        known = np.array([critical >> i & 1 for i in range(n)], np.bool_)
        bit, first, last = np.arange(n), np.zeros(n, np.int64), np.full(n, direction.end)
        if critical >= 2**MOST_REQUESTS:
            possible = direction.excess <= limit
            some = possible.any(axis=1)
            first[some] = possible[some].argmax(axis=1)
            last[some] = direction.end - possible[some, ::-1].argmax(axis=1)
            bit = _bits(first, last, known)
        layers = np.arange(direction.end + 1)[:, None]
        has_bit = known & (first <= layers) & (layers <= last)
        # by layer: the bit of each request, and of none
        self._words = np.zeros((direction.end + 1, n + 1), np.uint64)
        self._words[:, :n] = np.where(has_bit, ONE << (bit % MOST_REQUESTS).astype(np.uint64), NONE)
        self._sets = np.bitwise_or.reduce(self._words, axis=1)
        self._due, self._after = np.zeros((2, direction.end + 1, MOST_REQUESTS), np.int64)
        layer, request = np.nonzero(has_bit[:-1])
        self._due[layer, bit[request]] = self.due[request, layer]
        self._after[layer, bit[request]] = self.due[request, layer + 1]
        self._later = np.where(known & (first > layers), self.due.T, 0).sum(axis=1)

    def at(self, t: int) -> IntArray:
        """Return the requests that may start in layer t."""
        chosen: IntArray = self.order[self.direction.excess[self.order, t] <= self.limit]
        return chosen

    def bits(
        self, chosen: IntArray, t: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], IntArray, IntArray]:
        """Return, of some requests that start in layer t, what the kernels ask.

        Returns
        -------
        bits, zero for requests that are not critical; those of their twins, which must have
        started; what the critical ones are due; and rho.
        """
        own = self._words[t, chosen]
        due = np.where(own > 0, self.due[chosen, t], 0)
        return own, self._words[t, self.twins[chosen]], due, self.direction.excess[chosen, t]

    def step(self, t: int) -> Step:
        """Return the costs of the step from layer t to t + 1."""
        direction = self.direction
        return Step(
            *(direction.pay[t + 1], direction.tail[t + 1], self._due[t], self._after[t]),
            *(self._sets[t], int(direction.slack[t + 1]), self.limit),
            *(self._sets[t] & self._sets[t - 1] if t else NONE, int(self._later[t])),
        )

    def all_started(self, mask: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return whether all critical requests have started, for each label of the last layer."""
        last = self._sets[self.direction.end - 1]
        started: NDArray[np.bool_] = mask & last == last
        return started


def _bits(first: IntArray, last: IntArray, known: NDArray[np.bool_]) -> IntArray:
    """Return a bit for each request, which no other has from its first layer to its last."""
    bits, free_from = np.zeros(len(first), np.int64), np.full(MOST_REQUESTS, -1)
    for i in sorted(np.flatnonzero(known).tolist(), key=first.item):
        bits[i] = np.argmin(free_from)
        if free_from[bits[i]] >= first[i]:
            raise OverflowError(f"more than {MOST_REQUESTS} requests may start around one layer")
        free_from[bits[i]] = last[i]
    return bits


def twins(instance: Instance, critical: int, forward: bool) -> list[int]:
    """Return, of each request, the equal critical request that must start before it, or -1."""
    kinds, found = list(instance.requests), [-1] * len(instance)
    last: dict[tuple[int, int, int], int] = {}
    for i in range(len(instance)) if forward else range(len(instance) - 1, -1, -1):
        if critical >> i & 1:
            found[i] = last.get(kinds[i], -1)
            last[kinds[i]] = i
    return found
