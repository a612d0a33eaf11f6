"""SPRPT where preemption is free: are exact lengths the best predictions? Our own experiment."""

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.markdown import markdown
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs
from ratiolab.studies.frames import intervals

PREDICTIONS = "workload.predict"
WORDS = {
    "exact": "exact",
    "noisy:0.1": "within 10%",
    "noisy:0.3": "within 30%",
    "noisy:0.6": "within 60%",
    "classified:0": "middle of the true bin",
    "classified:0.2": "middle of a bin, spread 0.2",
    "classified:0.65": "middle of a bin, spread 0.65",
}


def page(frame: pd.DataFrame) -> Page:
    """Compute the table, the chart, and what follows from them."""
    full = Runs(frame[frame["policy.c"] == 1], [PREDICTIONS])
    rows = frame.assign(
        quotient=frame["mean_latency"] / frame["seed"].map(full.values("exact", "mean_latency")),
        predictions=frame[PREDICTIONS].map(WORDS),
        system=frame["policy.c"].map(lambda c: f"SPRPT, C = {c:g}" if c == c else "SJF"),
    )
    ratios = {name: full.ratio(key, "exact", "mean_latency") for key, name in WORDS.items()}
    requests = int(frame["requests"].max())
    lines = [
        (
            name,
            f"{ratios[name]:.3f}",
            full.mean(key, "evictions") / requests,
            *(full.mean(key, column) for column in ("mean_memory", "makespan")),
        )
        for key, name in WORDS.items()
    ]
    header = (
        *("predictions", "mean latency / that of exact lengths", "evictions a request"),
        *("mean memory (tokens)", "makespan (rounds)"),
    )
    slots = {
        "requests": requests,
        "predictions": markdown(header, lines),
        "better": [name for name, ratio in ratios.items() if ratio.side < 0],
        "worse": [name for name, ratio in ratios.items() if ratio.side > 0],
        "limits": rows[rows[PREDICTIONS] == "exact"].groupby("system")["quotient"].mean(),
    }
    return Page(slots, charts={"latency": _chart(rows)})


def _chart(rows: pd.DataFrame) -> Panels:
    table = intervals(rows, ["predictions", "system"], "quotient")
    short = table["predictions"].str.replace(", ", ",\n").str.replace("of the ", "of\nthe ")
    options = {"y_label": "mean latency / SPRPT's on exact lengths", "base": 1, "small": 7.5}
    return Panels(
        "grouped_bars",
        "predictions",
        "system",
        [Panel(table.assign(predictions=short))],
        size=(7.2, 4.2),
        options=options,
    )
