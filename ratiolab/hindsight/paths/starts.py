"""What may start in each layer of a walk, in which order, and at what cost.

Bits. States have a bit for each remembered request: that of its index, if all of these are below
64. Otherwise a bit belongs to a request from the first layer in which it may start to the last,
and then to another. Who may start no more has started, or the state is left out; who may not yet,
has not. So a walk remembers any number of requests, as long as no more than 64 may start before
and after the same layer.
"""

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.paths.kernels import Step
from ratiolab.hindsight.paths.potentials import MOST_REQUESTS, NEVER, Direction
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

ONE, NONE = np.uint64(1), np.uint64(0)


class Starts:
    """Starts of a walk in one direction that remembers a set of requests.

    Attributes
    ----------
    order : requests in the order in which a layer starts them.
    twins : of each request, the remembered equal one that must start before it, or -1.
    due : least cost of the starts of each request from each layer on, shape (n, END + 1).

    Raises
    ------
    OverflowError
        when more requests than there are bits may start before and after the same layer.
    """

    def __init__(
        self, instance: Instance, direction: Direction, limit: int, remembered: int
    ) -> None:
        self.direction, self.limit, self.remembered = direction, limit, remembered
        n, sign = len(instance), 1 if direction.forward else -1
        output = instance.output.tolist()
        self.order = sorted(range(n), key=lambda i: (output[i], sign * i))
        self.twins = twins(instance, remembered, direction.forward)
        least = np.minimum.accumulate(direction.excess[:, ::-1], axis=1)[:, ::-1]
        self.due: IntArray = np.minimum(least, limit + 1)
        self._known = np.array([remembered >> i & 1 for i in range(n)], np.bool_)
        self._bit, self._first = np.arange(n), np.zeros(n, np.int64)
        self._last = np.full(n, direction.end)
        if remembered >= 2**MOST_REQUESTS:
            possible = direction.excess <= limit
            some = possible.any(axis=1)
            self._first[some] = possible[some].argmax(axis=1)
            self._last[some] = direction.end - possible[some, ::-1].argmax(axis=1)
            self._bit = _bits(self._first, self._last, self._known)

    def at(self, t: int) -> list[int]:
        """Return the requests that may start in layer t."""
        return [i for i in self.order if self.direction.excess[i, t] <= self.limit]

    def bits(
        self, chosen: IntArray, t: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], IntArray]:
        """Return, of some requests that start in layer t, their bits and those of their twins.

        Returns
        -------
        bits, zero for those not remembered; of those that must have started; and what the
        remembered ones are due.
        """
        word = np.where(self._open(t), ONE << (self._bit % 64).astype(np.uint64), NONE)
        of_twin = np.append(word, NONE)[self.twins]
        own = word[chosen]
        return own, of_twin[chosen], np.where(own > 0, self.due[chosen, t], 0)

    def step(self, t: int) -> Step:
        """Return the costs of the step from layer t to t + 1."""
        direction = self.direction
        begun = t - direction.age
        excess = np.where(
            begun >= 0, direction.excess[direction.owner, np.maximum(begun, 0)], NEVER
        )
        now, later = self._open(t), self._known & (self._first > t)
        due, after = np.zeros((2, max(len(now), MOST_REQUESTS)), np.int64)
        due[self._bit[now]], after[self._bit[now]] = self.due[now, t], self.due[now, t + 1]
        return Step(
            *(excess, direction.pay[t + 1], direction.tail[t + 1], due, after),
            *(self._set(now), int(direction.slack[t + 1]), self.limit),
            *(self._set(now & self._open(t - 1)), int(self.due[later, t].sum())),
        )

    def all_started(self, mask: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return of which states of the last layer all remembered requests have started."""
        last = self._set(self._open(self.direction.end - 1))
        started: NDArray[np.bool_] = mask & last == last
        return started

    def _open(self, t: int) -> NDArray[np.bool_]:
        """Return which requests have a bit in layer t."""
        return self._known & (self._first <= t) & (t <= self._last)

    def _set(self, requests: NDArray[np.bool_]) -> np.uint64:
        return np.uint64(sum(1 << bit for bit in self._bit[requests].tolist()))


def _bits(first: IntArray, last: IntArray, known: NDArray[np.bool_]) -> IntArray:
    """Return a bit for each request, which no other has from its first layer to its last."""
    bits, free_from = np.zeros(len(first), np.int64), np.full(MOST_REQUESTS, -1)
    for i in sorted(np.flatnonzero(known).tolist(), key=first.item):
        bits[i] = np.argmin(free_from)
        if free_from[bits[i]] >= first[i]:
            raise OverflowError(f"more than {MOST_REQUESTS} requests may start around one layer")
        free_from[bits[i]] = last[i]
    return bits


def twins(instance: Instance, remembered: int, forward: bool) -> list[int]:
    """Return, of each request, the remembered equal one that must start before it, or -1."""
    kinds, found = list(instance.requests), [-1] * len(instance)
    last: dict[tuple[int, int, int], int] = {}
    for i in range(len(instance)) if forward else range(len(instance) - 1, -1, -1):
        if remembered >> i & 1:
            found[i] = last.get(kinds[i], -1)
            last[kinds[i]] = i
    return found
