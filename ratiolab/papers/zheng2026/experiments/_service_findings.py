"""Every factor of TIE's paper beside those found, under both clocks."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ratiolab.papers.finding import Finding, in_settings, least, same_factor
from ratiolab.papers.runs import Place, Ratio
from ratiolab.papers.zheng2026.experiments._service_runs import (
    ABLATED,
    CHANGES,
    COMPARED,
    FAST,
    FULL,
    HALF,
    MEAN,
    NEAR,
    OFFLINE,
    P90,
    PAPER,
    RATES,
    SAME,
    SLOW,
    Clocks,
    at,
)


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
