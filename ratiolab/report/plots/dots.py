"""Pictures of rows: each is named at the left, and holds a point for every label, side by side."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

import numpy as np
from matplotlib.axes import Axes

from ratiolab.report.plots.canvas import in_style
from ratiolab.report.plots.curves import few_decades, plain_log
from ratiolab.report.plots.layout import Look, Words, finish, looks
from ratiolab.report.plots.names import named

if TYPE_CHECKING:
    import pandas as pd


@in_style
def dots(
    table: "pd.DataFrame",
    x: str,
    by: str,
    ax: Axes,
    *,
    look: Mapping[str, Look] | None = None,
    log_x: bool = False,
    left: float | None = None,
    reference: float | None = None,
    **words: Unpack[Words],
) -> None:
    """Draw for each value of x a row with a point and its interval for every label.

    A point is seen wherever it lies, where a bar on a base is lost beside it; names of rows may be
    long. The table has the columns x, `by`, ``mean``, ``low`` and ``high``. A linear axis begins at
    `left`, and a thin line marks the `reference`.
    """
    labels = [str(label) for label in table[by].unique()]
    look = look or looks(labels)
    rows = list(table[x].unique())
    step = 0.8 / len(labels)
    for place in range(1, len(rows), 2):
        ax.axhspan(place - 0.5, place + 0.5, color="0.96", lw=0, zorder=0)
    for number, label in enumerate(labels):
        found = table[table[by].astype(str) == label].set_index(x).reindex(rows)
        places = np.arange(len(rows)) + (number - (len(labels) - 1) / 2) * step
        reach = np.stack([found["mean"] - found["low"], found["high"] - found["mean"]])
        colour, marker = look[label]["color"], look[label]["marker"]
        ax.errorbar(found["mean"], places, xerr=reach, fmt="none", color=colour, lw=1.2)
        ax.plot(found["mean"], places, marker, color=colour, ms=4.5, label=named(label))
    ax.set_yticks(range(len(rows)), [named(row) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    if log_x:
        plain_log(ax, "x")
        few_decades(ax)
    finish(ax, **words)
    ax.grid(False, axis="y")
    if left is not None and not log_x:
        ax.set_xlim(left=left)
    if reference is not None:
        ax.axvline(reference, color="black", lw=0.8)
