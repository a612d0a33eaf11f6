"""Pictures of exact ratios and of optimal schedules."""

from collections.abc import Mapping

import pandas as pd

from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.layout import finish, looks, panels, shared_legend
from ratiolab.report.plots.names import named

FEATURES = {"inverted": "pairs inverted", "held_back": "requests held back"}


def ratios_chart(ratios: Mapping[str, Mapping[str, pd.Series]]) -> Chart:
    """Draw the distribution of exact ratios of each policy, a panel for each workload."""
    figure, axes = panels(len(ratios))
    for ax, (title, policies) in zip(axes, ratios.items(), strict=True):
        for key, look in looks(list(policies)).items():
            ax.ecdf(policies[key], color=look["color"], ls=look["ls"], label=named(key))
        finish(ax, title, "ratio to the optimum", "share of draws up to it")
    shared_legend(figure, axes)
    return figure


def optimum_chart(rows: Mapping[str, pd.DataFrame]) -> Chart:
    """Draw features of optimal schedules against MC-SF / OPT."""
    figure, axes = panels(len(FEATURES), columns=2)
    for ax, (feature, words) in zip(axes, FEATURES.items(), strict=True):
        for label, look in looks(list(rows)).items():
            table, shown = rows[label], {"color": look["color"], "marker": look["marker"]}
            ax.scatter(100 * table[feature], table["ratio"], s=14, alpha=0.6, label=label, **shown)
        finish(ax, "", f"{words} in the optimum, %", "MC-SF / OPT")
    shared_legend(figure, axes)
    return figure
