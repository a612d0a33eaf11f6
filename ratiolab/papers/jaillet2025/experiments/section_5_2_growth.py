"""Section 5.2 of Jaillet et al. (2025), Figure 3: average latency as more requests come."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, at_least, in_settings, inside
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    CLOCK,
    CLOCKS,
    FITTED,
    HIGH,
    LOW,
    MC_BENCHMARK,
    MC_SF,
    POLICY,
    REQUESTS,
    SETTING,
    SVF,
    clocks,
)
from ratiolab.papers.jaillet2025.experiments.section_5_2 import PRINTED as TABLE_1
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs
from ratiolab.studies.frames import intervals

PRINTED = {HIGH: (1 / 6, 1 / 2), LOW: (1 / 800, 1 / 100)}
"""Slopes of MC-SF and of the best benchmark."""

LINEAR = 0.98
"""Latency grows linearly: R^2 of a line through the averages is at least this."""

GROWS = 0.8
"""It grows at all: R^2 is at least this for some scheduler."""

FAR = 2.0
"""Far slower: at least by this factor."""

NEAR = 1 / 3
"""Two factors or slopes are near: their relative difference is at most this."""


COINCIDE = 0.01
"""Lines that differ by less are drawn as one."""

ALL = "all schedulers"


def page(frame: pd.DataFrame) -> Page:
    """Compute latency over n, slopes, and certified bounds."""
    frame = frame.assign(
        ratio=frame["total_latency"] / frame["lower"],
        panel=[f"{CLOCKS[c]}: {s}" for c, s in zip(frame[CLOCK], frame[SETTING], strict=True)],
    )
    lines, most = slopes(frame), int(frame[REQUESTS].max())
    largest = Runs(frame[frame[REQUESTS] == most], ("panel", POLICY))
    slots = {
        "clocks": clocks(),
        "fewest": int(frame[REQUESTS].min()),
        "most": most,
        "slopes": _slope_table(lines),
        "ratios": grid(
            "scheduler",
            frame[POLICY].unique(),
            frame["panel"].unique(),
            lambda policy, panel: largest.mean((panel, policy), "ratio"),
        ),
    }
    charts = {
        "latency": _chart(frame, "mean_latency", "mean latency (s)", 0),
        "ratio": _chart(frame, "ratio", "total latency / lower bound", 1),
    }
    return Page(slots, list(findings(lines)), charts)


def slopes(frame: pd.DataFrame) -> pd.DataFrame:
    """Return by clock, demand and scheduler mean, low, high of the slope (s a request), and R^2."""
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


def _lines(lines: pd.DataFrame, clock: str, demand: str) -> pd.DataFrame:
    """Return the slopes of one panel by scheduler."""
    return lines[(lines[CLOCK] == clock) & (lines[SETTING] == demand)].set_index(POLICY)


def _slope_table(lines: pd.DataFrame) -> str:
    def cell(policy: str, rows: pd.DataFrame) -> str:
        mean, low, high, r2 = (float(rows[name][policy]) for name in ("mean", "low", "high", "r2"))
        return f"{1000 * mean:.3g} [{1000 * low:.3g}, {1000 * high:.3g}], {r2:.3f}"

    columns = {
        f"{title}: {demand}": _lines(lines, clock, demand)
        for (clock, title), demand in product(CLOCKS.items(), PRINTED)
    }
    return grid("scheduler", lines[POLICY].unique(), columns, cell)


def findings(lines: pd.DataFrame) -> Iterable[Finding]:
    """Compare slopes with those of the paper, at both demands."""
    r2 = float(lines[lines[SETTING] == HIGH]["r2"].min())
    yield Finding(
        "high demand: latency increases linearly for all algorithms",
        "linear",
        r2,
        at_least(LINEAR),
        said=f"R² at least {r2:.4f}",
    )
    for demand, (printed, rival) in PRINTED.items():
        factors, parts = {}, []
        for clock, title in CLOCKS.items():
            rows = _lines(lines, clock, demand)
            others = rows.drop([MC_SF, SVF])
            best = str(others["mean"].idxmin())
            if (fit := float(others["r2"].max())) < GROWS:
                parts.append(f"no line: R² at most {fit:.2f} ({title})")
                continue
            factors[title] = [_quotient(rows, best, MC_SF)]
            mine, theirs = (1000 * float(rows["mean"][key]) for key in (MC_SF, best))
            parts.append(f"{mine:.3g} against {theirs:.3g} s per thousand, {best} ({title})")
        idle = len(factors) < len(CLOCKS)
        far = in_settings(
            f"{demand}: MC-SF grows far slower than the best benchmark",
            f"slopes {printed:.3g} and {rival:.3g}",
            factors,
            inside(FAR, inf),
            "10 a second is no overload for the faster machines; where batches are as slow as "
            "Table 1 says it is one"
            if idle
            else "",
            said="; ".join(parts),
        )
        yield replace(far, rule=None if idle else far.rule)
        yield in_settings(
            f"{demand}: by this factor",
            f"{rival / printed:.2g}",
            factors,
            inside(rival / printed * (1 - NEAR), rival / printed * (1 + NEAR)),
            f"near is within {NEAR:.0%}",
            said=" and ".join(f"{each:.2g}" for (each,) in factors.values()),
        )
    yield _units(lines)


def _quotient(rows: pd.DataFrame, one: str, other: str) -> Ratio:
    """Return the quotient of two means with intervals, as wide as both allow."""
    at = {name: rows[name] for name in ("mean", "low", "high")}
    return Ratio(
        float(at["mean"][one] / at["mean"][other]),
        float(at["low"][one] / at["high"][other]),
        float(at["high"][one] / at["low"][other]),
    )


def _units(lines: pd.DataFrame) -> Finding:
    """Compare the slopes of the high demand with the paper's own table."""
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


def _chart(frame: pd.DataFrame, value: str, y_label: str, bottom: float) -> Panels:
    table = intervals(frame, ["panel", REQUESTS, POLICY], value)
    panels = []
    for clock, demand in product(CLOCKS.values(), PRINTED):
        title = f"{clock}: {demand}"
        rows = table[table["panel"] == title]
        means = rows.groupby(REQUESTS)["mean"]
        spread = float((means.max() / means.min() - 1).max())
        options: dict[str, Any] = {"bottom": bottom}
        if spread < COINCIDE:
            first = rows[rows[POLICY] == rows[POLICY].iloc[0]]
            rows = first.assign(**{POLICY: ALL})
            options["note"] = f"no two schedulers differ by more than {spread:.2%}"
        panels.append(Panel(rows, title, **options))
    common = {"x_label": "requests", "y_label": y_label}
    labels = list(table[POLICY].unique())
    looks = {ALL: {"color": "0.4", "marker": "o", "ls": "-"}}
    return Panels("lines", REQUESTS, POLICY, panels, labels, looks, legend=3, options=common)
