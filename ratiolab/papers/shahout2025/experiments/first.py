"""TRAIL beside TRAIL-BERT and SJF, by how far the first predictions are off."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment
from ratiolab.papers.finding import Finding, lower
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

PREDICT, RATE, POLICY = "workload.predict", "workload.rate", "policy.label"
FIGURES = {"mean_latency": "mean latency", "mean_ttft": "mean TTFT"}
PAIRS = (("TRAIL", "TRAIL-BERT"), ("TRAIL, errors last", "TRAIL-BERT"), ("TRAIL", "SJF"))


def page(frame: "pd.DataFrame") -> Page:
    """Compute the findings and the table."""
    runs = Runs(frame, (PREDICT, RATE, POLICY))
    words, rates = frame[PREDICT].unique().tolist(), runs.levels(RATE)
    rows = {
        (_confusion(predict), f"{one} / {other}"): (predict, one, other)
        for predict in words
        for one, other in PAIRS
    }
    columns = {
        f"{name}, {1000 * rate:g} a second": (rate, column)
        for rate in rates
        for column, name in FIGURES.items()
    }
    table = grid(
        ("confusion", "systems"),
        rows,
        columns,
        lambda row, column: (
            f"{runs.ratio((row[0], column[0], row[1]), (row[0], column[0], row[2]), column[1]):.3f}"
        ),
    )
    return Page({"quotients": table}, list(findings(runs, words, rates)))


def findings(runs: Runs, words: list[str], rates: list[float]) -> Iterable[Finding]:
    """Judge what better predictions are said to give, by confusion and rate."""
    for other in ("TRAIL-BERT", "SJF"):
        for predict in words:
            for rate in rates:
                place, base = ((predict, rate, policy) for policy in ("TRAIL", other))
                ratio = runs.ratio(place, base, "mean_latency")
                where = f"{1000 * rate:g} a second, confusion {_confusion(predict)}"
                yield Finding(
                    f"Figure 6, {where}: TRAIL has lower mean latency than {other}",
                    "lower",
                    ratio,
                    lower(),
                    said=f"{ratio:.3f} times",
                )


def _confusion(predict: str) -> str:
    return predict.partition(":")[2]


EXPERIMENT = Experiment(__name__, page)
