"""TIE where memory binds, in unit rounds: where a penalty on the tail pays, and what undoes it."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment, Finding, findings_table, markdown
from ratiolab.papers.zheng2026.experiments.service import LABEL, MEAN, POLICY, RATE, Quotient, Runs
from ratiolab.studies.frames import intervals, with_bounds

if TYPE_CHECKING:
    import pandas as pd

NAME = "zheng2026-memory"
LOADS = ("all at once", "load 0.9", "load 1.3")
LOAD, MODE = "load", "preempted_as"
LATENCY = "mean_latency"
METRICS = {
    "mean latency": LATENCY,
    "mean per token": MEAN,
    "P90 per token": "p90_per_token",
    "P99 latency": "p99_latency",
    "mean first token": "mean_ttft",
}
TIE, STILL, SOME, MUCH = "tie", "tie, no decay", "tie, beta 0.3, no decay", "tie, beta 2, no decay"
VARIANTS = (TIE, STILL, SOME, MUCH)
FAR = "log-t, heavy, to 4,096"
LATER = ", 4,096"
"""Behind the name of a policy that stops the laws there and not at 1,024 tokens."""

Setting = tuple[str, str]


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures, findings and tables."""
    table = named(with_bounds(frame))
    runs = Runs(table, (LABEL, LOAD, MODE, POLICY))
    settings = [(label, load) for label in table[LABEL].unique() for load in LOADS]
    _draw(runs, settings, folder)
    requests, memory = int(table["requests"].max()), int(frame["workload.memory"].max())
    return f"""\
[Another page](zheng2026.md) has TIE under a clock, in batches of 64 that always fit. Here memory
limits the batch: {requests} requests share {memory:,} tokens (or a quarter of them), one token a
round: a request that turns out long evicts others, which lose their tokens (restart) or compute
them again (recompute). Lengths: `lmsys` stands in for LMSYS-Chat-1M (log-normal, published mean and
median), with laws that its outputs could be draws of; *log-t* is the model that TIE is made for,
*heavy* has scales of median 1 that differ by up to 16, *long prompts* 600 tokens. All policies see
the same laws, fitted to 20 draws and not misjudged. Means of quotients on the same instance, with
95 % bootstrap intervals over {table["seed"].nunique()} seeds.

## Where the penalty on the tail pays

{_counts(runs, settings)}

{findings_table(findings(runs, settings))}

![Latency over SEPT's]({NAME}-sept.png)

Mean latency over SEPT's, restart:

{_quotients(runs, settings, LATENCY)}

Latency per token over SEPT's, restart:

{_quotients(runs, settings, MEAN)}

Two parts of TIE bring its order nearer to that of arrivals. Beta adapts, and is taken when a
request enters the queue (the summary does not say when): those who came while the queue was short
keep their low beta and pass those who came later, whatever their lengths. And the score decays with
the wait. {_parts(runs, settings)}

## Where laws are stopped

Policies stop the predicted laws at 1,024 tokens. Where outputs go on to 4,096, stopping them there,
too, changes this much:

{_stopped(runs)}

## Against certified bounds

Total latency over a certified lower bound of the optimum (restart; SVF knows all lengths, and its
ratio says how much of the others may be the bound's):

{_ratios(table)}
"""


def named(table: "pd.DataFrame") -> "pd.DataFrame":
    """With the load of each row; laws are stopped later only where outputs are longer."""
    ranks = table.groupby(LABEL)[RATE].rank(method="dense").astype(int)
    table = table.assign(**{LOAD: [LOADS[rank - 1] for rank in ranks]})
    return table[~table[POLICY].str.endswith(LATER) | (table[LABEL] == FAR)]


def over(
    runs: Runs, setting: Setting, policy: str, other: str, metric: str, mode: str = "restart"
) -> Quotient:
    """One policy over another in a setting."""
    return runs.over((*setting, mode, policy), (*setting, mode, other), metric)


def _sides(
    runs: Runs, settings: list[Setting], policy: str, other: str, metric: str, mode: str
) -> tuple[int, int]:
    """In how many settings a policy is certainly faster than another, and certainly slower."""
    sides = [over(runs, setting, policy, other, metric, mode).side for setting in settings]
    return sides.count(-1), sides.count(1)


def _counts(runs: Runs, settings: list[Setting]) -> str:
    rows = []
    for policy in VARIANTS:
        for mode in ("restart", "recompute"):
            cells = [
                "{} / {}".format(*_sides(runs, settings, policy, "sept", metric, mode))
                for metric in METRICS.values()
            ]
            rows.append((policy, mode, *cells))
    table = markdown(("policy", "preemption", *METRICS), rows)
    return f"In how many of {len(settings)} settings each is faster / slower than SEPT:\n\n{table}"


def findings(runs: Runs, settings: list[Setting]) -> Iterable[Finding]:
    """What the paper says of the score, wherever it may be true."""

    def where(policy: str, other: str, metric: str) -> tuple[Setting, Quotient, int]:
        found = {s: over(runs, s, other, policy, metric) for s in settings}
        best = max(found, key=lambda s: found[s].mean)
        return best, found[best], sum(q.side > 0 for q in found.values())

    for name, metric in (("mean latency", LATENCY), ("latency per token", MEAN)):
        for other, paper in (("sept", 0.75 / 0.67), ("ssjf", 1.95 / 0.67)):
            for policy in (TIE, SOME):
                best, quotient, times = where(policy, other, metric)
                yield Finding(
                    f"{other.upper()} / {policy}, {name}",
                    f"{paper:.2f} (per token)",
                    f"above 1 in {times} of {len(settings)}; most {quotient}, {', '.join(best)}",
                    times == len(settings),
                    "" if times == len(settings) else f"in {times or 'none'} of {len(settings)}",
                )
    best, quotient, times = where(TIE, SOME, MEAN)
    yield Finding(
        "Fixed beta 0.3 / adaptive TIE, latency per token",
        "1.06",
        f"above 1 in {times} of {len(settings)}; most {quotient}, {', '.join(best)}",
        times == len(settings),
        "" if times == len(settings) else "the fixed one has no decay, either",
    )
    best, quotient, times = where(TIE, STILL, "p99_latency")
    harmed, _ = _sides(runs, settings, STILL, TIE, "p99_latency", "restart")
    yield Finding(
        "The decay protects those who wait: P99 latency without it / with it",
        "above 1",
        f"above 1 in {times} of {len(settings)}; most {quotient}, {', '.join(best)}",
        times > 0 and not harmed,
        "" if times and not harmed else f"below 1 in {harmed}",
    )


def _parts(runs: Runs, settings: list[Setting]) -> str:
    """What adapting and decay do to latency per token and to its tail."""
    words = []
    for name, policy, other in (
        ("Adapting (against beta 0.3 for all)", STILL, SOME),
        ("the decay", TIE, STILL),
    ):
        mean, tail = (
            "faster in {} and slower in {}".format(
                *_sides(runs, settings, policy, other, metric, "restart")
            )
            for metric in (MEAN, "p99_latency")
        )
        words.append(
            f"{name} makes latency per token {mean} of {len(settings)} settings, P99 latency {tail}"
        )
    return "; ".join(words) + "."


def _quotients(runs: Runs, settings: list[Setting], metric: str) -> str:
    policies = ("fcfs", "ssjf", *VARIANTS)
    rows = [
        (*setting, *(_marked(over(runs, setting, policy, "sept", metric)) for policy in policies))
        for setting in settings
    ]
    return markdown(("lengths", "load", *policies), rows)


def _stopped(runs: Runs) -> str:
    """SEPT and TIE with laws that are stopped at 1,024 and at 4,096 tokens."""
    pairs = (("sept" + LATER, "sept"), (SOME, "sept"), (SOME + LATER, "sept" + LATER))
    rows = [
        (load, name, *(str(over(runs, (FAR, load), *pair, metric)) for pair in pairs))
        for load in LOADS
        for name, metric in (("mean latency", LATENCY), ("mean per token", MEAN))
    ]
    return markdown(("load", "figure", *(" / ".join(pair) for pair in pairs)), rows)


def _marked(quotient: Quotient) -> str:
    """Bold when certainly below one."""
    return f"**{quotient}**" if quotient.side < 0 else str(quotient)


def _ratios(table: "pd.DataFrame") -> str:
    restart = table[table[MODE] == "restart"]
    means = intervals(restart, [LABEL, LOAD, POLICY], "ratio_high").set_index([LABEL, LOAD, POLICY])
    policies = ("svf", "fcfs", "ssjf", "sept", *VARIANTS)
    settings = [(label, load) for label in restart[LABEL].unique() for load in LOADS]
    rows = [
        (*setting, *(float(means.loc[(*setting, policy), "mean"]) for policy in policies))
        for setting in settings
    ]
    return markdown(("lengths", "load", *policies), rows)


def _draw(runs: Runs, settings: list[Setting], folder: Path) -> None:
    import pandas as pd

    from ratiolab.report.plots.experiments import enclosures, write_chart

    rows = [
        {"panel": f"{short}: {name}", "by": ", ".join(setting), "bottom": q.low, "top": q.high}
        for policy, short in ((TIE, "TIE"), (SOME, "β 0.3, no decay"))
        for name, metric in (("mean latency", LATENCY), ("latency per token", MEAN))
        for setting in settings
        for q in (over(runs, setting, policy, "sept", metric),)
    ]
    chart = enclosures(
        pd.DataFrame(rows),
        "panel",
        "by",
        x_label="ratio to SEPT, 95 % interval",
        reference=1.0,
        log_x=False,
    )
    write_chart(chart, folder / f"{NAME}-sept.png")


EXPERIMENT = Experiment(
    NAME,
    __name__,
    "TIE where memory binds: when does a penalty on the tail pay?",
    "Zheng et al. (2026), TIE against SEPT and SSJF, arXiv 2604.00499, known from a summary; "
    "settings by ratiolab",
    page,
    figures=(
        *("instance", "preempted_as", "unit", "requests", "total_latency", *METRICS.values()),
        "evictions",
        *("opt_lower", "opt_upper"),
    ),
)
