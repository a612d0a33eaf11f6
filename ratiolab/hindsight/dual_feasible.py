"""Dual feasible functions: sizes that see when things of one memory do not fit together.

A function f of the tokens 0..M is *dual feasible* with cap F when it never falls and

    m_1 + ... + m_k <= M   implies   f(m_1) + ... + f(m_k) <= F.

The contents of a memory at any time then have at most F in all after f, so a bound that counts
tokens holds for their images under f, too. Tokens themselves, with cap M, are one such function.
Others see that two requests of more than M / 2 tokens each take two memories.

A smaller memory m <= M has a smaller cap. Each function here is superadditive: f(x) + f(y) <=
f(x + y) where x + y <= M. Hence sizes of sum at most m have at most f(m) in all after f, and F is
f(M).

- ``rounding-k``: k x where (k + 1) x / M is an integer, else M times the integer below that
  quotient; cap k M. Proof: with y = (k + 1) x / M, at most k + 1, f is M times g, where g(y) is
  k y / (k + 1) for integers and the floor of y elsewhere. The function g never falls, since j - 1
  <= k j / (k + 1) <= j for j <= k + 1. Let y + z <= k + 1. If both are integers, g adds up. If y
  alone is one, the floor of y + z is y plus the floor of z. If neither is one, the two floors sum
  to the floor of y + z at most, and to y + z - 1 <= g(y + z) where y + z is an integer.
- ``threshold-e``, with e <= M / 2: 0 below e tokens, M above M - e, and x between; cap M. Proof: if
  one of x and y counts nothing, f does not fall from the other one to x + y. Otherwise both are at
  least e, so at most M - e, and f(x) + f(y) = x + y <= f(x + y).

Source: Fekete, Schepers (2001), New classes of fast lower bounds for bin packing problems,
Math. Programming 91.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import shown

ROUNDINGS = (1, 2, 3, 4, 5)
"""Parameters k of the functions that are tried."""

PARTS = ((1, 2), (2, 5), (1, 3), (1, 4), (1, 5))
"""Thresholds that are tried, as parts of the memory."""


@dataclass(frozen=True)
class DualFeasible:
    """A dual feasible function of the tokens 1..M.

    Parameters
    ----------
    name : identity, ``rounding-k`` or ``threshold-e``.
    cap : the most that things which fit one memory have in all.
    pieces : (first, last, constant, slope): constant + slope x for first <= x <= last; 0 elsewhere.
    """

    name: str
    cap: int
    pieces: tuple[tuple[int, int, int, int], ...]

    def __call__(self, tokens: int) -> int:
        """Return the value at a number of tokens."""
        return sum(c + d * tokens for first, last, c, d in self.pieces if first <= tokens <= last)

    def sums(self, prompt: IntArray, output: IntArray) -> tuple[list[int], list[int]]:
        """Return for each request the sum of f(s + g) over ages g = 1..o, and that of g f(s + g).

        Cost O(n) for each piece.
        """
        most = int((prompt + output).max())
        # all sums below are at most cap * most^2; beyond 64 bits they are Python integers
        kind: Any = np.int64 if 4 * self.cap * most**2 < 2**62 else object
        s, end = prompt.astype(kind), (prompt + output).astype(kind)
        sizes, moments = s * 0, s * 0
        for first, last, c, d in self.pieces:
            low, high = np.maximum(s + 1, first), np.minimum(end, last)
            high = np.maximum(high, low - 1)  # an empty range
            count = high - low + 1
            total = (low + high) * count // 2
            squares = _squares(high) - _squares(low - 1)
            size = c * count + d * total
            sizes, moments = sizes + size, moments + c * total + d * squares - s * size
        return sizes.tolist(), moments.tolist()


def _squares(last: Any) -> Any:
    """Return the sum of the squares of 1 to `last`."""
    return last * (last + 1) * (2 * last + 1) // 6


def dual_feasible(name: str, memory: int) -> DualFeasible:
    """Return the function of this name for a memory; `ValueError` for an unknown name.

    >>> half = dual_feasible("rounding-1", 10)
    >>> [half(x) for x in (4, 5, 6)], half.cap
    ([0, 5, 10], 10)
    """
    if name == "identity":
        return DualFeasible(name, memory, ((1, memory, 0, 1),))
    kind, _, word = name.partition("-")
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 12 else 0
    if kind == "rounding" and 1 <= number <= max(ROUNDINGS):
        return DualFeasible(name, number * memory, tuple(_steps(number, memory)))
    if kind == "threshold" and 1 <= number <= memory // 2:
        pieces = ((number, memory - number, 0, 1), (memory - number + 1, memory, memory, 0))
        return DualFeasible(name, memory, pieces)
    raise ValueError(f"function {shown(name)} is none for memory {memory}")


def _steps(k: int, memory: int) -> list[tuple[int, int, int, int]]:
    pieces = []
    for j in range(k + 2):
        edge, rest = divmod(j * memory, k + 1)
        if not rest and j:
            pieces.append((edge, edge, k * edge, 0))
        following = -(-(j + 1) * memory // (k + 1))
        if 1 <= j <= k and edge + 1 < following:
            pieces.append((edge + 1, following - 1, j * memory, 0))
    return pieces


def names(memory: int) -> list[str]:
    """Return the names of the functions that are tried for a memory, the identity first.

    >>> names(4)
    ['identity', 'rounding-1', 'rounding-2', 'rounding-3', 'rounding-4', 'rounding-5', \
'threshold-2', 'threshold-1']
    """
    thresholds = dict.fromkeys(a * memory // b for a, b in PARTS)
    return [
        "identity",
        *(f"rounding-{k}" for k in ROUNDINGS),
        *(f"threshold-{e}" for e in thresholds if e >= 1),
    ]
