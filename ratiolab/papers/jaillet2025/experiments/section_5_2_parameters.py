"""Section 5.2 of Jaillet et al. (2025), Figures 9, 10, 12, 13: the choice of α and β."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import TypeVar

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, in_settings, inside
from ratiolab.papers.jaillet2025.experiments.section_5_2 import HIGH, LOW, POLICY, SETTING, clocks
from ratiolab.papers.jaillet2025.experiments.section_5_2 import PRINTED as PRINTED_TABLE
from ratiolab.papers.markdown import markdown
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, mean_with_interval
from ratiolab.studies.frames import intervals

Value = TypeVar("Value")

ALPHA, BETA, OVERFLOW = "policy.alpha", "policy.beta", "policy.overflow"
LETTERS = {ALPHA: "α", BETA: "β"}
BY_ALPHA, BY_BETA, LEAST = "Figures 9, 12", "Figures 10, 13", "least alpha"
HALF, ON_VIDUR = ", half the memory", ", Vidur's clock"
SETTINGS = (HIGH, LOW, "all at once", HIGH + HALF)
STEP = 0.01

GOOD = 1.05
"""A value is good when its average latency is at most this multiple of the least of its curve."""

MUCH = 1.2
"""Significantly degraded: at least this multiple of the least."""

PRINTED_LEAST = {HIGH: 0.21, LOW: 0.24}
PRINTED_ALPHA = {HIGH: (0.15, 0.25), LOW: (0.10, 0.25)}
PRINTED_BETA = {HIGH: (0.05, 0.25), LOW: (0.05, 0.20)}


def page(frame: pd.DataFrame) -> Page:
    """Compute sweeps, findings, and what makes memory overflow."""
    least = least_alpha(frame)
    medians = least.groupby(SETTING)["least"].median()
    nearest = min(SETTINGS, key=lambda setting: abs(float(medians[setting]) - PRINTED_LEAST[HIGH]))
    above = frame[frame[OVERFLOW] == "allowed"].groupby(SETTING)["overflow_rounds"]
    slots = {
        "clocks": clocks(),
        "requests": int(frame["workload.n"].max()),
        "good": GOOD,
        "much": MUCH,
        "step": STEP,
        "least": _least_table(frame, least),
        "nearest": nearest,
        "median": medians[nearest],
        "paper": PRINTED_LEAST[HIGH],
        "apart": _apart(frame),
        "above": above.agg(lambda rounds: float((rounds > 0).mean())).to_dict(),
    }
    charts = {
        "alpha": _chart(frame[frame[POLICY] == BY_ALPHA], ALPHA, BETA),
        "beta": _chart(frame[frame[POLICY] == BY_BETA], BETA, ALPHA),
    }
    return Page(slots, list(findings(frame, least)), charts)


def least_alpha(frame: pd.DataFrame) -> pd.DataFrame:
    """Return by setting and seed the least α such that it and all larger ones complete."""
    rows = frame[frame[POLICY] == LEAST]
    looping = rows[rows["outcome"] != "complete"]
    worst = looping.groupby([SETTING, "seed"])[ALPHA].max()
    every_run = rows.groupby([SETTING, "seed"]).size().index
    found = (worst.reindex(every_run) + STEP).fillna(rows[ALPHA].min()).round(2)
    return found.rename("least").reset_index()


class Curve:
    """Latencies over one parameter, paired by seed with those of its best value."""

    def __init__(self, rows: pd.DataFrame, over: str) -> None:
        self.evicts = bool((rows["evictions"] > 0).any())
        table = rows.pivot_table(index="seed", columns=over, values="mean_latency")
        self.best = float(str(table.mean().idxmin()))
        quotients = table.div(table[self.best], axis=0)
        self.over_best = {
            float(str(value)): mean_with_interval(quotients[value].dropna())
            for value in table.columns
        }

    def between(self, low: float, high: float) -> list[Ratio]:
        """Return the values of a range, over the best."""
        return [ratio for value, ratio in self.over_best.items() if low <= value <= high]

    @property
    def good(self) -> str:
        """Words for where it is good, by the means."""
        good = [f"{value:g}" for value, ratio in self.over_best.items() if ratio.mean <= GOOD]
        return f"{good[0]} to {good[-1]}" if len(good) > 1 else good[0]

    @property
    def ends(self) -> list[Ratio]:
        """The least and the largest value, over the best."""
        ratios = list(self.over_best.values())
        return [ratios[0], ratios[-1]]


def curves(frame: pd.DataFrame, setting: str, over: str, fixed: str) -> dict[str, Curve]:
    """Return the curves of a setting by the fixed parameter; memory may overflow, as there."""
    rows = frame[(frame[POLICY] == {ALPHA: BY_ALPHA, BETA: BY_BETA}[over])]
    rows = rows[(rows[SETTING] == setting) & (rows[OVERFLOW] == "allowed")]
    return {
        f"{LETTERS[fixed]} = {value:g}": Curve(part, over) for value, part in rows.groupby(fixed)
    }


def _apart(frame: pd.DataFrame) -> float:
    """Return the largest relative difference that keeping to the limit of memory makes."""
    swept = frame[frame[POLICY].isin([BY_ALPHA, BY_BETA])]
    table = swept.pivot_table(
        index=[POLICY, SETTING, ALPHA, BETA], columns=OVERFLOW, values="mean_latency"
    )
    return float((table["never"] / table["allowed"] - 1).abs().max())


def _both(frame: pd.DataFrame, demand: str, over: str, fixed: str) -> dict[str, Curve]:
    """Return the curves of a demand under the fitted clock and Vidur's."""
    return {
        f"{name}{' by Vidur' if place else ''}": curve
        for place in ("", ON_VIDUR)
        for name, curve in curves(frame, demand + place, over, fixed).items()
    }


def findings(frame: pd.DataFrame, least: pd.DataFrame) -> Iterable[Finding]:
    """Compare where curves are good with the ranges that the paper recommends."""
    for demand, figure in ((HIGH, 9), (LOW, 12)):
        yield from _over_alpha(
            f"Figure {figure}, {demand}",
            _both(frame, demand, ALPHA, BETA),
            *PRINTED_ALPHA[demand],
        )
    for demand, figure in ((HIGH, 10), (LOW, 13)):
        yield from _over_beta(
            f"Figure {figure}, {demand}",
            _both(frame, demand, BETA, ALPHA),
            *PRINTED_BETA[demand],
        )
    tight = curves(frame, HIGH + HALF, BETA, ALPHA)
    yield from _over_beta("Figure 10 with half the memory", tight, *PRINTED_BETA[HIGH])
    for demand, printed in PRINTED_LEAST.items():
        values = least[least[SETTING] == demand]["least"]
        yield Finding(
            f"{demand}: the least α that does not loop is {printed}",
            f"{printed}",
            f"{values.min():.2f} to {values.max():.2f}, median {values.median():.2f}",
            bool(values.min() <= printed <= values.max()),
            "see below",
        )


def _over_alpha(
    where: str, found: Mapping[str, Curve], low: float, high: float
) -> Iterable[Finding]:
    yield in_settings(
        f"{where}: α from {low} to {high} is best",
        f"{low} to {high}",
        {name: curve.between(low, high) for name, curve in found.items()},
        inside(0, GOOD),
        "memory overflows less often here, so that less protection pays",
        said=_each(found, lambda curve: f"least at {curve.best:g}, good from {curve.good}"),
    )
    yield in_settings(
        f"{where}: below α = 0.1 performance degrades significantly",
        "significantly",
        {name: [max(curve.between(0, 0.099), key=float)] for name, curve in found.items()},
        inside(MUCH, inf),
        said=_each(found, lambda curve: f"{max(map(float, curve.between(0, 0.099))):.2f} times"),
    )


def _over_beta(
    where: str, found: Mapping[str, Curve], low: float, high: float
) -> Iterable[Finding]:
    tested = {name: curve for name, curve in found.items() if curve.evicts}
    idle = [name for name in found if name not in tested]
    untested = f"not tested where memory never overflows: {', '.join(idle)}" if idle else ""
    yield in_settings(
        f"{where}: the algorithm does well with β from {low} to {high}",
        f"{low} to {high}",
        {name: curve.between(low, high) for name, curve in tested.items()},
        inside(0, GOOD),
        untested,
        said=_each(found, lambda curve: f"good from {curve.good}"),
    )
    for end, words in ((0, "small"), (-1, "large")):
        ends = {name: curve.ends[end] for name, curve in found.items()}
        yield in_settings(
            f"{where}: very {words} β does worse",
            "worse",
            {name: [ends[name]] for name in tested},
            inside(GOOD, inf),
            untested,
            said=_each(ends, lambda ratio: f"{ratio.mean:.2f} times"),
        )


def _each(found: Mapping[str, Value], words: Callable[[Value], str]) -> str:
    """Return words on each curve; curves with equal words are named together."""
    names: dict[str, list[str]] = {}
    for name, value in found.items():
        names.setdefault(words(value), []).append(name)
    if len(names) == 1:
        return f"{next(iter(names))} on all curves"
    return "; ".join(f"{said} ({'; '.join(each)})" for said, each in names.items())


def _least_table(frame: pd.DataFrame, least: pd.DataFrame) -> str:
    printed = PRINTED_TABLE["α = 0.1, β = 0.2"][0] / PRINTED_TABLE["α = 0.2, β = 0.2"][0]
    lines: list[tuple[str, ...]] = [
        ("paper, high demand", "", f"{PRINTED_LEAST[HIGH]}", "", "", f"{printed:.3f}"),
        ("paper, low demand", "", f"{PRINTED_LEAST[LOW]}", "", "", ""),
    ]
    for setting in SETTINGS:
        values = least[least[SETTING] == setting]["least"]
        runs = frame[(frame[SETTING] == setting) & (frame[POLICY] == BY_ALPHA)]
        runs = runs[runs[OVERFLOW] == "never"]
        little, more = (runs[(runs[ALPHA] == a) & (runs[BETA] == 0.2)] for a in (0.1, 0.2))
        quotient = little["mean_latency"].mean() / more["mean_latency"].mean()
        lines.append(
            (
                setting,
                *(f"{v:.2f}" for v in (values.min(), values.median(), values.max())),
                f"{(little['evictions'] > 0).sum()} of {len(little)}",
                f"{quotient:.3f}",
            )
        )
    header = (
        *("setting", "least", "median", "largest", "runs that evict, α = 0.1"),
        "latency at α = 0.1 / at 0.2 (β = 0.2)",
    )
    return markdown(header, lines)


def _chart(rows: pd.DataFrame, over: str, fixed: str) -> Panels:
    rows = rows[rows[OVERFLOW] == "allowed"]
    lines = [f"{LETTERS[fixed]} = {value:g}" for value in rows[fixed]]
    table = intervals(rows.assign(line=lines), [SETTING, over, "line"], "mean_latency")
    settings = list(table[SETTING].unique())
    panels = [
        Panel(
            table[table[SETTING] == setting],
            setting,
            x_label=LETTERS[over] if number >= len(settings) - 2 else "",
            y_label="mean latency (s)" if number % 2 == 0 else "",
            log_y=HALF in setting,
        )
        for number, setting in enumerate(settings)
    ]
    labels = list(table["line"].unique())
    return Panels(
        "lines", over, "line", panels, labels, height=2.6, legend=2, options={"bottom": 0}
    )
