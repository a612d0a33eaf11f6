"""TRAIL beside TRAIL-BERT and SJF, by how far the first predictions are off."""

from collections.abc import Iterable

import pandas as pd

from ratiolab.papers.finding import Finding, in_settings, lower
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs

CLOCK, PREDICT, RATE, POLICY = "clock", "workload.predict", "workload.rate", "policy.label"
CLOCKS = {"llama3-8b-a100": "data sheets", "vidur-llama2-70b-2xa100": "Vidur"}
SAME_LOAD = {0.0024: 0.014, 0.0034: 0.020}
"""Rates of Vidur's clock, and those of the same load by the other."""

FIGURES = {"mean_latency": "mean latency", "mean_ttft": "mean TTFT"}
PAIRS = (("TRAIL", "TRAIL-BERT"), ("TRAIL, errors last", "TRAIL-BERT"), ("TRAIL", "SJF"))


def page(frame: pd.DataFrame) -> Page:
    """Compute the findings and the table."""
    rows = frame.assign(**{RATE: frame[RATE].replace(SAME_LOAD)})
    runs = Runs(rows, (CLOCK, PREDICT, RATE, POLICY))
    words, rates = frame[PREDICT].unique().tolist(), runs.levels(RATE)
    lines = {
        (_confusion(predict), title, f"{one} / {other}"): ((clock, predict), one, other)
        for predict in words
        for clock, title in CLOCKS.items()
        for one, other in PAIRS
    }
    columns = {
        f"{name}, {1000 * rate:g} a second": (rate, column)
        for rate in rates
        for column, name in FIGURES.items()
    }

    def cell(line: tuple[tuple[str, str], str, str], column: tuple[float, str]) -> str:
        (where, *systems), (rate, figure) = line, column
        one, other = ((*where, rate, system) for system in systems)
        return f"{runs.ratio(one, other, figure):.3f}"

    table = grid(("confusion", "clock", "systems"), lines, columns, cell)
    slots = {
        "quotients": table,
        "rates": " and ".join(f"{1000 * rate:g}" for rate in rates),
        "slower": " and ".join(f"{1000 * rate:g}" for rate in SAME_LOAD),
    }
    return Page(slots, list(findings(runs, words, rates)))


def findings(runs: Runs, words: list[str], rates: list[float]) -> Iterable[Finding]:
    """Judge what better predictions are said to give, by confusion and rate."""
    for other in ("TRAIL-BERT", "SJF"):
        for predict in words:
            for rate in rates:
                found = {
                    title: runs.ratio(
                        (clock, predict, rate, "TRAIL"),
                        (clock, predict, rate, other),
                        "mean_latency",
                    )
                    for clock, title in CLOCKS.items()
                }
                where = f"{1000 * rate:g} a second, confusion {_confusion(predict)}"
                yield in_settings(
                    f"Figure 6, {where}: TRAIL has lower mean latency than {other}",
                    "lower",
                    found,
                    lower(),
                    said="{:.3f} times".format,
                )


def _confusion(predict: str) -> str:
    return predict.partition(":")[2]
