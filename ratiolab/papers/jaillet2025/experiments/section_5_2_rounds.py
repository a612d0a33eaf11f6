"""The schedulers of Table 1 of Jaillet et al. (2025) in unit rounds, between certified bounds."""

from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment, markdown
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    MC_BENCHMARK,
    MC_SF,
    POLICY,
    RATE,
    SETTING,
)
from ratiolab.studies.frames import intervals, with_bounds

if TYPE_CHECKING:
    import pandas as pd

SVF = "svf"


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """A table and a figure of intervals around cost / OPT."""
    runs = with_bounds(frame)
    bounds = frame[frame["task"] == "bound"]
    gap = (bounds["opt_upper"] / bounds["opt_lower"] - 1).groupby(bounds[SETTING]).mean()
    low, high = (intervals(runs, [SETTING, POLICY], f"ratio_{end}") for end in ("low", "high"))
    _draw(low, high, folder)
    rates = [float(rate) for rate in dict.fromkeys(runs["workload.rate"])]
    batches = " and ".join(f"{1000 * rate / RATE:.0f}" for rate in rates)
    settings = [str(setting) for setting in gap.index]
    table = [
        (policy, *(_cell(low, high, setting, policy) for setting in settings))
        for policy in dict.fromkeys(runs[POLICY])
    ]
    gaps = ", ".join(f"{float(gap[setting]):.1%} for {setting}" for setting in settings)
    return f"""\
The paper calls the optimum of its Section 5.2 computationally infeasible. Certified bounds around
it are not: here {int(runs["requests"].max()):,} requests, lengths with the moments of LMSYS-Chat-1M
drawn afresh for {runs["seed"].nunique()} seeds, one token a round.
{" and ".join(f"{rate:g}" for rate in rates)} requests a round are {RATE} a second in batches of
{batches} milliseconds. The bounds differ by {gaps}, on average.

## Total latency over the hindsight optimum

Each cell encloses cost / OPT, averages over the seeds: from the ratio to the best schedule known to
that to the certified lower bound.

{markdown(("scheduler", *settings), table)}

![Ratios to certified bounds]({NAME}-ratio.png)

{_remarks(runs, settings)}
"""


def _cell(low: "pd.DataFrame", high: "pd.DataFrame", setting: str, policy: str) -> str:
    ends = (
        float(end[(end[SETTING] == setting) & (end[POLICY] == policy)]["mean"].iloc[0])
        for end in (low, high)
    )
    return " to ".join(f"{end:.2f}" for end in ends)


def _remarks(runs: "pd.DataFrame", settings: list[str]) -> str:
    lines = []
    for setting in settings:
        rows = runs[runs[SETTING] == setting]
        low, high = (
            rows.pivot(index="seed", columns=POLICY, values=f"ratio_{end}")
            for end in ("low", "high")
        )
        benchmark, mc_sf = float(low[MC_BENCHMARK].min()), float(low[MC_SF].min())
        proven = int((low[MC_SF] > high[SVF]).sum())
        lines.append(
            f"- {setting}: MC-Benchmark is at least {benchmark:.2f} and MC-SF at least {mc_sf:.2f} "
            f"times the optimum on every seed; that smallest volume first (`svf`, not in the "
            f"paper) beats MC-SF by more than all that is uncertain about the optimum holds on "
            f"{proven} of {len(low)}."
        )
    return "\n".join(lines)


def _draw(low: "pd.DataFrame", high: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import enclosures, write_chart

    joined = high.rename(columns={"mean": "top"}).assign(bottom=low["mean"])
    chart = enclosures(
        joined, SETTING, POLICY, x_label="total latency / hindsight optimum", reference=1.0
    )
    write_chart(chart, folder / f"{NAME}-ratio.png")


NAME = "jaillet2025-section-5-2-rounds"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "The schedulers of Table 1 beside certified bounds of the optimum, in unit rounds",
    "An experiment of ratiolab on Section 5.2 of Jaillet et al. (2025), arXiv 2502.07115v5",
    page,
    figures=(
        *("instance", "requests", "preempted_as", "unit", "mean_latency", "total_latency"),
        *("evictions", "opt_lower", "opt_upper"),
    ),
)
