"""Experiments 1, 2 and 3 of Chen, Ye, Zhou (2025), Figures 5, 6 and 7."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.experiment import Experiment
from ratiolab.papers.finding import Finding, at_least, at_most
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs
from ratiolab.studies.frames import intervals, with_bounds

if TYPE_CHECKING:
    import pandas as pd

CLOCK, SETTING, REQUESTS, POLICY = "clock", "workload.label", "workload.n", "policy.label"
MEMORY = "workload.memory"
ROUNDS, SECONDS = "unit", "llama2-70b-2xa100"
ROUGH, BUCKETS = "[1, 1000]", "ten buckets"
NARROW, WIDE, WIDEST = "(1 ± 0.1) o", "(1 ± 0.95) o", "(1 ± 0.99) o"
FIGURES = {ROUGH: 5, BUCKETS: 6, NARROW: 7, WIDE: 7, WIDEST: 7}
SETTINGS = list(FIGURES)
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


def page(frame: "pd.DataFrame") -> Page:
    """Compute findings, tables and charts."""
    runs = with_bounds(frame)
    load = runs[runs[SETTING].isin(SETTINGS)]
    seconds, rounds = (load[load[CLOCK] == clock] for clock in (SECONDS, ROUNDS))
    by_memory = runs[runs[SETTING].isin(BY_MEMORY.values()) & (runs[CLOCK] == SECONDS)]
    by_memory = by_memory[by_memory[REQUESTS] == by_memory[REQUESTS].max()]
    most = int(load[REQUESTS].max())
    key = [SETTING, REQUESTS, POLICY]
    ratio = intervals(rounds, key, "ratio_high")
    means = ratio[ratio[REQUESTS] == most].pivot(index=POLICY, columns=SETTING, values="mean")
    h_sf = by_memory[by_memory[POLICY] == "h-sf"].groupby(MEMORY)["mean_latency"].mean()
    slots = {
        "fewest": int(load[REQUESTS].min()),
        "most": most,
        "memory": int(load[MEMORY].iloc[0]),
        "near": NEAR,
        "well": WELL,
        "halved": HALVED,
        "worse": WORSE,
        "requests": int(by_memory[REQUESTS].max()),
        "memories": _memory_table(Runs(by_memory, (SETTING, MEMORY, POLICY))),
        "fastest": h_sf.idxmin(),
        "gap": float((runs["opt_upper"] / runs["opt_lower"]).max() - 1),
        "ratios": grid(
            "policy",
            ratio[POLICY].unique(),
            SETTINGS,
            lambda policy, setting: float(means.loc[policy, setting]),
        ),
    }
    charts = {
        "latency": _chart(intervals(seconds, key, "mean_latency"), "mean latency (s)"),
        "ratio": _chart(ratio, "total latency / lower bound of OPT"),
    }
    return Page(slots, list(findings(load)), charts)


def findings(load: "pd.DataFrame") -> Iterable[Finding]:
    """Judge each statement in seconds, with the same figure in rounds beside it."""
    most = int(load[REQUESTS].max())
    clocks = [Runs(load[load[CLOCK] == c], (SETTING, POLICY)) for c in (SECONDS, ROUNDS)]

    def over(runs: Runs, setting: str, policy: str, other: str = "h-sf") -> "pd.Series":
        """Return the ratio of two policies for every n."""
        mine, theirs = (
            runs.series((setting, name), REQUESTS, "mean_latency") for name in (policy, other)
        )
        return mine / theirs

    def up_to(setting: str, policy: str = "a-min") -> tuple[float, str]:
        """Return the largest ratio to H-SF over all n."""
        seconds, rounds = (float(over(runs, setting, policy).max()) for runs in clocks)
        return seconds, f"{seconds:.2f} times ({rounds:.2f} in rounds)"

    def changes(setting: str, other: str) -> tuple[float, str]:
        """Return the ratio of A_max's latencies in two settings at the largest n."""
        seconds, rounds = (
            runs.at(**{REQUESTS: most}).ratio_of_means(
                (setting, "a-max"), (other, "a-max"), "mean_latency"
            )
            for runs in clocks
        )
        return seconds, f"{seconds:.2f} times ({rounds:.2f} in rounds) at n = {most:,}"

    least, in_rounds = (float(over(runs, ROUGH, "a-max").min()) for runs in clocks)
    yield Finding(
        f"Figure 5: under {ROUGH}, A_max has far higher latency than H-SF",
        "high latency",
        least,
        at_least(WORSE),
        said=f"at least {least:.2f} times ({in_rounds:.2f} in rounds)",
    )
    near, words = up_to(ROUGH)
    friendly, _ = up_to(ROUGH, FRIENDLY)
    yield Finding(
        f"Figure 5: under {ROUGH}, A_min is nearly identical to H-SF",
        "nearly identical",
        near,
        at_most(NEAR),
        "one bound for all leaves the order to chance; if ties are broken as if lengths were "
        f"known, up to {friendly:.2f} times; see the memory below",
        said=f"up to {words}",
    )
    halved, words = changes(BUCKETS, ROUGH)
    yield Finding(
        "Figure 6: from one interval to ten buckets, A_max's latency is nearly halved",
        "about 0.5",
        halved,
        True if HALVED[0] <= halved <= HALVED[1] else None,
        "it depends on the memory, see below, and on the clock, which is derived from data sheets",
        said=words,
    )
    near, words = up_to(BUCKETS)
    yield Finding(
        "Figure 6: with ten buckets, A_min closely approaches H-SF",
        "nearly identical",
        near,
        at_most(NEAR),
        said=f"up to {words}",
        otherwise=f"close, but not within {NEAR}; {_ties(up_to(BUCKETS, FRIENDLY)[0])}",
    )
    (a_max, max_words), (a_min, min_words) = up_to(NARROW, "a-max"), up_to(NARROW)
    yield Finding(
        f"Figure 7: under {NARROW}, both A_max and A_min perform well",
        "low latency",
        (a_max, a_min),
        at_most(WELL),
        said=f"up to {max_words} and {min_words}",
    )
    for setting in (WIDE, WIDEST):
        worse, words = changes(setting, NARROW)
        yield Finding(
            f"Figure 7: under {setting}, A_max is significantly worse than under {NARROW}",
            "significantly worse",
            worse,
            at_least(WORSE),
            said=words,
        )
    for setting in (WIDE, WIDEST):
        close, words = up_to(setting)
        other = float(over(clocks[0], setting, "a-min", "a-max").loc[most])
        yield Finding(
            f"Figure 7: under {setting}, A_min stays close to H-SF",
            "close, far below A_max",
            close,
            at_most(WELL),
            said=f"up to {words}; {other:.2f} times A_max at n = {most:,}",
            otherwise=f"{_ties(up_to(setting, FRIENDLY)[0])}. What remains is whom A_min evicts: "
            "the smallest bound first",
        )
    paired = load[load[CLOCK] == ROUNDS].pivot_table(
        index=[SETTING, REQUESTS, "seed"], columns=POLICY, values="total_latency"
    )
    below = float((paired["svf"] < paired["h-sf"]).mean())
    gain = float((paired["h-sf"] / paired["svf"]).max())
    yield Finding(
        "Section 6: H-SF serves as a lower bound on achievable latency",
        "lower bound",
        below,
        at_most(0),
        "H-SF sorts by output alone, SVF by the memory that prompt and output take over time",
        said=f"SVF, with the same knowledge, is below it on {below:.0%} of the instances, by a "
        f"factor of up to {gain:.2f} (unit rounds)",
    )


def _ties(friendly: float) -> str:
    """Say what ties have to do with it."""
    return f"not because of ties: up to {friendly:.2f} times if they are broken by true lengths"


def _memory_table(runs: Runs) -> str:
    """Return ratios of mean latencies for every memory, each with yes or no to its statement."""

    def latency(memory: float, setting: str, policy: str) -> float:
        return runs.mean((BY_MEMORY[setting], memory, policy), "mean_latency")

    best, any_more = (ROUGH, "h-sf"), float("inf")
    rough, buckets, narrow, widest = ((s, "a-max") for s in (ROUGH, BUCKETS, NARROW, WIDEST))
    columns = {
        f"A_max / H-SF, {ROUGH}: far higher?": (rough, best, WORSE, any_more),
        f"A_min / H-SF, {ROUGH}: nearly identical?": ((ROUGH, "a-min"), best, 0, NEAR),
        f"A_max, {BUCKETS} / {ROUGH}: nearly halved?": (buckets, rough, *HALVED),
        f"A_min / H-SF, {BUCKETS}: nearly identical?": ((BUCKETS, "a-min"), best, 0, NEAR),
        f"A_max, {WIDEST} / {NARROW}: significantly worse?": (widest, narrow, WORSE, any_more),
        f"A_min / H-SF, {WIDEST}: close?": ((WIDEST, "a-min"), best, 0, WELL),
    }

    def cell(memory: float, column: tuple[tuple[str, str], tuple[str, str], float, float]) -> str:
        one, other, low, high = column
        value = latency(memory, *one) / latency(memory, *other)
        return f"{value:.2f} {'yes' if low <= value <= high else 'no'}"

    rows = {
        (f"{memory:,}", f"{latency(memory, ROUGH, 'h-sf'):.1f}"): memory
        for memory in sorted(runs.frame[MEMORY].unique())
    }
    return grid(("memory", "H-SF (s)"), rows, columns, cell)


def _chart(table: "pd.DataFrame", y_label: str) -> Panels:
    panels = [
        Panel(
            table[table[SETTING] == setting], f"Figure {number}: {setting}", log_y=setting == ROUGH
        )
        for setting, number in FIGURES.items()
    ]
    options = {"x_label": "requests n", "y_label": y_label}
    labels = list(table[POLICY].unique())
    return Panels("lines", REQUESTS, POLICY, panels, labels, columns=3, options=options)


EXPERIMENT = Experiment(__name__, page)
