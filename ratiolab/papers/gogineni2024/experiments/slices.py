"""Section 3.3 of Gogineni, Paul, Stec, Zhang (2024), Figure 2: the tokens of a slice."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, at_least, at_most, higher, in_settings, inside
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs, mean_with_interval
from ratiolab.studies.frames import intervals

SETTING, POLICY, QUANTUM = "workload.label", "policy.label", "policy.quantum"
MEMORY, CLOCK, SEMANTICS = "workload.memory", "clock", "preempted_as"
SECONDS, ROUNDS, VIDUR = "llama3-1b-l4", "unit", "vidur-llama2-70b-2xa100"
SETTINGS: dict[str, dict[str, str]] = {
    "spread 3": {},
    "spread 1.5": {"setting": "spread 1.5"},
    "Vidur's clock": {"setting": "Vidur", "clock": VIDUR},
}
"""Lengths and clocks by which statements are judged; the first are those of the page."""

READING = "rr-sjf, fill"
SLICED = (READING, "rr-sjf, one", "rr-sjf, all", "rr, last", "rr, first")
TTFT, LATENCY = "mean_ttft", "mean_latency"

GROWS = 1.05
"""A positive correlation: the figure at the longest slice is at least this multiple of that at the
shortest, and the rank correlation of slices and means is at least `RANKS`."""

RANKS = 0.9
COMPARABLE = 1.25
"""Comparable to SJF: at most this multiple."""


class Slices:
    """Means over seeds by slice, by default in seconds with all the memory and recompute."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.memories = sorted((int(m) for m in frame[MEMORY].unique()), reverse=True)
        self._runs = Runs(frame, (POLICY, SEMANTICS, CLOCK, SETTING, MEMORY))

    def rows(
        self,
        policy: str,
        *,
        semantics: str = "recompute",
        clock: str = SECONDS,
        setting: str = "burst",
        memory: int | None = None,
    ) -> pd.DataFrame:
        """Return the runs of a policy at every slice."""
        return self._runs.rows((policy, semantics, clock, setting, memory or self.memories[0]))

    def means(self, policy: str, column: str, **choice: Any) -> pd.Series:
        """Return a figure for every slice."""
        means: pd.Series = self.rows(policy, **choice).groupby(QUANTUM, dropna=False)[column].mean()
        return means

    def over(
        self, policy: str, column: str, base: float, other: str | None = None, **choice: Any
    ) -> dict[float, Ratio]:
        """Return a figure at every slice over that at one, of the same policy or another."""
        table = (
            self.rows(policy, **choice)
            .reset_index()
            .pivot(index="seed", columns=QUANTUM, values=column)
        )
        unit = table[base] if other is None else self.rows(other, **choice)[column]
        return {float(str(q)): mean_with_interval(table[q] / unit) for q in table.columns}

    def swapped(self, quantum: float) -> Ratio:
        """Return the latency of the judged reading over SJF's when nothing is recomputed."""
        rows = self.rows(READING, semantics="swap")
        return mean_with_interval(
            rows[rows[QUANTUM] == quantum][LATENCY] / self.rows("sjf")[LATENCY]
        )

    def growth(self, policy: str, column: str, **choice: Any) -> Ratio:
        """Return how many times a figure grows from the shortest to the longest slice."""
        shortest, *_, longest = sorted(self.rows(policy, **choice)[QUANTUM].unique())
        return self.over(policy, column, shortest, **choice)[float(longest)]


def findings(slices: Slices, ratios: pd.DataFrame) -> Iterable[Finding]:
    """Compare what the paper says of slices and of optimality with the runs."""
    for column, name in ((TTFT, "TTFT"), (LATENCY, "end-to-end latency")):
        means = slices.means(READING, column)
        others = ", ".join(
            f"{p} {slices.growth(p, column).mean:.2f}" for p in SLICED if p != READING
        )
        ranks = [_rank(slices.means(READING, column, **each)) for each in SETTINGS.values()]
        grows = in_settings(
            f"Figure 2: mean {name} and the tokens before preemption are positively correlated",
            "positive",
            {s: [slices.growth(READING, column, **each)] for s, each in SETTINGS.items()},
            inside(GROWS, inf),
            "below is why" if column == LATENCY else "",
            said=lambda grown: f"{grown[0]:.2f} times",
        )
        yield replace(
            grows,
            rule=grows.reproduced and (min(ranks) >= RANKS or None),
            said=f"{means.iloc[0]:.2f} to {means.iloc[-1]:.2f} s: {grows.said}; rank correlations "
            f"{', '.join(f'{rank:.2f}' for rank in ranks)} (other readings: {others})",
        )
    first = slices.means(READING, TTFT).index[0]
    yield in_settings(
        f"Section 3.4: slices of {first:g} tokens minimise TTFT",
        "least",
        {
            s: [r for q, r in slices.over(READING, TTFT, first, **each).items() if q > first]
            for s, each in SETTINGS.items()
        },
        higher(),
        said=lambda ratios: ", ".join(f"{ratio.mean:.2f}" for ratio in ratios),
    )
    yield in_settings(
        f"Section 3.4: slices of {first:g} tokens do so without a significant increase in "
        "end-to-end latency",
        "no increase",
        {
            s: [slices.over(READING, LATENCY, _best(slices, **each), **each)[first]]
            for s, each in SETTINGS.items()
        },
        inside(0, GROWS),
        said=lambda ratios: f"{ratios[0]:.3f} times the least",
    )
    yield in_settings(
        "Section 3: RR-SJF has end-to-end latency comparable to SJF",
        "comparable",
        {
            s: [slices.over(READING, LATENCY, first, "sjf", **each)[first]]
            for s, each in SETTINGS.items()
        },
        inside(0, COMPARABLE),
        f"under swap {slices.swapped(first):.2f} times",
        said=lambda ratios: f"mean {ratios[0]:.2f} times SJF's",
    )
    shortest = float(ratios.loc[ratios[POLICY] == "sjf", "ttft_ratio"].mean())
    best = ratios.groupby([POLICY, QUANTUM])["ttft_ratio"].mean()
    winner, slice_ = best.index[int(best.argmin())]
    yield Finding(
        "Section 1: SJF is optimal for mean TTFT",
        "optimal",
        shortest,
        at_most(float(best.min())),
        "optimal only among rules that never preempt: first tokens need one round each",
        said=f"{shortest:.0f} times the optimum in unit rounds; "
        f"{winner} with slices of {slice_:g} has {best.min():.2f}",
    )
    small = slices.memories[-1]
    tight = {
        policy: float(slices.means(policy, LATENCY, clock=ROUNDS, memory=small).min())
        for policy in ("sjf", *SLICED)
    }
    under_tight = min(tight[policy] for policy in SLICED) / tight["sjf"]
    least = float(ratios["latency_ratio"].min())
    said = f"in unit rounds with a batch limit the least of all runs is {least:.3f} times SJF's"
    if len(slices.memories) > 1:
        said += f"; with {small:,} tokens, where memory decides, {under_tight:.3f}"
    yield Finding(
        "Section 1: SJF is optimal for mean end-to-end latency",
        "optimal",
        (least, under_tight),
        at_least(1),
        "proved for a batch limit alone; a memory limit is another matter, as the paper's last "
        "section supposes",
        said=said,
    )


def _rank(means: pd.Series) -> float:
    return float(means.rank().corr(means.index.to_series().rank()))


def _best(slices: Slices, **choice: Any) -> float:
    return float(str(slices.means(READING, LATENCY, **choice).idxmin()))


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    prompts = frame["requests"] * frame["workload.prompt"]
    frame = frame.assign(again=frame["prefill_tokens"] - prompts)
    large = int(frame[MEMORY].max())
    burst = frame[(frame[SETTING] == "burst") & (frame[MEMORY] == large)]
    seconds, rounds = (burst[burst[CLOCK] == clock] for clock in (SECONDS, ROUNDS))
    n, batch = int(frame["requests"].iloc[0]), int(frame["policy.batch"].iloc[0])
    slices = Slices(frame)
    ratios = _against_optimum(rounds, n, batch)
    quanta = sorted(int(q) for q in seconds[QUANTUM].dropna().unique())
    evictions = slices.means(READING, "evictions")
    slots = {
        "memory": large,
        "quanta": quanta,
        "grows": GROWS,
        "ranks": RANKS,
        "comparable": COMPARABLE,
        "growth": _growth_table(slices),
        "preemption": _preemption_table(slices),
        "longer": evictions.index[-1] / evictions.index[0],
        "preemptions": slices.growth(READING, "evictions"),
        "in_rounds": slices.growth(READING, LATENCY, clock=ROUNDS),
        "blind": slices.growth(READING, LATENCY, clock=ROUNDS, setting="blind"),
        "last": slices.growth("rr, last", LATENCY),
        "settings": list(SETTINGS),
        "optima": _ratio_table(ratios, quanta),
    }
    charts = {"seconds": _seconds_chart(seconds), "ratio": _ratios_chart(ratios)}
    return Page(slots, list(findings(slices, ratios)), charts)


def _against_optimum(rounds: pd.DataFrame, n: int, batch: int) -> pd.DataFrame:
    """Return runs in unit rounds with their means over the optima of their instances."""
    runs = rounds[rounds[SEMANTICS] == "recompute"]  # swap is the same when it costs nothing
    sjf = runs[runs[POLICY] == "sjf"]
    assert (sjf["evictions"] == 0).all()
    best = sjf.set_index("instance")[LATENCY]
    earliest = sum(k // batch + 1 for k in range(n)) / n
    return runs.assign(
        ttft_ratio=runs[TTFT] / earliest, latency_ratio=runs[LATENCY] / runs["instance"].map(best)
    )


def _growth_table(slices: Slices) -> str:
    choices: dict[str, dict[str, Any]] = {
        "recompute, seconds": {},
        "swap, seconds": {"semantics": "swap"},
        "rounds": {"clock": ROUNDS},
        "rounds, predictions a coin": {"clock": ROUNDS, "setting": "blind"},
    }
    for size in slices.memories[1:]:
        choices[f"{size:,} tokens, recompute, seconds"] = {"memory": size}
    choices |= {name: each for name, each in SETTINGS.items() if each}

    def cell(policy: str, choice: dict[str, Any]) -> str:
        try:
            return f"{slices.growth(policy, LATENCY, **choice):.2f}"
        except KeyError:  # was not run
            return ""

    return grid("end-to-end latency", SLICED, choices, cell)


def _preemption_table(slices: Slices) -> str:
    columns = {
        "preemptions": lambda policy: slices.means(policy, "evictions"),
        "tokens recomputed each time": lambda policy: (
            slices.means(policy, "again") / slices.means(policy, "evictions")
        ),
        "share of requests ever preempted": lambda policy: slices.means(policy, "preempted"),
    }
    ends = slices.means(READING, "evictions").index[[0, -1]]
    return grid(
        "",
        SLICED,
        {
            f"{name}, slice {end:.0f}": (column, place)
            for name, column in columns.items()
            for place, end in zip((0, -1), ends, strict=True)
        },
        lambda policy, column: float(column[0](policy).iloc[column[1]]),
    )


def _ratio_table(ratios: pd.DataFrame, quanta: list[int]) -> str:
    chosen = [quanta[0], quanta[len(quanta) // 2], quanta[-1]]

    def cell(row: tuple[str, int | str], column: str) -> float:
        policy, quantum = row
        at = ratios[ratios[POLICY] == policy]
        return float((at if quantum == "" else at[at[QUANTUM] == quantum])[column].mean())

    return grid(
        ("policy", "slice"),
        {(p, str(q)): (p, q) for p, q in [("sjf", ""), *product(SLICED, chosen)]},
        {
            "mean first token / optimum": "ttft_ratio",
            "mean completion / optimum": "latency_ratio",
        },
        cell,
    )


def _seconds_chart(seconds: pd.DataFrame) -> Panels:
    rows = seconds[seconds[POLICY].isin(SLICED)]
    panels = [
        Panel(
            intervals(rows[rows[SEMANTICS] == semantics], [POLICY, QUANTUM], column),
            f"Figure 2: {semantics}",
            y_label=f"mean {name} (s)",
        )
        for column, name in ((TTFT, "TTFT"), (LATENCY, "end-to-end latency"))
        for semantics in ("recompute", "swap")
    ]
    options = {"x_label": "tokens of a slice", "log_y": True}
    return Panels("lines", QUANTUM, POLICY, panels, SLICED, height=2.9, options=options)


def _ratios_chart(ratios: pd.DataFrame) -> Panels:
    rows = ratios[ratios[POLICY].isin(SLICED)]
    panels = [
        Panel(
            intervals(rows, [POLICY, QUANTUM], column),
            f"mean {name}, unit rounds",
            y_label=f"mean {name} / optimum",
            log_y=column == "ttft_ratio",
        )
        for column, name in (("ttft_ratio", "time to first token"), ("latency_ratio", "completion"))
    ]
    options = {"x_label": "tokens of a slice"}
    return Panels("lines", QUANTUM, POLICY, panels, SLICED, options=options)
