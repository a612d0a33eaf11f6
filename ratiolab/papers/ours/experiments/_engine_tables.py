"""Tables and charts of the pages on serving engines."""

from typing import Any

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.markdown import grid
from ratiolab.papers.ours.experiments._engine_runs import (
    CHUNKS,
    CLOCK,
    FIRST,
    LADDER,
    LOAD,
    ORDERS,
    POLICY,
    SARATHI,
    SHORTEST,
    VICTIMS,
    VLLM,
    WHOLE,
    WORKLOAD,
    Engines,
    short,
)
from ratiolab.studies.frames import intervals

FIGURES = {
    "mean_latency": "mean latency",
    "mean_ttft": "mean time to first token",
    "p99_tpot": "P99 of time per output token",
}
"""Figures that chunks are about."""


def victims_table(engines: Engines) -> str:
    """Return mean latencies by victim over vLLM's."""
    return grid(
        "setting",
        engines.settings.keys(),
        {words: p for p, words in engines.there(VICTIMS).items() if p != VLLM},
        lambda s, p: f"{engines.ratio(s, p, VLLM, 'mean_latency')}",
    )


def tax_table(engines: Engines) -> str:
    """Return the recompute tax by setting and scheduler."""

    def cell(setting: str, column: str) -> str:
        if column == "evictions":
            return f"{engines.figure(setting, VLLM, 'evictions').mean:.0f}"
        return f"{engines.figure(setting, column, 'recompute_tax').mean:.1%}"

    columns = {"evictions (vLLM)": "evictions"} | {
        words: p for p, words in engines.there(VICTIMS).items()
    }
    columns |= {"shortest predicted first": SHORTEST, "lengths known": FIRST}
    return grid("setting", engines.settings.keys(), columns, cell)


def orders_table(engines: Engines) -> str:
    """Return mean and longest latencies by order over vLLM's."""

    def cell(setting: str, policy: str) -> str:
        mean, longest = (
            engines.ratio(setting, policy, VLLM, f"{figure}_latency").mean
            for figure in ("mean", "max")
        )
        return f"{mean:.2f}, {longest:.2f}"

    return grid(
        "setting",
        engines.settings.keys(),
        {words: policy for policy, words in engines.there(ORDERS).items()},
        cell,
    )


def chunks_table(engines: Engines) -> str:
    """Return figures by chunk size over the default's."""
    sizes = CHUNKS | {SARATHI: 512}
    return grid(
        ("setting", "figure"),
        {(s, words): (s, metric) for s in engines.settings for metric, words in FIGURES.items()},
        {_chunk(p, size): p for p, size in engines.there(sizes).items() if p != VLLM},
        lambda row, policy: f"{engines.ratio(row[0], policy, VLLM, row[1])}",
    )


def _chunk(policy: str, size: int) -> str:
    return "whole" if policy == WHOLE else "Sarathi (512)" if policy == SARATHI else str(size)


def ladder_table(engines: Engines) -> str:
    """Return mean latencies from vLLM down to the bound."""
    return grid(
        "mean latency, s",
        {"vLLM": VLLM} | {words: policy for policy, words in engines.there(LADDER).items()},
        engines.settings.keys(),
        lambda policy, s: float(engines.figure(s, policy, "mean_latency").mean),
    )


def closed_table(engines: Engines) -> str:
    """Return shares of the way from vLLM down to the bound, of means over the seeds."""

    def cell(policy: str, setting: str) -> str:
        top, at, bottom = (
            engines.figure(setting, p, "mean_latency").mean for p in (VLLM, policy, "bound")
        )
        return f"{(top - at) / (top - bottom):.0%}"

    rows = {words: policy for policy, words in engines.there(LADDER).items() if policy != "bound"}
    return grid("share of the way from vLLM to the bound", rows, engines.settings.keys(), cell)


def victims_chart(engines: Engines) -> Panels:
    """Return the chart of tax and latency by victim."""
    frame = engines.frame[engines.frame[POLICY].isin(VICTIMS)]
    frame = frame.assign(
        victim=frame[POLICY].map(VICTIMS),
        tax=100 * frame["recompute_tax"],
        setting=_engine_and_load(frame),
        ratio=engines.relative(frame, "mean_latency"),
    )
    by = ["setting", "victim"]
    workloads = {name: frame[frame[WORKLOAD] == name] for name in frame[WORKLOAD].unique()}
    figures = {"tax": "recompute tax (%)", "ratio": "mean latency / vLLM's"}
    panels = [
        Panel(intervals(rows, by, figure), f"{name}: {words}", base=float(figure == "ratio"))
        for figure, words in figures.items()
        for name, rows in workloads.items()
    ]
    options = {"small": 8}
    return _bars(engines, by, VICTIMS, panels, legend=4, size=(9, 6), options=options)


def ladder_chart(engines: Engines) -> Panels:
    """Return the chart of the rungs down to the bound."""
    frame = engines.runs.frame
    frame = frame[frame[POLICY].isin(LADDER)]
    frame = frame.assign(
        rung=frame[POLICY].map(LADDER),
        setting=frame[WORKLOAD] + ", " + frame[CLOCK].map(short),
        ratio=engines.relative(frame, "mean_latency"),
    )
    order = {rung: place for place, rung in enumerate(LADDER.values())}
    frame = frame.sort_values("rung", key=lambda c: c.map(order), kind="stable")
    by = ["setting", "rung"]
    panels = [
        Panel(
            intervals(frame[frame[LOAD] == load], by, "ratio"),
            f"mean latency / vLLM's, load {load:g}",
            base=1.0,
        )
        for load in sorted(frame[LOAD].unique())
    ]
    return _bars(engines, by, LADDER, panels, columns=1, legend=2, size=(9, 8))


def chunks_chart(engines: Engines) -> Panels:
    """Return the chart of figures by chunk size over the default's."""
    frame = engines.frame[engines.frame[POLICY].isin(CHUNKS)]
    frame = frame.assign(
        size=frame[POLICY].map(CHUNKS),
        setting=frame[WORKLOAD] + ", " + _engine_and_load(frame),
    )
    panels = [
        Panel(
            intervals(frame.assign(ratio=engines.relative(frame, m)), ["setting", "size"], "ratio"),
            f"{words} / with 2,048",
        )
        for m, words in FIGURES.items()
    ]
    options = {"x_label": "tokens that a batch computes at most", "log_x": True}
    return Panels(
        "lines",
        "size",
        "setting",
        panels,
        list(engines.settings),
        columns=3,
        legend=4,
        options={**options, "reference": 1.0},
    )


def _bars(
    engines: Engines, by: list[str], names: dict[str, str], panels: list[Panel], **layout: Any
) -> Panels:
    """Return panels of bars: a group for each setting, a bar for each policy that has a name."""
    setting, bar = by
    shown = list(engines.there(names).values())
    return Panels("grouped_bars", setting, bar, panels, shown, **layout)


def _engine_and_load(frame: pd.DataFrame) -> pd.Series:
    return frame[CLOCK].map(short) + ", load " + frame[LOAD].map("{:g}".format)
