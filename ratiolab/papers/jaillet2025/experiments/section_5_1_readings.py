"""Which reading of Section 5.1 of Jaillet et al. (2025) would give its figures."""

from collections.abc import Mapping, Sequence
from math import comb, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from ratiolab.papers.jaillet2025.claims._section_5_1 import DRAWS, LEVEL, Model
from ratiolab.papers.jaillet2025.experiments.section_5_1 import MODELS, reported
from ratiolab.papers.jaillet2025.interpretations import READINGS
from ratiolab.papers.markdown import grid, markdown
from ratiolab.papers.page import Page
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import PRINTED
from ratiolab.report.plots.experiments import COLOURS, finish, panels, shared_legend

FIGURES = 5
"""Reported on both models: two means, two worst cases, one number of optimal draws."""

GROUPS = {
    "workload": "other draws",
    "policy": "another MC-SF",
    "optimum": "another optimum",
    "incumbent": "an incumbent for the optimum",
}


class Misfit(NamedTuple):
    """The figure of a reading that is hardest to reconcile with the paper's."""

    chance: float
    what: str
    proven: bool


class Summary(NamedTuple):
    """A reading on one model; ratios are at least what is found, as better schedules may exist."""

    reading: str
    text: str
    group: str
    model: Model
    mean: float
    least: float
    worst: float
    optimal: float
    misfit: Misfit


def summary(reading: str, model: Model, ratios: list[float]) -> Summary:
    """Return what a reading gives, and the chance of the worst fitting figure under it.

    The hypothesis: the paper's 200 ratios and these are draws from one distribution. Mean: t test,
    both variances as here. Optimal draws: Fisher. Worst: the largest of all ratios are all here. A
    misfit is proven when better schedules could only make it larger.
    """
    from scipy.stats import fisher_exact, t

    paper, n = reported(model), len(ratios)
    mean = sum(ratios) / n
    spread = sqrt(sum((ratio - mean) ** 2 for ratio in ratios) / (n - 1) * (1 / n + 1 / DRAWS))
    score = (mean - paper.mean) / max(spread, 1e-12)
    above = sum(ratio > paper.worst for ratio in ratios)
    optimal = sum(ratio == 1 for ratio in ratios)
    misfits = [
        Misfit(2 * float(t.sf(abs(score), n - 1)), f"mean {mean:.4f}", score > 0),
        Misfit(comb(n, above) / comb(n + DRAWS, above), f"{above} of {n} above worst", True),
    ]
    if paper.optimal is not None:
        table = np.array([[optimal, n - optimal], [paper.optimal, DRAWS - paper.optimal]])
        few = optimal * DRAWS < paper.optimal * n
        misfits.append(Misfit(float(fisher_exact(table)[1]), f"{optimal} of {n} optimal", few))
    known = READINGS[reading]
    return Summary(
        reading,
        known.text,
        GROUPS[known.group],
        model,
        mean,
        min(ratios),
        max(ratios),
        optimal / n,
        min(misfits),
    )


def excluded(misfit: Misfit) -> bool:
    """Return whether a figure rules its reading out."""
    return misfit.chance * FIGURES < LEVEL


def page(frame: pd.DataFrame) -> Page:
    """Compute which readings the paper's figures leave, and the table and chart of all."""
    frame = frame.assign(ratio=frame["mc_sf"] / frame["best"])
    keys = ["option.reading", "option.model"]
    ratios = {key: list(group) for key, group in frame.groupby(keys)["ratio"]}
    found: dict[str, dict[Model, Summary]] = {
        key: {model: summary(key, model, ratios[key, model]) for model in MODELS}
        for key in frame["option.reading"].unique()
    }
    sizes = sorted({len(each) for each in ratios.values()})
    worst = {key: min(pair.values(), key=lambda s: s.misfit.chance) for key, pair in found.items()}
    paper = {model: reported(model) for model in MODELS}
    tries = {
        reading.tries: found[key]
        for key, reading in READINGS.items()
        if reading.tries is not None and key in found
    }
    nearest = {
        model: min(tries, key=lambda count: abs(tries[count][model].mean - paper[model].mean))
        for model in MODELS
    }
    described = found["described"]
    slots = {
        "draws": DRAWS,
        "level": LEVEL,
        "figures": FIGURES,
        "sizes": f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}",
        "count": len(found),
        "left": [READINGS[key].text for key in found if not excluded(worst[key].misfit)],
        "nearest": READINGS[max(worst, key=lambda key: worst[key].misfit.chance)].text,
        "readings": markdown(
            ("reading", "changed", *(f"model {m}" for m in MODELS), "fits", "against it"),
            [_row(pair, worst[key]) for key, pair in found.items()],
        ),
        "paper": paper.values(),
        "described": [described[model].mean for model in MODELS],
        "inside": all(
            paper[model].mean <= described[model].mean
            and paper[model].worst <= described[model].worst
            for model in MODELS
        ),
        "moves": grid(
            "moves tried",
            tries,
            {f"mean, model {model}": model for model in MODELS} | {"model 1 improved": None},
            lambda pair, model: (
                f"{1 - pair[1].optimal:.0%}" if model is None else f"{pair[model].mean:.4f}"
            ),
        ),
        "tries": nearest,
        "nearer": max(nearest, key=lambda model: nearest[model]),
    }

    def chart() -> Chart:
        marks = {int(model): (paper[model].mean, paper[model].worst) for model in MODELS}
        table = pd.DataFrame([one for pair in found.values() for one in pair.values()])
        return readings_chart(table, marks, list(GROUPS.values()))

    return Page(slots, charts={"ratios": chart})


def _row(pair: dict[Model, Summary], worst: Summary) -> tuple[str, ...]:
    chance, what, proven = worst.misfit
    return (
        worst.text,
        worst.group,
        *(f"{s.mean:.4f}, {s.optimal * DRAWS:.0f}, {s.worst:.3f}" for s in pair.values()),
        "**out**" if excluded(worst.misfit) else "open",
        f"model {worst.model}: {what}, {chance:.0e}{'' if proven else ' (found)'}",
    )


def readings_chart(
    table: pd.DataFrame, marks: Mapping[int, tuple[float, float]], groups: Sequence[str]
) -> Chart:
    """Draw a row a reading, a panel a model: mean ratio as a point, smallest to largest as a line.

    The table has the columns text, group, model, mean, least and worst. `marks` are the reported
    mean and worst ratio of each model.
    """
    texts = list(table["text"].unique())
    figure, axes = panels(len(marks), columns=2, height=1.2 + 0.22 * len(texts))
    figure.set_size_inches(11, figure.get_figheight())
    for ax, (model, (mean, worst)) in zip(axes, marks.items(), strict=True):
        for group, colour in zip(groups, COLOURS, strict=False):
            rows = table[(table["model"] == model) & (table["group"] == group)]
            y = [texts.index(text) for text in rows["text"]]
            ax.hlines(y, rows["least"], rows["worst"], color=colour, lw=1.6, alpha=0.6)
            ax.plot(rows["mean"], y, "o", color=colour, ms=4, label=group)
        ax.axvline(mean, **PRINTED, label="reported mean")
        ax.axvline(worst, **(PRINTED | {"ls": ":"}), label="reported worst")
        ax.set_yticks(range(len(texts)), texts if ax is axes[0] else [])
        ax.invert_yaxis()
        finish(ax, f"Arrival Model {model}", "MC-SF / best schedule found")
    shared_legend(figure, axes, columns=3)
    return figure
