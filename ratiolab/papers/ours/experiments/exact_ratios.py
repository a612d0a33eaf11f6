"""MC-SF over the optimum itself, with few requests, and what the optimum does differently."""

from collections.abc import Mapping
from functools import partial
from math import isnan

import pandas as pd

from ratiolab.papers.markdown import markdown
from ratiolab.papers.page import Page
from ratiolab.papers.runs import mean_with_interval
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.layout import finish, looks, panels, shared_legend
from ratiolab.report.plots.names import named

MC_SF, SVF, WORKLOAD = "mc-sf", "svf", "workload.label"
LEVELS = (0.5, 0.9)
GROUPS, LEAST = 10, 10
"""Means are over so many groups of draws at most, by the feature, of so many at least."""

FEATURES = {"inverted": "pairs inverted", "held_back": "requests held back"}


def page(frame: pd.DataFrame) -> Page:
    """Compute the distribution of exact ratios, and features of optimal schedules."""
    exact = frame[frame["opt_lower"] == frame["opt_upper"]]
    exact = exact.assign(ratio=exact["total_latency"] / exact["opt_upper"])
    groups = {
        str(label): {key: rows[rows["policy"] == key].set_index("seed") for key in (MC_SF, SVF)}
        for label, rows in exact.groupby(WORKLOAD, sort=False)
    }
    slots = {
        "draws": int((frame["policy"] == MC_SF).sum()),
        "solved": int((exact["policy"] == MC_SF).sum()),
        "left": _left_out(frame[frame["policy"] == MC_SF]),
        "table": markdown(
            ("", "optimal", "mean ratio", "median", "90th percentile", "worst"),
            [
                (
                    f"{label}, {key}",
                    f"{int((rows['ratio'] == 1).sum())} of {len(rows)}",
                    f"{mean_with_interval(rows['ratio']):.4f}",
                    *(f"{rows['ratio'].quantile(level):.4f}" for level in LEVELS),
                    f"{rows['ratio'].max():.4f}",
                )
                for label, kinds in groups.items()
                for key, rows in kinds.items()
            ],
        ),
        "differs": markdown(
            (
                *("", "inverted, mean", "schedules without", "held back, mean"),
                *("schedules without", "idle, mean", "idle under MC-SF"),
            ),
            [
                (
                    label,
                    f"{rows['inverted'].mean():.1%}",
                    f"{(rows['inverted'] == 0).mean():.0%}",
                    f"{rows['held_back'].mean():.1%}",
                    f"{(rows['held_back'] == 0).mean():.0%}",
                    f"{rows['opt_idle'].mean():.1%}",
                    f"{rows['idle'].mean():.1%}",
                )
                for label, rows in ((label, kinds[MC_SF]) for label, kinds in groups.items())
            ],
        ),
        "inverted_rank": _ranks(groups, "inverted"),
        "held_rank": _ranks(groups, "held_back"),
    }
    ratios = {name: {k: r["ratio"] for k, r in g.items()} for name, g in groups.items()}
    optima = {name: kinds[MC_SF] for name, kinds in groups.items()}
    charts = {"ratio": partial(_ratios, ratios), "optimum": partial(_optima, optima)}
    return Page(slots, charts=charts)


def _ratios(ratios: Mapping[str, Mapping[str, pd.Series]]) -> Chart:
    """Draw the distribution of exact ratios of each policy, a panel for each workload."""
    figure, axes = panels(len(ratios), columns=2)
    most = max(ratio.max() for kinds in ratios.values() for ratio in kinds.values())
    for ax, (title, policies) in zip(axes, ratios.items(), strict=True):
        for key, look in looks(list(policies)).items():
            ax.ecdf(policies[key], color=look["color"], ls=look["ls"], label=named(key))
        ax.set_xlim(1, max(most, 1.01))  # so that panels can be compared
        finish(ax, title, "ratio to the optimum", "share of draws up to it")
    shared_legend(figure, axes)
    return figure


def _optima(rows: Mapping[str, pd.DataFrame]) -> Chart:
    """Draw features of optimal schedules against MC-SF / OPT."""
    figure, axes = panels(len(FEATURES), columns=2)
    for ax, (feature, words) in zip(axes, FEATURES.items(), strict=True):
        for label, look in looks(list(rows)).items():
            table, shown = rows[label], {"color": look["color"], "marker": look["marker"]}
            x, y = 100 * table[feature], table["ratio"]
            ax.scatter(x, y, s=5, alpha=0.15, linewidths=0, **shown)
            number = min(GROUPS, max(1, len(x) // LEAST))
            groups = -(-x.rank(method="first") * number // len(x))
            ax.plot(x.groupby(groups).mean(), y.groupby(groups).mean(), label=label, **shown)
        finish(ax, "", f"{words} in the optimum, %", "MC-SF / OPT")
    shared_legend(figure, axes)
    return figure


def _left_out(rows: pd.DataFrame) -> list[str]:
    """Return each draw that is not proven, with the interval of MC-SF's ratio."""
    rows = rows[rows["opt_lower"] != rows["opt_upper"]]
    ends = (rows["total_latency"] / rows[bound] for bound in ("opt_upper", "opt_lower"))
    parts = zip(rows[WORKLOAD], rows["seed"], *ends, strict=True)
    return [f"{low:.4f} to {high:.4f} ({label}, seed {seed})" for label, seed, low, high in parts]


def _ranks(groups: dict[str, dict[str, pd.DataFrame]], column: str) -> dict[str, float]:
    """Return Spearman's rank correlation of a column with MC-SF's ratio, by workload.

    Of workloads of which it is defined: not of a single draw.
    """
    found = {
        label: float(kinds[MC_SF][column].rank().corr(kinds[MC_SF]["ratio"].rank()))
        for label, kinds in groups.items()
        if len(kinds[MC_SF]) > 1
    }
    return {label: rank for label, rank in found.items() if not isnan(rank)}
