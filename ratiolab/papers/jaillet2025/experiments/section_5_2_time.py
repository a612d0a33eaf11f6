"""Section 5.2 of Jaillet et al. (2025), Figures 4, 8, 11: throughput and memory over time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import pandas as pd
from matplotlib.axes import Axes

from ratiolab.papers.finding import Finding, at_most, in_settings, inside
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    CLOCK,
    CLOCKS,
    HIGH,
    LOW,
    MC_BENCHMARK,
    MC_SF,
    MEMORY,
    POLICY,
    SETTING,
    clocks,
)
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs, mean_with_interval
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.experiments import finish, looks, panels, shared_legend
from ratiolab.report.plots.names import named

FILLING = 10
"""Seconds at the beginning in which memory fills."""

EARLY = 30
"""Seconds of the beginning that are looked at by themselves."""

CLOSE = 0.85
"""Close to full utilisation: this share of memory, on average."""


def page(frame: pd.DataFrame) -> Page:
    """Compute the charts of one run, shares over all runs, and findings."""
    frame = frame.assign(
        present=frame["arriving"] > 0, tokens=frame["throughput"] + frame["prefill"]
    )
    runs = Runs(frame, (CLOCK, SETTING, POLICY))
    slots = {"clocks": clocks(), "runs": _table(runs)}
    first = Runs(frame[frame["seed"] == frame["seed"].min()], (CLOCK, SETTING))

    def throughput() -> Chart:
        shown = {title: first.rows((clock, HIGH)) for clock, title in CLOCKS.items()}
        return throughput_chart(shown, POLICY)

    def memory() -> Chart:
        shown = {
            f"{title}: {demand}": first.rows((clock, demand))
            for (clock, title), demand in product(CLOCKS.items(), (HIGH, LOW))
        }
        return memory_chart(shown, POLICY, MEMORY)

    charts = {"throughput": throughput, "memory": memory}
    return Page(slots, list(findings(runs)), charts)


def findings(runs: Runs) -> Iterable[Finding]:
    """Compare throughput and memory over time with the paper's figures, under both clocks."""
    frame = runs.frame
    peak = int(frame["peak_memory"].max())
    yield Finding(
        "Figures 8, 11: memory stays within M at every moment",
        f"M = {MEMORY:,}",
        peak,
        at_most(MEMORY),
        said=f"at most {peak:,} tokens in "
        f"{frame.groupby([CLOCK, SETTING, POLICY, 'seed']).ngroups} runs",
    )
    for column, words in (("throughput", "output tokens"), ("tokens", "prompt and output tokens")):
        wins = {title: _wins(frame, clock, column) for clock, title in CLOCKS.items()}
        shares = {
            title: [mean_with_interval(won.groupby(level="seed").mean())]
            for title, won in wins.items()
        }
        early = [
            f"{won[won.index.get_level_values('second') < EARLY].mean():.0%}"
            for won in wins.values()
        ]
        yield in_settings(
            f"Figure 4: MC-SF has the higher throughput in most seconds ({words})",
            "most intervals",
            shares,
            inside(0.5, 1),
            f"of the first {EARLY} seconds {', '.join(early)}: all have the same tokens to serve, "
            "and who serves short requests first pays at the end",
            said=_percent,
        )
    for demand, figure in ((HIGH, 8), (LOW, 11)):
        used = {title: [_filled(runs, clock, demand)] for clock, title in CLOCKS.items()}
        full = in_settings(
            f"Figure {figure}: memory is close to full utilisation, {demand}",
            "close to M",
            used,
            inside(CLOSE, 1),
            said=_percent,
        )
        yield replace(
            full,
            said=f"{full.said} of M on average while requests arrive, but for the first "
            f"{FILLING} seconds",
            why="" if full.reproduced else "the slower the machine, the fuller its memory",
        )


def _percent(ratios: Sequence[Ratio]) -> str:
    return f"{ratios[0].mean:.0%} ({ratios[0].low:.0%} to {ratios[0].high:.0%})"


def _filled(runs: Runs, clock: str, demand: str) -> Ratio:
    """Return the share of memory that MC-SF holds while requests arrive, after the filling."""
    rows = runs.rows((clock, demand, MC_SF))
    later = rows[rows["present"] & (rows["begin"] >= FILLING)]
    return mean_with_interval(later.groupby("seed")["memory"].mean() / MEMORY)


def _wins(frame: pd.DataFrame, clock: str, column: str) -> pd.Series:
    """Return by seed and second, while both still work, whether MC-SF serves more tokens."""
    rows = frame[(frame[SETTING] == HIGH) & (frame[CLOCK] == clock)]
    pairs = (
        rows.assign(second=rows["begin"].round())
        .pivot_table(index=["seed", "second"], columns=POLICY, values=column)
        .dropna()
    )
    return pairs[MC_SF] > pairs[MC_BENCHMARK]


def _table(runs: Runs) -> str:
    columns = {
        "seconds": lambda rows: float(rows.groupby("seed")["begin"].max().mean()),
        "output tokens a second": lambda rows: float(rows["throughput"].mean()),
        "memory": lambda rows: float(rows[rows["present"]]["memory"].mean()),
        "peak": lambda rows: int(rows["peak_memory"].max()),
    }
    groups = runs.frame.groupby([CLOCK, SETTING, POLICY], sort=False)
    rows = {(CLOCKS[str(clock)], *names): group for (clock, *names), group in groups}
    corner = ("clock", "demand", "scheduler")
    return grid(corner, rows, columns, lambda group, column: column(group))


def throughput_chart(runs: Mapping[str, pd.DataFrame], by: str) -> Chart:
    """Draw a panel for each title: tokens that each scheduler serves, and bars of arriving ones.

    Each run has the columns begin, throughput, prefill and arriving, second by second.
    """
    figure, axes = panels(len(runs), height=3.2)
    for number, (ax, (title, rows)) in enumerate(zip(axes, runs.items(), strict=True)):
        for label, look in looks(list(rows[by].unique())).items():
            part = rows[rows[by] == label]
            tokens = part["throughput"] + part["prefill"]
            ax.step(
                part["begin"], tokens, where="post", lw=1.4, color=look["color"], label=named(label)
            )
        some = part[part["arriving"] > 0]
        look = {"color": "0.75", "alpha": 0.6, "label": "arriving"}
        ax.bar(some["begin"], some["arriving"], 1.0, align="edge", **look)
        _labelled(ax, title, "" if number else "prompt and output tokens a second")
    shared_legend(figure, axes)
    return figure


def memory_chart(runs: Mapping[str, pd.DataFrame], by: str, memory: int) -> Chart:
    """Draw a panel for each title: tokens held by each scheduler over time, and the limit."""
    figure, axes = panels(len(runs), columns=2, height=2.6)
    for number, (ax, (title, rows)) in enumerate(zip(axes, runs.items(), strict=True)):
        for label, look in looks(list(rows[by].unique())).items():
            part = rows[rows[by] == label]
            style = {"color": look["color"], "ls": look["ls"]}
            ax.plot(part["begin"], part["memory"], lw=1.4, label=named(label), **style)
        ax.axhline(memory, color="black", lw=0.8, ls=":", label=f"$M$ = {memory:,}")
        ax.set_ylim(0, 1.08 * memory)
        _labelled(ax, title, "tokens held" if number % 2 == 0 else "")
    shared_legend(figure, axes)
    return figure


def _labelled(ax: Axes, title: str, y_label: str) -> None:
    ax.set_xlim(left=0)
    finish(ax, title, "time (s)", y_label)
