"""Policies that do not know the lengths, on distributions that nothing was tuned on."""

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, below
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
from ratiolab.papers.runs import Runs
from ratiolab.studies.frames import intervals
from ratiolab.theory.limits.volume_restart import best

REQUESTS, PACE, MARGIN = "workload.n", "policy.pace", "policy.margin"
TUNING, OURS = "tuning", "volume-restart"
PLAIN = ("no prompts: 1/t", "no prompts: log-normal", "no prompts: two lengths")


def page(frame: pd.DataFrame) -> Page:
    """Compute the tuning, the ratios of all policies, and the chart."""
    runs = with_ratios(frame)
    tuning = runs[runs[POLICY] == TUNING]
    again = runs[runs[SETTING].isin(PLAIN)]
    held = runs[(runs[POLICY] != TUNING) & ~runs[SETTING].isin(PLAIN)]
    pairs = tuning.groupby([PACE, MARGIN])[RATIO].mean()
    pace, margin = min(pairs.index, key=lambda pair: float(pairs[pair]))
    used = held[held[POLICY] == OURS].iloc[0]
    laws, policies = list(held[SETTING].unique()), list(held[POLICY].unique())
    sizes = {law: sorted(held[held[SETTING] == law][REQUESTS].unique()) for law in laws}
    most = held[held[REQUESTS] == held[SETTING].map({law: sizes[law][-1] for law in laws})]
    places = {
        f"{law}, n = {int(n):,}": {SETTING: law, REQUESTS: n} for law in laws for n in sizes[law]
    }
    value = float(best()[1])
    fewest = held[held[REQUESTS] == held[SETTING].map({law: sizes[law][0] for law in laws})]
    largest, smallest = (Runs(part, (SETTING, POLICY)) for part in (most, fewest))
    others = [policy for policy in policies if policy not in (OURS, "learned-caps")]
    slots = {
        "value": value,
        "pace": float(pace),
        "margin": float(margin),
        "chosen": bool((used[PACE], used[MARGIN]) == (pace, margin)),
        "spread": float(pairs.max() / pairs.min() - 1),
        "default": float(pairs[0.9, 0.02] / pairs.min() - 1),
        "tuning": grid(
            "pace, margin",
            {f"{p:g}, {m:g}": (p, m) for p, m in pairs.index},
            [*tuning[SETTING].unique()],
            lambda pair, law: str(mean(tuning, **{PACE: pair[0], MARGIN: pair[1], SETTING: law})),
        ),
        "again": len(again["seed"].unique()),
        "ratios": grid(
            "policy",
            policies,
            places,
            lambda policy, place: str(mean(held, **{POLICY: policy}, **place)),
        ),
    }
    slots["plain"] = grid(
        "policy",
        [OURS, "kill-restart", "gsa"],
        list(PLAIN),
        lambda policy, law: str(mean(again, **{POLICY: policy, SETTING: law})),
    )
    ends = {law: mean(most, **{POLICY: OURS, SETTING: law}) for law in laws}
    findings = [
        Finding(
            "the mean ratio of volume-restart at the most requests is below V on every "
            "distribution",
            f"{value:.4f}",
            ends,
            below(value),
            said=", ".join(f"{law} {ratio}" for law, ratio in ends.items()),
        ),
        *against(largest, OURS, others, "at the most requests"),
        *against(smallest, OURS, ["a-min", "fcfs"], "at the fewest requests"),
        *against(largest, "learned-caps", [OURS, "a-min", "fcfs"], "at the most requests"),
        *against(
            Runs(again, (SETTING, POLICY)),
            OURS,
            ["kill-restart", "gsa"],
            "without prompts",
        ),
    ]
    return Page(slots, findings, {"ratio": _chart(held, laws, policies, value)})


def _chart(held: pd.DataFrame, laws: list[str], policies: list[str], value: float) -> Panels:
    words = {"x_label": "requests", "y_label": "total latency / certified lower bound"}
    panels = [
        Panel(intervals(held[held[SETTING] == law], [POLICY, REQUESTS], RATIO), law) for law in laws
    ]
    options = {**words, "log_x": True, "log_y": True, "reference": value}
    return Panels("lines", REQUESTS, POLICY, panels, policies, columns=3, legend=6, options=options)
