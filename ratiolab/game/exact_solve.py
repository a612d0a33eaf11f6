"""A matrix game in fractions, on the support that a solution in floats has."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

POSITIVE = 1e-9
TRIES = 200
"""Square supports that are tried at most, when more are tight than needed."""


@dataclass(frozen=True)
class ExactSolution:
    """Shares of the rows (policies) and columns (multisets) of a matrix game, and its value."""

    mixture: list[Fraction]
    shares: list[Fraction]
    value: Fraction


def solve_exactly(
    matrix: Sequence[Sequence[Fraction]], mixture: Any, shares: Any
) -> ExactSolution | None:
    """Return the solution with the support of one in floats; None when that support gives none.

    `matrix` has a row for each policy. On supports of equal size both sides follow from linear
    equations: all used columns have the value, and so have all used rows. The solution is checked
    against every row and column.
    """
    rows = [i for i, x in enumerate(mixture) if x > POSITIVE]
    columns = [k for k, x in enumerate(shares) if x > POSITIVE]
    value = sum(
        float(mixture[i]) * float(matrix[i][k]) * float(shares[k]) for i in rows for k in columns
    )
    size = max(len(rows), len(columns))
    if len(rows) < size:
        spare = [
            i
            for i in range(len(matrix))
            if i not in rows
            and abs(sum(float(matrix[i][k]) * float(shares[k]) for k in columns) - value) < 1e-7
        ]
        options = (rows + list(more) for more in combinations(spare, size - len(rows)))
        supports = ((option, columns) for option in options)
    else:
        spare = [
            k
            for k in range(len(matrix[0]))
            if k not in columns
            and abs(sum(float(matrix[i][k]) * float(mixture[i]) for i in rows) - value) < 1e-7
        ]
        options = (columns + list(more) for more in combinations(spare, size - len(columns)))
        supports = ((rows, option) for option in options)
    for _, (chosen_rows, chosen_columns) in zip(range(TRIES), supports, strict=False):
        found = _on_support(matrix, chosen_rows, chosen_columns)
        if found is not None:
            return found
    return None


def _on_support(
    matrix: Sequence[Sequence[Fraction]], rows: list[int], columns: list[int]
) -> ExactSolution | None:
    square = [[matrix[i][k] for k in columns] for i in rows]
    left = _indifferent([list(column) for column in zip(*square, strict=True)])
    right = _indifferent(square)
    if left is None or right is None or left[1] != right[1]:
        return None
    mixture, shares = [Fraction()] * len(matrix), [Fraction()] * len(matrix[0])
    for i, x in zip(rows, left[0], strict=True):
        mixture[i] = x
    for k, x in zip(columns, right[0], strict=True):
        shares[k] = x
    value = left[1]
    if min(mixture) < 0 or min(shares) < 0:
        return None
    for row in matrix:
        if sum((a * x for a, x in zip(row, shares, strict=True)), Fraction()) < value:
            return None
    for k in range(len(matrix[0])):
        if sum((mixture[i] * matrix[i][k] for i in rows), Fraction()) > value:
            return None
    return ExactSolution(mixture, shares, value)


def _indifferent(square: list[list[Fraction]]) -> tuple[list[Fraction], Fraction] | None:
    """Return x with sum 1 and v such that every row times x is v; None when there is no one x."""
    n = len(square)
    table = [[*row, Fraction(-1), Fraction(0)] for row in square]
    table.append([Fraction(1)] * n + [Fraction(0), Fraction(1)])
    for k in range(n + 1):
        pivot = next((i for i in range(k, n + 1) if table[i][k] != 0), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        head = table[k][k]
        table[k] = [x / head for x in table[k]]
        for i in range(n + 1):
            if i != k and table[i][k] != 0:
                factor = table[i][k]
                table[i] = [x - factor * y for x, y in zip(table[i], table[k], strict=True)]
    return [table[i][-1] for i in range(n)], table[n][-1]
