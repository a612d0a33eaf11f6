"""Every policy on public request traces, as ratios to certified bounds: our own experiment."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment, markdown
from ratiolab.studies.frames import intervals, with_bounds

if TYPE_CHECKING:
    import pandas as pd

SETTING, POLICY = "workload.label", "policy.label"

KNOWS_ALL = ("svf", "sorted-f", "mc-sf", "h-sf", "mc-benchmark")
KEEPS_TOKENS = ("srpt", "rr-sjf", "rr")


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures and tables, one column a workload."""
    runs = with_bounds(frame)
    settings, policies = list(runs[SETTING].unique()), list(runs[POLICY].unique())
    restart = runs[runs["preempted_as"] == "restart"]
    ratios = intervals(restart, [SETTING, POLICY], "ratio_high")
    _draw(ratios, intervals(restart, [SETTING, POLICY], "ratio_low"), folder)
    high = ratios.pivot(index=POLICY, columns=SETTING, values="mean")
    low = intervals(restart, [SETTING, POLICY], "ratio_low").pivot(
        index=POLICY, columns=SETTING, values="mean"
    )
    served = [policy for policy in policies if policy in high.index]
    short = {setting: f"({number})" for number, setting in enumerate(settings, 1)}
    table = [
        [policy, *(_cell(low.loc[policy, s], high.loc[policy, s]) for s in settings)]
        for policy in served
    ]
    bounds = frame[frame["task"] == "bound"]
    opened = (bounds["opt_upper"] / bounds["opt_lower"] - 1).groupby(bounds[SETTING]).mean()
    requests = bounds.groupby(SETTING)["requests"].max()
    keys = [[short[s], s, int(requests[s]), f"{float(opened[s]):.1%}"] for s in settings]
    waiting = runs.groupby([SETTING, POLICY])["mean_latency"].mean().unstack(SETTING)
    kept = [
        [policy, *(float(waiting.loc[policy, s]) for s in settings)]
        for policy in [*KNOWS_ALL[:1], *KEEPS_TOKENS, "fcfs"]
    ]
    return f"""\
Requests of the Azure LLM inference traces of 2023 (conversation, code; Patel et al., Splitwise,
ISCA 2024, CC-BY 4.0) and of the arXiv summarisation trace published with Vidur (Agrawal et al.,
MLSys 2024, MIT), one token a round, memory 16,492 tokens, prompts up to half of it. The traces are
not part of the project: `RATIOLAB_TRACES` names their folder. A load of 1 fills memory exactly on
average. Recorded times count 20 rounds a second, and a sample of the requests thins them.

Predictions, for those who use them: laws fitted to eight draws (tie, sept), points within 50 %
(sjf, mc-sf with a margin of a tenth), intervals of 100 tokens (a-max, a-min; kill-restart its lower
end). The first five policies know every length.

{markdown(("", "workload", "requests", "gap of the bounds"), keys)}

## Total latency over the hindsight optimum

Each cell encloses cost / OPT: from the ratio to the best schedule known to that to the certified
lower bound, means over the seeds. Where the two differ much, the bound may be weak or the schedule
far from optimal: nobody knows yet. A policy *never ends* when a state that leads to itself came
back on a sample: predictions are too short, all are cleared, and the same begins again.

![Ratios to certified bounds](real-traces-ratio.png)

{markdown(("policy", *(short[s] for s in settings)), table)}

{_remarks(low, high, served, settings)}

## When evicted requests keep their tokens

Then evictions may help even a scheduler that knows everything, and the bounds above do not apply.
Mean latency, rounds, beside two that lose tokens:

{markdown(("policy", *(short[s] for s in settings)), kept)}
"""


def _cell(low: float, high: float) -> str:
    return f"{low:.2f} to {high:.2f}" if low == low else "never ends"


def _remarks(
    low: "pd.DataFrame", high: "pd.DataFrame", served: list[str], settings: list[str]
) -> str:
    """What the table says, in words that follow from it."""
    blind = [policy for policy in served if policy not in KNOWS_ALL]
    guessed = [str(low.loc[blind, setting].idxmin()) for setting in settings]
    best = {setting: str(low[setting].idxmin()) for setting in settings}
    worst = {setting: float(low[setting].max()) for setting in settings}
    hardest = max(worst, key=lambda setting: worst[setting])
    certain = low.loc[["mc-sf"]].to_numpy() > high.loc[["svf"], low.columns].to_numpy()
    return f"""\
- Least latency, of the {len(settings)} workloads: {_counted(best.values())}.
- Among those who do not know the lengths: {_counted(guessed)}.
- The worst policy is at least {worst[hardest]:.1f} times the optimum, on "{hardest}"
  ({low[hardest].idxmax()}).
- That svf beats mc-sf by more than all that is uncertain about the optimum: on {certain.sum()}."""


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{name} on {count}" for name, count in Counter(names).most_common())


def _draw(high: "pd.DataFrame", low: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import enclosures, write_chart

    joined = high.rename(columns={"mean": "top"}).assign(bottom=low["mean"])
    figure = enclosures(
        joined, SETTING, POLICY, x_label="total latency / hindsight optimum", reference=1.0
    )
    write_chart(figure, folder / "real-traces-ratio.png")


EXPERIMENT = Experiment(
    "real-traces",
    __name__,
    "Public request traces: every policy beside certified bounds of the optimum",
    "An experiment of ratiolab; traces: Azure LLM inference 2023, Vidur's arXiv summarisation",
    page,
    figures=(
        *("instance", "requests", "preempted_as", "unit", "mean_latency", "total_latency"),
        *("evictions", "opt_lower", "opt_upper"),
    ),
)
