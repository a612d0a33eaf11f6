"""TRAIL: Figures 5 to 8 of Shahout et al. (2025), with a model of its classifier."""

from math import exp
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment
from ratiolab.papers.markdown import grid, markdown
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs
from ratiolab.papers.shahout2025.experiments._figures import charts
from ratiolab.papers.shahout2025.experiments._findings import findings
from ratiolab.papers.shahout2025.experiments._runs import (
    BERT,
    DEFAULT,
    EXACT,
    FCFS,
    PAPER_RATE,
    PRINTED,
    SHOWN,
    SIMILAR,
    SPREAD,
    SYSTEM,
    TRAIL,
    Errors,
    by_spread,
    by_system,
    with_c,
    with_spread,
)

if TYPE_CHECKING:
    import pandas as pd


def page(frame: "pd.DataFrame") -> Page:
    """Compute findings, tables and charts."""
    runs = by_system(frame[frame["task"] == "against-bound"])
    refined = frame[(frame["task"] == "refinement") & (frame["workload.label"] == "rate")]
    errors = by_spread(refined)
    queue = frame[frame["task"] == "limited-queue"]
    main, free = (
        runs.at(setting="rate"),
        runs.at(setting="memory", memory=runs.frame["memory"].max()),
    )
    top = main.levels("rate")[-1]
    busy, steady = main.at(rate=top), with_spread(0.0)
    requests = int(runs.frame["requests"].max())
    spans = free.frame.groupby("instance")["mean_latency"].agg(lambda x: x.max() / x.min())
    slots = {
        "median": round(exp(float(main.frame["workload.mu"].iloc[0]))),
        "memory": int(main.frame["memory"].iloc[0]),
        "full": int(free.frame["memory"].max()),
        "spread": SPREAD,
        "default": DEFAULT,
        "similar": SIMILAR,
        "paper_rate": PAPER_RATE,
        "better": errors[SPREAD]["initial_error"] / errors[SPREAD]["filtered_error"],
        "requests": requests,
        "seeds": runs.frame["seed"].nunique(),
        "top": top,
        "latency": busy.ratio(TRAIL, BERT, "mean_latency"),
        "ttft": busy.ratio(TRAIL, BERT, "mean_ttft"),
        "calm": busy.ratio(steady, BERT, "mean_latency"),
        "evicted": {s: busy.mean(s, "evictions") / requests for s in (BERT, TRAIL, steady)},
        "again": {s: busy.mean(s, "wasted_tokens") / requests for s in (BERT, TRAIL, steady)},
        "steady": steady,
        "shared_rate": free.levels("rate")[0],
        "peak": free.frame["peak_memory"].max(),
        "agree": spans.max(),
        "free": busy.ratio(with_c(1.0), TRAIL, "mean_latency"),
        "limited": busy.ratio(with_c(0.2), TRAIL, "mean_latency"),
        "spreads": _spread_table(busy, errors, requests),
        "settings": _setting_table(runs, free.levels("rate")[0]),
        "bounds": _bound_table(runs),
        "load": queue["option.rate"].max(),
        "queue": _queue_table(queue),
    }
    return Page(slots, list(findings(runs, queue, errors)), charts(runs, queue))


def _spread_table(busy: Runs, errors: Errors, requests: int) -> str:
    rows = {("none: TRAIL-BERT", errors[SPREAD]["initial_error"]): BERT}
    for spread in sorted(errors):
        rows[f"{spread:g}", errors[spread]["filtered_error"]] = with_spread(spread)
    rows[f"{SPREAD:g}, printed filter", errors[SPREAD]["printed_error"]] = PRINTED
    columns = {
        "evictions a request": lambda system: busy.mean(system, "evictions") / requests,
        "tokens again a request": lambda system: busy.mean(system, "wasted_tokens") / requests,
        "mean latency": lambda system: f"{busy.ratio(system, BERT, 'mean_latency'):.4g}",
        "mean TTFT": lambda system: f"{busy.ratio(system, BERT, 'mean_ttft'):.4g}",
    }
    corner = ("confusion", "mean absolute error (tokens)")
    return grid(corner, rows, columns, lambda system, column: column(system))


def _setting_table(runs: Runs, rate: float) -> str:
    groups = {"log-normal": ("rate", "memory"), "uniform": ("uniform",), "lmsys": ("lmsys",)}
    rows = {}
    for kind, settings in groups.items():
        places = [(m, s) for s in settings for m in runs.at(setting=s).levels("memory")]
        for memory, setting in sorted(places):
            there = runs.at(setting=setting, rate=rate, memory=memory)
            rows[f"{kind}, {memory:,}", there.mean(TRAIL, "mean_latency")] = there
    columns = {
        "FCFS / TRAIL-BERT": (FCFS, BERT),
        "TRAIL / TRAIL-BERT": (TRAIL, BERT),
        "C = 0.2 / 0.8": (with_c(0.2), TRAIL),
        "C = 1 / 0.8": (with_c(1.0), TRAIL),
    }
    return grid(
        ("lengths, memory (tokens)", "TRAIL, mean latency (s)"),
        rows,
        columns,
        lambda there, pair: f"{there.ratio(*pair, 'mean_latency'):.4g}",
    )


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


def _queue_table(queue: "pd.DataFrame") -> str:
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


EXPERIMENT = Experiment(__name__, page)
