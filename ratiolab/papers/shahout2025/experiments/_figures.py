"""Figures 5 to 8 of TRAIL's experiment."""

from typing import Any

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.runs import Runs
from ratiolab.papers.shahout2025.experiments._runs import (
    BERT,
    DEFAULT,
    FCFS,
    FIGURES,
    INDEPENDENT,
    LASTING,
    MODEL,
    MODELS,
    PAPER_RATE,
    SHOWN,
    SJF,
    SYSTEM,
    TRAIL,
    with_c,
)
from ratiolab.studies.frames import intervals


def charts(runs: Runs, queue: pd.DataFrame) -> dict[str, Panels]:
    """Return the charts of the page."""
    return {
        "rate": _rates(runs.at(setting="rate")),
        "burst": _burst(runs.at(setting="burst")),
        "c": _over_c(runs.at(setting="rate")),
        "queue": _queue(queue),
    }


def _rates(runs: Runs) -> Panels:
    rows = runs.frame[runs.frame[SYSTEM].isin(SHOWN)]
    last = rows[(rows[MODEL] == LASTING) & rows[SYSTEM].isin([BERT, TRAIL])]
    shown = pd.concat(
        [
            rows[rows[MODEL] == INDEPENDENT],
            last.assign(**{SYSTEM: last[SYSTEM] + f", {LASTING} errors"}),
        ]
    )
    panels = [
        Panel(intervals(shown, ["rate", SYSTEM], column), name, y_label=f"{name} (s)")
        for column, name in FIGURES.items()
    ]
    labels = [*SHOWN, *(f"{system}, {LASTING} errors" for system in (BERT, TRAIL))]
    options = {"x_label": "requests a second", "log_y": True}
    return Panels("lines", "rate", SYSTEM, panels, labels, legend=3, options=options)


def _burst(runs: Runs) -> Panels:
    order = [FCFS, SJF, BERT, TRAIL, with_c(1.0)]
    panels = []
    for model in MODELS:
        burst = runs.at(**{MODEL: model}).frame
        burst = burst[burst[SYSTEM].isin(order)]
        title = f"{int(burst['requests'].max()):,} requests at once, {model} errors"
        long = burst.melt([SYSTEM], list(FIGURES), "figure", "seconds").replace({"figure": FIGURES})
        table = intervals(long, ["figure", SYSTEM], "seconds")
        table = table.sort_values(SYSTEM, key=lambda s: s.map(order.index), kind="stable")
        panels.append(Panel(table, title, y_label="seconds"))
    options = {"small": 8}
    return Panels("grouped_bars", "figure", SYSTEM, panels, order, options=options)


def _over_c(runs: Runs) -> Panels:
    """Return Figure 5: figures over C as ratios to the default, paired by instance."""
    panels = []
    for model in MODELS:
        there = runs.at(**{MODEL: model})
        rate = min(rate for rate in there.levels("rate") if rate >= PAPER_RATE)
        for column in ("mean_latency", "mean_ttft"):
            rows = [
                {
                    "c": c,
                    "name": f"{system}, {rate:g} a second",
                    **vars(there.at(rate=rate).ratio(with_c(c, system), system, column)),
                }
                for system in (TRAIL, BERT)
                for c in (0.2, 0.5, 0.8, 1.0)
            ]
            label = f"{FIGURES[column]} / at C = {DEFAULT}"
            panels.append(Panel(pd.DataFrame(rows), f"{model} errors", y_label=label))
    options = {"x_label": "C"}
    return Panels("lines", "c", "name", panels, height=2.9, legend=2, options=options)


def _queue(queue: pd.DataFrame) -> Panels:
    queue = queue.assign(load=queue["option.rate"].map(lambda rate: f"load {rate:g}"))
    figures = {
        "response_time": "mean response time",
        "mean_age": "mean memory",
        "peak_age": "peak memory",
    }
    panels = []
    for column, name in figures.items():
        for law in ("perfect", "exponential"):
            shown = queue[queue["option.law"] == law]
            table = intervals(shown, ["option.fraction", "load"], column)
            options: dict[str, Any] = {"y_label": f"{name} (service times)"}
            if column == "peak_age":  # the intervals of all loads overlap
                options["whiskers"] = True
                if table["mean"].nunique() == 1:
                    text = "all loads and all C alike: the longest job alone"
                    options["note"] = text
            panels.append(Panel(table, f"{law} predictions", **options))
    common = {"x_label": "C"}
    return Panels("lines", "option.fraction", "load", panels, height=2.9, options=common)
