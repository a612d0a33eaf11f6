"""Pictures for Section 5.2 of Jaillet et al.: averages with deviations, runs over time."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import EXACT, PRINTED
from ratiolab.report.plots.experiments import finish, looks, panels, shared_legend
from ratiolab.report.plots.names import named


def deviations_chart(
    found: Mapping[str, Mapping[str, NDArray[np.float64]]],
    printed: Mapping[str, tuple[float, float]],
) -> Chart:
    """Draw a panel for each set-up: averages of runs with deviations, beside printed ones.

    Parameters
    ----------
    found : by title and label, one value a run.
    printed : by label, the average and standard deviation of a paper.
    """
    labels = list(printed)
    figure, axes = panels(len(found), columns=2, height=1.0 + 0.26 * len(labels))
    places = np.arange(len(labels))
    right = 1.05 * max(
        max(float(v.mean() + v.std()) for values in found.values() for v in values.values()),
        max(average + spread for average, spread in printed.values()),
    )
    averages, spreads = np.array(list(printed.values())).T
    for number, (ax, (title, values)) in enumerate(zip(axes, found.items(), strict=True)):
        mean = [values[label].mean() for label in labels]
        spread = [values[label].std(ddof=1) for label in labels]
        here = "here, average and standard deviation of the runs"
        for y, x, reach, mark, look, label in (
            (places - 0.14, averages, spreads, "D", PRINTED, "paper"),
            (places + 0.14, mean, spread, "o", EXACT, here),
        ):
            style = {"fmt": mark, "color": look["color"], "ms": 4, "capsize": 2}
            ax.errorbar(x, y, xerr=reach, label=label, **style)
        ax.set_yticks(
            places, [named(label) for label in labels] if number % 2 == 0 else [""] * len(labels)
        )
        ax.invert_yaxis()
        ax.set_xlim(0, right)
        finish(ax, title, "mean latency (s)" if number >= len(found) - 2 else "")
    shared_legend(figure, axes)
    return figure


def throughput_chart(runs: Mapping[str, pd.DataFrame], by: str) -> Chart:
    """Draw a panel for each title: tokens that each scheduler serves, and bars of arriving ones.

    Parameters
    ----------
    runs : by title, one run of each scheduler second by second: columns begin, throughput, prefill,
        arriving.
    by : column that names the scheduler.
    """
    figure, axes = panels(len(runs), height=3.2)
    for number, (ax, (title, rows)) in enumerate(zip(axes, runs.items(), strict=True)):
        for label, look in looks(list(rows[by].unique())).items():
            part = rows[rows[by] == label]
            tokens = part["throughput"] + part["prefill"]
            ax.step(
                part["begin"], tokens, where="post", lw=1.4, color=look["color"], label=named(label)
            )
        some = part[part["arriving"] > 0]
        look = {"color": "0.75", "alpha": 0.6, "label": "arriving"}
        ax.bar(some["begin"], some["arriving"], 1.0, align="edge", **look)
        _labelled(ax, title, "" if number else "prompt and output tokens a second")
    shared_legend(figure, axes)
    return figure


def memory_chart(runs: Mapping[str, pd.DataFrame], by: str, memory: int) -> Chart:
    """Draw a panel for each title: tokens held by each scheduler over time, and the limit."""
    figure, axes = panels(len(runs), columns=2, height=2.6)
    for number, (ax, (title, rows)) in enumerate(zip(axes, runs.items(), strict=True)):
        for label, look in looks(list(rows[by].unique())).items():
            part = rows[rows[by] == label]
            style = {"color": look["color"], "ls": look["ls"]}
            ax.plot(part["begin"], part["memory"], lw=1.4, label=named(label), **style)
        ax.axhline(memory, color="black", lw=0.8, ls=":", label=f"$M$ = {memory:,}")
        ax.set_ylim(0, 1.08 * memory)
        _labelled(ax, title, "tokens held" if number % 2 == 0 else "")
    shared_legend(figure, axes)
    return figure


def _labelled(ax: Axes, title: str, y_label: str) -> None:
    ax.set_xlim(left=0)
    finish(ax, title, "time (s)", y_label)
