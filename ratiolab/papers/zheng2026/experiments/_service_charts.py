"""Figures of TIE's experiment under a clock."""

from itertools import product

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.runs import Runs
from ratiolab.papers.zheng2026.experiments._service_findings import (
    ABLATED,
    CHANGES,
    COMPARED,
    FAST,
    FULL,
    LABEL,
    MEAN,
    P90,
    PAPER,
    PLAIN,
    POLICY,
    PREDICT,
    QUALITY,
    RATE,
    RATES,
    at,
)
from ratiolab.studies.frames import intervals


def charts(runs: Runs, noises: dict[float, str]) -> dict[str, Panels]:
    """Return the charts of the page, by the first clock."""
    frame = runs.frame
    return {
        "rates": _rates_chart(frame[frame[LABEL] == RATES]),
        "quality": _quality_chart(frame[frame[LABEL] == QUALITY], runs, noises),
        "ablation": _ablation_chart(runs),
    }


def _rates_chart(load: pd.DataFrame) -> Panels:
    drawn = (*COMPARED, PLAIN)
    load = load[load[POLICY].isin(drawn)].assign(rps=1000 * load[RATE])
    titles = {
        MEAN: "latency per token (s)",
        P90: "P90 latency per token (s)",
        "mean_latency": "mean latency (s)",
        "p99_latency": "P99 latency (s)",
    }
    panels = [
        Panel(intervals(load, ["rps", POLICY], metric), title, log_y=metric in (MEAN, P90))
        for metric, title in titles.items()
    ]
    options = {"x_label": "requests a second"}
    return Panels("lines", "rps", POLICY, panels, drawn, height=3.0, options=options)


def _quality_chart(quality: pd.DataFrame, runs: Runs, noises: dict[float, str]) -> Panels:
    kept = quality[quality[PREDICT].isin(noises.values()) & quality[POLICY].isin(COMPARED)]
    kept = kept.assign(noise=kept[PREDICT].map({words: n for n, words in noises.items()}))
    online = intervals(kept[kept[RATE] == FAST], ["noise", POLICY], MEAN)
    marks = {
        f"{PAPER[name]:.2f} times TIE: the paper's {name}": (round(PAPER[name], 2), colour)
        for name, colour in (("SSJF", "black"), ("LTR", "0.55"))
    }
    base = runs.mean(at("tie"), MEAN)
    level = pd.DataFrame(
        [
            {"noise": noise, POLICY: name, **dict.fromkeys(("mean", "low", "high"), factor * base)}
            for (name, (factor, _)), noise in product(marks.items(), noises)
        ]
    )
    return Panels(
        "lines",
        "noise",
        POLICY,
        [
            Panel(pd.concat([online, level]), "100/s: latency per token (s)"),
        ],
        (*COMPARED, *marks),
        {name: {"color": colour, "ls": ":"} for name, (_, colour) in marks.items()},
        legend=2,
        options={"x_label": "noise of the predicted log medians"},
    )


def _ablation_chart(runs: Runs) -> Panels:
    panels = []
    titles = ("latency per token, 100/s", "P90 latency per token, 100/s", "offline time")
    for number, (title, (_, metric, rate)) in enumerate(zip(titles, ABLATED, strict=True)):
        rows = []
        for change in CHANGES:
            paper = change.paper[number] / FULL[number]
            place = at(change.policy, rate=rate, predict=change.predict)
            found = runs.ratio(place, at("tie", rate=rate), metric)
            rows += [
                {"x": change.short, "by": "paper", "mean": paper, "low": paper, "high": paper},
                {"x": change.short, "by": "here", **vars(found)},
            ]
        panels.append(Panel(pd.DataFrame(rows), title))
    options = {"x_label": "ratio to full TIE", "reference": 1.0}
    return Panels("dots", "x", "by", panels, columns=3, height=2.4, options=options)
