"""Which reading of Section 5.1 of Jaillet et al. (2025) would give its figures."""

from math import comb, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ratiolab.papers.experiment import Experiment, markdown
from ratiolab.papers.jaillet2025.claims._section_5_1 import DRAWS, LEVEL, Model
from ratiolab.papers.jaillet2025.experiments.section_5_1 import MODELS, reported
from ratiolab.papers.jaillet2025.interpretations import READINGS

if TYPE_CHECKING:
    import pandas as pd

NAME = "jaillet2025-section-5-1-readings"
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
    """What a reading gives, and the chance of the paper's worst fitting figure under it.

    The hypothesis: the paper's 200 ratios and these are draws from one distribution. Mean: t test,
    both variances as here. Optimal draws: Fisher. Worst: the largest of all ratios are all here. A
    misfit is proven when better schedules could only make it larger.
    """
    import numpy as np
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
    """Whether a figure rules its reading out."""
    return misfit.chance * FIGURES < LEVEL


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """A table, a figure, and what follows."""
    import pandas as pd

    frame = frame.assign(ratio=frame["mc_sf"] / frame["best"])
    groups = frame.groupby("option.reading", sort=False)
    found = [
        summary(str(key), model, list(group.loc[group["option.model"] == model, "ratio"]))
        for key, group in groups
        for model in MODELS
    ]
    _draw(pd.DataFrame(found), folder)
    by_key: dict[str, dict[int, Summary]] = {}
    for one in found:
        by_key.setdefault(one.reading, {})[one.model] = one
    fits = [
        key for key, pair in by_key.items() if not any(excluded(s.misfit) for s in pair.values())
    ]
    nearest = max(by_key, key=lambda key: min(s.misfit.chance for s in by_key[key].values()))
    left = ", ".join(f"*{READINGS[key].text}*" for key in fits)
    verdict = (
        f"Of {len(by_key)} readings {len(fits)} cannot be told from the paper's figures: {left}."
        if fits
        else f"None of {len(by_key)} readings gives the paper's figures."
    )
    return f"""\
For draws as described there are [certified intervals](jaillet2025-section-5-1.md). Here the
experiment is read in other ways, one change at a time: {DRAWS} ratios of the paper against
{_sizes(frame)} of each reading. The optimum of a reading is the best schedule that a
short annealing over orders finds under the reading's rules, so ratios are at least what stands
here: a mean that is too high, or too few optimal draws, is proven; a mean that is too low is what
was found.

{verdict} The nearest is *{READINGS[nearest].text}*.

{markdown(_HEADER, [_row(pair) for pair in by_key.values()])}

Under each model: mean ratio, draws with MC-SF at the best schedule in {DRAWS}, largest ratio. The
paper: {_paper()}. *Against it*: the figure that fits worst and the chance of so large a difference
if the paper had drawn from this reading; below {LEVEL:g} over the {FIGURES} figures the reading is
**out**, and (found) marks what is not a proof.

![Ratios under each reading]({NAME}-ratios.png)

Points are means, lines reach from the smallest ratio to the largest.

## Incumbents in place of optima

{_incumbents(by_key)}
"""


_HEADER = ("reading", "changed", "model 1", "model 2", "fits", "against it")


def _row(pair: dict[int, Summary]) -> tuple[str, ...]:
    first = pair[1]
    worst = min(pair.values(), key=lambda s: s.misfit.chance)
    cells = [f"{s.mean:.4f}, {s.optimal * DRAWS:.0f}, {s.worst:.3f}" for s in pair.values()]
    why = (
        f"model {worst.model}: {worst.misfit.what}, {worst.misfit.chance:.0e}"
        f"{'' if worst.misfit.proven else ' (found)'}"
    )
    verdict = "**out**" if excluded(worst.misfit) else "open"
    return first.text, first.group, *cells, verdict, why


def _paper() -> str:
    parts = []
    for model in MODELS:
        figures = reported(model)
        optimal = "not said" if figures.optimal is None else str(figures.optimal)
        parts.append(f"{figures.mean}, {optimal}, {figures.worst}")
    return " and ".join(parts)


def _sizes(frame: "pd.DataFrame") -> str:
    sizes = frame.groupby(["option.reading", "option.model"]).size()
    least, most = int(sizes.min()), int(sizes.max())
    return f"{most}" if least == most else f"{least} to {most}"


def _incumbents(by_key: dict[str, dict[int, Summary]]) -> str:
    """What a program stopped early could have returned."""
    described = by_key["described"]
    tries = {
        reading.tries: by_key[key]
        for key, reading in READINGS.items()
        if reading.tries is not None and key in by_key
    }
    paper = {model: reported(model) for model in MODELS}
    rows = [
        (count, *(f"{s.mean:.4f}" for s in pair.values()), f"{1 - pair[1].optimal:.0%}")
        for count, pair in tries.items()
    ]
    near = {
        model: min(tries, key=lambda count: abs(tries[count][model].mean - paper[model].mean))
        for model in MODELS
    }
    inside = all(
        paper[model].mean <= described[model].mean and paper[model].worst <= described[model].worst
        for model in MODELS
    )
    nearer = max(near, key=lambda model: near[model])
    both = (
        "One amount of this search comes nearest to both."
        if near[1] == near[2]
        else "No single amount of this search gives both: a solver that was stopped would have "
        f"come much nearer to the optimum on model {nearer} than on the other."
    )
    words = "lie" if inside else "do not all lie"
    return f"""\
A solver that is stopped returns its incumbent; if it begins with MC-SF's schedule, or the better of
the two counts, the ratio lies anywhere between 1 and the truth. The paper's means and worst cases
{words} below those found on draws as described ({_pair(described)} on average), and a ratio of
exactly 1 then says that nothing better was found. How little search that is: moves of one
request in MC-SF's order, each kept when it helps,

{markdown(("moves tried", "mean, model 1", "mean, model 2", "model 1 improved"), rows)}

The mean of model 1 is nearest after {near[1]} of these moves, that of model 2 after {near[2]}.
{both} Whether theirs did cannot be told without its log."""


def _pair(pair: dict[int, Summary]) -> str:
    return " and ".join(f"{s.mean:.4f}" for s in pair.values())


def _draw(table: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.papers.jaillet2025.experiments._figures_5_1 import readings_chart
    from ratiolab.report.plots.experiments import write_chart

    marks = {int(model): (reported(model).mean, reported(model).worst) for model in MODELS}
    chart = readings_chart(table, marks, list(GROUPS.values()))
    write_chart(chart, folder / f"{NAME}-ratios.png")


EXPERIMENT = Experiment(
    NAME,
    __name__,
    "Readings of Section 5.1: which would give the paper's figures?",
    "Jaillet et al. (2025), Section 5.1, Figure 2, arXiv 2502.07115v5",
    page,
    figures=("requests", "mc_sf", "best"),
)
