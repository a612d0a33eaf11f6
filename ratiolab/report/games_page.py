"""The page of finite games: values, the interval's width, and what optimal policies do."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratiolab.game.deterministic import deterministic_value
from ratiolab.game.rules import Game
from ratiolab.game.table import Row
from ratiolab.game.tree import tree
from ratiolab.report import templating
from ratiolab.report.templating import filled
from ratiolab.theory.bounds import evaluate

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart

TREES = (Game(2, 1, 5, 1, 4), Game(3, 0, 3, 1, 3))

FORMULAS = {
    "Theorem 1 of Chen et al., A_max": "chen2025/theorem-1",
    "Theorem 6, A_min": "chen2025/theorem-6",
    "Theorem 7, A_ell": "chen2025/theorem-7",
    "volume-restart": "volume-restart/finite-range",
}


ALPHAS = [Fraction(k, 40) for k in range(1, 40)]
"""Where formulas are drawn."""

FINE = 40 * 1000
"""Largest output there."""


def write_page(rows: Sequence[Row], page: Path, table: str, figure: str) -> None:
    """Write the page."""
    curves = _curves(rows)
    inside = {row.game for _, own in curves for row in own}
    intervals = [
        [
            _cells(row)
            for row, before in zip(own, [None, *own[:-1]], strict=True)
            if before is None or row[2:] != before[2:]
        ]
        for _, own in curves
    ]
    solved = [(game, deterministic_value(game)) for game in TREES]
    slots: dict[str, Any] = {
        "table": table,
        "figure": figure,
        "values": [_cells(row) for row in rows if row.game not in inside],
        "intervals": intervals,
        "trees": [(game, found.value, tree(found)) for game, found in solved],
    }
    templating.write_page(page, filled("games.md", slots))


def _curves(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return the games without prompt that have every least output, by requests."""
    own: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        game = row.game
        if game.prompt == 0 and game.memory == game.upper:
            own.setdefault((game.requests, game.upper), []).append(row)
    return [
        (f"n = {n}, u = {upper}", sorted(found, key=lambda row: row.alpha))
        for (n, upper), found in sorted(own.items())
        if len({row.game.lower for row in found}) == upper
    ]


def _cells(row: Row) -> list[str]:
    game = row.game
    numbers = (game.requests, game.prompt, game.memory, game.lower, game.upper)
    cells = [*map(str, numbers), f"{row.configurations:,}", *_value(row.deterministic)]
    if row.least is None or row.most is None:
        return [*cells, "", ""]
    if row.least == row.most:
        return cells + _value(row.least)
    return [*cells, "", f"{float(row.least):.6f} to {float(row.most):.6f}"]


def _value(value: Fraction) -> list[str]:
    return [str(value), f"{float(value):.6f}"]


def picture(rows: Sequence[Row]) -> "Chart":
    """Draw the values over alpha beside the formulas."""
    from ratiolab.report.plots.canvas import BLUE, GREEN, ORANGE, PINK
    from ratiolab.report.plots.curves import FAINT, PRINTED, THIRD, Curve, Panel, chart

    colours = [BLUE, GREEN, ORANGE, PINK]
    looks = [PRINTED, FAINT, FAINT | {"ls": "-."}, THIRD | {"ls": ":"}]
    formulas = [
        Curve(label, list(map(float, ALPHAS)), [_formula(name, alpha) for alpha in ALPHAS], look)
        for (label, name), look in zip(FORMULAS.items(), looks, strict=True)
    ]
    panels = []
    for title, randomised in (("Without randomness", False), ("With randomness", True)):
        drawn = []
        for colour, (label, own) in zip(colours, _curves(rows), strict=False):
            values = [
                (float(row.alpha), float(value))
                for row in own
                if (value := row.least if randomised else row.deterministic) is not None
            ]
            look = {"color": colour, "marker": "o", "ms": 3, "lw": 1.2}
            drawn.append(Curve(label, [x for x, _ in values], [y for _, y in values], look))
        panels.append(
            Panel(title, r"$\alpha = \ell/u$", "ratio", [*drawn, *formulas], y_range=(1.0, 2.6))
        )
    return chart(panels, height=6.2)


def _formula(name: str, alpha: Fraction) -> float:
    whole = FINE // alpha.denominator  # lengths so long that tokens do not show
    return float(evaluate(name, alpha.numerator * whole, alpha.denominator * whole, 0).value)
