"""Section 5.2 of Jaillet et al. (2025), Figure 3: average latency as more requests come."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.papers.experiment import Experiment, Finding, findings_table, markdown
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    CLOCK,
    CLOCKS,
    FITTED,
    MC_BENCHMARK,
    MC_SF,
    POLICY,
    SETTING,
    stands_in,
)
from ratiolab.papers.jaillet2025.experiments.section_5_2 import PRINTED as TABLE_1
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

REQUESTS = "workload.n"
SVF = "svf"
HIGH, LOW = "high demand", "low demand"
PRINTED = {HIGH: (1 / 6, 1 / 2), LOW: (1 / 800, 1 / 100)}
"""Slopes of MC-SF and of the best benchmark."""

LINEAR = 0.98
"""Latency grows linearly: R^2 of a line through the averages is at least so much."""

GROWS = 0.8
"""It grows at all: R^2 is at least so much for some scheduler."""

FAR = 2.0
"""Far slower: at least by this factor."""

NEAR = 1 / 3
"""Two factors or slopes are near: their relative difference is at most so much."""


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Latency over n, slopes, and certified bounds."""
    frame = frame.assign(
        ratio=frame["total_latency"] / frame["lower"],
        panel=[f"{CLOCKS[c]}: {s}" for c, s in zip(frame[CLOCK], frame[SETTING], strict=True)],
    )
    lines = slopes(frame)
    most = int(frame[REQUESTS].max())
    _draw(frame, "mean_latency", "mean latency (s)", folder, "latency")
    _draw(frame, "ratio", "total latency / lower bound", folder, "ratio")
    return f"""\
{stands_in()}

High demand is 50 requests a second, low demand 10. {int(frame[REQUESTS].min()):,} to {most:,}
requests, drawn afresh for each of {frame["seed"].nunique()} seeds; bands are 95 % bootstrap
intervals over the seeds. Smallest volume first (`svf`) is not in the paper.

![Mean latency over the number of requests]({NAME}-latency.png)

## Slopes

Seconds of mean latency per thousand requests: least squares over n for every seed, their average
and its 95 % interval, and R² of a line through the averages.

{_slope_table(lines)}

## The paper's statements

{findings_table(_findings(lines))}

## Against a certified bound, in seconds

Total latency over a lower bound on every schedule under the same clock
(`ratiolab.ratio.clock_bound`), so that the optimum lies below every line: averages at
n = {most:,}.

{_ratio_table(frame[frame[REQUESTS] == most])}

![Ratios to the bound]({NAME}-ratio.png)
"""


def slopes(frame: "pd.DataFrame") -> "pd.DataFrame":
    """By clock, demand and scheduler: mean, low, high of the slope (s a request), and R^2."""
    import pandas as pd

    keys = [CLOCK, SETTING, POLICY]
    each = [
        (*key, float(np.polyfit(rows[REQUESTS], rows["mean_latency"], 1)[0]))
        for key, rows in frame.groupby([*keys, "seed"], sort=False)
    ]
    found = intervals(pd.DataFrame(each, columns=[*keys, "seed", "slope"]), keys, "slope")
    means = frame.groupby([*keys, REQUESTS], sort=False)["mean_latency"].mean().reset_index()
    fit = {
        key: float(np.corrcoef(rows[REQUESTS], rows["mean_latency"])[0, 1] ** 2)
        for key, rows in means.groupby(keys, sort=False)
    }
    return found.assign(r2=list(fit.values()))


def _lines(lines: "pd.DataFrame", clock: str, demand: str) -> "pd.DataFrame":
    """The slopes of one panel by scheduler."""
    return lines[(lines[CLOCK] == clock) & (lines[SETTING] == demand)].set_index(POLICY)


def _slope_table(lines: "pd.DataFrame") -> str:
    header, columns = ["scheduler"], []
    for clock, title in CLOCKS.items():
        for demand in PRINTED:
            rows = _lines(lines, clock, demand)
            header.append(f"{title}: {demand}")
            columns.append(
                [
                    f"{1000 * mean:.3g} [{1000 * low:.3g}, {1000 * high:.3g}], {r2:.3f}"
                    for mean, low, high, r2 in zip(
                        rows["mean"], rows["low"], rows["high"], rows["r2"], strict=True
                    )
                ]
            )
    names = [str(name) for name in rows.index]
    return markdown(header, zip(names, *columns, strict=True))


def _findings(lines: "pd.DataFrame") -> Iterable[Finding]:
    high = lines[lines[SETTING] == HIGH]["r2"]
    yield Finding(
        "high demand: latency increases linearly for all algorithms",
        "linear",
        f"R² at least {high.min():.4f}",
        bool(high.min() >= LINEAR),
    )
    for demand, (printed, rival) in PRINTED.items():
        factors, parts = [], []
        for clock, title in CLOCKS.items():
            rows = _lines(lines, clock, demand)
            others = rows.drop([MC_SF, SVF])
            best = str(others["mean"].idxmin())
            if (fit := float(others["r2"].max())) < GROWS:
                parts.append(f"no line: R² at most {fit:.2f} ({title})")
                continue
            mine, theirs = (1000 * float(rows["mean"][key]) for key in (MC_SF, best))
            factors.append(theirs / mine)
            parts.append(f"{mine:.3g} against {theirs:.3g} s per thousand, {best} ({title})")
        idle = (
            ""
            if len(factors) == len(CLOCKS)
            else (
                "10 a second is no overload for the machine of the data sheets; where batches are "
                "as slow as Table 1 says it is one"
            )
        )
        yield Finding(
            f"{demand}: MC-SF grows far slower than the best benchmark",
            f"slopes {printed:.3g} and {rival:.3g}",
            "; ".join(parts),
            all(factor > FAR for factor in factors) if not idle else None,
            idle,
        )
        yield Finding(
            f"{demand}: by this factor",
            f"{rival / printed:.2g}",
            " and ".join(f"{factor:.2g}" for factor in factors),
            all(abs(factor * printed / rival - 1) <= NEAR for factor in factors),
            f"near is within {NEAR:.0%}",
        )
    yield _units(lines)


def _units(lines: "pd.DataFrame") -> Finding:
    """The slopes of the high demand against the paper's own table."""
    printed, rival = (1000 * slope for slope in PRINTED[HIGH])
    table = TABLE_1[MC_BENCHMARK][0]
    rows = _lines(lines, FITTED, HIGH)["mean"]
    mine, theirs = 1000 * float(rows[MC_SF]), 1000 * float(rows.drop([MC_SF, SVF]).min())
    return Finding(
        "high demand: the slopes themselves, seconds a request",
        f"{printed:.0f} and {rival:.0f} s per thousand; but Table 1 has {table:.1f} s at n = 1,000",
        f"{mine:.1f} and {theirs:.1f} s per thousand (clock fitted to Table 1)",
        abs(theirs / rival - 1) <= NEAR,
        f"a line with the slope printed is at {rival:.0f} s where the paper's own table has "
        f"{table:.1f}: a tenth of it, {printed / 10:.1f} and {rival / 10:.0f} s per thousand, is "
        "consistent with the table and near ours",
    )


def _ratio_table(rows: "pd.DataFrame") -> str:
    table = intervals(rows, ["panel", POLICY], "ratio").pivot(
        index=POLICY, columns="panel", values="mean"
    )
    order = dict.fromkeys(rows["panel"])
    lines = [
        (policy, *(float(table.loc[policy, panel]) for panel in order))
        for policy in dict.fromkeys(rows[POLICY])
    ]
    return markdown(("scheduler", *order), lines)


def _draw(frame: "pd.DataFrame", value: str, y_label: str, folder: Path, what: str) -> None:
    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    table = intervals(frame, ["panel", REQUESTS, POLICY], value)
    look = looks(list(table[POLICY].unique()))
    titles = list(table["panel"].unique())
    figure, axes = panels(len(titles), columns=2)
    for ax, title in zip(axes, titles, strict=True):
        rows = table[table["panel"] == title]
        lines(
            rows, REQUESTS, POLICY, ax, look=look, title=title, x_label="requests", y_label=y_label
        )
        ax.set_ylim(bottom=0 if value != "ratio" else 1)
    shared_legend(figure, axes, columns=3)
    write_chart(figure, folder / f"{NAME}-{what}.png")


NAME = "jaillet2025-section-5-2-growth"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "Latency against the number of requests, at high and at low demand",
    "Jaillet et al. (2025), Section 5.2.1, Figure 3, arXiv 2502.07115v5",
    page,
    figures=("mean_latency", "makespan", "evictions", "total_latency", "lower", "outcome"),
)
