"""Every policy on public request traces, as ratios to certified bounds: our own experiment."""

from collections import Counter
from math import isnan

import pandas as pd

from ratiolab.papers.drawing import ratio_enclosures
from ratiolab.papers.markdown import grid, markdown
from ratiolab.papers.page import Page
from ratiolab.studies.frames import intervals, with_bounds

SETTING, POLICY = "workload.label", "policy.label"

KNOWS_ALL = ("svf", "sorted-f", "mc-sf", "h-sf", "mc-benchmark")
KEEPS_TOKENS = ("srpt", "rr-sjf", "rr")


def page(frame: pd.DataFrame) -> Page:
    """Compute tables and the chart, one column or panel a workload."""
    runs = with_bounds(frame)
    settings = list(runs[SETTING].unique())
    restart = runs[runs["preempted_as"] == "restart"]
    looped = restart["total_latency"].isna().groupby([restart[SETTING], restart[POLICY]])
    # a mean over the samples on which a run ends would favour policies that do not on others
    restart = restart.assign(
        **{end: restart[end].mask(looped.transform("any")) for end in ("ratio_low", "ratio_high")}
    )
    never, samples = looped.sum(), restart["seed"].nunique()
    low, high = (
        intervals(restart, [SETTING, POLICY], f"ratio_{end}").pivot(
            index=POLICY, columns=SETTING, values="mean"
        )
        for end in ("low", "high")
    )
    served = [policy for policy in runs[POLICY].unique() if policy in high.index]
    short = {f"({number})": setting for number, setting in enumerate(settings, 1)}
    bounds = frame[frame["task"] == "enclosure"]
    gaps = (bounds["opt_upper"] / bounds["opt_lower"] - 1).groupby(bounds[SETTING]).mean()
    requests = bounds.groupby(SETTING)["requests"].max()
    waiting = runs.groupby([SETTING, POLICY])["mean_latency"].mean()

    def enclosure(policy: str, setting: str) -> str:
        bottom, top = (float(table[setting][policy]) for table in (low, high))
        if isnan(bottom):
            return f"never ends on {never[setting, policy]} of {samples}"
        return f"{bottom:.2f} to {top:.2f}"

    blind = [policy for policy in served if policy not in KNOWS_ALL]
    hardest = low[settings].max().idxmax()
    certain = low.loc[["mc-sf"]].to_numpy() > high.loc[["svf"], low.columns].to_numpy()
    slots = {
        "workloads": markdown(
            ("", "workload", "requests", "gap of the bounds"),
            [(number, s, int(requests[s]), f"{gaps[s]:.1%}") for number, s in short.items()],
        ),
        "ratios": grid("policy", served, short, enclosure),
        "settings": len(settings),
        "best": Counter(low[settings].idxmin()).most_common(),
        "best_blind": Counter(low.loc[blind, settings].idxmin()).most_common(),
        "hardest": hardest,
        "slowest": low[hardest].idxmax(),
        "worst": low[hardest].max(),
        "certain": certain.sum(),
        "latencies": grid(
            "policy",
            (KNOWS_ALL[0], *KEEPS_TOKENS, "fcfs"),
            short,
            lambda policy, setting: float(waiting.loc[setting, policy]),
        ),
    }
    return Page(
        slots, charts={"ratio": ratio_enclosures(restart, SETTING, POLICY, missing="never ends")}
    )
