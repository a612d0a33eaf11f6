"""The page of ranges: the best constant without knowledge of the lengths, from both ends."""

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.game.ranges.finite_range import Enclosure
from ratiolab.report import templating
from ratiolab.report.templating import filled
from ratiolab.theory.limits.volume_restart import best

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart

FROM = 16
"""Least R of the rows that are fitted."""


def write_page(rows: Sequence[Enclosure], page: Path, table: str, figure: str) -> None:
    """Write the page."""
    ranges = [
        (
            f"{row.ratio:,.4g}" if row.ratio < 1000 else f"{row.ratio:,.0f}",
            f"{row.lower:.4f}",
            f"{row.upper:.4f}",
            f"{row.gap:.2%}",
            f"{row.never_kill:,.4f}",
        )
        for row in rows
    ]
    limit, gap = float(best()[1]), max(row.gap for row in rows)
    slots = {"limit": limit, "gap": gap, "table": table, "figure": figure, "ranges": ranges}
    slots["trend"] = None
    if (fitted := trend(rows)) is not None:
        c, d, error = fitted
        digits = ((c / (0.01 * limit)) ** 0.5 - d) / log(10)
        slots["trend"] = {"first": FROM, "c": c, "d": d, "error": error, "digits": digits}
    templating.write_page(page, filled("ranges.md", slots))


def trend(rows: Sequence[Enclosure]) -> tuple[float, float, float] | None:
    """Return c, d and the largest relative error of V - c/(ln R + d)^2 from the rows' middles.

    A fit to the rows from R = 16 on, a straight line for the root of 1/(V - V(R)); None for less
    than four.
    """
    limit = float(best()[1])
    wide = [row for row in rows if row.ratio >= FROM]
    if len(wide) < 4:
        return None
    level = np.log([row.ratio for row in wide])
    middle = np.array([(row.lower + row.upper) / 2 for row in wide])
    slope, start = np.polyfit(level, (limit - middle) ** -0.5, 1)
    found = limit - 1 / (slope * level + start) ** 2
    error = float(np.abs(found / middle - 1).max())
    return float(slope**-2), float(start / slope), error


def picture(rows: Sequence[Enclosure]) -> "Chart":
    """Draw both ends over R, beside the limit and the constant of never killing."""
    from ratiolab.report.plots.canvas import BLUE, ORANGE
    from ratiolab.report.plots.curves import FAINT, OTHER, THIRD, Curve, Panel, chart

    limit, fitted = float(best()[1]), trend(rows)
    x = [row.ratio for row in rows]
    fine = np.geomspace(1, x[-1], 200)
    never = (1 + np.sqrt(fine)) / 2
    inside = never <= 3.0
    look = {"color": BLUE, "marker": "o", "ms": 3, "lw": 1.2}
    curves = [
        Curve("at most: a policy", x, [row.upper for row in rows], look),
        Curve("at least: a distribution", x, [row.lower for row in rows], look | {"color": ORANGE}),
        Curve("never to kill", fine[inside].tolist(), never[inside].tolist(), FAINT),
        Curve("limit, 2.728", [x[0], x[-1]], [limit, limit], OTHER | {"ls": "--"}),
    ]
    if fitted is not None:
        c, d, _ = fitted
        wide = np.geomspace(FROM, x[-1], 100)
        values = limit - c / (np.log(wide) + d) ** 2
        curves.append(Curve("a fit", wide.tolist(), values.tolist(), THIRD | {"ls": ":"}))
    title = "The best constant without knowledge"
    axes = "$R$, largest volume / least", "$V(R)$, cost / OPT"
    panel = Panel(title, *axes, curves, log_x=True, y_range=(1.0, 3.0))
    return chart([panel], height=4.4)
