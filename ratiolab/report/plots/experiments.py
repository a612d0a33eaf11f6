"""Pictures of experiments: lines with bands, grouped bars, boxes, dots and intervals.

Each takes a tidy table, as `ratiolab.studies.frames.intervals` makes it, and axes to draw on, and
one colour for a label wherever the label appears.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
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
from ratiolab.report.plots.curves import few_decades, plain_log, plain_thousands
from ratiolab.report.plots.names import named, symbols

if TYPE_CHECKING:
    import pandas as pd

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
    """Return a colour, a marker and a line for each label, the same in all panels of a page.

    When the colours begin again, each has the next marker.
    """
    return {
        label: {
            "color": COLOURS[i % len(COLOURS)],
            "marker": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)],
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


@in_style
def lines(
    table: "pd.DataFrame",
    x: str,
    by: str,
    ax: Axes,
    *,
    look: Mapping[str, Look] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    bottom: float | None = None,
    whiskers: bool = False,
    reference: float | None = None,
    note: str = "",
    ticks: Mapping[float, str] | None = None,
    **words: Unpack[Words],
) -> None:
    """Draw a line with a band from low to high over x for each label of the column `by`.

    A line breaks where a label has no value at an x between two that it has. A linear y axis
    begins at `bottom`.

    Parameters
    ----------
    whiskers : whether intervals are whiskers, side by side, in place of bands: where lines lie on
        each other, bands make one block.
    reference : a y that is marked by a thin line.
    note : what the lines cannot show, written above the axes, where it hides nothing.
    ticks : what is written at which x, in place of numbers that the axis chooses.
    """
    look = look or looks([str(label) for label in table[by].unique()])
    places = sorted(table[x].unique())
    labels = list(table[by].unique())
    aside = 0.012 * (places[-1] - places[0]) if whiskers and not log_x else 0.0
    if reference is not None:
        ax.axhline(reference, color="black", lw=0.8)
    for label, group in table.groupby(by, sort=False):
        between = [at for at in places if group[x].min() <= at <= group[x].max()]
        group = group.set_index(x).reindex(between)
        style = look[str(label)]
        shift = aside * (labels.index(label) - (len(labels) - 1) / 2)
        at_x = np.asarray(between, float) + shift
        ax.plot(at_x, group["mean"], label=named(label), ms=3.5, lw=1.4, **style)
        ends = group["low"].to_numpy(float), group["high"].to_numpy(float)
        if whiskers:
            bars = np.abs(np.stack(ends) - group["mean"].to_numpy(float))
            ax.errorbar(at_x, group["mean"], bars, fmt="none", color=style["color"], lw=1.0)
        else:
            ax.fill_between(at_x, *ends, color=style["color"], alpha=0.18, lw=0)
    if log_x:
        plain_log(ax, "x")
    if log_y:
        plain_log(ax, "y")
    few_decades(ax, 300)
    finish(ax, **words)
    if bottom is not None and not log_y:
        ax.set_ylim(bottom=bottom)
    if ticks is not None:
        ax.set_xticks([], minor=True)
        ax.set_xticks(list(ticks), list(ticks.values()))
    if note:
        write_above(ax, note)


@in_style
def grouped_bars(
    table: "pd.DataFrame",
    x: str,
    by: str,
    ax: Axes,
    *,
    look: Mapping[str, Look] | None = None,
    base: float = 0.0,
    small: float | None = None,
    **words: Unpack[Words],
) -> None:
    """Draw for each value of x a group of bars, one a label, with whiskers from low to high.

    Bars stand on `base`, or hang from it: a ratio is best shown as its distance from 1. The
    names of groups may be written in small letters, points.
    """
    labels = [str(label) for label in table[by].unique()]
    look = look or looks(labels)
    groups = list(table[x].unique())
    width = 0.8 / len(labels)
    for number, label in enumerate(labels):
        rows = table[table[by].astype(str) == label].set_index(x).reindex(groups)
        places = np.arange(len(groups)) + (number - (len(labels) - 1) / 2) * width
        whiskers = np.stack([rows["mean"] - rows["low"], rows["high"] - rows["mean"]])
        ax.bar(
            places,
            rows["mean"] - base,
            width,
            base,
            yerr=whiskers,
            label=named(label),
            color=look[label]["color"],
            error_kw={"lw": 0.8},
        )
    ax.set_xticks(range(len(groups)), [named(group) for group in groups])
    finish(ax, **words)
    if base:
        ax.axhline(base, color="black", lw=0.8)
    if small is not None:
        ax.tick_params(axis="x", labelsize=small)


@in_style
def boxes(
    table: "pd.DataFrame",
    x: str,
    by: str | None,
    ax: Axes,
    *,
    look: Mapping[str, Look],
    log_y: bool = False,
    **words: Unpack[Words],
) -> None:
    """Draw for each value of x a box, or one for each label of the column `by`.

    The table has the columns x and `by`; ``mean``, ``low`` and ``high`` of the median; ``p0``,
    ``p25``, ``p75`` and ``p100``, ends of whiskers and box. `look` has colours of the labels, or of
    x without `by`.
    """
    groups = list(table[x].unique())
    labels = [""] if by is None else list(table[by].unique())
    width = 0.8 / len(labels)
    for number, label in enumerate(labels):
        rows = table if by is None else table[table[by] == label]
        for _, row in rows.iterrows():
            place = groups.index(row[x]) + (number - (len(labels) - 1) / 2) * width
            colour = look[str(row[x]) if by is None else label]["color"]
            stats = {"med": row["mean"], "q1": row["p25"], "q3": row["p75"]}
            ax.bxp(
                [stats | {"whislo": row["p0"], "whishi": row["p100"]}],
                positions=[place],
                widths=0.8 * width,
                patch_artist=True,
                showfliers=False,
                boxprops={"facecolor": colour, "alpha": 0.55, "edgecolor": colour},
                whiskerprops={"color": colour},
                capprops={"color": colour},
                medianprops={"color": "black", "lw": 1.4},
                manage_ticks=False,
            )
            reach = [[row["mean"] - row["low"]], [row["high"] - row["mean"]]]
            ax.errorbar(place, row["mean"], reach, color="black", lw=1.2, capsize=2)
        if by is not None:
            ax.bar(
                0, 0, 0, color=look[label]["color"], alpha=0.55, label=named(label)
            )  # for legends
    ax.set_xticks(range(len(groups)), [f"{g:g}" if by is not None else named(g) for g in groups])
    if log_y:
        plain_log(ax, "y")
        few_decades(ax)
    finish(ax, **words)


@in_style
def enclosures(
    table: "pd.DataFrame",
    panel: str,
    by: str,
    *,
    x_label: str = "",
    reference: float | None = None,
    log_x: bool = True,
    most: float | None = None,
    missing: str = "",
) -> Chart:
    """Draw a panel for each value of a column, with a bar from bottom to top for each label.

    The table has the columns `panel`, `by`, ``bottom`` and ``top``. Axes end at `most` at the
    latest; a bar beyond that is an arrow with its ends in numbers. `missing` stands in place of a
    bar without ends.
    """
    names, labels = list(table[panel].unique()), list(table[by].unique())
    columns = min(len(names), 2)
    figure, axes = panels(len(names), columns=columns, height=0.8 + 0.2 * len(labels))
    for number, (name, ax) in enumerate(zip(names, axes, strict=True)):
        rows = table[table[panel] == name].set_index(by).reindex(labels)
        places = np.arange(len(labels))
        inside = rows["top"] <= (np.inf if most is None else most)
        bottom, length = rows["bottom"].where(inside), (rows["top"] - rows["bottom"]).where(inside)
        ax.barh(places, length, 0.55, bottom, color=COLOURS[0], ec=COLOURS[0])
        ax.use_sticky_edges = False  # a bar that ends at the frame looks cut off
        for place, (_, row) in enumerate(rows.iterrows()):
            if np.isnan(row["top"]):
                _write_in_row(ax, place, missing, 0.06, "0.35")
            elif most is not None and row["top"] > most:
                text = f"{row['bottom']:.2f} to {row['top']:.2f} $\\rightarrow$"
                _write_in_row(ax, place, text, 0.98, COLOURS[0])
        shown = [named(label) for label in labels]
        ax.set_yticks(places, shown if number % columns == 0 else [""] * len(labels))
        ax.set_ylim(len(labels) - 0.5, -0.5)  # rows without a bar keep their place
        if log_x:
            plain_log(ax, "x")
            few_decades(ax)
        if reference is not None:
            ax.axvline(reference, color="black", lw=0.8)
        finish(ax, title=str(name), x_label=x_label)
    return figure


def _write_in_row(ax: Axes, place: float, text: str, x: float, colour: str) -> None:
    """Write into the row of a chart of bars, at a share of its width."""
    ax.annotate(
        text,
        (x, place),
        xycoords=("axes fraction", "data"),
        va="center_baseline",
        ha="left" if x < 0.5 else "right",
        color=colour,
        fontsize="small",
    )


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
