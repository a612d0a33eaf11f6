"""TIE's runs under a clock, and every factor of the paper beside those found, under both."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from ratiolab.papers.finding import Finding, in_settings, least, same_factor
from ratiolab.papers.runs import Place, Ratio, Runs

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
    Change("log-normal for log-t", "log-normal", (1.63, 3.37, 142.21), predict=NORMAL),
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


def findings(clocks: Clocks) -> Iterable[Finding]:
    """Compare every factor of the paper with ours."""
    why = "with equal predictions; see below for worse ones"

    def over_tie(
        statement: str, paper: float, place: Place, metric: str, rate: float, otherwise: str = ""
    ) -> Finding:
        return _factor(clocks, statement, paper, (place, at("tie", rate=rate), metric), otherwise)

    ssjf, fcfs, online = at("ssjf"), at("fcfs"), f"{1000 * FAST:.0f}/s: "
    yield over_tie(f"{online}FCFS / TIE, mean per token", 3.17 / 0.67, fcfs, MEAN, FAST)
    yield over_tie(f"{online}SSJF / TIE", PAPER["SSJF"], ssjf, MEAN, FAST, why)
    yield over_tie(f"{online}LTR / TIE", PAPER["LTR"], ssjf, MEAN, FAST, why)
    yield _factor(clocks, f"{online}FCFS / SSJF", 3.17 / 1.95, (fcfs, ssjf, MEAN))
    large = f"{online}FCFS / TIE, P90 (the paper's is of a 70B model)"
    yield over_tie(large, 16.13 / 4.05, fcfs, P90, FAST)
    yield over_tie(f"{online}SSJF / TIE, P90 (70B)", 8.24 / 4.05, ssjf, P90, FAST, why)
    yield _growth(clocks)
    for change in CHANGES:
        for (name, metric, rate), ours, full in zip(ABLATED, change.paper, FULL, strict=True):
            place = at(change.policy, rate=rate, predict=change.predict)
            yield over_tie(f"Ablation, {change.name}: {name}", ours / full, place, metric, rate)
    pool = at("ssjf", rate=OFFLINE)
    yield over_tie("Offline: LTR / TIE, time", 139.5 / 98.1, pool, HALF, OFFLINE, why)


def _factor(
    clocks: Clocks,
    statement: str,
    paper: float,
    compared: tuple[Place, Place, str],
    otherwise: str = "",
) -> Finding:
    """Judge a factor under every clock."""
    rule = same_factor(NEAR, SAME)
    found: Mapping[str, Ratio] = {clock: runs.ratio(*compared) for clock, runs in clocks.items()}
    reasons = dict.fromkeys(rule.reason(ratio, paper) for ratio in found.values())
    cause = otherwise or "; ".join(filter(None, reasons))
    finding = in_settings(statement, paper, found, rule, otherwise=cause)
    return replace(finding, paper=rule.printed(paper))


def _growth(clocks: Clocks) -> Finding:
    """Say whose latency grows least with the rate, under every clock."""
    found: dict[str, Any] = {
        clock: {
            policy: runs.ratio(
                at(policy, label=RATES), at(policy, rate=SLOW, label=RATES), MEAN
            ).mean
            for policy in COMPARED
        }
        for clock, runs in clocks.items()
    }
    rule = least("tie")
    first = {min(grows, key=lambda policy: grows[policy]) for grows in found.values()}
    return in_settings(
        "From 30 to 100/s TIE's latency grows least",
        "FCFS 7.42, SSJF 8.55, TIE 3.68",
        found,
        rule,
        said=rule.words,
        otherwise="what grows least is what was slowest at 30/s: FCFS is in overload there already"
        if first == {"fcfs"}
        else "",
    )
