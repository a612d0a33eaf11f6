"""Policies that do not know the lengths on public traces, in rounds and under a clock."""

from typing import TYPE_CHECKING

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.experiment import Experiment
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

if TYPE_CHECKING:
    import pandas as pd

CLOCK = "clock"
OURS = "learned-caps"


def page(frame: "pd.DataFrame") -> Page:
    """Compute the ratios of all policies, in rounds and in seconds, and the chart."""
    runs = with_ratios(frame)
    runs = runs.assign(
        **{
            SETTING: [
                label if clock == "unit" else f"{label}, seconds"
                for label, clock in zip(runs[SETTING], runs[CLOCK], strict=True)
            ]
        }
    )
    settings, policies = list(runs[SETTING].unique()), list(runs[POLICY].unique())
    short = {f"({number})": setting for number, setting in enumerate(settings, 1)}
    place = Runs(runs, (SETTING, POLICY))
    requests = runs.groupby(SETTING)["requests"].max()
    slots = {
        "workloads": grid(
            "",
            short,
            {"workload": 0, "requests": 1},
            lambda setting, column: int(requests[setting]) if column else setting,
        ),
        "ratios": grid(
            "policy",
            policies,
            short,
            lambda policy, setting: str(mean(runs, **{POLICY: policy, SETTING: setting})),
        ),
    }
    rows = runs.assign(**{SETTING: runs[SETTING].map({s: k for k, s in short.items()})})
    panel = Panel(intervals(rows, [SETTING, POLICY], RATIO))
    options = {"y_label": "total latency / certified lower bound"}
    chart = Panels(
        "grouped_bars", SETTING, POLICY, [panel], policies, legend=6, size=(9, 4), options=options
    )
    findings = against(place, OURS, [p for p in policies if p != OURS], "on every workload")
    return Page(slots, findings, {"ratio": chart})


EXPERIMENT = Experiment(__name__, page)
