"""Section 5.1 of Jaillet et al. (2025), Figure 2: how far MC-SF is from the hindsight optimum."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ratiolab.papers.finding import Finding
from ratiolab.papers.jaillet2025.claims._section_5_1 import DRAWS, LEVEL, Model, Reported, chances
from ratiolab.papers.markdown import markdown
from ratiolab.papers.page import Page
from ratiolab.papers.registry import select
from ratiolab.papers.runs import Runs
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import EXACT, OTHER, PRINTED
from ratiolab.report.plots.experiments import panels, shared_legend

MODELS: tuple[Model, ...] = (1, 2)
MC_SF, SVF = "mc-sf", "svf"
ENDS, BOUNDS = ("low", "high"), ("lower", "upper")


def reported(model: Model) -> Reported:
    """Return the paper's figures."""
    figures: Reported = select(ids=[f"jaillet2025/section-5-1-model-{model}"])[0].claimed
    return figures


def page(frame: pd.DataFrame) -> Page:
    """Compute intervals of the ratio, findings, and how a rival does."""
    gaps = frame["opt_upper"] / frame["opt_lower"] - 1
    frame = frame.assign(
        low=frame["total_latency"] / frame["opt_upper"],
        high=frame["total_latency"] / frame["opt_lower"],
        model=frame["workload"].str.removeprefix("jaillet-model-").astype(int),
    )
    runs = Runs(frame, ("model", "policy"))
    ours = {model: runs.rows((model, MC_SF)) for model in MODELS}
    slots = {
        "draws": DRAWS,
        "level": LEVEL,
        "here": sorted({len(part) for part in ours.values()}),
        "mean_gap": gaps.mean(),
        "gap": gaps.max(),
        "table": markdown(
            ("", "paper", "ours, for certain"),
            [row for model in MODELS for row in _rows(model, ours[model])],
        ),
        "rival": {
            model: {
                "better": (
                    runs.values((model, SVF), "total_latency") < ours[model]["total_latency"]
                ).sum(),
                "of": len(ours[model]),
                "ends": [runs.mean((model, SVF), end) for end in ENDS],
            }
            for model in MODELS
        },
    }

    def intervals() -> Chart:
        titles = {model: f"Arrival Model {model}" for model in MODELS}
        low, high = ({titles[m]: part[end] for m, part in ours.items()} for end in ENDS)
        marks = {titles[m]: {"mean": reported(m).mean, "worst": reported(m).worst} for m in MODELS}
        return intervals_chart(low, high, marks)

    found = [finding for model in MODELS for finding in findings(model, ours[model])]
    return Page(slots, found, {"intervals": intervals})


def _rows(model: Model, part: pd.DataFrame) -> list[tuple[str, str, str]]:
    paper, ends = reported(model), part[[*ENDS]]
    proven, at_most = (int((part["total_latency"] == part[f"opt_{x}"]).sum()) for x in BOUNDS)
    optima = f"{proven}" if proven == at_most else f"{proven} to {at_most}"
    optimal = "not said" if paper.optimal is None else f"{paper.optimal} of {DRAWS}"
    figures = {
        "mean": (f"{paper.mean}", "{:.4f} to {:.4f}".format(*ends.mean())),
        "worst": (f"{paper.worst}", "{:.4f} to {:.4f}".format(*ends.max())),
        "best": ("1.000", "{:.4f} to {:.4f}".format(*ends.min())),
        "MC-SF optimal": (optimal, f"{optima} of {len(part)}"),
    }
    return [(f"Model {model}: {name}", *cells) for name, cells in figures.items()]


def findings(model: Model, part: pd.DataFrame) -> Iterable[Finding]:
    """Say of each of the paper's figures how likely our draws would be, were it true."""
    paper = reported(model)
    found = chances(list(part["low"]), paper)
    printed = {
        "optimal": f"{paper.optimal} of {DRAWS} optimal",
        "mean": f"mean {paper.mean}",
        "worst": f"worst {paper.worst}",
    }
    for name, (event, chance) in found.items():
        refuted = chance * len(found) < LEVEL
        yield Finding(
            f"Model {model}: {printed[name]}",
            printed[name],
            event,
            False if refuted else None,
            f"chance {chance:.1e}",
        )


BIN = 0.01
"""Width of the bars of a histogram."""


def intervals_chart(
    low: Mapping[str, pd.Series],
    high: Mapping[str, pd.Series],
    marks: Mapping[str, Mapping[str, float]],
) -> Chart:
    """Draw for each title two panels: histograms of both ends, and the band of the distribution."""
    figure, axes = panels(2 * len(low), columns=2)
    for row, title in enumerate(low):
        _histograms(axes[2 * row], title, low[title], high[title])
        _band(axes[2 * row + 1], title, low[title], high[title])
        for ax in axes[2 * row : 2 * row + 2]:
            for number, (name, value) in enumerate(marks[title].items()):
                look = PRINTED | ({"ls": ":"} if number else {})
                ax.axvline(value, **look, label=f"reported {name}")
            ax.set_xlim(left=min(0.99, float(low[title].min()) - BIN))
    shared_legend(figure, axes, columns=3)
    return figure


def _histograms(ax: Axes, title: str, low: pd.Series, high: pd.Series) -> None:
    first = np.floor(min(1.0, low.min()) / BIN)
    edges = BIN * np.arange(first, np.ceil(high.max() / BIN) + 1)
    bins = edges.tolist()
    ax.hist(low, bins=bins, color=EXACT["color"], alpha=0.45, label="lower ends")
    ax.hist(  # a line over the bars: where both are, no third colour
        high, bins=bins, histtype="step", color=OTHER["color"], lw=1.6, label="upper ends"
    )
    ax.set_title(f"{title}: both ends of every interval", fontsize=10, loc="left")
    ax.set_xlabel("MC-SF / OPT")
    ax.set_ylabel("draws")


def _band(ax: Axes, title: str, low: pd.Series, high: pd.Series) -> None:
    ends = [np.sort(values.to_numpy()) for values in (low, high)]
    x = np.unique(np.concatenate([[1.0], *ends]))
    most, least = (100 * np.searchsorted(end, x, side="right") / len(end) for end in ends)
    ax.fill_between(x, least, most, step="post", color="0.8", label="where the distribution is")
    ax.step(x, most, where="post", color=EXACT["color"], lw=1)
    ax.step(x, least, where="post", color=OTHER["color"], lw=1)
    ax.set_title(f"{title}: share of draws up to a ratio", fontsize=10, loc="left")
    ax.set_xlabel("MC-SF / OPT")
    ax.set_ylabel("draws (%)")
