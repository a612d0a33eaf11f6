"""Tables in Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Headings = Mapping[Any, Any] | Iterable[Any]
"""Headings with what they stand for; a heading without stands for itself."""


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; floats with three significant digits, numbers to the right.

    >>> print(markdown(("policy", "ratio"), [("a-min", 1.23456), ("a|b", 1234)]))
    | policy | ratio |
    |---|---:|
    | a-min | 1.23 |
    | a\\|b | 1,234 |
    """
    rows = [list(row) for row in rows]
    numeric = [
        bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        for i in range(len(header))
    ]
    lines = [header, *([_shown(value) for value in row] for row in rows)]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    rule = "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])


def grid(
    corner: str | Sequence[str],
    rows: Headings,
    columns: Headings,
    cell: Callable[[Any, Any], Any],
) -> str:
    """Return a Markdown table with a cell for each row and column.

    A heading of rows is a tuple where the corner has several parts. If headings are a mapping,
    `cell` is called with its values.

    >>> print(grid("x", [1, 2], {"square": 2, "cube": 3}, lambda x, power: x**power))
    | x | square | cube |
    |---:|---:|---:|
    | 1 | 1 | 1 |
    | 2 | 4 | 8 |
    """
    rows, columns = _by_heading(rows), _by_heading(columns)
    lines = [
        (*_parts(heading), *(cell(row, column) for column in columns.values()))
        for heading, row in rows.items()
    ]
    return markdown((*_parts(corner), *columns), lines)


def _by_heading(headings: Headings) -> Mapping[Any, Any]:
    return headings if isinstance(headings, Mapping) else {heading: heading for heading in headings}


def _parts(heading: Any) -> Sequence[Any]:
    return heading if isinstance(heading, tuple) else (heading,)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).replace("|", "\\|").replace("\n", " ")
