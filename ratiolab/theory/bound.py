"""A bound of the catalogue: a formula in l, u and s with its source and its scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from sympy import Expr

Domain: TypeAlias = Literal["any interval", "prompt 0", "lower 1, prompt 0", "constant"]


@dataclass(frozen=True)
class Bound:
    """A named formula in l, u, s (``lower``, ``upper``, ``prompt``); alpha = l/u.

    ``domain`` says for which arguments it is stated by its source or derived here; outside it
    there is no value. ``assumptions`` states the bounded quantity and what is proved about it.
    """

    name: str
    formula: str
    source: str
    assumptions: str
    expression: Callable[[int, int, int], Expr | Fraction | int] = field(repr=False, compare=False)
    domain: Domain = "any interval"
