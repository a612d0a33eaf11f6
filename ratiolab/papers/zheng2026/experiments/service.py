"""TIE under a clock: request rates, an offline pool, the ablation, the worth of a predictor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import asin, hypot, pi
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.papers.experiment import (
    Experiment,
    Finding,
    findings_table,
    markdown,
)
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

LABEL, RATE, PREDICT, POLICY = "workload.label", "workload.rate", "workload.predict", "policy.label"
RATES, QUALITY = "rates", "quality"
TAILS = ("light tails", "heavy tails")
FAST, SLOW, OFFLINE = 0.1, 0.03, 0.0
BASE = "log-t:20+misjudged:0.34"
MISJUDGED = "log-t:20+misjudged:"
NORMAL, FREE = (BASE.replace("log-t", family) for family in ("log-normal", "log-t-nu"))
MEAN, P90 = "mean_per_token", "p90_per_token"
HALF = "median_latency"
"""Of requests that are all there at time 0: the time by which half of them are done."""

ONE, THREE = "tie, beta 0.1", "tie, beta 0.3"
PLAIN = "tie, beta 0.3, no decay"
DRAWN = ("fcfs", "ssjf", "sept", "tie", PLAIN)

NEAR = 0.25
"""A factor is reproduced when ours is within a quarter of the paper's."""

SAME = 0.05
"""Factors so near to 1 say that there is no difference."""

Place = tuple[str | float, ...]
"""What tells runs apart but for the seed: label, rate, predictions and policy on this page."""


@dataclass(frozen=True)
class Quotient:
    """Mean over seeds of a quotient of two runs on one instance, with its bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"

    @property
    def side(self) -> int:
        """1 when certainly above one, -1 when certainly below, else 0."""
        return int(self.low > 1) - int(self.high < 1)


class Runs:
    """The figures of all runs by place and seed."""

    def __init__(
        self, frame: "pd.DataFrame", by: Sequence[str] = (LABEL, RATE, PREDICT, POLICY)
    ) -> None:
        self._table = frame.set_index([*by, "seed"]).sort_index()

    def values(self, place: Place, metric: str) -> "pd.Series":
        """One figure, by seed."""
        return self._table.xs(place)[metric]

    def mean(self, place: Place, metric: str) -> float:
        """Its mean over seeds."""
        return float(self.values(place, metric).mean())

    def over(self, place: Place, other: Place, metric: str) -> Quotient:
        """The figure of one place over that of another."""
        import pandas as pd

        ratios = self.values(place, metric) / self.values(other, metric)
        row = intervals(pd.DataFrame({"by": 0, "ratio": ratios.to_numpy()}), ["by"], "ratio").iloc[
            0
        ]
        return Quotient(float(row["mean"]), float(row["low"]), float(row["high"]))


def at(policy: str, *, rate: float = FAST, predict: str = BASE, label: str = QUALITY) -> Place:
    """A place, by default in the middle of the study."""
    return label, rate, predict, policy


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures, findings and tables."""
    runs = Runs(frame)
    load = frame[frame[LABEL] == RATES]
    _draw_rates(load, folder)
    _draw_quality(frame[frame[LABEL] == QUALITY], runs, folder)
    _draw_ablation(runs, folder)
    noise, between = 0.34, float(frame["workload.between"].iloc[0])
    requests = int(frame["requests"].max())
    served = requests / runs.mean(at("fcfs", rate=OFFLINE), "makespan")
    return f"""\
**What stands in for what.** The paper is known here from a summary, so its hardware, number of
requests and batch size are not. Instead of LMSYS-Chat-1M, ShareGPT and Alpaca: {requests:,}
requests with a prompt of {int(frame["workload.prompt"].iloc[0])} tokens, each with a log-t law of
its own (`ratiolab generate log-t-laws`: the paper's nu = 3.5; the median scale at which P99/P50 is
its 10.77; scales that differ by up to 4; locations with deviation {between}), of which its output
is one draw, stopped at 1,024 tokens. This is the model that TIE is made for. Instead of an 8B model
on their device: `llama3-8b-a100`, a clock from published figures, with batches of at most
{int(frame["policy.batch"].iloc[0])} requests, which serve {served:.0f} requests a second; the
paper's offline figures are 20 to 26. Memory never binds. Instead of DeBERTa: laws fitted to
20 draws of the request's own law, their medians then misjudged by factors
exp({noise} N(0, 1)), so that R² of mu is {1 - (noise / between) ** 2:.2f} as in the paper. **All
policies see the same predictions**: SSJF sorts by the median of the law, SEPT by its mean, TIE by
its mean and CVaR. LTR sorts by a score; on the same predictions it is SSJF, and has no line of its
own. Lines and intervals are means over seeds with 95 % bootstrap intervals of quotients on the same
instance.

{_headline(runs)}

![Latency over request rates]({NAME}-rates.png)

## The paper's statements

A factor is reproduced when ours is within {NEAR:.0%} of it and its interval on the same side of 1;
one within {SAME:.0%} of 1 when ours is, too. *Time* is that at which half of an offline pool is
done; the paper's is that of 3,000 samples of a pool of unknown size.

{findings_table(findings(runs))}

Not compared: the 70B model, ShareGPT and Alpaca as such (no data; lighter and heavier tails are
below), the Kolmogorov-Smirnov tests (of LMSYS data), the heatmaps of Figure 5 (not in the summary),
and what prediction costs in time (it is free here, for every policy).

![The ablation, here and there]({NAME}-ablation.png)

## Why the tail penalty does not pay

The metric is latency per output token. Delaying request i by d adds d E[1/X_i] to it, and on one
server the order that costs least in expectation is that of E[X] / E[1/X] (Smith's ratio rule). For
a law that is symmetric in the logarithm this is exp(2 mu) whatever sigma: **the order of medians,
which is SSJF's**. For mean latency, which up to a constant is all latencies over all tokens, it is
the order of E[X], SEPT's. CVaR moves away from both. At {1000 * FAST:.0f}/s, over SEPT on the same
predictions:

{_policies_table(runs)}

TIE takes beta when a request enters the queue, as a heap whose entries stay does (the summary does
not say when). If one beta held for all who wait, TIE would lie between the rows of fixed beta, from
0.1 to 0.5.

## What the predictor is worth

The same policies when medians are misjudged by more (noise 0 to 3), at {1000 * FAST:.0f} requests a
second. *In order* is the share of pairs whose medians the predictor ranks rightly.

{_quality_table(frame, runs, between)}

![What worse predictions cost]({NAME}-quality.png)

{_worth(frame, runs, between)}

## Other tails, other fits

Latency per token at {1000 * FAST:.0f}/s:

{_tails_table(runs)}
"""


def _headline(runs: Runs) -> str:
    tie = at("tie")
    ssjf, sept = (runs.over(at(key), tie, MEAN) for key in ("ssjf", "sept"))
    normal = runs.over(at("tie", predict=NORMAL), tie, MEAN)
    words = {1: "slower than", 0: "not told apart from", -1: "faster than"}
    return f"""\
**In short.** With the same predictions SSJF is {words[ssjf.side]} TIE ({ssjf.mean:.2f} times its
latency per token at {1000 * FAST:.0f}/s; the paper: 2.91), SEPT is {words[sept.side]} TIE
({sept.mean:.2f}; the paper: 1.12), and TIE on log-normal fits is {words[normal.side]} TIE on log-t
fits ({normal.mean:.2f}; the paper: 2.43). Where outputs are draws of the predicted laws, the
reported gains are not those of the score."""


def findings(runs: Runs) -> Iterable[Finding]:
    """Every factor of the paper beside ours."""
    tie, pool = at("tie"), at("tie", rate=OFFLINE)

    def judged(statement: str, paper: float, found: Quotient, why: str = "") -> Finding:
        if abs(paper - 1) < SAME:
            holds = abs(found.mean - 1) < SAME
        else:
            same = found.side == (1 if paper > 1 else -1)
            holds = same and abs(found.mean / paper - 1) <= NEAR
            size = "same side of 1, other size" if same else "on the other side of 1"
            why = why or (size if found.side else "no difference beyond the interval")
        return Finding(statement, f"{paper:.2f}", str(found), holds, "" if holds else why)

    online = f"{1000 * FAST:.0f}/s: "
    yield judged(
        f"{online}FCFS / TIE, mean per token",
        3.17 / 0.67,
        runs.over(at("fcfs"), tie, MEAN),
    )
    why = "with equal predictions; see below for worse ones"
    yield judged(f"{online}SSJF / TIE", 1.95 / 0.67, runs.over(at("ssjf"), tie, MEAN), why)
    yield judged(f"{online}LTR / TIE", 1.55 / 0.67, runs.over(at("ssjf"), tie, MEAN), why)
    yield judged(f"{online}FCFS / SSJF", 3.17 / 1.95, runs.over(at("fcfs"), at("ssjf"), MEAN))
    yield judged(
        f"{online}FCFS / TIE, P90 (the paper's is of a 70B model)",
        16.13 / 4.05,
        runs.over(at("fcfs"), tie, P90),
    )
    yield judged(
        f"{online}SSJF / TIE, P90 (70B)", 8.24 / 4.05, runs.over(at("ssjf"), tie, P90), why
    )
    growth = {
        policy: runs.over(at(policy, label=RATES), at(policy, rate=SLOW, label=RATES), MEAN)
        for policy in ("fcfs", "ssjf", "sept", "tie")
    }
    least = min(growth, key=lambda policy: growth[policy].mean)
    yield Finding(
        "From 30 to 100/s TIE's latency grows least",
        "FCFS 7.42, SSJF 8.55, TIE 3.68",
        ", ".join(f"{policy} {found.mean:.2f}" for policy, found in growth.items()),
        least == "tie",
        "what grows least is what was slowest at 30/s: FCFS is in overload there already"
        if least == "fcfs"
        else "",
    )
    for change in _changes():
        mean, p90, time = (ours / full for ours, full in zip(change.paper, FULL, strict=True))
        place, name = change.place(FAST), f"Ablation, {change.name}"
        yield judged(f"{name}: mean", mean, runs.over(place, tie, MEAN))
        yield judged(f"{name}: P90", p90, runs.over(place, tie, P90))
        yield judged(f"{name}: time", time, runs.over(change.place(OFFLINE), pool, HALF))
    yield judged(
        "Offline: LTR / TIE, time",
        139.5 / 98.1,
        runs.over(at("ssjf", rate=OFFLINE), pool, HALF),
        why,
    )


def _policies_table(runs: Runs) -> str:
    metrics = {
        "mean per token": MEAN,
        "P90 per token": P90,
        "mean latency": "mean_latency",
        "P99 latency": "p99_latency",
        "mean first token": "mean_ttft",
    }
    rows = [
        (policy, *(str(runs.over(at(policy), at("sept"), metric)) for metric in metrics.values()))
        for policy in ("fcfs", "ssjf", ONE, THREE, "tie", "tie, no decay", PLAIN)
    ]
    clairvoyant = at("ssjf", predict="exact")
    rows.append(
        (
            "ssjf that knows the lengths",
            *(str(runs.over(clairvoyant, at("sept"), metric)) for metric in metrics.values()),
        )
    )
    return markdown(("policy / SEPT", *metrics), rows)


def _noises(frame: "pd.DataFrame") -> dict[float, str]:
    """The predictions that are misjudged more and more, by the noise."""
    words = frame.loc[frame[LABEL] == QUALITY, PREDICT].unique()
    found = {float(w.removeprefix(MISJUDGED)): w for w in words if w.startswith(MISJUDGED)}
    return dict(sorted(({0.0: "log-t:20"} | found).items()))


def _in_order(noise: float, between: float) -> float:
    """Chance that two normal locations keep their order when normal noise is added to both."""
    return 0.5 + asin(between / hypot(between, noise)) / pi


def _quality_table(frame: "pd.DataFrame", runs: Runs, between: float) -> str:
    policies = ("ssjf", "sept", "tie")
    rows = [
        (
            f"{noise:g}",
            f"{_in_order(noise, between):.0%}",
            *(f"{runs.mean(at(policy, predict=words), MEAN):.3f}" for policy in policies),
            *(
                str(runs.over(at(policy, predict=words), at("tie"), MEAN))
                for policy in ("ssjf", "tie")
            ),
        )
        for noise, words in _noises(frame).items()
    ]
    names = [f"{policy.upper()} (s/token)" for policy in policies]
    base = "TIE at noise 0.34"
    return markdown(("noise", "in order", *names, f"SSJF / {base}", f"TIE / {base}"), rows)


def _worth(frame: "pd.DataFrame", runs: Runs, between: float) -> str:
    """How wrong the others' predictions would have to be for the paper's factors."""
    noises = _noises(frame)
    factors = [
        runs.over(at("ssjf", predict=words), at("tie"), MEAN).mean for words in noises.values()
    ]
    lines, last = [], max(noises)
    for name, paper in (("LTR", 1.55 / 0.67), ("SSJF", 1.95 / 0.67)):
        if paper > max(factors):
            lines.append(
                f"the paper's factor of {paper:.2f} for {name} is not reached up to noise {last:g}"
            )
        else:
            noise = float(np.interp(paper, factors, list(noises)))
            lines.append(
                f"the paper's factor of {paper:.2f} for {name} is reached at noise {noise:.1f}, "
                f"when {_in_order(noise, between):.0%} of the pairs are in order"
            )
    blind = runs.over(at("fcfs"), at("tie"), MEAN)
    own = runs.over(at("tie", predict=noises[last]), at("tie"), MEAN)
    return f"""\
With a worse predictor for SSJF alone, {lines[0]}; {lines[1]}. Half in order would be chance; TIE's
own predictor has {_in_order(0.34, between):.0%}. FCFS, which predicts nothing, is at
{blind.mean:.2f}: what a predictor can be worth here ends there. TIE with predictions of noise
{last:g} is itself {own.mean:.2f} times slower: what the predictor is worth, it is worth to all."""


def _tails_table(runs: Runs) -> str:
    names = {
        "light": (TAILS[0], BASE, NORMAL),
        "the paper's": (QUALITY, BASE, NORMAL),
        "heavy": (TAILS[1], BASE, NORMAL),
        "the paper's, 3 draws, not misjudged": (QUALITY, "log-t:3", "log-normal:3"),
    }
    rows = []
    for name, (label, words, normal) in names.items():
        tie = at("tie", label=label, predict=words)
        rows.append(
            (
                name,
                *(
                    str(runs.over(at(policy, label=label, predict=words), tie, MEAN))
                    for policy in ("fcfs", "ssjf", "sept")
                ),
                str(runs.over(at("tie", label=label, predict=normal), tie, MEAN)),
            )
        )
    header = ("tails", "FCFS / TIE", "SSJF / TIE", "SEPT / TIE", "TIE, log-normal / log-t")
    return markdown(header, rows)


def _draw_rates(load: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    load = load[load[POLICY].isin(DRAWN)].assign(rps=1000 * load[RATE])
    metrics = {
        MEAN: "latency per token (s)",
        P90: "P90 latency per token (s)",
        "mean_latency": "mean latency (s)",
        "p99_latency": "P99 latency (s)",
    }
    look = looks(DRAWN)
    figure, axes = panels(len(metrics), columns=2, height=3.0)
    for (metric, name), ax in zip(metrics.items(), axes, strict=True):
        table = intervals(load, ["rps", POLICY], metric)
        lines(
            table,
            "rps",
            POLICY,
            ax,
            look=look,
            title=name,
            x_label="requests a second",
            log_y=metric in (MEAN, P90),
        )
    shared_legend(figure, axes)
    write_chart(figure, folder / f"{NAME}-rates.png")


def _draw_quality(quality: "pd.DataFrame", runs: Runs, folder: Path) -> None:
    import pandas as pd

    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    noises = {words: noise for noise, words in _noises(quality).items()}
    kept = quality[quality[PREDICT].isin(noises) & quality[POLICY].isin(DRAWN[:4])]
    kept = kept.assign(noise=kept[PREDICT].map(noises))
    online = intervals(kept[kept[RATE] == FAST], ["noise", POLICY], MEAN)
    offline = intervals(kept[kept[RATE] == OFFLINE], ["noise", POLICY], HALF)
    marks = {"2.91 times TIE: the paper's SSJF": 2.91, "2.31 times TIE: the paper's LTR": 2.31}
    base = runs.mean(at("tie"), MEAN)
    level = pd.DataFrame(
        [
            {"noise": noise, POLICY: name, **dict.fromkeys(("mean", "low", "high"), factor * base)}
            for name, factor in marks.items()
            for noise in noises.values()
        ]
    )
    look = looks([*DRAWN[:4], *marks])
    for name, factor in marks.items():
        look[name] = {"color": "black" if factor == max(marks.values()) else "0.55", "ls": ":"}
    figure, axes = panels(2, columns=2, height=3.4)
    x_label = "noise of the predicted log medians"
    for table, title, ax in (
        (pd.concat([online, level]), "100/s: latency per token (s)", axes[0]),
        (offline, "offline: time until half are done (s)", axes[1]),
    ):
        lines(table, "noise", POLICY, ax, look=look, title=title, x_label=x_label)
    shared_legend(figure, axes, columns=2)
    write_chart(figure, folder / f"{NAME}-quality.png")


def _draw_ablation(runs: Runs, folder: Path) -> None:
    import pandas as pd

    from ratiolab.report.plots.experiments import grouped_bars, panels, shared_legend, write_chart

    figure, axes = panels(3, columns=2, height=2.9)
    titles = ("latency per token, 100/s", "P90 latency per token, 100/s", "offline time")
    for number, (title, ax) in enumerate(zip(titles, axes, strict=True)):
        rate = OFFLINE if number == 2 else FAST
        metric = (MEAN, P90, HALF)[number]
        rows = []
        for change in _changes():
            paper = change.paper[number] / FULL[number]
            found = runs.over(change.place(rate), at("tie", rate=rate), metric)
            name = change.short
            rows.append({"x": name, "by": "paper", "mean": paper, "low": paper, "high": paper})
            rows.append({"x": name, "by": "here", **vars(found)})
        y = "ratio to full TIE"
        grouped_bars(pd.DataFrame(rows), "x", "by", ax, title=title, y_label=y, base=1)
        ax.axhline(1, color="black", lw=0.8)
    shared_legend(figure, axes)
    write_chart(figure, folder / f"{NAME}-ablation.png")


FULL = (0.67, 0.96, 98.12)
"""The paper's full TIE: mean and P90 latency per token, time of 3,000 samples offline, seconds."""


@dataclass(frozen=True)
class Change:
    """One row of the paper's ablation: its three figures, and where ours are."""

    name: str
    short: str
    paper: tuple[float, float, float]
    policy: str = "tie"
    predict: str = BASE

    def place(self, rate: float) -> Place:
        """At a rate."""
        return at(self.policy, rate=rate, predict=self.predict)


def _changes() -> tuple[Change, ...]:
    return (
        Change("SEPT, no CVaR", "SEPT", (0.75, 1.21, 108.51), "sept"),
        Change("beta 0.1, fixed", "β 0.1", (0.72, 1.15, 104.76), ONE),
        Change("beta 0.3, fixed", "β 0.3", (0.71, 1.18, 105.04), THREE),
        Change("log-normal for log-t", "log-\nnormal", (1.63, 3.37, 142.21), predict=NORMAL),
        Change("free nu", "free ν", (0.69, 1.02, 97.70), predict=FREE),
    )


NAME = "zheng2026"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "TIE: is it the score, or the predictor?",
    "Zheng et al. (2026), main comparison and ablation, arXiv 2604.00499, known from a summary",
    page,
    figures=(
        *("instance", "requests", MEAN, P90, "mean_latency", "median_latency", "p99_latency"),
        *("mean_ttft", "makespan", "throughput"),
    ),
)
