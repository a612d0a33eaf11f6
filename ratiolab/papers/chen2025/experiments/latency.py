"""Experiments 1, 2 and 3 of Chen, Ye, Zhou (2025), Figures 5, 6 and 7."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import (
    Experiment,
    Finding,
    findings_table,
    markdown,
)
from ratiolab.studies.frames import intervals, with_bounds

if TYPE_CHECKING:
    import pandas as pd

CLOCK, SETTING, REQUESTS, POLICY = "clock", "workload.label", "workload.n", "policy.label"
MEMORY = "workload.memory"
ROUNDS, SECONDS = "unit", "llama2-70b-2xa100"
ROUGH, BUCKETS = "[1, 1000]", "ten buckets"
NARROW, WIDE, WIDEST = "(1 ± 0.1) o", "(1 ± 0.95) o", "(1 ± 0.99) o"
FIGURES = {5: (ROUGH,), 6: (BUCKETS,), 7: (NARROW, WIDE, WIDEST)}
SETTINGS = [setting for settings in FIGURES.values() for setting in settings]
BY_MEMORY = {setting: f"{setting}, memory" for setting in SETTINGS}
FRIENDLY = "a-min, friendly ties"
"""Among equal bounds the shortest request is admitted first and the longest evicted first."""

NEAR = 1.05
"""Nearly identical: at most so many times the benchmark, at every n."""

WELL = 1.25
"""Performing well, or staying close: at most so many times the benchmark, at every n."""

HALVED = (0.4, 0.6)
"""Nearly halved: the quotient lies here, at the largest n."""

WORSE = 1.5
"""Significantly worse: at least so many times as much, at the largest n."""


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures, findings and tables."""
    runs = with_bounds(frame)
    load, memory = (
        runs[runs[SETTING].isin(list(labels))] for labels in (SETTINGS, BY_MEMORY.values())
    )
    most = int(load[REQUESTS].max())
    gap = float((runs["opt_upper"] / runs["opt_lower"]).max() - 1)
    seconds = load[load[CLOCK] == SECONDS]
    rounds = load[load[CLOCK] == ROUNDS]
    key = [SETTING, REQUESTS, POLICY]
    ratio = intervals(rounds, key, "ratio_high")
    _draw(intervals(seconds, key, "mean_latency"), "mean latency (s)", folder, "latency")
    _draw(ratio, "total latency / lower bound of OPT", folder, "ratio")
    return f"""\
The set-up of the paper's Section 6: all requests at time 0, {int(load[REQUESTS].min()):,} to
{most:,} of them, and a memory of {int(load[MEMORY].iloc[0]):,} tokens (the paper states none; this
is that of Jaillet et al. for the same model and hardware). The conversations of LMSYS-Chat-1M are
not part of the project: lengths are drawn from log-normal distributions with their published means
and medians (`ratiolab generate lmsys`). Instead of the Vidur simulator, a clock derived from the
published figures of Llama-2-70B on two A100 says how long a batch takes; absolute seconds differ
from the paper's. Lines are means over seeds with 95 % bootstrap intervals. Equal keys are served in
random order.

![Mean latency in seconds]({NAME}-latency.png)

## The paper's statements

Rules, fixed beforehand: *nearly identical* is at most {NEAR} times H-SF at every n, *well* and
*close* at most {WELL} times, *nearly halved* a quotient from {HALVED[0]} to {HALVED[1]} and
*significantly worse* at least {WORSE} times, both at n = {most:,}. They are applied to seconds,
which the paper reports; the same figure in unit rounds stands beside.

{findings_table(_findings(load))}

## The memory decides

Two A100-80GB that hold the model in half precision leave 20 GB, or 61,000 tokens, more than the
memory above. At n = {int(memory[REQUESTS].max()):,}, mean latencies in seconds, and of the
statements those that concern a single n:

{_memory_table(memory[memory[CLOCK] == SECONDS])}

H-SF itself is fastest at {_fastest(memory[memory[CLOCK] == SECONDS]):,} tokens: by this clock a
larger batch takes longer, and admitting all that fits is no longer best.

## Against certified bounds

The paper compares with H-SF, which knows every length. Here every run in unit rounds is also
divided by a certified lower bound of the hindsight optimum of its own instance. Bounds and best
known schedules differ by at most {gap:.1%}, so that much of a ratio may be the bound's. At
n = {most:,}:

{_ratio_table(ratio[ratio[REQUESTS] == most])}

![Ratios to certified lower bounds]({NAME}-ratio.png)
"""


@dataclass(frozen=True, eq=False)
class _Means:
    """Mean latencies of one clock by setting, n and policy."""

    table: "pd.Series"
    most: int

    def over(self, setting: str, policy: str = "a-min", *, other: str = "h-sf") -> "pd.Series":
        """The quotient of two policies for every n."""
        rows = self.table.loc[setting]
        quotient: pd.Series = rows.xs(policy, level=POLICY) / rows.xs(other, level=POLICY)
        return quotient

    def largest(self, setting: str, policy: str = "a-min") -> float:
        """The largest quotient to H-SF over all n."""
        return float(self.over(setting, policy).max())

    def least(self, setting: str, policy: str) -> float:
        """The smallest one."""
        return float(self.over(setting, policy).min())

    def between(self, setting: str, other: str, policy: str) -> float:
        """The quotient of a policy's latencies in two settings at the largest n."""
        first, second = (float(self.table.loc[(s, self.most, policy)]) for s in (setting, other))
        return first / second


def _findings(load: "pd.DataFrame") -> Iterable[Finding]:
    most = int(load[REQUESTS].max())
    seconds, rounds = (
        _Means(
            load[load[CLOCK] == clock].groupby([SETTING, REQUESTS, POLICY])["mean_latency"].mean(),
            most,
        )
        for clock in (SECONDS, ROUNDS)
    )

    def both(figure: str, *arguments: str) -> tuple[float, str]:
        s, r = (float(getattr(means, figure)(*arguments)) for means in (seconds, rounds))
        return s, f"{s:.2f} times ({r:.2f} in rounds)"

    least, words = both("least", ROUGH, "a-max")
    yield Finding(
        f"Figure 5: under {ROUGH}, A_max has far higher latency than H-SF",
        "high latency",
        f"at least {words}",
        least >= WORSE,
    )
    near, words = both("largest", ROUGH)
    friendly, _ = both("largest", ROUGH, FRIENDLY)
    yield Finding(
        f"Figure 5: under {ROUGH}, A_min is nearly identical to H-SF",
        "nearly identical",
        f"up to {words}",
        near <= NEAR,
        f"one bound for all leaves the order to chance: if ties are broken as if lengths were "
        f"known, up to {friendly:.2f} times; see the memory below",
    )
    halved, words = both("between", BUCKETS, ROUGH, "a-max")
    yield Finding(
        "Figure 6: from one interval to ten buckets, A_max's latency is nearly halved",
        "about 0.5",
        f"{words} at n = {most:,}",
        HALVED[0] <= halved <= HALVED[1],
        "more than halved: outputs in the first bucket count a tenth; see the memory below"
        if halved < HALVED[0]
        else "",
    )
    near, words = both("largest", BUCKETS)
    yield Finding(
        "Figure 6: with ten buckets, A_min closely approaches H-SF",
        "nearly identical",
        f"up to {words}",
        near <= NEAR,
        ""
        if near <= NEAR
        else f"close, but not within {NEAR}: inside a bucket the order is chance",
    )
    (amax, amax_words), (amin, amin_words) = (
        both("largest", NARROW, "a-max"),
        both("largest", NARROW),
    )
    yield Finding(
        f"Figure 7: under {NARROW}, both A_max and A_min perform well",
        "low latency",
        f"up to {amax_words} and {amin_words}",
        max(amax, amin) <= WELL,
    )
    for setting in (WIDE, WIDEST):
        worse, words = both("between", setting, NARROW, "a-max")
        yield Finding(
            f"Figure 7: under {setting}, A_max is significantly worse than under {NARROW}",
            "significantly worse",
            f"{words} at n = {most:,}",
            worse >= WORSE,
        )
    for setting in (WIDE, WIDEST):
        close, words = both("largest", setting)
        other = float(seconds.over(setting, other="a-max").loc[most])
        yield Finding(
            f"Figure 7: under {setting}, A_min stays close to H-SF",
            "close, far below A_max",
            f"up to {words}; {other:.2f} times A_max at n = {most:,}",
            close <= WELL,
            ""
            if close <= WELL
            else "lower bounds of a few tokens hide the order, which A_max's bounds keep: "
            "(1 + x) o sorts as o does",
        )
    yield _hsf_is_no_bound(load)


def _hsf_is_no_bound(load: "pd.DataFrame") -> Finding:
    rows = load[load[CLOCK] == ROUNDS]
    paired = rows.pivot_table(
        index=[SETTING, REQUESTS, "seed"], columns=POLICY, values="total_latency"
    )
    below = float((paired["svf"] < paired["h-sf"]).mean())
    gain = float((paired["h-sf"] / paired["svf"]).max())
    return Finding(
        "Section 6: H-SF serves as a lower bound on achievable latency",
        "lower bound",
        f"SVF, with the same knowledge, is below it on {below:.0%} of the instances, by a factor "
        f"of up to {gain:.2f} (unit rounds)",
        below == 0,
        "H-SF sorts by output alone, SVF by the memory that prompt and output take over time",
    )


def _memory_table(rows: "pd.DataFrame") -> str:
    """Quotients of mean latencies for every memory, each with yes or no to its statement."""
    rows = rows[rows[REQUESTS] == rows[REQUESTS].max()]
    means = rows.groupby([SETTING, MEMORY, POLICY])["mean_latency"].mean()

    def latency(setting: str, memory: int, policy: str) -> float:
        return float(means.loc[(BY_MEMORY[setting], memory, policy)])

    def judged(value: float, holds: bool) -> str:
        return f"{value:.2f} {'yes' if holds else 'no'}"

    lines = []
    for memory in sorted(rows[MEMORY].unique()):
        best = latency(ROUGH, memory, "h-sf")
        a_min = {setting: latency(setting, memory, "a-min") / best for setting in SETTINGS}
        a_max = {setting: latency(setting, memory, "a-max") / best for setting in SETTINGS}
        halved = a_max[BUCKETS] / a_max[ROUGH]
        lines.append(
            (
                f"{memory:,}",
                f"{best:.1f}",
                judged(a_max[ROUGH], a_max[ROUGH] >= WORSE),
                judged(a_min[ROUGH], a_min[ROUGH] <= NEAR),
                judged(halved, HALVED[0] <= halved <= HALVED[1]),
                judged(a_min[BUCKETS], a_min[BUCKETS] <= NEAR),
                judged(a_max[WIDEST] / a_max[NARROW], a_max[WIDEST] >= WORSE * a_max[NARROW]),
                judged(a_min[WIDEST], a_min[WIDEST] <= WELL),
            )
        )
    header = (
        *("memory", "H-SF (s)", f"A_max / H-SF, {ROUGH}: far higher?"),
        f"A_min / H-SF, {ROUGH}: nearly identical?",
        f"A_max, {BUCKETS} / {ROUGH}: nearly halved?",
        f"A_min / H-SF, {BUCKETS}: nearly identical?",
        f"A_max, {WIDEST} / {NARROW}: significantly worse?",
        f"A_min / H-SF, {WIDEST}: close?",
    )
    return markdown(header, lines)


def _fastest(rows: "pd.DataFrame") -> int:
    """The memory at which H-SF has the least mean latency."""
    rows = rows[(rows[POLICY] == "h-sf") & (rows[REQUESTS] == rows[REQUESTS].max())]
    means = rows.groupby(MEMORY)["mean_latency"].mean().to_dict()
    return min((mean, int(str(memory))) for memory, mean in means.items())[1]


def _ratio_table(ratio: "pd.DataFrame") -> str:
    table = ratio.pivot(index=POLICY, columns=SETTING, values="mean")
    rows = [
        (policy, *(float(table.loc[policy, setting]) for setting in SETTINGS))
        for policy in ratio[POLICY].unique()
    ]
    return markdown(("policy", *SETTINGS), rows)


def _draw(table: "pd.DataFrame", y_label: str, folder: Path, what: str) -> None:
    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    look = looks(list(table[POLICY].unique()))
    figure, axes = panels(len(SETTINGS))
    places = iter(axes)
    for number, settings in FIGURES.items():
        for setting in settings:
            lines(
                table[table[SETTING] == setting],
                REQUESTS,
                POLICY,
                next(places),
                look=look,
                title=f"Figure {number}: {setting}",
                x_label="requests n",
                y_label=y_label,
                log_y=setting == ROUGH,
            )
    shared_legend(figure, axes)
    write_chart(figure, folder / f"{NAME}-{what}.png")


NAME = "chen2025"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "Interval predictions: A_max, A_min and H-SF under growing load",
    "Chen, Ye, Zhou (2025), Section 6, Figures 5, 6, 7, arXiv 2508.14544v2",
    page,
    figures=(
        *("instance", "preempted_as", "unit", "mean_latency", "total_latency", "evictions"),
        *("opt_lower", "opt_upper"),
    ),
)
