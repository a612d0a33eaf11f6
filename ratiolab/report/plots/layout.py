"""Layout of the pictures of experiments: looks of labels, panels, legends, axes."""

from collections.abc import Sequence
from typing import Any, TypedDict

from matplotlib.axes import Axes

from ratiolab.report.plots.canvas import (
    BLUE,
    BROWN,
    GREEN,
    ORANGE,
    PINK,
    RED,
    SKY,
    Chart,
    in_style,
    new_chart,
)
from ratiolab.report.plots.curves import plain_thousands
from ratiolab.report.plots.names import symbols

COLOURS = (BLUE, ORANGE, GREEN, RED, PINK, SKY, "black", BROWN, "0.55", "#9A9A00")
"""Colours of the labels of a page, in this order."""

MARKERS = "osD^vPX*<>"
STYLES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
"""Lines that lie on each other show through the gaps of those above them."""

Look = dict[str, Any]


class Words(TypedDict, total=False):
    """Words above and beside the axes of a picture; none by default."""

    title: str
    x_label: str
    y_label: str


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """Return a colour, a marker and a line for each label, the same in all panels of a page."""
    return {
        label: {
            "color": COLOURS[i % len(COLOURS)],
            "marker": MARKERS[i % len(MARKERS)],
            "ls": STYLES[i % len(STYLES)],
            "zorder": 2 + 0.1 * (i % len(STYLES)),
        }
        for i, label in enumerate(labels)
    }


@in_style
def panels(count: int, *, columns: int = 3, height: float = 3.4) -> tuple[Chart, list[Axes]]:
    """Return an empty chart with this number of axes, row by row."""
    columns = min(count, columns)
    rows = -(-count // columns)
    figure = new_chart((0.6 + 3.6 * columns, 0.5 + height * rows))
    axes = [figure.add_subplot(rows, columns, number + 1) for number in range(count)]
    return figure, axes


@in_style
def shared_legend(figure: Chart, axes: Sequence[Axes], *, columns: int = 5) -> None:
    """Draw one legend for all panels: in the place that the last row leaves free, or below."""
    named = {
        label: handle
        for ax in axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    entries = list(named.values()), list(named.keys())
    place = axes[-1].get_subplotspec()
    rows, across = place.get_gridspec().get_geometry() if place is not None else (1, 1)
    if rows * across > len(axes):
        free = figure.add_subplot(rows, across, rows * across)
        free.set_axis_off()
        free.legend(*entries, loc="center", frameon=False)
    else:
        figure.legend(*entries, loc="outside lower center", ncols=columns, frameon=False)


@in_style
def heading(figure: Chart, text: str) -> None:
    """Write above all panels what they have in common."""
    figure.suptitle(symbols(text), x=0.01, ha="left", fontsize=12)


@in_style
def finish(ax: Axes, title: str = "", x_label: str = "", y_label: str = "") -> None:
    """Name axes, write thousands plainly, and draw a faint grid below what is drawn."""
    ax.set_title(symbols(title), loc="left")
    ax.set_xlabel(symbols(x_label))
    ax.set_ylabel(symbols(y_label))
    plain_thousands(ax)
    ax.grid(color="0.92", lw=0.6)
    ax.set_axisbelow(True)


@in_style
def write_above(ax: Axes, note: str) -> None:
    """Write a note of one or several lines between the title and the axes; call `finish` before."""
    ax.annotate(
        symbols(note),
        (0, 1),
        xycoords="axes fraction",
        xytext=(0, 5),
        textcoords="offset points",
        va="bottom",
        color="0.25",
        fontsize=9,
    )
    ax.set_title(ax.get_title(loc="left"), loc="left", pad=8 + 14 * (1 + note.count("\n")))
