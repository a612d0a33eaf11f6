"""The page of ranges: the best constant without knowledge of the lengths, from both ends."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.model.files import write_text
from ratiolab.report.templating import filled
from ratiolab.theory.limits.finite_range import Enclosure
from ratiolab.theory.limits.volume_restart import best

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart


def write_page(rows: Sequence[Enclosure], page: Path, table: str, figure: str) -> None:
    """Write the page."""
    ranges = [
        (
            *(f"{row.ratio:,.4g}", f"{row.lower:.4f}", f"{row.upper:.4f}", f"{row.gap:.2%}"),
            f"{row.never_kill:.4f}",
        )
        for row in rows
    ]
    limit, gap = float(best()[1]), max(row.gap for row in rows)
    slots = {"limit": limit, "gap": gap, "table": table, "figure": figure, "ranges": ranges}
    write_text(page, filled("ranges.md", slots))


def picture(rows: Sequence[Enclosure]) -> "Chart":
    """Draw both ends over R, beside the limit and the constant of never killing."""
    from ratiolab.report.plots.canvas import BLUE, ORANGE
    from ratiolab.report.plots.curves import FAINT, OTHER, Curve, Panel, chart

    limit = float(best()[1])
    x = [row.ratio for row in rows]
    fine = np.geomspace(1, x[-1], 200)
    never = (1 + np.sqrt(fine)) / 2
    inside = never <= 3.0
    look = {"color": BLUE, "marker": "o", "ms": 3, "lw": 1.2}
    curves = [
        Curve("at most: a policy", x, [row.upper for row in rows], look),
        Curve("at least: a law", x, [row.lower for row in rows], look | {"color": ORANGE}),
        Curve("never to kill", fine[inside].tolist(), never[inside].tolist(), FAINT),
        Curve("limit, 2.728", [x[0], x[-1]], [limit, limit], OTHER | {"ls": "--"}),
    ]
    title = "The best constant without knowledge"
    panel = Panel(title, "R", "ratio", curves, log_x=True, y_range=(1.0, 3.0))
    return chart([panel], height=4.4)
