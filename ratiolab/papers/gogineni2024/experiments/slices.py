"""Section 3.3 of Gogineni, Paul, Stec, Zhang (2024), Figure 2: the tokens of a slice."""

from itertools import product
from typing import Any

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.gogineni2024.experiments._slices import (
    CLOCK,
    COMPARABLE,
    GROWS,
    LATENCY,
    MEMORY,
    POLICY,
    QUANTUM,
    RANKS,
    READING,
    ROUNDS,
    SECONDS,
    SEMANTICS,
    SETTING,
    SETTINGS,
    SLICED,
    TTFT,
    Slices,
    findings,
)
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.studies.frames import intervals


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
