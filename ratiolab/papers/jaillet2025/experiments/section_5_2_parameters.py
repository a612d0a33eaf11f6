"""Section 5.2 of Jaillet et al. (2025), Figures 9, 10, 12, 13: the choice of α and β."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.experiment import Experiment
from ratiolab.papers.finding import Finding, at_least, every, or_undecided
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    HIGH,
    LOW,
    POLICY,
    SETTING,
    fitted_clock,
)
from ratiolab.papers.jaillet2025.experiments.section_5_2 import PRINTED as PRINTED_TABLE
from ratiolab.papers.markdown import markdown
from ratiolab.papers.page import Page
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

ALPHA, BETA = "policy.alpha", "policy.beta"
LETTERS = {ALPHA: "α", BETA: "β"}
BY_ALPHA, BY_BETA, LEAST = "Figures 9, 12", "Figures 10, 13", "least alpha"
SETTINGS = (HIGH, LOW, "all at once", "high demand, half the memory")
STEP = 0.01

GOOD = 1.05
"""A value is good when its average latency is at most so many times the least of its curve."""

MUCH = 1.2
"""Significantly degraded: at least so many times the least."""

PRINTED_LEAST = {HIGH: 0.21, LOW: 0.24}
PRINTED_ALPHA = {HIGH: (0.15, 0.25), LOW: (0.10, 0.25)}
PRINTED_BETA = {HIGH: (0.05, 0.25), LOW: (0.05, 0.20)}

Curves = dict[float, "pd.Series"]
"""Average latency over one parameter, by the value of the other."""


def page(frame: "pd.DataFrame") -> Page:
    """Compute sweeps, findings, and what makes memory overflow."""
    by_alpha, by_beta = (
        intervals(frame[frame[POLICY] == label], [SETTING, ALPHA, BETA], "mean_latency")
        for label in (BY_ALPHA, BY_BETA)
    )
    least = least_alpha(frame)
    medians = least.groupby(SETTING)["least"].median()
    nearest = min(SETTINGS, key=lambda setting: abs(float(medians[setting]) - PRINTED_LEAST[HIGH]))
    slots = {
        "clock": fitted_clock(),
        "requests": int(frame["workload.n"].max()),
        "good": GOOD,
        "much": MUCH,
        "step": STEP,
        "least": _least_table(frame, least),
        "nearest": nearest,
        "median": medians[nearest],
        "paper": PRINTED_LEAST[HIGH],
    }
    charts = {
        "alpha": _chart(by_alpha, ALPHA, BETA, SETTINGS),
        "beta": _chart(by_beta, BETA, ALPHA, SETTINGS[-1:]),
    }
    return Page(slots, list(findings(by_alpha, by_beta, least)), charts)


def least_alpha(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return by setting and seed the least α such that it and all larger ones complete."""
    rows = frame[frame[POLICY] == LEAST]
    looping = rows[rows["outcome"] != "complete"]
    worst = looping.groupby([SETTING, "seed"])[ALPHA].max()
    every_run = rows.groupby([SETTING, "seed"]).size().index
    found = (worst.reindex(every_run) + STEP).fillna(rows[ALPHA].min()).round(2)
    return found.rename("least").reset_index()


def _curves(table: "pd.DataFrame", setting: str, over: str, fixed: str) -> Curves:
    rows = table[table[SETTING] == setting]
    return {
        value: rows[rows[fixed] == value].set_index(over)["mean"].sort_index()
        for value in sorted(rows[fixed].tolist())
    }


def _all_good(curve: "pd.Series", low: float, high: float) -> bool:
    """Return whether every value from low to high is good."""
    between = curve[(curve.index >= low) & (curve.index <= high)]
    return bool((between <= GOOD * curve.min()).all())


def _good(curve: "pd.Series") -> str:
    good = [f"{value:g}" for value in curve.index[curve <= GOOD * curve.min()]]
    return "good from " + (f"{good[0]} to {good[-1]}" if len(good) > 1 else good[0])


def _each(fixed: str, said: Mapping[float, str]) -> str:
    """Say something of each curve, with the value that the other parameter has on it."""
    return "; ".join(f"{words} ({LETTERS[fixed]} = {value:g})" for value, words in said.items())


def findings(
    by_alpha: "pd.DataFrame", by_beta: "pd.DataFrame", least: "pd.DataFrame"
) -> Iterable[Finding]:
    """Compare where curves are good with the ranges that the paper recommends."""
    for demand, figure in ((HIGH, 9), (LOW, 12)):
        yield from _over_alpha(
            f"Figure {figure}, {demand}",
            _curves(by_alpha, demand, ALPHA, BETA),
            *PRINTED_ALPHA[demand],
        )
    for demand, figure in ((HIGH, 10), (LOW, 13)):
        yield from _over_beta(
            f"Figure {figure}, {demand}",
            _curves(by_beta, demand, BETA, ALPHA),
            *PRINTED_BETA[demand],
        )
    for demand, printed in PRINTED_LEAST.items():
        values = least[least[SETTING] == demand]["least"]
        yield Finding(
            f"{demand}: the least α that does not loop is {printed}",
            f"{printed}",
            f"{values.min():.2f} to {values.max():.2f}, median {values.median():.2f}",
            bool(values.min() <= printed <= values.max()),
            "see below",
        )


def _over_alpha(where: str, curves: Curves, low: float, high: float) -> Iterable[Finding]:
    inside = [_all_good(curve, low, high) for curve in curves.values()]
    best = {
        beta: f"least at {float(curve.index.to_numpy()[int(curve.argmin())]):g}, {_good(curve)}"
        for beta, curve in curves.items()
    }
    yield Finding(
        f"{where}: α from {low} to {high} is best",
        f"{low} to {high}",
        inside,
        or_undecided(every(bool)),
        "the whole range is good, though the least is elsewhere" if all(inside) else "",
        otherwise="memory overflows less often here, so that less protection pays",
        said=_each(BETA, best),
    )
    small = {
        beta: float(curve[curve.index < 0.1].max() / curve.min()) for beta, curve in curves.items()
    }
    degrades = max(small.values()) >= MUCH
    yield Finding(
        f"{where}: below α = 0.1 performance degrades significantly",
        "significantly",
        small,
        or_undecided(at_least(MUCH)),
        otherwise="for the larger β only" if degrades else "",
        said=_each(BETA, {beta: f"up to {w:.2f} times the least" for beta, w in small.items()}),
    )


def _over_beta(where: str, curves: Curves, low: float, high: float) -> Iterable[Finding]:
    yield Finding(
        f"{where}: the algorithm does well with β from {low} to {high}",
        f"{low} to {high}",
        [_all_good(curve, low, high) for curve in curves.values()],
        every(bool),
        said=_each(ALPHA, {alpha: _good(curve) for alpha, curve in curves.items()}),
    )
    ends = {
        alpha: [float(curve.iloc[end] / curve.min()) for end in (0, -1)]
        for alpha, curve in curves.items()
    }
    worse = {
        alpha: "{:.2f} and {:.2f} times the least".format(*pair) for alpha, pair in ends.items()
    }
    yield Finding(
        f"{where}: very small and very large β do worse",
        "both ends worse",
        list(ends.values()),
        None,
        "not tested: our runs clear again in the same round until memory suffices, as no schedule "
        "may exceed it, so that small β costs nothing here; and β ends at 0.3",
        said=_each(ALPHA, worse),
    )


def _least_table(frame: "pd.DataFrame", least: "pd.DataFrame") -> str:
    printed = PRINTED_TABLE["α = 0.1, β = 0.2"][0] / PRINTED_TABLE["α = 0.2, β = 0.2"][0]
    lines: list[tuple[str, ...]] = [
        ("paper, high demand", "", f"{PRINTED_LEAST[HIGH]}", "", "", f"{printed:.3f}"),
        ("paper, low demand", "", f"{PRINTED_LEAST[LOW]}", "", "", ""),
    ]
    for setting in SETTINGS:
        values = least[least[SETTING] == setting]["least"]
        runs = frame[(frame[SETTING] == setting) & (frame[POLICY] == BY_ALPHA)]
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


def _chart(table: "pd.DataFrame", over: str, fixed: str, log_y: Iterable[str]) -> Panels:
    table = table.assign(line=[f"{LETTERS[fixed]} = {value:g}" for value in table[fixed]])
    panels = [
        Panel(
            table[table[SETTING] == setting],
            setting,
            x_label=LETTERS[over] if number > 1 else "",
            y_label="mean latency (s)" if number % 2 == 0 else "",
            log_y=setting in log_y,
        )
        for number, setting in enumerate(SETTINGS)
    ]
    labels = list(table["line"].unique())
    return Panels("lines", over, "line", panels, labels, height=2.8, options={"bottom": 0})


EXPERIMENT = Experiment(__name__, page)
