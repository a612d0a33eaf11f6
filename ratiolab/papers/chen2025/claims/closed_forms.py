"""Chen et al., Section 4.1: the closed forms on the way from the quotient to its trace."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import PROVED, ClaimResult, decided

UPPERS = range(1, 25)

Formula = Callable[[int], Fraction]
"""A number for every u."""


def inverse(upper: int, shift: int = 1) -> list[list[Fraction]]:
    """Return the printed inverse of B, whose entries beside the diagonal are -1/(2 min + shift)."""
    rows = [[Fraction(0)] * upper for _ in range(upper)]
    for i in range(1, upper + 1):
        rows[i - 1][i - 1] = Fraction(4 * i, 4 * i * i - 1) if i < upper else Fraction(1, 2 * i - 1)
        if i < upper:
            rows[i - 1][i] = rows[i][i - 1] = Fraction(-1, 2 * i + shift)
    return rows


def entry(i: int, j: int) -> Fraction:
    """Return a_ij of Corollary 1."""
    least = min(i, j) ** 2
    return Fraction(least, i * j) * (Fraction((i + j) ** 2, 2) - least)


def odd(upper: int) -> Fraction:
    """Return the sum of 1/(2i + 1) over i < u."""
    return sum((Fraction(1, 2 * i + 1) for i in range(1, upper)), Fraction(0))


def diagonal(upper: int) -> Fraction:
    """Return T_1 from its definition, with the exact inverse."""
    found = inverse(upper)
    return sum((found[i][i] * entry(i + 1, i + 1) for i in range(upper)), Fraction(0))


def beside(upper: int) -> Fraction:
    """Return 2 T_2 from its definition."""
    found = inverse(upper)
    return 2 * sum((found[i][i + 1] * entry(i + 1, i + 2) for i in range(upper - 1)), Fraction(0))


def is_inverse(shift: int) -> bool:
    """Return whether the printed matrix times B is the identity, for every u."""
    for upper in UPPERS:
        rows = inverse(upper, shift)
        for i in range(upper):
            for j in range(upper):
                near = range(max(0, i - 1), min(upper, i + 2))
                if sum(rows[i][k] * min(k + 1, j + 1) ** 2 for k in near) != (i == j):
                    return False
    return True


declare = partial(
    PAPER.claim,
    "proof of Theorem 5, pp. 17-18",
    assumes="s = 0, l = 1, as in Corollary 1",
    proof="closed_forms",
)


@declare(claimed=1, control=-1)
def inverse_of_b(shift: int) -> ClaimResult:
    """The inverse of B is tridiagonal, with 4i/(4i^2 - 1) on its diagonal, 1/(2u - 1) at its end,
    and -1/(2 min(i, j) + 1) beside it.
    """
    right = is_inverse(shift)
    return decided(
        right,
        PROVED,
        f"the product with B {'is' if right else 'is not'} the identity for u = 1..{UPPERS[-1]}",
        witness="u = 2",
    )


def check_sum(case: tuple[Formula, Formula]) -> ClaimResult:
    """Compare a closed form with the sum that it stands for."""
    claimed, exact = case
    wrong = [u for u in UPPERS if claimed(u) != exact(u)]
    return decided(
        not wrong,
        PROVED,
        f"the sum is {exact(4)} there; they differ for {len(wrong)} of {len(UPPERS)} values of u",
        witness=f"u = {wrong[0]}" if wrong else None,
    )


CLAIMS = (
    declare(
        name="trace-diagonal",
        claimed=(lambda u: Fraction(u * u + 1, 2) + odd(u) / 2, diagonal),
        control=(lambda u: Fraction(u * u + 1, 2) + odd(u), diagonal),
        statement="T_1(u) = (u^2 + 1)/2 + (1/2) sum_{i<u} 1/(2i + 1).",
    )(check_sum),
    declare(
        name="trace-beside-the-diagonal",
        claimed=(
            lambda u: (
                Fraction(1 - u * u, 2)
                + sum((Fraction(1, i + 1) for i in range(1, u)), Fraction(0))
                - odd(u) / 2
            ),
            beside,
        ),
        control=(lambda u: Fraction(1 - u * u, 2) - odd(u) / 2, beside),
        statement="2 T_2(u) = -(u^2 - 1)/2 + sum_{i<u} 1/(i + 1) - (1/2) sum_{i<u} 1/(2i + 1).",
    )(check_sum),
)
