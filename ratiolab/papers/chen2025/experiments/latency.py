"""Experiments 1, 2 and 3 of Chen, Ye, Zhou (2025), Figures 5, 6 and 7."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, Rule, at_most, in_settings, inside
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs
from ratiolab.studies.frames import intervals, with_bounds

CLOCK, SETTING, REQUESTS, POLICY = "clock", "workload.label", "workload.n", "policy.label"
MEMORY = "workload.memory"
ROUNDS, SECONDS, VIDUR = "unit", "llama2-70b-2xa100", "vidur-llama2-70b-2xa100"
CLOCKS = {SECONDS: "data sheets", VIDUR: "Vidur"}
ROUGH, BUCKETS = "[1, 1000]", "ten buckets"
NARROW, WIDE, WIDEST = "(1 ± 0.1) o", "(1 ± 0.95) o", "(1 ± 0.99) o"
FIGURES = {ROUGH: 5, BUCKETS: 6, NARROW: 7, WIDE: 7, WIDEST: 7}
BY_MEMORY = {setting: f"{setting}, memory" for setting in FIGURES}
DEVICE = 61_000
"""Tokens that two A100-80GB have left beside the model."""

A_MAX, A_MIN, H_SF, SVF = "a-max", "a-min", "h-sf", "svf"
RANDOM = "a-max, random order"
LARGEST = "a-min, largest evicted first"
FRIENDLY = "a-min, friendly ties"
"""Among equal bounds the shortest request is admitted first and the longest evicted first."""

NEAR = 1.05
"""Nearly identical: at most this multiple of the benchmark, at every n."""

WELL = 1.25
"""Performing well, or staying close: at most this multiple of the benchmark, at every n."""

HALVED = (0.4, 0.6)
"""Nearly halved: the quotient lies here, at the largest n."""

WORSE = 1.5
"""Significantly worse: at least this multiple, at the largest n."""

STATEMENTS = {
    f"A_max / H-SF, {ROUGH}: far higher?": ((ROUGH, A_MAX), (ROUGH, H_SF), (WORSE, inf)),
    f"A_min / H-SF, {ROUGH}: nearly identical?": ((ROUGH, A_MIN), (ROUGH, H_SF), (0, NEAR)),
    f"A_max, {BUCKETS} / {ROUGH}: nearly halved?": ((BUCKETS, A_MAX), (ROUGH, A_MAX), HALVED),
    f"A_min / H-SF, {BUCKETS}: nearly identical?": ((BUCKETS, A_MIN), (BUCKETS, H_SF), (0, NEAR)),
    f"A_max, {WIDEST} / {NARROW}: significantly worse?": (
        (WIDEST, A_MAX),
        (NARROW, A_MAX),
        (WORSE, inf),
    ),
    f"A_min / H-SF, {WIDEST}: close?": ((WIDEST, A_MIN), (WIDEST, H_SF), (0, WELL)),
}
"""Numerator and denominator, each as setting and policy, and the claimed range of the quotient."""


class Loads:
    """Runs by clock, memory, setting, n and policy."""

    def __init__(self, frame: pd.DataFrame) -> None:
        short = frame[SETTING].str.removesuffix(", memory").str.removesuffix(", mixed")
        place = (CLOCK, MEMORY, SETTING, REQUESTS, POLICY)
        self.most = int(frame[REQUESTS].max())
        load = frame[frame[SETTING].isin(FIGURES)]
        self.memory = int(load[MEMORY].iloc[0])
        self.mixed = Runs(
            frame[frame[SETTING].str.endswith(", mixed")].assign(**{SETTING: short}), place
        )
        by_memory = frame[frame[SETTING].isin(BY_MEMORY.values())].assign(**{SETTING: short})
        self.by_memory = Runs(by_memory, place)
        self.load = Runs(load, place)
        self.numbers = {
            clock: sorted(load[load[CLOCK] == clock][REQUESTS].unique().tolist())
            for clock in (ROUNDS, *CLOCKS)
        }

    def over(
        self, clock: str, one: tuple[str, str], other: tuple[str, str], *, last: bool = False
    ) -> list[Ratio]:
        """Return quotients of mean latencies for every n, or the largest alone."""
        numbers = self.numbers[clock][-1:] if last else self.numbers[clock]
        return [
            self.load.ratio(
                (clock, self.memory, one[0], n, one[1]),
                (clock, self.memory, other[0], n, other[1]),
                "mean_latency",
            )
            for n in numbers
        ]

    def with_memory(
        self, clock: str, memory: int, one: tuple[str, str], other: tuple[str, str]
    ) -> Ratio:
        """Return a quotient at the largest n with some memory."""
        return self.by_memory.ratio(
            (clock, memory, one[0], self.most, one[1]),
            (clock, memory, other[0], self.most, other[1]),
            "mean_latency",
        )

    def settings(
        self, *pairs: tuple[tuple[str, str], tuple[str, str]], last: bool = False
    ) -> dict[str, list[Ratio]]:
        """Return quotients by clock and memory: those by which statements are judged."""
        found = {
            words: [ratio for pair in pairs for ratio in self.over(clock, *pair, last=last)]
            for clock, words in CLOCKS.items()
        }
        for clock, words in CLOCKS.items():
            there = [self.with_memory(clock, DEVICE, *pair) for pair in pairs]
            found[f"{words}, {DEVICE:,} tokens"] = there
        return found


def _most(ratios: Sequence[Ratio]) -> str:
    return f"{max(ratio.mean for ratio in ratios):.2f}"


def _least(ratios: Sequence[Ratio]) -> str:
    return f"{min(ratio.mean for ratio in ratios):.2f}"


def findings(loads: Loads) -> Iterable[Finding]:
    """Judge each statement in seconds, with the same figure in rounds beside it."""

    def up_to(setting: str, policy: str) -> str:
        """Say how much above H-SF a policy is under the clock of data sheets."""
        return _most(loads.over(SECONDS, (setting, policy), (setting, H_SF)))

    def judged(
        statement: str,
        paper: str,
        rule: Rule,
        *pairs: tuple[tuple[str, str], tuple[str, str]],
        last: bool = False,
        least: bool = False,
        why: str = "",
    ) -> Finding:
        said = _least if least else _most
        found: Mapping[str, list[Ratio]] = loads.settings(*pairs, last=last)
        finding = in_settings(statement, paper, found, rule, why, said=said)
        rounds = [ratio for pair in pairs for ratio in loads.over(ROUNDS, *pair, last=last)]
        return replace(finding, said=f"{finding.said} ({said(rounds)} in rounds)")

    def against(setting: str, policy: str) -> tuple[tuple[str, str], tuple[str, str]]:
        return (setting, policy), (setting, H_SF)

    def ablated(setting: str) -> str:
        return (
            f"data sheets: {up_to(setting, FRIENDLY)} if ties are broken by true lengths, "
            f"{up_to(setting, LARGEST)} if the largest bound is evicted first"
        )

    yield judged(
        f"Figure 5: under {ROUGH}, A_max has far higher latency than H-SF",
        "high latency",
        inside(WORSE, inf),
        against(ROUGH, A_MAX),
        least=True,
    )
    yield judged(
        f"Figure 5: under {ROUGH}, A_min is nearly identical to H-SF",
        "nearly identical",
        inside(0, NEAR),
        against(ROUGH, A_MIN),
        why=f"one bound for all leaves the order to chance; {ablated(ROUGH)}",
    )
    yield judged(
        "Figure 6: from one interval to ten buckets, A_max's latency is nearly halved",
        "about 0.5",
        inside(*HALVED),
        ((BUCKETS, A_MAX), (ROUGH, A_MAX)),
        last=True,
    )
    yield judged(
        "Figure 6: with ten buckets, A_min closely approaches H-SF",
        "nearly identical",
        inside(0, NEAR),
        against(BUCKETS, A_MIN),
        why=ablated(BUCKETS),
    )
    for policy, words in ((A_MAX, "A_max"), (A_MIN, "A_min")):
        yield judged(
            f"Figure 7: under {NARROW}, {words} performs well",
            "low latency",
            inside(0, WELL),
            against(NARROW, policy),
        )
    for setting in (WIDE, WIDEST):
        yield judged(
            f"Figure 7: under {setting}, A_max is significantly worse than under {NARROW}",
            "significantly worse",
            inside(WORSE, inf),
            ((setting, A_MAX), (NARROW, A_MAX)),
            last=True,
        )
    for setting in (WIDE, WIDEST):
        yield judged(
            f"Figure 7: under {setting}, A_min stays close to H-SF",
            "close",
            inside(0, WELL),
            against(setting, A_MIN),
            why=ablated(setting),
        )
        yield judged(
            f"Figure 7: under {setting}, A_min is far below A_max",
            "far below",
            inside(0, 1 / WORSE),
            ((setting, A_MIN), (setting, A_MAX)),
            last=True,
        )
    yield _lower_bound(loads.load.frame)


def _lower_bound(load: pd.DataFrame) -> Finding:
    paired = load[load[CLOCK] == ROUNDS].pivot_table(
        index=[SETTING, REQUESTS, "seed"], columns=POLICY, values="total_latency"
    )
    below = float((paired[SVF] < paired[H_SF]).mean())
    gain = float((paired[H_SF] / paired[SVF]).max())
    return Finding(
        "Section 6: H-SF serves as a lower bound on achievable latency",
        "lower bound",
        below,
        at_most(0),
        "H-SF sorts by output alone, SVF by the memory that prompt and output take over time",
        said=f"SVF, with the same knowledge, is below it on {below:.0%} of the instances, by a "
        f"factor of up to {gain:.2f} (unit rounds)",
    )


LATENCY = "mean latency (s)"
ANSWERS = {True: "yes", False: "no", None: "open"}


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    runs = frame[frame["task"] == "simulate"]
    loads = Loads(runs)
    bounded = frame[frame[SETTING].isin(FIGURES) & (frame[CLOCK].isna() | (frame[CLOCK] == ROUNDS))]
    rounds = with_bounds(bounded)
    key = [SETTING, REQUESTS, POLICY]
    ratio = intervals(rounds, key, "ratio_high")
    means = ratio[ratio[REQUESTS] == loads.most].pivot(index=POLICY, columns=SETTING, values="mean")
    seconds, vidur = (loads.load.at(**{CLOCK: clock}).frame for clock in CLOCKS)
    slots = {
        "fewest": loads.numbers[SECONDS][0],
        "most": loads.most,
        "memory": loads.memory,
        "device": DEVICE,
        "rules": globals(),
        "memories": _memory_table(loads),
        "fastest": {words: _fastest(loads, clock) for clock, words in CLOCKS.items()},
        "choices": _choice_table(loads),
        "mixed": _mixed_table(loads),
        "gap": float((rounds["opt_upper"] / rounds["opt_lower"]).max() - 1),
        "ratios": grid(
            "policy",
            ratio[POLICY].unique(),
            list(FIGURES),
            lambda policy, setting: float(means.loc[policy, setting]),
        ),
    }
    charts = {
        "latency": _chart(
            intervals(seconds, key, "mean_latency"), LATENCY, "The clock of data sheets"
        ),
        "vidur": _chart(intervals(vidur, key, "mean_latency"), LATENCY, "The clock of Vidur"),
        "ratio": _chart(ratio, "total latency / lower bound of OPT", "Unit rounds"),
    }
    return Page(slots, list(findings(loads)), charts)


def _memory_table(loads: Loads) -> str:
    """Return ratios of mean latencies for every memory, each with the answer to its statement."""

    def cell(place: tuple[str, int], column: tuple[tuple[str, str], ...]) -> str:
        one, other, (low, high) = column
        value = loads.with_memory(*place, one, other)
        return f"{value.mean:.2f} {ANSWERS[inside(float(low), float(high)).holds(value, None)]}"

    rows = {
        (words, f"{memory:,}", f"{_h_sf(loads, clock, memory):.1f}"): (clock, memory)
        for clock, words in CLOCKS.items()
        for memory in loads.by_memory.at(**{CLOCK: clock}).levels(MEMORY)
    }
    return grid(("clock", "memory (tokens)", "H-SF (s)"), rows, STATEMENTS, cell)


def _h_sf(loads: Loads, clock: str, memory: int) -> float:
    return loads.by_memory.mean((clock, memory, ROUGH, loads.most, H_SF), "mean_latency")


def _fastest(loads: Loads, clock: str) -> int:
    memories = loads.by_memory.at(**{CLOCK: clock}).levels(MEMORY)
    return int(min(memories, key=lambda memory: _h_sf(loads, clock, memory)))


def _choice_table(loads: Loads) -> str:
    """Return what A_max's order and A_min's victim do, as quotients to H-SF at the largest n."""
    rows = {
        (setting, words): (clock, setting)
        for setting in FIGURES
        for clock, words in {**CLOCKS, ROUNDS: "rounds"}.items()
    }
    return grid(
        ("prediction", "clock"),
        rows,
        (A_MAX, RANDOM, A_MIN, LARGEST, FRIENDLY),
        lambda row, policy: (
            f"{loads.over(row[0], (row[1], policy), (row[1], H_SF), last=True)[0]:.2f}"
        ),
    )


def _mixed_table(loads: Loads) -> str:
    """Return the same quotients for lengths with the published variances, too."""

    def cell(setting: str, choice: tuple[Runs, str]) -> str:
        runs, policy = choice
        place = (SECONDS, loads.memory, setting, loads.most)
        return f"{runs.ratio((*place, policy), (*place, H_SF), 'mean_latency'):.2f}"

    columns = {
        f"{policy}{words}": (runs, policy)
        for policy in (A_MAX, A_MIN, LARGEST)
        for words, runs in (("", loads.load), (", variances too", loads.mixed))
    }
    return grid("prediction", list(FIGURES), columns, cell)


def _chart(table: pd.DataFrame, y_label: str, heading: str) -> Panels:
    panels = [
        Panel(
            table[table[SETTING] == setting], f"Figure {number}: {setting}", log_y=setting == ROUGH
        )
        for setting, number in FIGURES.items()
    ]
    options = {"x_label": "requests n", "y_label": y_label}
    labels = list(table[POLICY].unique())
    return Panels(
        "lines", REQUESTS, POLICY, panels, labels, columns=3, heading=heading, options=options
    )
