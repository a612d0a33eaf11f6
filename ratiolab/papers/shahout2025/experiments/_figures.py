"""Figures 5 to 8 of TRAIL's experiment."""

from typing import TYPE_CHECKING, Any

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.runs import Runs
from ratiolab.papers.shahout2025.experiments._runs import (
    BERT,
    DEFAULT,
    FCFS,
    FIGURES,
    PAPER_RATE,
    SHOWN,
    SJF,
    SYSTEM,
    TRAIL,
    with_c,
)
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd


def charts(runs: Runs, queue: "pd.DataFrame") -> dict[str, Panels]:
    """Return the charts of the page."""
    return {
        "rate": _rates(runs.at(setting="rate").frame),
        "burst": _burst(runs.at(setting="burst").frame),
        "c": _over_c(runs.at(setting="rate")),
        "queue": _queue(queue),
    }


def _rates(rate: "pd.DataFrame") -> Panels:
    shown = rate[rate[SYSTEM].isin(SHOWN)]
    panels = [
        Panel(intervals(shown, ["rate", SYSTEM], column), name, y_label=f"{name} (s)")
        for column, name in FIGURES.items()
    ]
    options = {"x_label": "requests a second", "log_y": True}
    return Panels("lines", "rate", SYSTEM, panels, SHOWN, legend=3, options=options)


def _burst(burst: "pd.DataFrame") -> Panels:
    order = [FCFS, SJF, BERT, TRAIL, with_c(1.0)]
    burst = burst[burst[SYSTEM].isin(order)]
    long = burst.melt([SYSTEM], list(FIGURES), "figure", "seconds").replace({"figure": FIGURES})
    table = intervals(long, ["figure", SYSTEM], "seconds")
    table = table.sort_values(SYSTEM, key=lambda s: s.map(order.index), kind="stable")
    panel = Panel(table, "all at once", y_label="seconds")
    return Panels("grouped_bars", "figure", SYSTEM, [panel], order, size=(7.2, 3.8))


def _over_c(runs: Runs) -> Panels:
    """Return Figure 5: figures over C as ratios to the default, paired by instance."""
    import pandas as pd

    rates = [rate for rate in runs.levels("rate") if rate >= PAPER_RATE]
    panels = []
    for column in ("mean_latency", "mean_ttft"):
        rows = [
            {
                "c": c,
                "name": f"{system}, {rate:g} a second",
                **vars(runs.at(rate=rate).ratio(with_c(c, system), system, column)),
            }
            for system in (TRAIL, BERT)
            for rate in dict.fromkeys((rates[0], rates[-1]))
            for c in (0.0, 0.2, 0.5, 0.8, 1.0)
        ]
        name = FIGURES[column]
        panels.append(Panel(pd.DataFrame(rows), name, y_label=f"{name} / that at C = {DEFAULT}"))
    return Panels("lines", "c", "name", panels, legend=2, options={"x_label": "C"})


def _queue(queue: "pd.DataFrame") -> Panels:
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
                    options["notes"] = [(0.03, 0.93, text)]
            panels.append(Panel(table, f"{law} predictions", **options))
    common = {"x_label": "C"}
    return Panels("lines", "option.fraction", "load", panels, height=2.9, options=common)
