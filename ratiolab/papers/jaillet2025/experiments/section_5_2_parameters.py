"""Section 5.2 of Jaillet et al. (2025), Figures 9, 10, 12, 13: the choice of α and β."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment, Finding, findings_table, markdown
from ratiolab.papers.jaillet2025.experiments.section_5_2 import POLICY, SETTING, stands_in
from ratiolab.papers.jaillet2025.experiments.section_5_2 import PRINTED as PRINTED_TABLE
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

ALPHA, BETA = "policy.alpha", "policy.beta"
BY_ALPHA, BY_BETA, LEAST = "Figures 9, 12", "Figures 10, 13", "least alpha"
HIGH, LOW = "high demand", "low demand"
SETTINGS = (HIGH, LOW, "all at once", "high demand, half the memory")
STEP = 0.01

GOOD = 1.05
"""A value is good when its average latency is at most so many times the least of its curve."""

MUCH = 1.2
"""Significantly degraded: at least so many times the least."""

PRINTED_LEAST = {HIGH: 0.21, LOW: 0.24}
PRINTED_ALPHA = {HIGH: (0.15, 0.25), LOW: (0.10, 0.25)}
PRINTED_BETA = {HIGH: (0.05, 0.25), LOW: (0.05, 0.20)}


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Sweeps, findings, and what makes memory overflow."""
    by_alpha, by_beta = (
        intervals(frame[frame[POLICY] == label], [SETTING, ALPHA, BETA], "mean_latency")
        for label in (BY_ALPHA, BY_BETA)
    )
    _draw(by_alpha, ALPHA, BETA, folder, "alpha")
    _draw(by_beta, BETA, ALPHA, folder, "beta")
    least, requests = least_alpha(frame), int(frame["workload.n"].max())
    return f"""\
{stands_in()} This page uses the fitted one.

The paper does not say how many requests these figures are about: here {requests:,}, with
{frame["seed"].nunique()} seeds and fresh requests for each. Two settings are not in the paper: all
requests at once, and half the memory; they say what its observations need.

![Latency over α]({NAME}-alpha.png)

![Latency over β]({NAME}-beta.png)

## The paper's statements

*Good* is at most {GOOD} times the least average of a curve, *significantly worse* at least {MUCH}
times.

{findings_table(_findings(by_alpha, by_beta, least))}

## The least α that does not loop

For each seed, the least α from which on no run of `alpha-protection` loops, in steps of {STEP}:
the paper has one value for each demand. The last column says where Table 1's order of
α = 0.1 and α = 0.2 comes out.

{_least_table(frame, least)}

{_what_it_takes(least)}
"""


def least_alpha(frame: "pd.DataFrame") -> "pd.DataFrame":
    """By setting and seed, the least α such that it and all larger ones complete."""
    rows = frame[frame[POLICY] == LEAST]
    looping = rows[rows["outcome"] != "complete"]
    worst = looping.groupby([SETTING, "seed"])[ALPHA].max()
    every = rows.groupby([SETTING, "seed"]).size().index
    found = (worst.reindex(every) + STEP).fillna(rows[ALPHA].min()).round(2)
    return found.rename("least").reset_index()


def _curve(table: "pd.DataFrame", setting: str, over: str, fixed: str) -> "dict[float, pd.Series]":
    rows = table[table[SETTING] == setting]
    return {
        value: rows[rows[fixed] == value].set_index(over)["mean"].sort_index()
        for value in sorted(rows[fixed].tolist())
    }


def _at_least(curve: "pd.Series") -> float:
    """Where a curve is least."""
    return float(curve.index.to_numpy()[int(curve.argmin())])


def _all_good(curve: "pd.Series", low: float, high: float) -> bool:
    """Whether every value from low to high is good."""
    between = curve[(curve.index >= low) & (curve.index <= high)]
    return bool((between <= GOOD * curve.min()).all())


def _good(curve: "pd.Series") -> str:
    good = [f"{value:g}" for value in curve.index[curve <= GOOD * curve.min()]]
    return f"{good[0]} to {good[-1]}" if len(good) > 1 else good[0]


def _each(fixed: str, said: Mapping[float, str]) -> str:
    """What is said of each curve, and the value that the other parameter has on it."""
    return "; ".join(f"{words} ({fixed} = {value:g})" for value, words in said.items())


def _agree(curves: Sequence[bool]) -> bool | None:
    """None when only some curves agree."""
    return all(curves) or (None if any(curves) else False)


def _findings(
    by_alpha: "pd.DataFrame", by_beta: "pd.DataFrame", least: "pd.DataFrame"
) -> Iterable[Finding]:
    for demand, figure in ((HIGH, 9), (LOW, 12)):
        curves = _curve(by_alpha, demand, ALPHA, BETA)
        low, high = PRINTED_ALPHA[demand]
        inside = [_all_good(curve, low, high) for curve in curves.values()]
        least_at = {
            beta: f"least at {_at_least(curve):g}, good from {_good(curve)}"
            for beta, curve in curves.items()
        }
        yield Finding(
            f"Figure {figure}, {demand}: α from {low} to {high} is best",
            f"{low} to {high}",
            _each("β", least_at),
            _agree(inside),
            "the whole range is good, though the least is elsewhere"
            if all(inside)
            else "memory overflows less often here, so that less protection pays",
        )
        small = {
            beta: float(curve[curve.index < 0.1].max() / curve.min())
            for beta, curve in curves.items()
        }
        much = [worst >= MUCH for worst in small.values()]
        yield Finding(
            f"Figure {figure}, {demand}: below α = 0.1 performance degrades significantly",
            "significantly",
            _each("β", {b: f"up to {worst:.2f} times the least" for b, worst in small.items()}),
            _agree(much),
            "for the larger β only" if any(much) and not all(much) else "",
        )
    for demand, figure in ((HIGH, 10), (LOW, 13)):
        curves = _curve(by_beta, demand, BETA, ALPHA)
        low, high = PRINTED_BETA[demand]
        yield Finding(
            f"Figure {figure}, {demand}: the algorithm does well with β from {low} to {high}",
            f"{low} to {high}",
            _each("α", {alpha: f"good from {_good(curve)}" for alpha, curve in curves.items()}),
            all(_all_good(curve, low, high) for curve in curves.values()),
        )
        ends = {
            alpha: (float(curve.iloc[0] / curve.min()), float(curve.iloc[-1] / curve.min()))
            for alpha, curve in curves.items()
        }
        worse = {
            alpha: f"{first:.2f} and {last:.2f} times the least"
            for alpha, (first, last) in ends.items()
        }
        yield Finding(
            f"Figure {figure}, {demand}: very small and very large β do worse",
            "both ends worse",
            _each("α", worse),
            any(min(pair) >= GOOD for pair in ends.values()),
            "our runs clear again in the same round until memory suffices, as no schedule may "
            "exceed it: small β costs nothing here",
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
        overflowed = little["evictions"] > 0
        quotient = little["mean_latency"].mean() / more["mean_latency"].mean()
        lines.append(
            (
                setting,
                *(f"{v:.2f}" for v in (values.min(), values.median(), values.max())),
                f"{overflowed.sum()} of {len(little)}",
                f"{quotient:.3f}",
            )
        )
    header = (
        *("setting", "least", "median", "largest", "runs that evict, α = 0.1"),
        "latency at α = 0.1 / at 0.2 (β = 0.2)",
    )
    return markdown(header, lines)


def _what_it_takes(least: "pd.DataFrame") -> str:
    medians = least.groupby(SETTING)["least"].median()
    near = min(SETTINGS, key=lambda setting: abs(float(medians[setting]) - PRINTED_LEAST[HIGH]))
    return f"""\
Of these settings *{near}* comes nearest to the paper's {PRINTED_LEAST[HIGH]}, with a median of
{float(medians[near]):.2f}. Memory overflows when many requests that started together grow together:
an empty machine that fills at once, or fewer and longer requests in memory. With lengths of the
published moments at 50 requests a second that is rare, and so protection beyond a tenth only
costs. The paper's lengths, or its rule of admission, must let memory overflow more often."""


def _draw(table: "pd.DataFrame", over: str, fixed: str, folder: Path, what: str) -> None:
    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    letters = {ALPHA: "α", BETA: "β"}
    table = table.assign(line=[f"{letters[fixed]} = {value:g}" for value in table[fixed]])
    look = looks(list(table["line"].unique()))
    figure, axes = panels(len(SETTINGS), columns=2, height=2.8)
    for number, (ax, setting) in enumerate(zip(axes, SETTINGS, strict=True)):
        lines(
            table[table[SETTING] == setting],
            over,
            "line",
            ax,
            look=look,
            title=setting,
            x_label=letters[over] if number > 1 else "",
            y_label="mean latency (s)" if number % 2 == 0 else "",
            log_y=what == "alpha" or setting == SETTINGS[-1],
        )
        if ax.get_yscale() == "linear":
            ax.set_ylim(bottom=0)
    shared_legend(figure, axes)
    write_chart(figure, folder / f"{NAME}-{what}.png")


NAME = "jaillet2025-section-5-2-parameters"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "How much to protect and how much to clear: α and β",
    "Jaillet et al. (2025), Section 5.2.1, Appendix C, Figures 9, 10, 12, 13, arXiv 2502.07115v5",
    page,
    figures=("mean_latency", "evictions", "wasted_tokens", "outcome"),
)
