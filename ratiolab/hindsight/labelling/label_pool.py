"""Labels of a layer while they are made: they are compared, left out, or merged.

The ancestry of the labels says how each came from another, and what dominated it. A layer makes its
starts one by one. Completion bounds follow backward: a label under extension ends as a label of the
next layer, or goes on to those with one more start; and a dominated label inherits the bound of the
label that dominates it, from then on.

`Extensions` says what may start in each layer, in which order, and at what cost. Labels have a bit
for each critical request: that of its index, if all of these are below 64. Otherwise a bit belongs
to a request from the first layer in which it may start to the last, and then to another. Hence a
sweep has any number of critical requests, as long as no more than 64 may start before and after the
same layer.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.labelling import label_kernels, merging
from ratiolab.hindsight.labelling.label_kernels import Labels, Step
from ratiolab.hindsight.labelling.weights import MOST_REQUESTS, Direction
from ratiolab.machine_code import compiled
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


class Ancestry:
    """The partial labels of one layer, numbered as they came."""

    def __init__(self) -> None:
        self._settled: list[IntArray] = []
        self.number = 0
        self._rows, self._parent = np.zeros((2, 0), np.int32)
        self._events: list[tuple[NDArray[Any], NDArray[Any], bool]] = []

    def begin(self, parent: NDArray[np.int32], settled: IntArray) -> None:
        """Take the first rows, without a start, each made of a label of the layer."""
        self._parent, self.number = parent.copy(), len(parent)
        self._rows = np.arange(len(parent), dtype=np.int32)
        self._settled.append(settled.copy())

    def made(self, origin: NDArray[np.int32], settled: IntArray) -> None:
        """Add the rows that follow those known, each with one more start than its origin."""
        new = np.arange(self.number, self.number + len(origin), dtype=np.int32)
        self._rows = np.concatenate([self._rows, new])
        self._events.append((new, self._rows[origin], True))
        self._settled.append(settled.copy())
        self.number += len(new)

    def replaced(self, rows: IntArray, by: IntArray) -> None:
        """Note that these rows are replaced by others."""
        self._events.append((self._rows[rows], self._rows[by], False))

    def stay(self, rows: IntArray) -> None:
        """Note that only these rows stay, in this order."""
        self._rows = self._rows[rows]

    def least(self, end: IntArray, most: int) -> tuple[NDArray[np.int32], IntArray]:
        """Return the labels of the layer that go on, and the least cost they settle in the end.

        ``end`` is the settled cost of each row that stays; larger costs than ``most`` are that.
        """
        settled, least = np.concatenate(self._settled), np.full(self.number, most)
        least[self._rows] = np.minimum(most, end)
        for ones, others, made in reversed(self._events):
            if made:
                _spread(least, ones, others)
            else:
                least[ones] = np.minimum(most, least[others] + settled[ones] - settled[others])
        return self._parent, least[: len(self._parent)]


@compiled
def _spread(least, ones, others):  # type: ignore[no-untyped-def]
    """Let each know the least of those made of it; some are made of others of these."""
    for k in range(len(ones) - 1, -1, -1):
        if least[ones[k]] < least[others[k]]:
            least[others[k]] = least[ones[k]]


FIRST_CAPACITY = 20_000
"""Labels of a layer for which there is room at first."""


class LabelPool:
    """LabelPool for the labels of a layer, which one layer after another is made in.

    Parameters
    ----------
    limit : B, units.
    constrained : whether the sweep has a critical set.

    Attributes
    ----------
    labels : what has been made; rows name some of them.
    origin : label each has been made from, while starts are made.
    left : least bound of all labels left out, above the limit while there is none.
    partials : takes what happens to each label, where that is recorded.
    most : requests that run together at most.
    words : machine words of their packed tokens.
    full, beside : the memory, as packed tokens, and that beside each pair.
    """

    def __init__(
        self, instance: Instance, direction: Direction, limit: int, constrained: bool
    ) -> None:
        self.instance, self.direction, self.constrained = instance, direction, constrained
        self.most = instance.memory // (int(instance.prompt.min()) + 1)
        self.words = direction.tokens.shape[1]
        full = np.full(8 * self.words, instance.memory, np.uint8)
        self.full = full.view("<u8").astype(np.uint64)
        self.beside = self.full - direction.tokens
        self.left = limit + 1
        self.partials: Ancestry | None = None
        self.labels = self.empty(FIRST_CAPACITY)
        self.origin = np.zeros(FIRST_CAPACITY, np.int32)

    def empty(self, capacity: int) -> Labels:
        """Return ``capacity`` labels without running requests."""
        return Labels.empty(capacity, self.most, self.words, len(self.instance))

    def reserve(self, capacity: int, number: int) -> None:
        """Make room for ``capacity`` labels, and keep the first ``number``."""
        if capacity > len(self.labels.cost):
            larger = self.empty(2 * capacity)
            larger.put(self.labels, number)
            self.labels, self.origin = larger, np.zeros(2 * capacity, np.int32)

    def keep(self, rows: IntArray) -> None:
        """Put these labels first, in place of all."""
        self.labels.put(self.labels.take(rows), len(rows))
        if self.partials is not None:
            self.partials.stay(rows)

    def within(self, number: int, limit: int) -> IntArray:
        """Return the rows of the first ``number`` labels whose bound is at most ``limit``."""
        return np.flatnonzero(self.labels.low[:number] <= limit)

    def fewest(self, rows: IntArray, width: int) -> IntArray:
        """Return the best of these labels, at most ``width``, and leave out the others."""
        if len(rows) <= width:
            return rows
        low = self.labels.low
        order = np.argpartition(low[rows], width)
        self.left = min(self.left, int(low[rows[order[width]]]))
        return np.sort(rows[order[:width]])

    def undominated(self, rows: IntArray, compared: int) -> IntArray:
        """Return the labels that none of ``compared`` others replaces."""
        mask, settled = self.labels.mask, self.labels.settled
        keys = settled[rows]
        if self.constrained:
            slots = np.full(1 << max(4, (2 * len(rows) - 1).bit_length()), -1)
            label_kernels.by_mask(mask, settled, rows, slots, np.empty_like(rows), keys)
        # labels made of others in order, a request after the other, are a few runs in order, and
        # a stable sort merges them: it takes a quarter of the time of other sorts
        rows = rows[np.argsort(keys, kind="stable")]
        by, known = np.full_like(rows, -1), np.zeros((compared, self.words), np.uint64)
        scratch = (
            np.zeros(compared, np.int64),
            np.zeros(compared, np.uint64),
            np.zeros_like(self.full),
        )
        if compared:
            label_kernels.undominated(mask, self.labels.tokens, rows, by, known, *scratch)
        stays = by < 0
        if self.partials is not None:
            self.partials.replaced(rows[~stays], by[~stays])
        kept: IntArray = rows[stays]
        return kept

    def merged(self, rows: IntArray, width: int, t: int, ahead: int) -> IntArray:
        """Merge labels beyond ``width``; tokens begin ``ahead`` times after layer t."""
        labels, direction = self.labels, self.direction
        price = merging.prices(direction.slack[t + ahead :], self.instance.memory, 8 * self.words)
        tokens = labels.tokens.view(np.uint8)
        order, edges = merging.groups(labels.settled, tokens, rows, price, width)
        partial = ahead == 1
        now = partial * direction.pay[t + 1], partial * int(direction.slack[t + 1])
        made: IntArray = merging.merge(labels, order, edges, direction.tail[t + 2], *now)
        return np.sort(made)
