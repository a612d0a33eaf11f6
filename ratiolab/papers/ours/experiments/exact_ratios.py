"""MC-SF over the optimum itself, with few requests, and what the optimum does differently."""

from collections.abc import Mapping
from functools import partial
from itertools import product
from math import isnan

import pandas as pd
from matplotlib.ticker import MaxNLocator

from ratiolab.papers.markdown import markdown
from ratiolab.papers.page import Page
from ratiolab.papers.runs import mean_with_interval
from ratiolab.report.plots.canvas import SKY, Chart, in_style
from ratiolab.report.plots.experiments import finish, looks, panels, shared_legend
from ratiolab.report.plots.names import named

MC_SF, SVF, WORKLOAD = "mc-sf", "svf", "workload.label"
LEVELS = (0.5, 0.9)
GROUPS, LEAST = 10, 10
"""Most groups of draws, by the feature, that means are over, and least draws of a group."""

FAR = 1.25
"""Axes end at most at this multiple of the 99th percentile of the draws."""

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


@in_style
def _ratios(ratios: Mapping[str, Mapping[str, pd.Series]]) -> Chart:
    """Draw the distribution of exact ratios, a panel for each policy and a line for each n."""
    figure, axes = panels(2, columns=2)
    most = max(ratio.max() for kinds in ratios.values() for ratio in kinds.values())
    for ax, key in zip(axes, (MC_SF, SVF), strict=True):
        for label, look in looks(list(ratios)).items():
            ax.ecdf(ratios[label][key], color=look["color"], ls=look["ls"], label=label)
        ax.set_xlim(1, max(most, 1.01))  # so that panels can be compared
        ax.set_ylim(0, 1.02)
        finish(ax, named(key), "ratio to the optimum", "share of draws up to it")
    shared_legend(figure, axes)
    return figure


@in_style
def _optima(rows: Mapping[str, pd.DataFrame]) -> Chart:
    """Draw features of optimal schedules against MC-SF / OPT, a row each and a panel for each n."""
    figure, axes = panels(len(FEATURES) * len(rows), columns=len(rows), height=2.6)
    figure.set_size_inches(max(6, 2.2 * len(rows)), figure.get_figheight())
    least, most = (float(f(f(table["ratio"]) for table in rows.values())) for f in (min, max))
    for ax, ((feature, words), label) in zip(axes, product(FEATURES.items(), rows), strict=True):
        every = 100 * pd.concat([table[feature] for table in rows.values()])
        reach = max(1.0, min(every.max(), FAR * every.quantile(0.99)))
        x, y = 100 * rows[label][feature], rows[label]["ratio"]
        ax.scatter(x, y, s=6, alpha=0.35, linewidths=0, color=SKY)
        number = min(GROUPS, max(1, len(x) // LEAST))
        groups = -(-x.rank(method="first") * number // len(x))
        means = x.groupby(groups).mean(), y.groupby(groups).mean()
        ax.plot(*means, color="black", marker="o", ms=3.5, lw=1.2)
        first = label == next(iter(rows))
        finish(ax, label, f"{words}, %", "MC-SF / OPT" if first else "")
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.set_xlim(-0.04 * reach, 1.04 * reach)
        ax.set_ylim(least - 0.01, most + 0.01)
        ax.tick_params(labelleft=first)
        if beyond := int((x > reach).sum()):
            text = f"{beyond} more $\\rightarrow$"
            ax.text(0.98, 0.02, text, transform=ax.transAxes, ha="right", fontsize="small")
    return figure


def _left_out(rows: pd.DataFrame) -> list[str]:
    """Return each draw that is not proven, with the interval of MC-SF's ratio."""
    rows = rows[rows["opt_lower"] != rows["opt_upper"]]
    ends = (rows["total_latency"] / rows[bound] for bound in ("opt_upper", "opt_lower"))
    parts = zip(rows[WORKLOAD], rows["seed"], *ends, strict=True)
    return [f"{low:.4f} to {high:.4f} ({label}, seed {seed})" for label, seed, low, high in parts]


def _ranks(groups: dict[str, dict[str, pd.DataFrame]], column: str) -> dict[str, float]:
    """Return Spearman's rank correlation of a column with MC-SF's ratio, by workload.

    Only for workloads with several draws.
    """
    found = {
        label: float(kinds[MC_SF][column].rank().corr(kinds[MC_SF]["ratio"].rank()))
        for label, kinds in groups.items()
        if len(kinds[MC_SF]) > 1
    }
    return {label: rank for label, rank in found.items() if not isnan(rank)}
