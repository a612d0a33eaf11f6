"""TIE under a clock: request rates, an offline pool, the ablation, the worth of a predictor."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import product
from math import asin, hypot, pi
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.experiment import Experiment
from ratiolab.papers.finding import Finding, in_settings, least, same_factor
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Place, Ratio, Runs
from ratiolab.studies.frames import intervals

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
"""Latency per token of the other policies that use predictions, over TIE's.

The summary prints the gain over LTR, 2.31; it marks the latency of SSJF as an estimate.
"""

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
    estimated = f"{online}SSJF / TIE (an estimate in the summary)"
    yield over_tie(estimated, PAPER["SSJF"], ssjf, MEAN, FAST, why)
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


OVER_SEPT = ("fcfs", "ssjf", ONE, THREE, "tie", "tie, no decay", PLAIN)


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    clocks = by_clock(frame)
    runs, vidur = clocks[PUBLISHED], clocks[VIDUR]
    tie, requests = at("tie"), int(frame["requests"].max())
    between = float(frame["workload.between"].iloc[0])
    noises = noises_of(runs.frame)
    found = [runs.ratio(at("ssjf", predict=words), tie, MEAN).mean for words in noises.values()]
    reached = {
        name: float(np.interp(paper, found, list(noises))) if paper <= max(found) else None
        for name, paper in PAPER.items()
    }

    def in_order(noise: float) -> float:
        """Return the chance that two normal locations keep their order when both get noise."""
        return 0.5 + asin(between / hypot(between, noise)) / pi

    def over_tie(place: Place) -> list[Ratio]:
        return [each.ratio(place, tie, MEAN) for each in clocks.values()]

    served = [requests / each.mean(at("fcfs", rate=OFFLINE), "makespan") for each in (runs, vidur)]
    slots = {
        "requests": requests,
        "outputs": _moments(frame["seed"].unique().tolist()),
        "served": served,
        "fast": next(1000 * rate for rate, other in SAME_LOAD.items() if other == FAST),
        "noise": NOISE,
        "r2": 1 - (NOISE / between) ** 2,
        "near": NEAR,
        "same": SAME,
        "rate": 1000 * FAST,
        "ssjf": over_tie(at("ssjf")),
        "sept": over_tie(at("sept")),
        "log_normal": over_tie(at("tie", predict=NORMAL)),
        "policies": _policies_table(runs),
        "apart": _apart(runs, vidur),
        "quality": _quality_table(runs, noises, in_order),
        "paper": PAPER,
        "reached": reached,
        "in_order": in_order,
        "last": max(noises),
        "blind": runs.ratio(at("fcfs"), tie, MEAN),
        "worst": runs.ratio(at("tie", predict=noises[max(noises)]), tie, MEAN),
        "tails": _tails_table(runs),
        "authors": _authors_table(runs),
    }
    return Page(slots, list(findings(clocks)), charts(runs, noises))


def _moments(seeds: list[int]) -> dict[str, float]:
    """Return variation, skewness and the share of the longest tenth of the outputs drawn."""
    from scipy.stats import skew, variation

    study = Experiment(__name__).study()
    cells = {c.seed: c for c in study.cells if c["workload.label"] == RATES}
    drawn = np.sort(np.concatenate([cells[seed].instance().output for seed in seeds]))
    longest = drawn[-(len(drawn) // 10) :]
    share = float(longest.sum() / drawn.sum())
    return {"cv": float(variation(drawn)), "skew": float(skew(drawn)), "tenth": share}


def _policies_table(runs: Runs) -> str:
    places = {policy: at(policy) for policy in OVER_SEPT}
    places["ssjf that knows the lengths"] = at("ssjf", predict="exact")
    return grid(
        "policy / SEPT",
        places,
        METRICS,
        lambda place, metric: str(runs.ratio(place, at("sept"), metric)),
    )


def _apart(runs: Runs, other: Runs) -> float:
    """Return by which share the quotients of that table differ at most under another clock."""
    return max(
        abs(each.ratio(place, at("sept"), metric).mean / found - 1)
        for place, metric in product(map(at, OVER_SEPT), METRICS.values())
        for each, found in [(other, runs.ratio(place, at("sept"), metric).mean)]
    )


def _quality_table(runs: Runs, noises: dict[float, str], in_order: Callable[[float], float]) -> str:
    def cell(words: str, column: tuple[str, bool]) -> str:
        policy, compared = column
        place = at(policy, predict=words)
        if compared:
            return str(runs.ratio(place, at("tie"), MEAN))
        return f"{runs.mean(place, MEAN):.3f}"

    columns = {f"{policy.upper()} (s/token)": (policy, False) for policy in COMPARED[1:]}
    columns |= {f"{p.upper()} / TIE at noise {NOISE}": (p, True) for p in ("ssjf", "tie")}
    rows = {(f"{noise:g}", f"{in_order(noise):.0%}"): words for noise, words in noises.items()}
    return grid(("noise", "in order"), rows, columns, cell)


def _tails_table(runs: Runs) -> str:
    rows = {
        "light": ("light tails", BASE, NORMAL),
        "the paper's": (QUALITY, BASE, NORMAL),
        "heavy": ("heavy tails", BASE, NORMAL),
        "the paper's, 3 draws, not misjudged": (QUALITY, "log-t:3", "log-normal:3"),
    }

    def cell(row: tuple[str, str, str], column: tuple[str, int]) -> str:
        (policy, fit), label = column, row[0]
        tie = at("tie", label=label, predict=row[1])
        return str(runs.ratio(at(policy, label=label, predict=row[fit]), tie, MEAN))

    columns = {f"{policy.upper()} / TIE": (policy, 1) for policy in COMPARED[:3]}
    return grid("tails", rows, columns | {"TIE, log-normal / log-t": ("tie", 2)}, cell)


def _authors_table(runs: Runs) -> str:
    """Return quotients to TIE with the settings of the authors' code."""

    def there(policy: str, rate: float, predict: str = BASE) -> Place:
        return at(f"{policy}, 32", label="authors", rate=rate, predict=predict)

    rows = {policy.upper(): (policy, BASE) for policy in COMPARED[:3]}
    rows["TIE on log-normal fits"] = ("tie", NORMAL)
    columns = {
        "mean per token, 100/s": (MEAN, FAST),
        "P90 per token, 100/s": (P90, FAST),
        "mean per token, all at once": (MEAN, OFFLINE),
        "time until half are done": (HALF, OFFLINE),
    }
    return grid(
        "over TIE",
        rows,
        columns,
        lambda row, column: str(
            runs.ratio(there(row[0], column[1], row[1]), there("tie", column[1]), column[0])
        ),
    )
