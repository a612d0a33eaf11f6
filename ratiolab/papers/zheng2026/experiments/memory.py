"""TIE where memory binds, in unit rounds: where a penalty on the tail pays, and what undoes it."""

from collections.abc import Iterable
from itertools import product

import pandas as pd

from ratiolab.papers.drawing import Enclosures
from ratiolab.papers.finding import Finding
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs
from ratiolab.papers.zheng2026.experiments.service import LABEL, MEAN, METRICS, POLICY, RATE
from ratiolab.studies.frames import intervals, with_bounds

LOADS = ("all at once", "load 0.9", "load 1.3")
LOAD, MODE = "load", "preempted_as"
LATENCY, TAIL = METRICS["mean latency"], METRICS["P99 latency"]
NAMES = ("mean latency", "mean per token", "P90 per token", "P99 latency", "mean first token")
TIE, STILL, SOME, MUCH = "tie", "tie, no decay", "tie, beta 0.3, no decay", "tie, beta 2, no decay"
VARIANTS = (TIE, STILL, SOME, MUCH)
FAR = "log-t, heavy, to 4,096"
LATER = ", 4,096"
"""Behind the name of a policy that stops the distributions there and not at 1,024 tokens."""

Workload = tuple[str, str]


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    table = named(with_bounds(frame))
    runs = Settings(table)
    slots = {
        "requests": int(table["requests"].max()),
        "memory": int(frame["workload.memory"].max()),
        "settings": len(runs.settings),
        "counts": grid(
            ("policy", "preemption"),
            product(VARIANTS, ("restart", "recompute")),
            {name: METRICS[name] for name in NAMES},
            lambda row, metric: "{} / {}".format(*runs.sides(row[0], "sept", metric, row[1])),
        ),
        "mean_latency": _over_sept(runs, LATENCY),
        "mean_per_token": _over_sept(runs, MEAN),
        "adapting": [runs.sides(STILL, SOME, metric) for metric in (MEAN, TAIL)],
        "decay": [runs.sides(TIE, STILL, metric) for metric in (MEAN, TAIL)],
        "stopped": _stopped(runs),
        "bounds": _bounds_table(table),
    }
    return Page(slots, list(findings(runs)), {"sept": _chart(runs)})


class Settings:
    """Runs by setting: lengths and load."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._runs = Runs(table, (LABEL, LOAD, MODE, POLICY))
        self.settings = list(product(table[LABEL].unique(), LOADS))

    def over(
        self, setting: Workload, policy: str, other: str, metric: str, mode: str = "restart"
    ) -> Ratio:
        """Return the ratio of one policy to another in a setting."""
        return self._runs.ratio((*setting, mode, policy), (*setting, mode, other), metric)

    def sides(self, policy: str, other: str, metric: str, mode: str = "restart") -> tuple[int, int]:
        """Return in how many settings a policy is certainly faster, and certainly slower."""
        sides = [self.over(setting, policy, other, metric, mode).side for setting in self.settings]
        return sides.count(-1), sides.count(1)


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Add the load of each row; distributions are stopped later only where outputs are longer."""
    ranks = table.groupby(LABEL)[RATE].rank(method="dense").astype(int)
    table = table.assign(**{LOAD: [LOADS[rank - 1] for rank in ranks]})
    return table[~table[POLICY].str.endswith(LATER) | (table[LABEL] == FAR)]


def findings(runs: Settings) -> Iterable[Finding]:
    """Say in which settings holds what the paper says of the score."""
    count = len(runs.settings)

    def where(policy: str, other: str, metric: str) -> tuple[str, int]:
        found = {s: runs.over(s, other, policy, metric) for s in runs.settings}
        best = max(found, key=lambda s: found[s].mean)
        times = sum(ratio.side > 0 for ratio in found.values())
        return f"above 1 in {times} of {count}; most {found[best]}, {', '.join(best)}", times

    for name, metric in (("mean latency", LATENCY), ("latency per token", MEAN)):
        for other, paper in (("sept", 0.75 / 0.67), ("ssjf", 1.95 / 0.67)):
            for policy in (TIE, SOME):
                said, times = where(policy, other, metric)
                statement = f"{other.upper()} / {policy}, {name}"
                printed = f"{paper:.2f} (per token)"
                missed = f"in {times or 'none'} of {count}"
                yield Finding(statement, printed, said, times == count, otherwise=missed)
    said, times = where(TIE, SOME, MEAN)
    statement = "Fixed beta 0.3 / adaptive TIE, latency per token"
    missed = "the fixed one has no decay, either"
    yield Finding(statement, "1.06", said, times == count, otherwise=missed)
    said, times = where(TIE, STILL, TAIL)
    harmed, _ = runs.sides(STILL, TIE, TAIL)
    statement = "The decay protects waiting requests: P99 latency without it / with it"
    protects, missed = times > 0 and not harmed, f"below 1 in {harmed}"
    yield Finding(statement, "above 1", said, protects, otherwise=missed)


def _over_sept(runs: Settings, metric: str) -> str:
    """Return a table of ratios to SEPT, bold when certainly below one."""

    def cell(setting: Workload, policy: str) -> str:
        ratio = runs.over(setting, policy, "sept", metric)
        return f"**{ratio}**" if ratio.side < 0 else str(ratio)

    return grid(("lengths", "load"), runs.settings, ("fcfs", "ssjf", *VARIANTS), cell)


def _stopped(runs: Settings) -> str:
    """Return SEPT and TIE with distributions that are stopped at 1,024 and at 4,096 tokens."""
    pairs = (("sept" + LATER, "sept"), (SOME, "sept"), (SOME + LATER, "sept" + LATER))
    metrics = {"mean latency": LATENCY, "mean per token": MEAN}
    return grid(
        ("load", "figure"),
        product(LOADS, metrics),
        {" / ".join(pair): pair for pair in pairs},
        lambda row, pair: str(runs.over((FAR, row[0]), pair[0], pair[1], metrics[row[1]])),
    )


def _bounds_table(table: pd.DataFrame) -> str:
    restart = table[table[MODE] == "restart"]
    means = intervals(restart, [LABEL, LOAD, POLICY], "ratio_high").set_index([LABEL, LOAD, POLICY])
    policies = ("svf", "fcfs", "ssjf", "sept", *VARIANTS)
    return grid(
        ("lengths", "load"),
        product(restart[LABEL].unique(), LOADS),
        policies,
        lambda setting, policy: float(means.loc[(*setting, policy), "mean"]),
    )


EDGE = 1.6
"""Where the axes of the chart end: intervals beyond are written in numbers."""


def _chart(runs: Settings) -> Enclosures:
    rows = [
        {"panel": f"{short}: {name}", "by": ", ".join(setting), "bottom": q.low, "top": q.high}
        for policy, short in ((TIE, "TIE"), (SOME, "β 0.3, no decay"))
        for name, metric in (("mean latency", LATENCY), ("latency per token", MEAN))
        for setting in runs.settings
        for q in (runs.over(setting, policy, "sept", metric),)
    ]
    options = {
        "x_label": "ratio to SEPT, 95% interval",
        "reference": 1.0,
        "log_x": False,
        "most": EDGE,
    }
    return Enclosures(pd.DataFrame(rows), "panel", "by", options)
