"""Policies that do not know the lengths on public traces, in rounds and under two clocks."""

from typing import Any

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.markdown import grid
from ratiolab.papers.ours.experiments._ratios import (
    POLICY,
    RATIO,
    SETTING,
    against,
    mean,
    with_ratios,
)
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs
from ratiolab.studies.frames import intervals

OURS, TUNING, BASE = "learned-caps", "tuning", "fcfs, training"
KNOWING = ("mc-sf", "svf-fit", "swf-fit")
"""Policies that know every length."""

CHOICE = ["policy.kinds", "policy.pilots"]
SEED = [SETTING, "seed"]


def page(frame: pd.DataFrame) -> Page:
    """Compute the tuning, the ratios of all policies, in rounds and in seconds, and the chart."""
    runs = with_ratios(frame)
    trained = runs[runs[POLICY].isin([TUNING, BASE])]
    shown = runs[~runs[POLICY].isin([TUNING, BASE])]
    policies = list(shown[POLICY].unique())
    settings = list(shown[SETTING].unique())
    short = {f"({number})": setting for number, setting in enumerate(settings, 1)}
    sizes = shown.groupby(SETTING).agg({"requests": "max", "seed": "nunique"})
    there = set(zip(shown[SETTING], shown[POLICY], strict=True))
    place = Runs(shown, (SETTING, POLICY))
    slots = {
        **_tuning(trained, shown),
        "workloads": grid(
            "",
            short,
            {"workload": "", "requests": "requests", "seeds": "seed"},
            lambda setting, column: int(sizes[column][setting]) if column else setting,
        ),
        "ratios": grid(
            ("", "workload"),
            {(number, setting): setting for number, setting in short.items()},
            policies,
            lambda setting, policy: (
                str(mean(shown, **{POLICY: policy, SETTING: setting}))
                if (setting, policy) in there
                else ""
            ),
        ),
        "over_fcfs": grid(
            ("", "workload"),
            {(number, setting): setting for number, setting in short.items()},
            [policy for policy in policies if policy != "fcfs"],
            lambda setting, policy: (
                str(place.ratio((setting, policy), (setting, "fcfs"), "total_latency"))
                if (setting, policy) in there
                else ""
            ),
        ),
    }
    base = shown[shown[POLICY] == "fcfs"].set_index(SEED)["total_latency"]
    rows = shown[shown[POLICY] != "fcfs"]
    rows = rows.assign(
        over=rows["total_latency"] / base.reindex(rows.set_index(SEED).index).to_numpy()
    )
    rows = rows.assign(**{SETTING: rows[SETTING].map({s: f"{s} {k}" for k, s in short.items()})})
    panel = Panel(intervals(rows, [SETTING, POLICY], "over"))
    chart = Panels(
        "dots",
        SETTING,
        POLICY,
        [panel],
        [policy for policy in policies if policy != "fcfs"],
        legend=4,
        size=(9, 7.5),
        options={"x_label": "total latency / that of fcfs", "log_x": True, "reference": 1.0},
    )
    everywhere = [p for p in policies if {(s, p) for s in settings} <= there]
    others = [policy for policy in everywhere if policy not in (OURS, *KNOWING)]
    findings = against(place, OURS, others, "on every workload")
    slots["count"] = len(settings)
    slots["wins"] = [
        (other, *_wins([place.ratio((s, OURS), (s, other), "total_latency") for s in settings]))
        for other in others
    ]
    return Page(slots, findings, {"ratio": chart})


def _wins(ratios: list[Ratio]) -> tuple[int, int]:
    """Return on how many workloads the whole interval is below 1, and on how many above."""
    sides = [ratio.side for ratio in ratios]
    return sides.count(-1), sides.count(1)


def _tuning(trained: pd.DataFrame, shown: pd.DataFrame) -> dict[str, Any]:
    """Return the table of the choices, and which of them the runs beside it use."""
    base = trained[trained[POLICY] == BASE].set_index(SEED)["total_latency"]
    tried = trained[trained[POLICY] == TUNING]
    tried = tried.assign(
        **{RATIO: tried["total_latency"] / base.reindex(tried.set_index(SEED).index).to_numpy()}
    )
    means = tried.groupby(CHOICE)[RATIO].mean()
    chosen = min(means.index, key=lambda choice: float(means[choice]))
    used = shown[shown[POLICY] == OURS].iloc[0]
    return {
        "tuning": grid(
            "kinds, pilots",
            {f"{kinds}, {pilots:g}": (kinds, pilots) for kinds, pilots in means.index},
            [*tried[SETTING].unique()],
            lambda choice, setting: str(
                mean(tried, **dict(zip(CHOICE, choice, strict=True)), **{SETTING: setting})
            ),
        ),
        "choice": "{}, {:g}".format(*chosen),
        "chosen": tuple(used[CHOICE]) == tuple(chosen),
    }
