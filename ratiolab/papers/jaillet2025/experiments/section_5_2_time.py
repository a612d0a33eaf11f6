"""Section 5.2 of Jaillet et al. (2025), Figures 4, 8, 11: throughput and memory over time."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment, Finding, findings_table, markdown
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    CLOCK,
    CLOCKS,
    MC_BENCHMARK,
    MC_SF,
    POLICY,
    SETTING,
    stands_in,
)
from ratiolab.papers.jaillet2025.experiments.section_5_2_growth import HIGH, LOW

if TYPE_CHECKING:
    import pandas as pd

MEMORY = 16492
FILLING = 10
"""Seconds at the beginning in which memory fills."""

CLOSE = 0.85
"""Close to full utilisation: so much of memory, on average."""


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures of one run, shares over all runs, findings."""
    frame = frame.assign(
        present=frame["arriving"] > 0,
        tokens=frame["throughput"] + frame["prefill"],
    )
    _draw(frame[frame["seed"] == frame["seed"].min()], folder)
    return f"""\
{stands_in()}

1,000 requests, {frame["seed"].nunique()} seeds; the figures show the first. A point is the average
over one second. The paper shows MC-SF and MC-Benchmark under high demand (Figure 4) and the memory
of MC-SF under high (Figure 8) and low demand (Figure 11).

![Throughput over time]({NAME}-throughput.png)

![Memory over time]({NAME}-memory.png)

## The paper's statements

{findings_table(_findings(frame))}

## Whole runs

Averages over the seeds; memory while requests arrive, tokens, and the largest number ever held.

{_table(frame)}
"""


def _pairs(rows: "pd.DataFrame", value: str) -> "pd.DataFrame":
    """A column of both schedulers, second by second, while both still work."""
    table = rows.assign(second=rows["begin"].round()).pivot_table(
        index=["seed", "second"], columns=POLICY, values=value
    )
    return table.dropna()


def _findings(frame: "pd.DataFrame") -> Iterable[Finding]:
    high = frame[frame[SETTING] == HIGH]
    peak = int(frame["peak_memory"].max())
    yield Finding(
        "Figures 8, 11: memory stays within M at every moment",
        f"M = {MEMORY:,}",
        f"at most {peak:,} tokens in {frame.groupby([CLOCK, SETTING, POLICY, 'seed']).ngroups} "
        "runs",
        peak <= MEMORY,
    )
    for column, words in (("throughput", "output tokens"), ("tokens", "prompt and output tokens")):
        shares, halves = [], []
        for clock in CLOCKS:
            pairs = _pairs(high[high[CLOCK] == clock], column)
            wins = (pairs[MC_SF] > pairs[MC_BENCHMARK]).groupby(level="seed").mean()
            shares.append(float(wins.mean()))
            early = pairs[pairs.index.get_level_values("second") < 30]
            halves.append(float((early[MC_SF] > early[MC_BENCHMARK]).mean()))
        yield Finding(
            f"Figure 4: MC-SF has the higher throughput in most seconds ({words})",
            "most intervals",
            " and ".join(f"{share:.0%}" for share in shares) + " of the seconds (clocks as above)",
            all(share > 0.5 for share in shares) or (None if max(shares) > 0.5 else False),
            f"of the first 30 seconds {halves[0]:.0%} and {halves[1]:.0%}: both have the same "
            "tokens to serve, and who serves short requests first pays at the end",
        )
    for demand, figure in ((HIGH, 8), (LOW, 11)):
        used = [_used(frame, clock, demand) / MEMORY for clock in CLOCKS]
        yield Finding(
            f"Figure {figure}: memory is close to full utilisation, {demand}",
            "close to M",
            " and ".join(f"{share:.0%}" for share in used)
            + f" of M on average while requests arrive, but for the first {FILLING} seconds",
            all(share >= CLOSE for share in used) or (None if max(used) >= CLOSE else False),
            ""
            if min(used) >= CLOSE
            else "as fast as the data sheets say, the machine keeps up "
            "with 10 a second; the slower it is, the fuller its memory",
        )


def _used(frame: "pd.DataFrame", clock: str, demand: str) -> float:
    rows = frame[(frame[CLOCK] == clock) & (frame[SETTING] == demand) & (frame[POLICY] == MC_SF)]
    return float(rows[rows["present"] & (rows["begin"] >= FILLING)]["memory"].mean())


def _table(frame: "pd.DataFrame") -> str:
    lines = []
    for key, rows in frame.groupby([CLOCK, SETTING, POLICY], sort=False):
        clock, demand, policy = key
        seconds = rows.groupby("seed")["begin"].max().mean()
        lines.append(
            (
                *(CLOCKS[str(clock)], str(demand), str(policy)),
                float(seconds),
                float(rows["throughput"].mean()),
                float(rows[rows["present"]]["memory"].mean()),
                int(rows["peak_memory"].max()),
            )
        )
    header = ("clock", "demand", "scheduler", "seconds", "output tokens a second", "memory", "peak")
    return markdown(header, lines)


def _draw(run: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.papers.jaillet2025.experiments._figures_5_2 import memory_chart, throughput_chart
    from ratiolab.report.plots.experiments import write_chart

    high = run[run[SETTING] == HIGH]
    write_chart(
        throughput_chart({t: high[high[CLOCK] == c] for c, t in CLOCKS.items()}, POLICY),
        folder / f"{NAME}-throughput.png",
    )
    panels = {
        f"{title}: {demand}": run[(run[CLOCK] == clock) & (run[SETTING] == demand)]
        for clock, title in CLOCKS.items()
        for demand in (HIGH, LOW)
    }
    write_chart(memory_chart(panels, POLICY, MEMORY), folder / f"{NAME}-memory.png")


NAME = "jaillet2025-section-5-2-time"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "Throughput and memory over time",
    "Jaillet et al. (2025), Section 5.2.1, Figures 4, 8, 11, arXiv 2502.07115v5",
    page,
    figures=("begin", "memory", "peak_memory", "waiting", "throughput", "prefill", "arriving"),
)
