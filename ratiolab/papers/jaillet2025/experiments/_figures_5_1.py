"""Pictures for Section 5.1 of Jaillet et al.: ratios known up to an interval, and readings."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import EXACT, OTHER, PRINTED
from ratiolab.report.plots.experiments import COLOURS, finish, panels, shared_legend

BIN = 0.01
"""Width of the bars of a histogram."""


def intervals_chart(
    low: Mapping[str, pd.Series],
    high: Mapping[str, pd.Series],
    marks: Mapping[str, Mapping[str, float]],
) -> Chart:
    """Draw for each title two panels: histograms of both ends, and the band of the distribution.

    Parameters
    ----------
    low, high : by title, ends of the interval of each draw.
    marks : by title, what a paper reports, by name.
    """
    figure, axes = panels(2 * len(low), columns=2)
    for row, title in enumerate(low):
        _histograms(axes[2 * row], title, low[title], high[title])
        _band(axes[2 * row + 1], title, low[title], high[title])
        for ax in axes[2 * row : 2 * row + 2]:
            for number, (name, value) in enumerate(marks[title].items()):
                look = PRINTED | ({"ls": ":"} if number else {})
                ax.axvline(value, **look, label=f"reported {name}")
            ax.set_xlim(left=min(0.99, float(low[title].min()) - BIN))
    shared_legend(figure, axes, columns=3)
    return figure


def _histograms(ax: Axes, title: str, low: pd.Series, high: pd.Series) -> None:
    first = np.floor(min(1.0, low.min()) / BIN)
    edges = BIN * np.arange(first, np.ceil(high.max() / BIN) + 1)
    bins = edges.tolist()
    ax.hist(low, bins=bins, color=EXACT["color"], alpha=0.45, label="lower ends")
    ax.hist(  # a line over the bars: where both are, no third colour
        high, bins=bins, histtype="step", color=OTHER["color"], lw=1.6, label="upper ends"
    )
    ax.set_title(f"{title}: both ends of every interval", fontsize=10, loc="left")
    ax.set_xlabel("MC-SF / OPT")
    ax.set_ylabel("draws")


def _band(ax: Axes, title: str, low: pd.Series, high: pd.Series) -> None:
    ends = [np.sort(values.to_numpy()) for values in (low, high)]
    x = np.unique(np.concatenate([[1.0], *ends]))
    most, least = (100 * np.searchsorted(end, x, side="right") / len(end) for end in ends)
    ax.fill_between(x, least, most, step="post", color="0.8", label="where the distribution is")
    ax.step(x, most, where="post", color=EXACT["color"], lw=1)
    ax.step(x, least, where="post", color=OTHER["color"], lw=1)
    ax.set_title(f"{title}: share of draws up to a ratio", fontsize=10, loc="left")
    ax.set_xlabel("MC-SF / OPT")
    ax.set_ylabel("draws (%)")


def readings_chart(
    table: pd.DataFrame, marks: Mapping[int, tuple[float, float]], groups: Sequence[str]
) -> Chart:
    """Draw a row a reading, a panel a model: mean ratio as a point, smallest to largest as a line.

    Parameters
    ----------
    table : columns text, group, model, mean, least, worst.
    marks : reported mean and worst ratio of each model.
    groups : in the order of their colours.
    """
    texts = list(table["text"].unique())
    figure, axes = panels(len(marks), columns=2, height=1.2 + 0.22 * len(texts))
    figure.set_size_inches(11, figure.get_figheight())
    for ax, (model, (mean, worst)) in zip(axes, marks.items(), strict=True):
        for group, colour in zip(groups, COLOURS, strict=False):
            rows = table[(table["model"] == model) & (table["group"] == group)]
            y = [texts.index(text) for text in rows["text"]]
            ax.hlines(y, rows["least"], rows["worst"], color=colour, lw=1.6, alpha=0.6)
            ax.plot(rows["mean"], y, "o", color=colour, ms=4, label=group)
        ax.axvline(mean, **PRINTED, label="reported mean")
        ax.axvline(worst, **(PRINTED | {"ls": ":"}), label="reported worst")
        ax.set_yticks(range(len(texts)), texts if ax is axes[0] else [])
        ax.invert_yaxis()
        finish(ax, f"Arrival Model {model}", "MC-SF / best schedule found")
    shared_legend(figure, axes, columns=3)
    return figure
