"""Sections 3.4 to 3.6 of Gogineni, Paul, Stec, Zhang (2024), Figures 3 to 8."""

from collections.abc import Mapping

import pandas as pd

from ratiolab.online.clock import LLAMA3_1B_L4
from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.gogineni2024.experiments import _findings as said
from ratiolab.papers.gogineni2024.experiments._findings import COMPARED
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs
from ratiolab.studies.frames import intervals

SETTING, POLICY = "workload.label", "policy.label"
CLOCK, VIDUR = "clock", "vidur-llama2-70b-2xa100"
SPREAD, RATE, NOISE = "workload.sigma", "workload.rate", "workload.predict"
SHAPE = 3.0
"""Spread of the lengths in Figures 3 to 8, of three tried the one whose factors are nearest to the
paper's; the others are in a table of their own."""

VARIANTS = ("rr, first", "rr-sjf, swap", "rr-sjf, one", "rr-sjf, all")
MEASURES = {"ttft": "time to first token", "latency": "end-to-end latency"}


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    frame = frame.assign(
        noise=frame[NOISE].str.removeprefix("gaussian:").astype(int),
        rate=(1000 * frame[RATE]).round(3),
    )
    vidur = Runs(frame[frame[CLOCK] == VIDUR], [POLICY])
    frame = frame[frame[CLOCK] != VIDUR]
    bursts, noise, rate = (frame[frame[SETTING] == name] for name in ("burst", "noise", "rate"))
    once = bursts[bursts[SPREAD] == SHAPE]
    noise = pd.concat([once, noise]).sort_values("noise", kind="stable")
    burst = Runs(once, [POLICY])
    spreads = sorted(set(bursts[SPREAD]) - {SHAPE}, reverse=True)
    others = {f"spread {s:g}": Runs(bursts[bursts[SPREAD] == s], [POLICY]) for s in spreads}
    judged = {f"spread {SHAPE:g}": burst, **others, f"spread {SHAPE:g}, Vidur's clock": vidur}
    tokens, seconds = (burst.mean(VARIANTS[-1], c) for c in ("prefill_tokens", "makespan"))
    slots = {
        "shape": SHAPE,
        "rules": said,
        "limits": _limit_table(burst),
        "prefill_share": tokens * LLAMA3_1B_L4.prefill / seconds,
        "readings": _reading_table(burst),
        "shapes": _shape_table(judged),
        "settings": list(judged),
    }
    gain = burst.ratio("fcfs", "rr-sjf", "median_ttft")
    findings = [
        *said.at_once(judged),
        *said.with_noise(Runs(noise, [POLICY])),
        *said.at_rates(Runs(rate, [POLICY]), gain),
    ]
    sigma, some = "sigma of the prediction (tokens)", ("fcfs", "sjf", "rr-sjf")
    charts = {
        "burst": _burst_chart(once),
        "noise": _axis_chart(noise, some[1:], "noise", sigma, {5: "ttft", 6: "latency"}),
        "rate": _axis_chart(rate, some, "rate", "requests a second", {7: "latency", 8: "ttft"}),
    }
    return Page(slots, findings, charts)


def _limit_table(burst: Runs) -> str:
    columns = {
        "median TTFT (s), 256": ("{}", "median_ttft"),
        "median without limit": ("{}, no limit", "median_ttft"),
        "largest TTFT (s), 256": ("{}", "p100_ttft"),
        "largest without limit": ("{}, no limit", "p100_ttft"),
        "peak memory without limit (tokens)": ("{}, no limit", "peak_memory"),
    }
    return grid(
        "policy",
        ("fcfs", "sjf", "rr-sjf"),
        columns,
        lambda policy, column: burst.mean(column[0].format(policy), column[1]),
    )


def _reading_table(burst: Runs) -> str:
    columns = {
        "median TTFT (s)": "median_ttft",
        "largest TTFT (s)": "p100_ttft",
        "median E2EL (s)": "median_latency",
        "largest E2EL (s)": "p100_latency",
        "mean memory (tokens)": "mean_memory",
        "evictions": "evictions",
        "tokens prefilled": "prefill_tokens",
    }

    def cell(policy: str, column: str) -> float:
        mean = burst.mean(policy, column)
        return round(mean) if column in ("evictions", "prefill_tokens") else mean

    return grid("policy", (*COMPARED, *VARIANTS), columns, cell)


def _shape_table(judged: Mapping[str, Runs]) -> str:
    columns = {
        "median TTFT, FCFS / RR-SJF (paper: 9)": ("fcfs", "median_ttft"),
        "SJF / RR-SJF (1)": ("sjf", "median_ttft"),
        "largest TTFT, SJF / RR-SJF (5)": ("sjf", "p100_ttft"),
        "RR / RR-SJF (1.5)": ("rr", "p100_ttft"),
        "E2EL, 25th percentile, RR / RR-SJF (9)": ("rr", "p25_latency"),
        "largest E2EL, RR / RR-SJF (below 1)": ("rr", "p100_latency"),
    }
    return grid(
        "lengths, clock",
        judged,
        columns,
        lambda at, column: f"{at.ratio(column[0], 'rr-sjf', column[1]):.2f}",
    )


def _burst_chart(once: pd.DataFrame) -> Panels:
    rows = once[once[POLICY].isin(COMPARED)]
    panels = [
        Panel(
            _boxes(rows, [POLICY], column), f"Figure {figure}: all at once", y_label=f"{name} (s)"
        )
        for figure, (column, name) in enumerate(MEASURES.items(), 3)
    ]
    return Panels("boxes", POLICY, None, panels, COMPARED, legend=None)


def _axis_chart(
    rows: pd.DataFrame,
    policies: tuple[str, ...],
    axis: str,
    x_label: str,
    measures: dict[int, str],
) -> Panels:
    rows = rows[rows[POLICY].isin(policies)]
    panels = [
        Panel(
            _boxes(rows, [axis, POLICY], column),
            f"Figure {figure}: {MEASURES[column]}",
            y_label=f"{MEASURES[column]} (s)",
            log_y=axis == "rate" and column == "ttft",  # from milliseconds to half a minute
        )
        for figure, column in measures.items()
    ]
    return Panels(
        "boxes",
        axis,
        POLICY,
        panels,
        COMPARED,
        columns=1,
        height=2.9,
        size=(7.4, 6.4),
        options={"x_label": x_label},
    )


def _boxes(rows: pd.DataFrame, by: list[str], column: str) -> pd.DataFrame:
    """Return the five figures of a box, and the interval of the median, for every group."""
    table = intervals(rows, by, f"median_{column}").set_index(by)
    means = rows.groupby(by, sort=False)
    for share in (0, 25, 75, 100):
        table[f"p{share}"] = means[f"p{share}_{column}"].mean()
    return table.reset_index()
