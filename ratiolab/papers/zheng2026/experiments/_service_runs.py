"""TIE's runs under a clock: where they stand in the study, and the paper's figures."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import pandas as pd

from ratiolab.papers.runs import Place, Runs

LABEL, RATE, PREDICT, POLICY = "workload.label", "workload.rate", "workload.predict", "policy.label"
RATES, QUALITY = "rates", "quality"
PUBLISHED, VIDUR = "llama3-8b-a100", "vidur-llama2-70b-2xa100"
FAST, SLOW, OFFLINE = 0.1, 0.03, 0.0
SAME_LOAD = {0.0028: 0.015, 0.0056: SLOW, 0.0112: 0.06, 0.0186: FAST}
"""Rates of Vidur's clock, and those of the same load by the other."""

MISJUDGED, NOISE = "log-t:20+misjudged:", 0.34
BASE = f"{MISJUDGED}{NOISE}"
NORMAL, FREE = (BASE.replace("log-t", family) for family in ("log-normal", "log-t-nu"))
MEAN, P90 = "mean_per_token", "p90_per_token"
HALF = "median_latency"
"""Of requests that are all there at time 0: the time by which half of them are done."""

ONE, THREE = "tie, beta 0.1", "tie, beta 0.3"
PLAIN = "tie, beta 0.3, no decay"
COMPARED = ("fcfs", "ssjf", "sept", "tie")

NEAR = 0.25
"""A factor is reproduced when ours is within a quarter of the paper's."""

SAME = 0.05
"""Factors so near to 1 say that there is no difference."""

METRICS = {
    "mean per token": MEAN,
    "P90 per token": P90,
    "mean latency": "mean_latency",
    "P99 latency": "p99_latency",
    "mean first token": "mean_ttft",
}
PAPER = {"LTR": 1.55 / 0.67, "SSJF": 1.95 / 0.67}
"""Latency per token of the paper's other policies that use predictions, over TIE's."""

FULL = (0.67, 0.96, 98.12)
"""The paper's full TIE: mean and P90 latency per token, time of 3,000 samples offline, seconds."""


class Change(NamedTuple):
    """A row of the paper's ablation: its three figures, and what differs in our runs."""

    name: str
    short: str
    paper: tuple[float, float, float]
    policy: str = "tie"
    predict: str = BASE


CHANGES = (
    Change("SEPT, no CVaR", "SEPT", (0.75, 1.21, 108.51), "sept"),
    Change("beta 0.1, fixed", "β 0.1", (0.72, 1.15, 104.76), ONE),
    Change("beta 0.3, fixed", "β 0.3", (0.71, 1.18, 105.04), THREE),
    Change("log-normal for log-t", "log-\nnormal", (1.63, 3.37, 142.21), predict=NORMAL),
    Change("free nu", "free ν", (0.69, 1.02, 97.70), predict=FREE),
)
ABLATED = (("mean", MEAN, FAST), ("P90", P90, FAST), ("time", HALF, OFFLINE))
"""Figures of the ablation: their names, and where ours are."""


def at(policy: str, *, rate: float = FAST, predict: str = BASE, label: str = QUALITY) -> Place:
    """Return a place, by default in the middle of the study."""
    return label, rate, predict, policy


Clocks: TypeAlias = Mapping[str, Runs]
"""Runs by clock, at the rates of the first one's load."""


def by_clock(frame: pd.DataFrame) -> Clocks:
    """Return the runs under each clock, by label, rate, predictions and policy."""
    parts = frame[LABEL].str.partition(",")[0]  # of one table
    rows = frame.assign(**{LABEL: parts, RATE: frame[RATE].replace(SAME_LOAD)})
    return {
        clock: Runs(rows[rows["clock"] == clock], (LABEL, RATE, PREDICT, POLICY))
        for clock in (PUBLISHED, VIDUR)
    }


def noises_of(frame: pd.DataFrame) -> dict[float, str]:
    """Return the predictions that are misjudged more and more, by the noise."""
    words = frame.loc[frame[LABEL] == QUALITY, PREDICT].unique()
    found = {float(w.removeprefix(MISJUDGED)): w for w in words if w.startswith(MISJUDGED)}
    return dict(sorted(({0.0: "log-t:20"} | found).items()))
