"""TRAIL: Figures 5 to 8 of Shahout et al. (2025), with a model of its classifier."""

from collections.abc import Mapping
from math import exp
from typing import Any

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.markdown import grid, markdown
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs
from ratiolab.papers.shahout2025.experiments._findings import (
    BERT,
    DEFAULT,
    EXACT,
    FCFS,
    FIGURES,
    INDEPENDENT,
    LASTING,
    LASTS,
    MODEL,
    MODELS,
    PAPER_RATE,
    PRINTED,
    SHOWN,
    SIMILAR,
    SJF,
    SPREAD,
    SYSTEM,
    TRAIL,
    VIDUR,
    Errors,
    better,
    by_system,
    errors_of,
    findings,
    kind_of,
    of_kind,
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


GROUPS = {
    "log-normal": ("rate", "memory", "device"),
    "uniform": ("uniform",),
    "like LMSYS": ("lmsys",),
    "like LMSYS, variance too": ("lmsys-mixed",),
    "log-normal, Vidur's clock": (VIDUR,),
}
"""Lengths and clock of other settings, and their labels."""


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    runs = by_system(frame[frame["task"] == "against-bound"])
    errors = errors_of(frame[frame["task"] == "refinement"])
    queue = frame[frame["task"] == "limited-queue"]
    main = runs.at(setting="rate")
    top = main.levels("rate")[-1]
    requests = _size(main)
    full = int(runs.frame["memory"].max())
    free = runs.at(setting="memory", memory=full)
    spans = free.frame.groupby(["instance", MODEL])["mean_latency"]
    small = int(main.frame["memory"].iloc[0])
    first = min(rate for rate in main.levels("rate") if rate >= PAPER_RATE)
    there = {"rate": first, MODEL: INDEPENDENT, "memory": small}
    critical = {"long": main.at(**there), "short": runs.at(setting="memory", **there)}
    kinds = {model: runs.at(setting="kinds", **{MODEL: model}) for model in MODELS}
    slots = {
        "median": round(exp(float(main.frame["workload.mu"].iloc[0]))),
        "memory": small,
        "batch": int(runs.frame["policy.batch"].iloc[0]),
        "full": full,
        "spread": SPREAD,
        "lasts": LASTS,
        "default": DEFAULT,
        "similar": SIMILAR,
        "paper_rate": PAPER_RATE,
        "requests": requests,
        "fewer": _size(free),
        "seeds": runs.frame["seed"].nunique(),
        "top": top,
        "better": {model: better(errors, model) for model in MODELS},
        "latency": {
            model: main.at(rate=top, **{MODEL: model}).ratio(TRAIL, BERT, "mean_latency")
            for model in MODELS
        },
        "ttft": {
            model: main.at(rate=top, **{MODEL: model}).ratio(TRAIL, BERT, "mean_ttft")
            for model in MODELS
        },
        "critical": {kind: at.ratio(TRAIL, FCFS, "mean_latency") for kind, at in critical.items()},
        "again": {
            name: critical["long"].mean(name, "wasted_tokens") / requests for name in (FCFS, TRAIL)
        },
        "perfect": kinds[INDEPENDENT].ratio(of_kind((0.0, 0.0, 1.0)), BERT, "mean_latency"),
        "evicted": {
            name: main.at(rate=top, **{MODEL: INDEPENDENT}).mean(name, "evictions") / requests
            for name in (BERT, TRAIL)
        },
        "shared_rate": free.levels("rate")[0],
        "peak": free.frame["peak_memory"].max(),
        "agree": float((spans.max() / spans.min()).max()),
        "device": {
            model: runs.at(setting="device", **{MODEL: model}).ratio(TRAIL, FCFS, "mean_latency")
            for model in MODELS
        },
        "device_c": {
            model: runs.at(setting="device", **{MODEL: model}).ratio(
                with_c(1.0), TRAIL, "mean_latency"
            )
            for model in MODELS
        },
        "kinds": _kind_table(kinds, errors),
        "settings": _setting_table(runs, free.levels("rate")[0]),
        "bounds": _bound_table(runs.at(**{MODEL: INDEPENDENT})),
        "load": queue["option.rate"].max(),
        "queue": _queue_table(queue),
        "independent": INDEPENDENT,
        "lasting": LASTING,
    }
    return Page(slots, list(findings(runs, queue, errors)), charts(runs, queue))


def _size(runs: Runs) -> int:
    """Return how many requests a run has."""
    return int(runs.frame["requests"].max())


def _kind_table(kinds: Mapping[str, Runs], errors: Errors) -> str:
    lines = []
    for model, runs in kinds.items():
        requests = _size(runs)
        ran = {kind: row for kind, row in errors[model].items() if of_kind(kind) in _systems(runs)}
        initial = next(iter(ran.values()))["initial_error"]
        lines.append((model, "TRAIL-BERT", "", "", "", initial, *_costs(runs, BERT, requests)))
        lines += [
            (
                model,
                *(f"{value:g}" for value in kind),
                row["changed_mind"],
                row["filtered_error"],
                *_costs(runs, of_kind(kind), requests),
            )
            for kind, row in ran.items()
        ]
        if PRINTED in _systems(runs):
            row, words = ran[kind_of(model)], (f"{SPREAD:g}, filter as printed", "0", "1")
            errors_of_it = row["changed_mind"], row["printed_error"]
            lines.append((model, *words, *errors_of_it, *_costs(runs, PRINTED, requests)))
    header = (
        *("first predictions for", "confusion", "correlation", "renewed", "changes its mind"),
        *("mean absolute error (tokens)", "evictions a request", "tokens again a request"),
        *("mean latency", "mean TTFT"),
    )
    return markdown(header, lines)


def _systems(runs: Runs) -> list[str]:
    return runs.levels(SYSTEM)


def _costs(runs: Runs, system: str, requests: int) -> tuple[float | str, ...]:
    found = (runs.ratio(system, BERT, figure) for figure in ("mean_latency", "mean_ttft"))
    return (
        runs.mean(system, "evictions") / requests,
        runs.mean(system, "wasted_tokens") / requests,
        *(f"{ratio:.3f}" for ratio in found),
    )


def _setting_table(runs: Runs, rate: float) -> str:
    rows = {}
    for kind, settings in GROUPS.items():
        for setting in settings:
            there = runs.at(setting=setting)
            for memory in there.levels("memory"):
                for each in there.levels("rate"):
                    if setting == "rate" and each != rate:
                        continue
                    for model in MODELS:
                        at = there.at(rate=each, memory=memory, **{MODEL: model})
                        latency = at.mean(TRAIL, "mean_latency")
                        size = f"{_size(at):,}"
                        rows[kind, f"{memory:,}", f"{each:.3g}", size, model, latency] = at
    columns = {
        "FCFS / TRAIL-BERT": (FCFS, BERT),
        "TRAIL / TRAIL-BERT": (TRAIL, BERT),
        "C = 0.2 / 0.8": (with_c(0.2), TRAIL),
        "C = 1 / 0.8": (with_c(1.0), TRAIL),
    }

    def cell(there: Runs, pair: tuple[str, str]) -> str:
        found: Ratio = there.ratio(*pair, "mean_latency")
        return f"{found:.3f}"

    corner = (
        *("lengths", "memory (tokens)", "a second", "requests", "errors"),
        "TRAIL, mean latency (s)",
    )
    return grid(corner, rows, columns, cell)


def _bound_table(runs: Runs) -> str:
    rows = runs.frame.assign(ratio=runs.frame["total_latency"] / runs.frame["lower"])
    settings = Runs(rows, ("setting", SYSTEM))
    columns = {
        f"{rate:g} a second": ("rate", rate) for rate in runs.at(setting="rate").levels("rate")
    }
    return grid(
        "system",
        (*SHOWN, EXACT),
        columns | {"burst": ("burst", None)},
        lambda system, at: (
            settings.mean(("burst", system), "ratio")
            if at[1] is None
            else settings.at(rate=at[1]).mean(("rate", system), "ratio")
        ),
    )


def _queue_table(queue: pd.DataFrame) -> str:
    rows = queue[queue["option.rate"] == queue["option.rate"].max()]
    columns = {
        "response_time": "mean response, simulated",
        "exact_response_time": "corrected lemma",
        "printed_response_time": "printed lemma",
        "mean_age": "mean age, simulated",
        "exact_mean_age": "formula",
        "peak_age": "peak age, simulated",
    }
    means = rows.groupby(["option.law", "option.fraction"], sort=False)[list(columns)].mean()
    lines = [(law, f"{c:g}", *map(float, row)) for (law, c), *row in means.itertuples()]
    return markdown(("predictions", "C", *columns.values()), lines)
