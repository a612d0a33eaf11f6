"""The page of finite games: values, the interval's width, and what optimal policies do."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.game.deterministic import deterministic_value
from ratiolab.game.rules import Game
from ratiolab.game.table import Row
from ratiolab.game.tree import tree
from ratiolab.model.files import write_text
from ratiolab.theory.bounds import evaluate

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart

HEAD = """# Finite games

How good can any policy be that knows an interval of the outputs and nothing else? n requests with
prompt s arrive at round 0, the memory is M, outputs lie in l..u. A policy decides in every round
which requests run; one that stops loses its tokens. An adversary decides the outputs while the
policy runs. The value is the ratio to the optimum that the best policy guarantees: no policy
without randomness has a smaller constant, and no policy at all is below the value *with
randomness*, where the adversary draws the outputs first and the ratio is of expected latency.

All values are exact fractions. Both sides of each are found by dynamic programs over everything
that can be known, and `ratiolab game --certificate FILE` writes them for a checker of its own,
`ratiolab game --check FILE`. `ratiolab games` computes [the table]({table}) and writes this page.
Proofs of some of them, of the values of 8 and 10 requests with randomness too, stand in
[games](games).
"""

INTERVAL = """## Narrower intervals

The value over alpha = l/u, at fixed n and u, without prompts and with memory for one request of u
tokens, beside formulas for n and M to infinity: the upper bound on A_max, the exact maximum for
A_min on two lengths, and that for A_ell (Chen, Ye, Zhou 2025, Theorems 1, 6 and 7, all against
batches), and the constant of volume-restart on the same range, which is against the true optimum.
They bound policies, from above and for many requests; the games bound every policy, from below and
for few. In the table an interval is left out when its value is that of the next wider one.

![values over alpha]({figure})
"""

TREE = """## What an optimal policy does

Lines are rounds in which somebody decides; a star marks the answers of the adversary that attain
the value. *known > b* says that an output exceeds b, from the time the request ran before.
"""

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
    lines = [HEAD.format(table=table)]
    curves = _curves(rows)
    inside = {row.game for _, own in curves for row in own}
    lines += ["## Values", "", *_table([row for row in rows if row.game not in inside]), ""]
    lines += [INTERVAL.format(figure=figure)]
    for _, own in curves:
        kept = [
            row
            for row, before in zip(own, [None, *own[:-1]], strict=True)
            if before is None or row[2:] != before[2:]
        ]
        lines += [*_table(kept), ""]
    lines.append(TREE)
    for game in TREES:
        found = deterministic_value(game)
        lines += [f"{game}: {found.value}.", "", "```", *tree(found), "```", ""]
    write_text(page, "\n".join(lines).rstrip("\n") + "\n")


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


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| n | s | M | l | u | configurations | without randomness | | with randomness | |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        game = row.game
        numbers = (game.requests, game.prompt, game.memory, game.lower, game.upper)
        cells = [*map(str, numbers), f"{row.configurations:,}", *_value(row.deterministic)]
        if row.least is None or row.most is None:
            cells += ["", ""]
        elif row.least == row.most:
            cells += _value(row.least)
        else:
            cells += ["", f"{float(row.least):.6f} to {float(row.most):.6f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


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
