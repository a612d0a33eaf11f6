"""TIE under a clock: request rates, an offline pool, the ablation, the worth of a predictor."""

from collections.abc import Callable
from itertools import product
from math import asin, hypot, pi

import numpy as np
import pandas as pd

from ratiolab.papers.experiment import Experiment
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Place, Ratio, Runs
from ratiolab.papers.zheng2026.experiments._service_charts import charts
from ratiolab.papers.zheng2026.experiments._service_findings import (
    BASE,
    COMPARED,
    FAST,
    HALF,
    MEAN,
    METRICS,
    NEAR,
    NOISE,
    NORMAL,
    OFFLINE,
    ONE,
    P90,
    PAPER,
    PLAIN,
    PUBLISHED,
    QUALITY,
    RATES,
    SAME,
    SAME_LOAD,
    THREE,
    VIDUR,
    at,
    by_clock,
    findings,
    noises_of,
)

OVER_SEPT = ("fcfs", "ssjf", ONE, THREE, "tie", "tie, no decay", PLAIN)


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    clocks = by_clock(frame)
    runs, vidur = clocks[PUBLISHED], clocks[VIDUR]
    tie, requests = at("tie"), int(frame["requests"].max())
    between = float(frame["workload.between"].iloc[0])
    noises = noises_of(runs.frame)
    found = [runs.ratio(at("ssjf", predict=words), tie, MEAN).mean for words in noises.values()]
    reached = {
        name: float(np.interp(paper, found, list(noises))) if paper <= max(found) else None
        for name, paper in PAPER.items()
    }

    def in_order(noise: float) -> float:
        """Return the chance that two normal locations keep their order when both get noise."""
        return 0.5 + asin(between / hypot(between, noise)) / pi

    def over_tie(place: Place) -> list[Ratio]:
        return [each.ratio(place, tie, MEAN) for each in clocks.values()]

    served = [requests / each.mean(at("fcfs", rate=OFFLINE), "makespan") for each in (runs, vidur)]
    slots = {
        "requests": requests,
        "outputs": _moments(frame["seed"].unique().tolist()),
        "served": served,
        "fast": next(1000 * rate for rate, other in SAME_LOAD.items() if other == FAST),
        "noise": NOISE,
        "r2": 1 - (NOISE / between) ** 2,
        "near": NEAR,
        "same": SAME,
        "rate": 1000 * FAST,
        "ssjf": over_tie(at("ssjf")),
        "sept": over_tie(at("sept")),
        "log_normal": over_tie(at("tie", predict=NORMAL)),
        "policies": _policies_table(runs),
        "apart": _apart(runs, vidur),
        "quality": _quality_table(runs, noises, in_order),
        "paper": PAPER,
        "reached": reached,
        "in_order": in_order,
        "last": max(noises),
        "blind": runs.ratio(at("fcfs"), tie, MEAN),
        "worst": runs.ratio(at("tie", predict=noises[max(noises)]), tie, MEAN),
        "tails": _tails_table(runs),
        "authors": _authors_table(runs),
    }
    return Page(slots, list(findings(clocks)), charts(runs, noises))


def _moments(seeds: list[int]) -> dict[str, float]:
    """Return variation, skewness and the share of the longest tenth of the outputs drawn."""
    from scipy.stats import skew, variation

    study = Experiment(__name__).study()
    cells = {c.seed: c for c in study.cells if c["workload.label"] == RATES}
    drawn = np.sort(np.concatenate([cells[seed].instance().output for seed in seeds]))
    longest = drawn[-(len(drawn) // 10) :]
    share = float(longest.sum() / drawn.sum())
    return {"cv": float(variation(drawn)), "skew": float(skew(drawn)), "tenth": share}


def _policies_table(runs: Runs) -> str:
    places = {policy: at(policy) for policy in OVER_SEPT}
    places["ssjf that knows the lengths"] = at("ssjf", predict="exact")
    return grid(
        "policy / SEPT",
        places,
        METRICS,
        lambda place, metric: str(runs.ratio(place, at("sept"), metric)),
    )


def _apart(runs: Runs, other: Runs) -> float:
    """Return by which share the quotients of that table differ at most under another clock."""
    return max(
        abs(each.ratio(place, at("sept"), metric).mean / found - 1)
        for place, metric in product(map(at, OVER_SEPT), METRICS.values())
        for each, found in [(other, runs.ratio(place, at("sept"), metric).mean)]
    )


def _quality_table(runs: Runs, noises: dict[float, str], in_order: Callable[[float], float]) -> str:
    def cell(words: str, column: tuple[str, bool]) -> str:
        policy, compared = column
        place = at(policy, predict=words)
        if compared:
            return str(runs.ratio(place, at("tie"), MEAN))
        return f"{runs.mean(place, MEAN):.3f}"

    columns = {f"{policy.upper()} (s/token)": (policy, False) for policy in COMPARED[1:]}
    columns |= {f"{p.upper()} / TIE at noise {NOISE}": (p, True) for p in ("ssjf", "tie")}
    rows = {(f"{noise:g}", f"{in_order(noise):.0%}"): words for noise, words in noises.items()}
    return grid(("noise", "in order"), rows, columns, cell)


def _tails_table(runs: Runs) -> str:
    rows = {
        "light": ("light tails", BASE, NORMAL),
        "the paper's": (QUALITY, BASE, NORMAL),
        "heavy": ("heavy tails", BASE, NORMAL),
        "the paper's, 3 draws, not misjudged": (QUALITY, "log-t:3", "log-normal:3"),
    }

    def cell(row: tuple[str, str, str], column: tuple[str, int]) -> str:
        (policy, fit), label = column, row[0]
        tie = at("tie", label=label, predict=row[1])
        return str(runs.ratio(at(policy, label=label, predict=row[fit]), tie, MEAN))

    columns = {f"{policy.upper()} / TIE": (policy, 1) for policy in COMPARED[:3]}
    return grid("tails", rows, columns | {"TIE, log-normal / log-t": ("tie", 2)}, cell)


def _authors_table(runs: Runs) -> str:
    """Return quotients to TIE with the settings of the authors' code."""

    def there(policy: str, rate: float, predict: str = BASE) -> Place:
        return at(f"{policy}, 32", label="authors", rate=rate, predict=predict)

    rows = {policy.upper(): (policy, BASE) for policy in COMPARED[:3]}
    rows["TIE on log-normal fits"] = ("tie", NORMAL)
    columns = {
        "mean per token, 100/s": (MEAN, FAST),
        "P90 per token, 100/s": (P90, FAST),
        "mean per token, all at once": (MEAN, OFFLINE),
        "time until half are done": (HALF, OFFLINE),
    }
    return grid(
        "over TIE",
        rows,
        columns,
        lambda row, column: str(
            runs.ratio(there(row[0], column[1], row[1]), there("tie", column[1]), column[0])
        ),
    )
