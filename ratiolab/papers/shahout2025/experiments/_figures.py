"""Figures 5 to 8 of TRAIL's experiment."""

from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.shahout2025.experiments._runs import (
    BERT,
    DEFAULT,
    FCFS,
    FIGURES,
    PAPER_RATE,
    RATE,
    SHOWN,
    SJF,
    SYSTEM,
    TRAIL,
    Runs,
    with_c,
)
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd


def draw(runs: Runs, queue: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import (
        grouped_bars,
        lines,
        looks,
        panels,
        shared_legend,
        write_chart,
    )

    rate = runs.at("rate").rows
    look = looks(list(SHOWN))
    figure, axes = panels(4, columns=2)
    shown = rate[rate[SYSTEM].isin(SHOWN)]
    for ax, (column, name) in zip(axes, FIGURES.items(), strict=True):
        table = intervals(shown, [RATE, SYSTEM], column)
        x, y = "requests a second", f"{name} (s)"
        lines(table, RATE, SYSTEM, ax, look=look, title=name, x_label=x, y_label=y, log_y=True)
    shared_legend(figure, axes, columns=3)
    write_chart(figure, folder / "shahout2025-rate.png")

    figure, (ax,) = panels(1)
    figure.set_size_inches(7.2, 3.8)
    burst = runs.at("burst").rows
    burst = burst[burst[SYSTEM].isin((*SHOWN[:4], with_c(1.0)))]
    long = burst.melt([SYSTEM], list(FIGURES), "figure", "seconds").replace({"figure": FIGURES})
    table = intervals(long, ["figure", SYSTEM], "seconds")
    order = [FCFS, SJF, BERT, TRAIL, with_c(1.0)]
    table = table.sort_values(SYSTEM, key=lambda s: s.map(order.index), kind="stable")
    grouped_bars(
        table, "figure", SYSTEM, ax, look=looks(order), y_label="seconds", title="all at once"
    )
    shared_legend(figure, [ax])
    write_chart(figure, folder / "shahout2025-burst.png")

    _draw_c(runs, folder)
    figure, axes = panels(6, columns=2, height=2.9)
    named = queue.assign(load=queue["option.rate"].map(lambda r: f"load {r:g}"))
    places = iter(axes)
    shown_figures = {
        "response_time": "mean response time",
        "mean_age": "mean memory",
        "peak_age": "peak memory",
    }
    for column, name in shown_figures.items():
        for law in ("perfect", "exponential"):
            rows = named[named["option.law"] == law]
            table = intervals(rows, ["option.fraction", "load"], column)
            what, y = f"{law} predictions", f"{name} (service times)"
            lines(
                table, "option.fraction", "load", next(places), title=what, x_label="C", y_label=y
            )
    shared_legend(figure, axes)
    write_chart(figure, folder / "shahout2025-queue.png")


def _draw_c(runs: Runs, folder: Path) -> None:
    """Figure 5: figures over C as quotients to the default, paired by seed."""
    import pandas as pd

    from ratiolab.report.plots.experiments import lines, panels, shared_legend, write_chart

    rates = [r for r in runs.at("rate").rates if r >= PAPER_RATE]
    figure, axes = panels(2, columns=2)
    for ax, column in zip(axes, ("mean_latency", "mean_ttft"), strict=True):
        rows = []
        for system in (TRAIL, BERT):
            for r in dict.fromkeys((rates[0], rates[-1])):
                for c in (0.0, 0.2, 0.5, 0.8, 1.0):
                    q = runs.at("rate", rate=r).over(with_c(c, system), system, column)
                    rows.append((c, f"{system}, {r:g} a second", q.mean, q.low, q.high))
        table = pd.DataFrame(rows, columns=["c", "name", "mean", "low", "high"])
        y = f"{FIGURES[column]} / that at C = {DEFAULT}"
        lines(table, "c", "name", ax, title=FIGURES[column], x_label="C", y_label=y)
    shared_legend(figure, axes, columns=2)
    write_chart(figure, folder / "shahout2025-c.png")
