"""Experiments 1, 2 and 3 of Chen, Ye, Zhou (2025), Figures 5, 6 and 7."""

import pandas as pd

from ratiolab.papers.chen2025.experiments import _statements as said
from ratiolab.papers.chen2025.experiments._statements import (
    A_MAX,
    A_MIN,
    CLOCK,
    CLOCKS,
    DEVICE,
    FIGURES,
    FRIENDLY,
    H_SF,
    LARGEST,
    MEMORY,
    POLICY,
    RANDOM,
    REQUESTS,
    ROUGH,
    ROUNDS,
    SECONDS,
    SETTING,
    STATEMENTS,
    Loads,
    findings,
)
from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import inside
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs
from ratiolab.studies.frames import intervals, with_bounds

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
        "rules": said,
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
