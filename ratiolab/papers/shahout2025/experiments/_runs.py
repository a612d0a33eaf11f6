"""The runs of TRAIL's experiment: systems by the paper's names, compared instance by instance."""

from collections.abc import Mapping
from typing import TypeAlias, cast

import pandas as pd

from ratiolab.papers.runs import Ratio, Runs

SYSTEM, MODEL = "system", "model"
FIGURES = {
    "mean_latency": "mean latency",
    "median_latency": "median latency",
    "mean_ttft": "mean TTFT",
    "median_ttft": "median TTFT",
}
FCFS, SJF, BERT, TRAIL = "vLLM-FCFS", "vLLM-SJF", "TRAIL-BERT", "TRAIL"
PRINTED, EXACT = "TRAIL, printed filter", "exact lengths"
SHOWN = (FCFS, SJF, BERT, TRAIL)
DEFAULT = 0.8
SPREAD = 0.3
LASTS = 0.99
PAPER_RATE = 14.0

INDEPENDENT, LASTING = "independent", "lasting"
MODELS = (INDEPENDENT, LASTING)
"""How the classifier's errors follow each other, with first predictions calibrated to each."""

VIDUR = "Vidur"

SIMILAR = 0.02
"""Similar, or minimal: means differ by at most this share."""

Kind: TypeAlias = tuple[float, float, float]
"""Of classifiers: confusion, correlation of errors, rate at which they change their minds."""

Errors: TypeAlias = Mapping[str, Mapping[Kind, Mapping[str, float]]]

Settings: TypeAlias = Mapping[str, Runs]
"""Runs by a model of the errors, clock and rate."""


def by_system(frame: pd.DataFrame) -> Runs:
    """Return the runs of systems, with setting, model, rate (a second) and memory as columns."""
    labels = frame["workload.label"].str.rsplit(", ", n=1)
    rows = frame.assign(
        setting=labels.str[0].replace({"C": "rate"}),
        rate=frame["workload.rate"] * 1000,
        memory=frame["workload.memory"].astype(int),
        **{MODEL: labels.str[1]},
    )
    rows = rows.assign(**{SYSTEM: rows.apply(_name, axis=1)})
    return Runs(rows, [SYSTEM], pair="instance")


def _name(row: pd.Series) -> str:
    key, c = row["policy"], row["policy.c"]
    if key in ("fcfs", "sjf", "srpt"):
        return {"fcfs": FCFS, "sjf": SJF, "srpt": EXACT}[key]
    if key == "sprpt":
        return with_c(c, BERT)
    if row["policy.propagation"] == "printed":
        return PRINTED
    if row["setting"] == "kinds":
        return of_kind((row["policy.spread"], row["policy.correlation"], row["policy.changes"]))
    return with_c(c)


def with_c(c: float, system: str = TRAIL) -> str:
    """Return the name of a system whose C is not the default."""
    return system if c == DEFAULT else f"{system}, C = {c:g}"


def of_kind(kind: Kind) -> str:
    """Return the name of TRAIL with a classifier of some kind."""
    return "TRAIL " + " ".join(f"{value:g}" for value in kind)


def kind_of(model: str) -> Kind:
    """Return the kind of classifier that a model of errors stands for."""
    return SPREAD, LASTS if model == LASTING else 0.0, 1.0


def judged(runs: Runs, setting: str = "rate", *, first: bool = False) -> Settings:
    """Return the runs that statements are judged by: by model, clock and rate from the paper's on.

    Parameters
    ----------
    setting : ``burst`` has no rates.
    first : at the least of these rates only, and at its counterpart under the other clock.
    """
    found = {}
    clocks = {"": setting, f", {VIDUR}": VIDUR} if setting == "rate" else {"": setting}
    for words, name in clocks.items():
        for model in MODELS:
            there = runs.at(setting=name, **{MODEL: model})
            if setting == "burst":
                found[model] = there
                continue
            rates = [r for r in there.levels("rate") if name != "rate" or r >= PAPER_RATE]
            for rate in rates[:1] if first else rates:
                found[f"{model}{words} at {rate:.3g}"] = there.at(rate=rate)
    return found


def over(settings: Settings, system: str, other: str, figure: str) -> dict[str, Ratio]:
    """Return the quotient of two systems in every setting."""
    return {name: runs.ratio(system, other, figure) for name, runs in settings.items()}


def by_kind(ratios: Mapping[str, Ratio]) -> dict[str, list[Ratio]]:
    """Return ratios by model and clock, whatever the rate."""
    found: dict[str, list[Ratio]] = {}
    for name, ratio in ratios.items():
        found.setdefault(name.partition(" at ")[0], []).append(ratio)
    return found


def errors_of(refined: pd.DataFrame) -> Errors:
    """Return mean absolute errors (tokens) and more, by model of the first predictions and kind."""
    words = {"classified:0.27": INDEPENDENT, "classified:0.7": LASTING}
    by = [f"option.{name}" for name in ("spread", "correlation", "changes")]
    found: dict[str, Mapping[Kind, Mapping[str, float]]] = {}
    for predict, model in words.items():
        rows = refined[refined["workload.predict"] == predict]
        means = rows.groupby(by).mean(numeric_only=True)
        found[model] = cast("Mapping[Kind, Mapping[str, float]]", means.to_dict("index"))
    return found


def better(errors: Errors, model: str, filtered: str = "filtered_error") -> float:
    """Return how many times less refined predictions err than first ones."""
    row = errors[model][kind_of(model)]
    return row["initial_error"] / row[filtered]
