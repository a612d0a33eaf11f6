"""Charts of claims: printed, exact and simulated values in one picture.

One look for each kind of evidence, in every chart: dashed red for what a paper prints, solid for
what was computed, points with bars for what was simulated. Legends stand below their axes, where
they cover no data.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, ScalarFormatter
from numpy.typing import ArrayLike, NDArray

from ratiolab.report.plots.canvas import BLUE, GREEN, ORANGE, PINK, RED, Chart, in_style, new_chart
from ratiolab.report.plots.names import named, symbols

Array = NDArray[np.float64]
Look = dict[str, Any]

PRINTED: Look = {"color": RED, "ls": "--", "lw": 1.6, "zorder": 3}
EXACT: Look = {"color": BLUE, "lw": 1.8}
OTHER: Look = {"color": GREEN, "lw": 1.5}
THIRD: Look = {"color": PINK, "lw": 1.5}
FAINT: Look = {"color": "0.55", "lw": 1.2}
SIMULATED: Look = {"color": "black", "ls": "", "marker": "o", "ms": 3.5, "capsize": 2, "lw": 1}
RIVAL: Look = SIMULATED | {"color": ORANGE, "marker": "s"}


@dataclass(frozen=True, eq=False)
class Curve:
    """A line, or points with bars from `low` to `high` when those are given."""

    label: str
    x: ArrayLike
    y: ArrayLike
    look: Look = field(default_factory=lambda: EXACT)
    low: ArrayLike | None = None
    high: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share their axes.

    `marks` are thin vertical lines, each an x and a text. `whole_x` says that x counts something,
    so that ticks are whole numbers.
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    log_x: bool = False
    log_y: bool = False
    marks: Sequence[tuple[float, str]] = ()
    y_range: tuple[float, float] | None = None
    whole_x: bool = False


@in_style
def chart(panels: Sequence[Panel], *, height: float = 4.4) -> Chart:
    """Draw panels side by side, each with its legend below."""
    figure = new_chart((1.0 + 4.6 * len(panels), height))
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for panel, ax in zip(panels, axes, strict=True):
        draw(panel, ax)
    return figure


@in_style
def bars(title: str, label: str, values: Mapping[str, float], printed: Collection[str]) -> Chart:
    """Draw horizontal bars with their values, those of `printed` in the colour for a paper."""
    figure = new_chart((6.5, 0.9 + 0.4 * len(values)))
    ax = figure.subplots()
    colours = [(PRINTED if name in printed else EXACT)["color"] for name in values]
    labels = [named(name) for name in values]
    drawn = ax.barh(labels, list(values.values()), color=colours, height=0.6)
    ax.bar_label(drawn, fmt="%.3f", padding=3)
    ax.margins(x=0.12)
    ax.invert_yaxis()
    ax.set(title=symbols(title), xlabel=symbols(label))
    return figure


def draw(panel: Panel, ax: Axes) -> None:
    """Draw a panel's curves, marks and legend."""
    if panel.log_x:
        plain_log(ax, "x")
    if panel.log_y:
        plain_log(ax, "y")
    for curve in panel.curves:
        x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
        if curve.low is None or curve.high is None:
            look = {key: value for key, value in curve.look.items() if key != "capsize"}
            ax.plot(x, y, label=symbols(curve.label), **look)
            continue
        bars = np.stack([y - np.asarray(curve.low, float), np.asarray(curve.high, float) - y])
        ax.errorbar(x, y, yerr=bars, label=symbols(curve.label), **curve.look)
    if panel.y_range is not None:
        ax.set_ylim(*panel.y_range)
    for place, text in panel.marks:
        ax.axvline(place, color="0.4", lw=0.8, ls=":")
        ax.annotate(
            symbols(text),
            (place, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            color="0.3",
        )
    if panel.whole_x:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    few_decades(ax)
    words = (symbols(text) for text in (panel.title, panel.x_label, panel.y_label))
    ax.set(**dict(zip(("title", "xlabel", "ylabel"), words, strict=True)))
    ax.grid(color="0.92", lw=0.6)
    ax.set_axisbelow(True)
    legend_below(ax)


def legend_below(ax: Axes) -> None:
    """Draw the legend under the x label, one entry a line."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left", bbox_to_anchor=(0, -0.17), frameon=False, borderaxespad=0)


def plain_log(ax: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic: it reads 1, 10, 100 up to a hundred thousand, powers beyond."""

    def text(value: float, _: object) -> str:
        if 1e-3 <= value < 1e6:
            return f"{value:,.10g}"
        return f"$10^{{{np.log10(value):.0f}}}$"

    axis = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())


def plain_thousands(ax: Axes) -> None:
    """Write 10,000 and not 10000 on linear axes; others, and axes with words, stay as they are."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        linear = axis.get_scale() == "linear" and isinstance(
            axis.get_major_formatter(), ScalarFormatter
        )
        if linear and high >= 1000 and high - low >= 10:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def few_decades(ax: Axes, most: float = 100) -> None:
    """Label 1, 2, 5 and not powers of ten alone where an axis spans a factor below `most`."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log" and high < most * low:
            axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5) if high < 10 * low else (1, 2, 5)))


@in_style
def counts(groups: Mapping[str, Mapping[str, int]], colours: Mapping[str, str]) -> Chart:
    """Draw the counts of each group, below one another."""
    figure = new_chart((7, 1.2 + 0.35 * len(groups)))
    ax = figure.subplots()
    left = [0] * len(groups)
    for category, colour in colours.items():
        widths = [group.get(category, 0) for group in groups.values()]
        bars = ax.barh(list(groups), widths, left=left, color=colour, alpha=0.7, label=category)
        ax.bar_label(bars, [str(width or "") for width in widths], label_type="center")
        left = [start + width for start, width in zip(left, widths, strict=True)]
    ax.invert_yaxis()
    figure.legend(loc="outside lower left", ncols=len(colours), frameon=False)
    return figure
