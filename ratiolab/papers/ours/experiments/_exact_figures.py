"""Pictures of exact ratios and of optimal schedules."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.layout import finish, panels

if TYPE_CHECKING:
    import pandas as pd

BIN = 0.005
"""Width of the bars of a histogram."""

FEATURES = {"inverted": "pairs inverted", "held_back": "requests held back"}


def ratios_chart(ratios: "Mapping[str, Mapping[str, pd.Series]]") -> Chart:
    """Draw a histogram of exact ratios for each workload, policies beside each other."""
    figure, axes = panels(len(ratios), columns=2)
    for ax, (title, policies) in zip(axes, ratios.items(), strict=False):
        most = max(float(values.max()) for values in policies.values())
        edges = 1 + BIN * np.arange(np.ceil((most - 1) / BIN) + 2)
        ax.hist(list(policies.values()), bins=edges.tolist(), label=list(policies))
        ax.legend(frameon=False)
        finish(ax, title, "ratio to the optimum", "draws")
    return figure


def optimum_chart(rows: "Mapping[str, pd.DataFrame]") -> Chart:
    """Draw features of optimal schedules against MC-SF / OPT."""
    figure, axes = panels(len(FEATURES), columns=2)
    for ax, (feature, words) in zip(axes, FEATURES.items(), strict=False):
        for label, table in rows.items():
            ax.scatter(100 * table[feature], table["ratio"], s=14, alpha=0.6, label=label)
        ax.legend(frameon=False)
        finish(ax, "", f"{words} in the optimum, %", "MC-SF / OPT")
    return figure
