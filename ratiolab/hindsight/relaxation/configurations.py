"""Feasible contents of memory, and weights that no such configuration exceeds.

Items. Seen at time t, an active request is an item (m, r): it holds m = s + age tokens now and
will hold m + k at t + k for k = 0..r, where r = o - age. A multiset of items is *feasible* when
these tokens never exceed M: for every k >= 0, the sum of m_j + k over the items with r_j >= k is at
most M. The memory of a feasible schedule is a feasible multiset at any time.

The test. Between two consecutive values of r the set {j : r_j >= k} does not change and the sum
grows with k, so it suffices to test k = r_j for each item. Sort the items by falling r. The items
with r_i >= r_j are a prefix of c items (through the last item with r = r_j) holding S now, so the
test is S + c r_j <= M for it. For a shorter prefix that ends at an item with equal r the same
test is implied, since S and c are smaller. Hence: a multiset is feasible iff S + c r <= M for
every prefix in falling r, r that of its last item. Items may be appended one by one, and a state
(c, S) says all that matters: the dynamic programs here are exact.

Cuts. Let W(m, r) >= 0 with W(Q) = sum of W over Q at most ``cap`` for every feasible Q. In every
schedule, at every time t, the weights of the active requests sum to at most ``cap``:

    sum over i, p of W(s_i + t - p, o_i - t + p) x_{i,p} <= cap      (t - o_i <= p <= t - 1).

Closure. Let W be given on some items, and let W(m, r) for others be the largest W(m', r') with
m' <= m and r' <= r, or 0. This keeps validity: replacing each item of a feasible multiset by the
item that lends it its weight (or dropping it at 0) lowers the tokens held at every k, so the
result is feasible and its weight, which is unchanged, at most cap. Hence a table is stored as the
items at which it rises, and only multisets of those need to be searched.

Lifting. For an item (m, r) and c >= 1 let b_c be the largest W(Q) over multisets Q for which Q and
c copies of (m, r) are feasible together. Raise W to v = min over c of floor((cap - b_c) / c) at
(m, r) and, by closure, at every item above it that weighs less. A feasible multiset with c raised
items weighs what c copies of (m, r) and the rest Q of it weigh, at most c v + b_c <= cap.

Grids. Let the memory be large, and G >= 1 small. Scale by f(x) = floor((G + 1) x / (M + 1)): items
(m, r) become (f(m), f(r)), and those with f(m) = 0 are left out. Every multiset that is feasible in
a memory of M tokens has an image that is feasible in one of G. Proof. In falling r, f(r) falls,
too. Take a prefix of c items, S tokens now, that ends with the last of all items of one f(r). Then
S + c r <= M, and as floors of sums are at least sums of floors,

    sum of f(m) + c f(r) <= floor((G + 1) (S + c r) / (M + 1)) <= floor((G + 1) M / (M + 1)) <= G.

Prefixes of fewer items with this f(r) are implied. Hence tables of a memory of G tokens give cuts
for one of M: an item weighs what its image weighs. If k + 1 divides G + 1, more than M / (k + 1)
tokens are more than G / (k + 1) on the grid.

Source: sequential lifting as in Padberg (1975), A note on zero-one programming, Oper. Res. 23,
carried over from knapsacks to configurations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.relaxation.configuration_kernels import (
    NEVER,
    heaviest_into,
    raise_weights,
    separating_weights,
)
from ratiolab.model import Instance, IntArray, held

FloatArray = NDArray[np.float64]

SCALE = 5040
"""Weights of a separated row are first rounded to multiples of 1 / SCALE, most are such."""

LARGEST = 2**53
"""Sums of integer weights stay below it, as they are added in floating point."""

LEAST_VIOLATION = 0.02
"""A row is added when it is violated by this part of its cap."""

MOST_PIVOTS = 2000
"""Pivots after which the separation of one time gives up."""

ENOUGH = 0.6
"""A row is good enough when its violation is this part of the most possible."""


def real_items(instance: Instance) -> IntArray:
    """Return the items that requests of an instance can ever be, shape (items, 2).

    >>> real_items(Instance("one", 9, [0], [2], [3])).tolist()
    [[3, 2], [4, 1], [5, 0]]
    """
    pairs = sorted({(s, o) for _, s, o in instance.requests})
    found = {(held(s, age), o - age) for s, o in pairs for age in range(1, o + 1)}
    return np.array(sorted(found, key=lambda item: (-item[1], item[0])), np.int64)


def heaviest(
    items: Sequence[tuple[int, int]], weights: Sequence[int], memory: int
) -> tuple[int, list[int]]:
    """Return the largest weight of a feasible multiset of items, and the count of each.

    >>> heaviest([(2, 2), (2, 0)], [3, 2], memory=8)
    (10, [2, 2])
    """
    order = sorted(range(len(items)), key=lambda i: -items[i][1])
    m, r = np.array([items[i] for i in order], np.int64).T.copy()
    value, counts = _heaviest(m, r, np.array([weights[i] for i in order], np.int64), memory)
    found = [0] * len(items)
    for i, count in zip(order, counts.tolist(), strict=True):
        found[i] = count
    return value, found


def _heaviest(
    m: IntArray, r: IntArray, weights: IntArray, memory: int, most: int | None = None
) -> tuple[int, IntArray]:
    """Return the largest weight, and the count of each item, of items in falling r."""
    scratch = _scratch(m, memory, most)
    value = heaviest_into(m, r, weights.astype(float), memory, *scratch)
    assert value < LARGEST, "integers that large are not exact"
    return int(value), scratch[-1]


def _most(m: IntArray, memory: int, most: int | None) -> int:
    """Return how many items a configuration may have."""
    fits = memory // int(m.min())
    return fits if most is None else min(most, fits)


def _scratch(
    m: IntArray, memory: int, most: int | None
) -> tuple[FloatArray, NDArray[np.bool_], IntArray]:
    """Return the arrays that `heaviest_into` writes to; counts come last."""
    size = _most(m, memory, most) + 1, memory + 1
    return np.zeros(size), np.zeros((len(m), *size), np.bool_), np.zeros(len(m), np.int64)


def minimal(table: IntArray) -> tuple[IntArray, IntArray]:
    """Return items that weigh more than both their lesser neighbours, r falling.

    >>> [column.tolist() for column in minimal(np.array([[0, 0, 0], [0, 0, 2], [3, 3, 3]]))]
    [[2], [0]]
    """
    memory, rises = len(table) - 1, table > 0
    rises[1:] = table[1:] > table[:-1]
    rises[:, 1:] &= table[:, 1:] > table[:, :-1]
    rounds, tokens = np.nonzero(rises.T[::-1])
    rounds = memory - rounds
    fits = (tokens > 0) & (tokens + rounds <= memory)
    return tokens[fits], rounds[fits]


def cap_within(table: Table, memory: int) -> int:
    """Return the largest weight under a table of what fits a smaller memory.

    Requests weigh what some item below them weighs, and these items fit where the requests do.

    >>> cap_within(Table(2, ((3, 1, 1),)), 8), cap_within(Table(2, ((3, 1, 1),)), 7)
    (2, 1)
    """
    items = [item for item in table.items if item[0] + item[1] <= memory]
    if not items:
        return 0
    most, _ = heaviest([item[:2] for item in items], [item[2] for item in items], memory)
    return most


@dataclass
class Separator:
    """Separation of rows that cut off what a fractional schedule has in memory at one time.

    Parameters
    ----------
    memory : tokens.
    items : items at which weights are raised, shape (items, 2).
    most : items of a configuration at most; by default as many as fit.
    """

    memory: int
    items: IntArray
    most: int | None = None

    def __post_init__(self) -> None:
        order = np.argsort(-(2 * self.items[:, 0] + self.items[:, 1]), kind="stable")
        self.lifted = self.items[order]

    def __call__(self, m: IntArray, r: IntArray, amount: FloatArray) -> Table | None:
        """Return the most violated row for these amounts of items, lifted, if there is one.

        Rows are found by generating configurations: a small program maximises the weight of the
        amounts under the configurations known, the dynamic program finds the heaviest one
        under those weights, until it weighs at most 1.
        """
        key = m * (self.memory + 1) + r
        distinct, group = np.unique(key, return_inverse=True)
        amounts: FloatArray = np.bincount(group, amount).astype(float)
        m, r = distinct // (self.memory + 1), distinct % (self.memory + 1)
        order = np.argsort(-r, kind="stable")
        m, r, amounts = m[order], r[order], amounts[order]
        weights = self._weights(m, r, amounts)
        if weights is None:
            return None
        table = np.zeros((self.memory + 1, self.memory + 1), np.int64)
        for tokens, rounds, weight in zip(m, r, np.rint(weights * SCALE), strict=True):
            np.maximum(table[tokens:, rounds:], int(weight), out=table[tokens:, rounds:])
        known_m, known_r = minimal(table)
        known = table[known_m, known_r]
        cap, _ = _heaviest(known_m, known_r, known, self.memory, self.most)
        first = np.argsort(-amounts, kind="stable")
        lift = np.concatenate([np.column_stack([m, r])[first], self.lifted])
        columns = lift[:, 0].copy(), lift[:, 1].copy()
        raise_weights(table, cap, *columns, known_m, known_r, *self._levels(columns, known_r))
        return _packed(table, cap)

    def _levels(self, lift: tuple[IntArray, IntArray], known: IntArray) -> tuple[IntArray, ...]:
        """Return the arrays that `raise_weights` writes to."""
        top = int(max(lift[1].max(), known.max()))
        most = _most(lift[0], self.memory, self.most)
        levels = np.zeros((2, top + 1, self.memory + 1), np.int64)
        before = np.full((top + 2, most + 2, self.memory + 1), NEVER)
        before[:, 0, 0] = 0
        return levels, np.zeros(top + 1, np.int64), before, np.zeros_like(before)

    def _weights(self, m: IntArray, r: IntArray, amounts: FloatArray) -> FloatArray | None:
        # a slight preference for large items among equally good rows
        gain = amounts + 1e-6 * (m + r) / (self.memory * len(m))
        size, numbers = len(m), (self.memory, LEAST_VIOLATION, ENOUGH, MOST_PIVOTS)
        inverse, vectors = np.zeros((size, size)), tuple(np.zeros((5, size)))
        scratch = inverse, vectors, _scratch(m, self.memory, self.most)
        return vectors[0] if separating_weights(m, r, gain, *numbers, *scratch) else None


def _packed(table: IntArray, cap: int) -> Table:
    m, r = minimal(table)
    divisor = int(np.gcd.reduce(table[m, r]))
    weights = (table[m, r] // divisor).tolist()
    return Table(cap // divisor, tuple(zip(m.tolist(), r.tolist(), weights, strict=True)))
