"""Computations of the two pages on policies that do not know the lengths."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ratiolab.papers.finding import Finding, lower
from ratiolab.papers.runs import Ratio, Runs, mean_with_interval

SETTING, POLICY = "workload.label", "policy.label"
RATIO = "ratio"


def with_ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with total latency over the certified lower bound of their instance."""
    return frame.assign(**{RATIO: frame["total_latency"] / frame["lower"]})


def mean(runs: pd.DataFrame, **values: Any) -> Ratio:
    """Return the mean ratio of the runs with these values of some columns, with its interval."""
    for column, value in values.items():
        runs = runs[runs[column] == value]
    return mean_with_interval(runs[RATIO])


def against(runs: Runs, policy: str, others: Sequence[str], words: str) -> list[Finding]:
    """Compare the latencies of a policy and of each other, by seed and setting."""
    found = []
    for other in others:
        ratios = {
            setting: runs.ratio((setting, policy), (setting, other), "total_latency")
            for setting in runs.frame[SETTING].unique()
        }
        said = ", ".join(f"{setting} {ratio}" for setting, ratio in ratios.items())
        statement = f"{policy} has less total latency than {other} {words}"
        found.append(Finding(statement, "below 1", ratios, lower(), said=said))
    return found
