"""Named formulas: what the papers state, and what the same models give exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ratiolab.model.display import Tabular
from ratiolab.model.names import unknown
from ratiolab.model.numbers import require_integer
from ratiolab.theory import bound_catalogue, own_bounds
from ratiolab.theory.bound import Bound
from ratiolab.theory.laws.distributions import check_range

if TYPE_CHECKING:
    import pandas as pd

#: Longest exact expression, in characters, that is given as text.
EXACT_CHARACTERS = 200

#: The bounds by name: those of the papers, then our own.
BOUNDS: Mapping[str, Bound] = MappingProxyType(
    {bound.name: bound for bound in (*bound_catalogue.ENTRIES, *own_bounds.ENTRIES)}
)


@dataclass(frozen=True)
class BoundValue(Tabular):
    """A `Bound` at given arguments; ``exact`` is None without a short closed form."""

    name: str
    value: float
    exact: str | None
    source: str
    assumptions: str

    @property
    def headline(self) -> str:
        """Name and value."""
        exact = "" if self.exact is None else f" = {self.exact}"
        return f"{self.name}{exact}: {self.value:.6g}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data."""
        return asdict(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])


def evaluate(
    name: str, lower: int | None = None, upper: int | None = None, prompt: int = 0
) -> BoundValue:
    """Return the value of a named bound.

    Parameters
    ----------
    name : key that `ratiolab bound` lists.
    lower, upper : prediction interval, tokens; constants do not need them.
    prompt : length of all prompts, tokens.

    Raises
    ------
    ValueError
        if the name is unknown, or an argument is missing, invalid, or outside the bound's domain.

    >>> from ratiolab import bound
    >>> bound("chen2025/theorem-7", 1, 4).exact
    '7/6'
    """
    import sympy

    if name not in BOUNDS:
        raise ValueError(unknown("bound", name, BOUNDS, "`ratiolab bound`"))
    bound = BOUNDS[name]
    if bound.domain == "constant":
        lower, upper, prompt = 1, 1, 0
    if lower is None or upper is None:
        raise ValueError(f"bound {name}: lower and upper are needed")
    for argument, given in (("lower", lower), ("upper", upper), ("prompt", prompt)):
        require_integer(f"bound {name}: {argument}", given)
    check_range(lower, upper, prompt)
    if ("prompt 0" in bound.domain and prompt) or ("lower 1" in bound.domain and lower != 1):
        words = f"lower {lower}, prompt {prompt}"
        raise ValueError(f"bound {name}: {words} is outside its domain, {bound.domain}")
    expression = sympy.sympify(bound.expression(lower, upper, prompt))
    text = str(expression)
    closed = not expression.has(sympy.Float) and len(text) <= EXACT_CHARACTERS
    value = float(expression)
    return BoundValue(name, value, text if closed else None, bound.source, bound.assumptions)
