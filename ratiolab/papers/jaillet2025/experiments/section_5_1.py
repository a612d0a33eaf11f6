"""Section 5.1 of Jaillet et al. (2025), Figure 2: how far MC-SF is from the hindsight optimum."""

from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers import select
from ratiolab.papers.experiment import Experiment, Finding, findings_table, markdown
from ratiolab.papers.jaillet2025.claims._section_5_1 import DRAWS, LEVEL, Model, Reported, chances

if TYPE_CHECKING:
    import pandas as pd

NAME = "jaillet2025-section-5-1"
MODELS: tuple[Model, ...] = (1, 2)
MC_SF, SVF = "mc-sf", "svf"


def reported(model: Model) -> Reported:
    """The paper's figures."""
    figures: Reported = select(ids=[f"jaillet2025/section-5-1-model-{model}"])[0].claimed
    return figures


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures, findings and tables."""
    frame = frame.assign(
        low=frame["total_latency"] / frame["opt_upper"],
        high=frame["total_latency"] / frame["opt_lower"],
    )
    parts = {model: frame[frame["workload"] == f"jaillet-model-{model}"] for model in MODELS}
    ours = {model: part[part["policy"] == MC_SF] for model, part in parts.items()}
    _draw(ours, folder)
    findings = [finding for model in MODELS for finding in _findings(ours[model], model)]
    draws = {len(part) for part in ours.values()}
    gap = float((frame["opt_upper"] / frame["opt_lower"]).max() - 1)
    mean_gap = float((frame["opt_upper"] / frame["opt_lower"]).mean() - 1)
    return f"""\
The paper divides the total latency of MC-SF by that of the hindsight optimum, from its integer
program and a commercial solver, on {DRAWS} draws of each of two arrival models. Here are
{" and ".join(map(str, draws))} draws of each as described, seeds 0 and up of `ratiolab generate
jaillet-model-1` and `jaillet-model-2`, and for every draw an interval that holds MC-SF / OPT for
certain: its lower end divides by a schedule that an exact checker has accepted, its upper end by a
proven lower bound on every schedule. The bounds differ by {mean_gap:.1%} on average and
{gap:.1%} at most.

{markdown(("", "paper", "ours, for certain"), _table(ours))}

![Histograms and distributions]({NAME}-intervals.png)

Left, the histogram of the lower ends of the intervals and that of their upper ends: the true one
lies between. Right, the share of draws with a ratio up to x: the true curve runs in the grey band.

## The paper's statements

*Reproduced* is **no** when our draws are less likely than {LEVEL:g} over the number of figures,
were the figure that of the described distribution, whatever the paper drew; the chance is
the last column. The test uses the lower ends alone, which favour the paper.

{findings_table(findings)}

## A better rule with the same knowledge

{_rival(parts)}

Which reading of the experiment would give the paper's figures is the subject of
[another page]({NAME}-readings.md).
"""


def _table(ours: "dict[Model, pd.DataFrame]") -> list[tuple[str, str, str]]:
    rows = []
    for model, part in ours.items():
        paper, low, high = reported(model), part["low"], part["high"]
        proven = int((part["total_latency"] == part["opt_lower"]).sum())
        at_most = int((part["total_latency"] == part["opt_upper"]).sum())
        optimal = "not said" if paper.optimal is None else f"{paper.optimal} of {DRAWS}"
        name = f"Model {model}: "
        optima = f"{proven}" if proven == at_most else f"{proven} to {at_most}"
        rows += [
            (name + "mean", f"{paper.mean}", f"{low.mean():.4f} to {high.mean():.4f}"),
            (name + "worst", f"{paper.worst}", f"{low.max():.4f} to {high.max():.4f}"),
            (name + "best", "1.000", f"{low.min():.4f} to {high.min():.4f}"),
            (name + "MC-SF optimal", optimal, f"{optima} of {len(part)}"),
        ]
    return rows


def _findings(part: "pd.DataFrame", model: Model) -> list[Finding]:
    paper = reported(model)
    found = chances(list(part["low"]), paper)
    refuted = {name: chance * len(found) < LEVEL for name, (_, chance) in found.items()}
    printed = {
        "optimal": f"{paper.optimal} of {DRAWS} optimal",
        "mean": f"mean {paper.mean}",
        "worst": f"worst {paper.worst}",
    }
    return [
        Finding(
            f"Model {model}: {printed[name]}",
            printed[name],
            event,
            False if refuted[name] else None,
            f"chance {chance:.1e}",
        )
        for name, (event, chance) in found.items()
    ]


def _rival(parts: "dict[Model, pd.DataFrame]") -> str:
    lines = []
    for model, part in parts.items():
        cost = part.pivot(index="seed", columns="policy", values="total_latency")
        better = int((cost[SVF] < cost[MC_SF]).sum())
        low, high = (part[part["policy"] == SVF][end].mean() for end in ("low", "high"))
        lines.append(
            f"model {model}: better on {better} of {len(cost)} draws, mean ratio "
            f"{low:.4f} to {high:.4f}"
        )
    return f"Smallest volume first (`{SVF}`) against MC-SF, {'; '.join(lines)}."


def _draw(ours: "dict[Model, pd.DataFrame]", folder: Path) -> None:
    from ratiolab.papers.jaillet2025.experiments._figures_5_1 import intervals_chart
    from ratiolab.report.plots.experiments import write_chart

    titles = {model: f"Arrival Model {model}" for model in ours}
    chart = intervals_chart(
        {titles[model]: part["low"] for model, part in ours.items()},
        {titles[model]: part["high"] for model, part in ours.items()},
        {
            titles[model]: {"mean": reported(model).mean, "worst": reported(model).worst}
            for model in ours
        },
    )
    write_chart(chart, folder / f"{NAME}-intervals.png")


EXPERIMENT = Experiment(
    NAME,
    __name__,
    "MC-SF against the hindsight optimum: certified intervals",
    "Jaillet et al. (2025), Section 5.1, Figure 2, arXiv 2502.07115v5",
    page,
    figures=("requests", "total_latency", "opt_lower", "opt_upper", "lower_source"),
)
