"""Section 5.2 of Jaillet et al. (2025), Table 1: eight schedulers under a clock, 50 runs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.online.clock import from_profile
from ratiolab.papers.experiment import Experiment, Finding, findings_table, markdown
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

CLOCK, SETTING, POLICY = "clock", "workload.label", "policy.label"
SHEETS, FITTED = "llama2-70b-2xa100", "jaillet2025-table-1-clock.csv"
"""The second: three coefficients for the least sum of squared relative differences to the averages
of Table 1 with alpha of at least 0.2, beta = 0.1, over seeds 0 and 1 of the same requests; rounded.
"""
CLOCKS = {SHEETS: "clock from data sheets", FITTED: "clock fitted to Table 1"}
SAME, FRESH = "same requests", "fresh requests"
MC_SF, MC_BENCHMARK = "mc-sf", "mc-benchmark"
RATE = 50
"""Requests a second."""

PRINTED: Mapping[str, tuple[float, float]] = {
    MC_SF: (32.112, 0.354),
    MC_BENCHMARK: (46.472, 0.310),
    "α = 0.3": (51.933, 0.324),
    "α = 0.25": (51.046, 0.351),
    "α = 0.2, β = 0.2": (50.401, 0.343),
    "α = 0.2, β = 0.1": (50.395, 0.360),
    "α = 0.1, β = 0.2": (53.393, 1.457),
    "α = 0.1, β = 0.1": (50.862, 0.946),
}
"""Average and standard deviation of the mean latency, seconds."""

CLEARED = ("α = 0.1, β = 0.2", "α = 0.1, β = 0.1")
"""Rows of the table whose large deviations show that memory overflowed."""


def stands_in() -> str:
    """For the head of every page on this section: what is not at hand, and what is used instead."""
    with EXPERIMENT.file() as study:
        clock = from_profile(study.parent / FITTED)
    fixed, prefill, decode = (1000 * x for x in (clock.fixed, clock.prefill, clock.decode))
    return f"""\
**What stands in for what.** The conversations of LMSYS-Chat-1M are not part of the project: prompt
and output lengths are drawn from log-normal laws with their published means and medians. The Vidur
simulator is replaced by a clock that is linear in what a batch does. There are two. One is derived
from data sheets of Llama-2-70B's size and two A100. The other is *fitted to averages of Table 1
itself*: {fixed:.3g} ms a batch, {prefill:.2g} ms a prefilled token, {decode:.2g} ms a decoding
request. With it, agreement on those averages is no evidence for anything; agreement on everything
else is."""


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Table 1, what its deviations say, and certified bounds."""
    frame = frame.assign(ratio=frame["total_latency"] / frame["lower"])
    runs, requests = int(frame["seed"].nunique()), int(frame["requests"].max())
    _draw(frame, folder)
    return f"""\
{stands_in()}

Here: {requests:,} requests, 50 a second, {runs} runs. The other pages on this section:
[growth with the number of requests]({NAME}-growth.md) (Figure 3), [throughput and memory over
time]({NAME}-time.md) (Figures 4, 8, 11), [prediction errors]({NAME}-noise.md) (Figure 5),
[α and β]({NAME}-parameters.md) (Figures 9, 10, 12, 13), [the same schedulers in unit rounds, beside
bounds of the optimum]({NAME}-rounds.md). Figure 7 shows the data set, which is not at hand.

## Table 1

Mean latency, seconds: average and standard deviation over the runs.

{_table(frame)}

![Mean latency of each scheduler]({NAME}-latency.png)

## The paper's statements

{findings_table(_findings(frame))}

## Against a certified bound, in seconds

Total latency over a lower bound that holds for every schedule under the same clock, known lengths
and evictions included (`ratiolab.ratio.clock_bound`): averages over {runs} runs with fresh
requests. The optimum lies somewhere between 1 and the smallest ratio of a column, so that much of
each figure may be the bound's. Smallest volume first (`svf`) is not in the paper.

{_ratios(frame)}
"""


def _table(frame: "pd.DataFrame") -> str:
    rows = []
    for policy, (average, deviation) in PRINTED.items():
        cells = [f"{average:.1f} ± {deviation:.2f}"]
        for clock in CLOCKS:
            for setting in (SAME, FRESH):
                values = _values(frame, clock, setting, policy)
                cells.append(f"{values.mean():.1f} ± {values.std():.2f}")
        overflowed = frame[frame[POLICY] == policy]["evictions"] > 0
        rows.append((policy, *cells, f"{overflowed.sum()} of {len(overflowed)}"))
    header = [f"{clock}, {setting}" for clock in CLOCKS.values() for setting in (SAME, FRESH)]
    return markdown(("scheduler", "paper", *header, "runs with evictions"), rows)


def _values(frame: "pd.DataFrame", clock: str, setting: str, policy: str) -> "pd.Series":
    chosen = (frame[CLOCK] == clock) & (frame[SETTING] == setting) & (frame[POLICY] == policy)
    return frame[chosen].set_index("seed")["mean_latency"]


def _findings(frame: "pd.DataFrame") -> Iterable[Finding]:
    means = [
        {policy: float(_values(frame, clock, SAME, policy).mean()) for policy in PRINTED}
        for clock in CLOCKS
    ]
    printed = {policy: average for policy, (average, _) in PRINTED.items()}

    def both(*policies: str) -> str:
        return " and ".join(", ".join(f"{mean[p]:.1f}" for p in policies) + " s" for mean in means)

    def ordered(*policies: str) -> bool:
        return all(mean[first] < mean[then] for mean in means for first, then in pairwise(policies))

    others = [policy for policy in printed if policy not in (MC_SF, MC_BENCHMARK)]
    quotients = [mean[MC_SF] / mean[MC_BENCHMARK] for mean in means]
    yield Finding(
        "MC-SF has the least average latency, MC-Benchmark the next",
        f"{printed[MC_SF] / printed[MC_BENCHMARK]:.2f} of MC-Benchmark's",
        " and ".join(f"{quotient:.2f}" for quotient in quotients),
        all(ordered(MC_SF, MC_BENCHMARK, other) for other in others),
    )
    less = ("α = 0.2, β = 0.1", "α = 0.25", "α = 0.3")
    yield Finding(
        "less protection is better from α = 0.3 to 0.2, and β makes no difference at 0.2",
        ", ".join(f"{printed[p]:.1f}" for p in less) + " s",
        both(*less),
        ordered(*less),
        "memory never overflows there" if not _overflows(frame, less) else "",
    )
    yield Finding(
        "α = 0.1 is worse than α = 0.2, and with β = 0.2 the worst of all",
        ", ".join(f"{printed[p]:.1f}" for p in CLEARED) + " s",
        both(*CLEARED),
        ordered("α = 0.2, β = 0.1", *reversed(CLEARED)),
        f"memory overflows in {_overflows(frame, CLEARED):.0%} of these runs; see [the page on α "
        f"and β]({NAME}-parameters.md) for what makes it overflow as often as in the paper",
    )
    yield _deviations(frame)


def _overflows(frame: "pd.DataFrame", policies: Sequence[str]) -> float:
    return float((frame[frame[POLICY].isin(policies)]["evictions"] > 0).mean())


def _deviations(frame: "pd.DataFrame") -> Finding:
    """The 50 runs cannot have had requests of their own."""
    from scipy.stats import chi2

    runs, requests = 50, 1000
    arrivals = sqrt((requests + 1) * (2 * requests + 1) / (6 * requests)) / RATE
    same, fresh = (
        [float(_values(frame, clock, setting, MC_BENCHMARK).std()) for clock in CLOCKS]
        for setting in (SAME, FRESH)
    )
    printed = PRINTED[MC_BENCHMARK][1]
    chance = float(chi2.cdf((runs - 1) * (printed / min(fresh)) ** 2, runs - 1))
    return Finding(
        "Table 1 is about 50 independent runs",
        f"standard deviation of MC-Benchmark {printed:.2f} s",
        f"{same[0]:.2f} and {same[1]:.2f} s if all runs have the same requests, {fresh[0]:.2f} and "
        f"{fresh[1]:.2f} s if each draws its own",
        None,
        f"the mean of {requests:,} Poisson arrivals alone deviates by {arrivals:.3f} s. With "
        f"requests of its own in every run, so small a deviation has the chance {chance:.0e}: "
        "the runs share their requests, and the intervals of the table do not speak about others",
    )


def _ratios(frame: "pd.DataFrame") -> str:
    fresh = frame[frame[SETTING] == FRESH]
    table = intervals(fresh, [CLOCK, POLICY], "ratio").set_index([CLOCK, POLICY])
    rows = []
    for policy in dict.fromkeys(frame[POLICY]):
        found = [table.loc[(clock, policy)] for clock in CLOCKS]
        rows.append(
            (policy, *(f"{r['mean']:.2f} [{r['low']:.2f}, {r['high']:.2f}]" for r in found))
        )
    return markdown(("scheduler", *CLOCKS.values()), rows)


def _draw(frame: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.papers.jaillet2025.experiments._figures_5_2 import deviations_chart
    from ratiolab.report.plots.experiments import write_chart

    panels = {
        f"{title}, {setting}": {
            policy: _values(frame, clock, setting, policy).to_numpy() for policy in PRINTED
        }
        for clock, title in CLOCKS.items()
        for setting in (SAME, FRESH)
    }
    write_chart(deviations_chart(panels, PRINTED), folder / f"{NAME}-latency.png")


NAME = "jaillet2025-section-5-2"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "Eight schedulers at 50 requests a second: Table 1",
    "Jaillet et al. (2025), Section 5.2, Table 1, arXiv 2502.07115v5",
    page,
    figures=("requests", "mean_latency", "evictions", "total_latency", "lower", "outcome"),
)
