"""What TRAIL's experiment says of the paper's statements."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import TypeAlias, cast

import pandas as pd

from ratiolab.papers.finding import (
    Finding,
    Rule,
    alike,
    at_most,
    below,
    higher,
    in_settings,
    inside,
    lower,
)
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

    With `first`, only the least of these rates and its counterpart under the other clock are
    judged. The setting ``burst`` has no rates.
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


def findings(runs: Runs, queue: pd.DataFrame, errors: Errors) -> Iterable[Finding]:
    """Compare the paper's statements with the runs, figure by figure."""
    factors = [
        [better(errors, model, f"{kind}_error") for kind in ("filtered", "printed")]
        for model in MODELS
    ]
    yield Finding(
        "Section 4.1: refined predictions have a lower mean absolute error than BERT's",
        "2.66 times lower",
        "; ".join(
            f"{good:.2f} times lower, {printed:.2f} times with the filter as printed"
            for good, printed in factors
        ),
        None,
        "set, not found: it is how the errors here were chosen",
    )
    yield from _figure_5(runs)
    yield from _figure_6(runs)
    loads = [
        runs.at(setting="rate", rate=rate, **{MODEL: MODELS[0]})
        for rate in runs.at(setting="rate").levels("rate")
    ]
    for figure, paper in (("mean_latency", "1.66 to 2.01"), ("mean_ttft", "1.76 to 24.07")):
        yield Finding(
            f"Abstract: vLLM-FCFS has a multiple of TRAIL's {FIGURES[figure]}",
            paper,
            _span([each.ratio(FCFS, TRAIL, figure) for each in loads]),
            None,
            "it grows with load and length of the run, from rate 8 to 20; loads cannot be matched",
        )
    yield from _figure_7(runs)
    yield from _figure_8(queue)


def _span(ratios: Iterable[Ratio]) -> str:
    values = sorted({f"{ratio.mean:.3g}" for ratio in ratios}, key=float)
    return values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"


def _judged(
    statement: str, paper: str, found: Mapping[str, Ratio], rule: Rule, why: str = ""
) -> Finding:
    """Judge a statement setting by setting, and say its figures by model and clock."""
    said = "; ".join(f"{name} {_span(ratios)}" for name, ratios in by_kind(found).items())
    return in_settings(statement, paper, found, rule, why, said=said)


def _figure_5(runs: Runs) -> Iterable[Finding]:
    at_first = judged(runs, first=True)
    ours = {name: each for name, each in at_first.items() if VIDUR not in name}
    for c, relation, rule in ((1.0, "higher than", higher()), (0.5, "close to", alike(SIMILAR))):
        for figure in ("mean_latency", "mean_ttft"):
            yield in_settings(
                f"Figure 5: with C = {c:g} the {FIGURES[figure]} is {relation} that with C = 0.8",
                relation.split()[0],
                over(at_first if c == 1 else ours, with_c(c), TRAIL, figure),
                rule,
                said="{:.3f}".format,
            )
    for figure in ("mean_latency", "mean_ttft"):
        found = {
            f"{name}, C = {c:g}": each.ratio(with_c(0.2), with_c(c), figure)
            for name, each in ours.items()
            for c in (0.5, 0.8, 1)
        }
        yield _judged(
            f"Section 4.2: C = 0.2 has higher {FIGURES[figure]} than larger C",
            "higher",
            found,
            higher(),
        )


def _figure_6(runs: Runs) -> Iterable[Finding]:
    settings = judged(runs)
    minimal = _judged(
        "Figure 6: SJF on BERT's predictions provides minimal benefits over FCFS",
        "minimal",
        over(settings, FCFS, SJF, "mean_latency"),
        alike(SIMILAR),
    )
    why = "their engine lets new requests go before running ones and cuts prefills, which is not "
    yield replace(minimal, rule=None, otherwise="", why=why + "modelled: this SJF is not theirs")
    for system in (BERT, TRAIL):
        for other in (FCFS, SJF):
            yield _in_all_figures(
                f"Figure 6: {system} has lower mean and median latency and TTFT than {other}",
                system,
                other,
                settings,
            )
    for figure, name in FIGURES.items():
        yield _judged(
            f"Figure 6: TRAIL has lower {name} than TRAIL-BERT, for its predictions are better",
            "lower",
            over(settings, TRAIL, BERT, figure),
            lower(),
        )


def _in_all_figures(statement: str, system: str, other: str, settings: Settings) -> Finding:
    """Judge a statement about four figures, each in all settings together."""
    return in_settings(
        statement,
        "lower",
        {
            name: list(over(settings, system, other, figure).values())
            for figure, name in FIGURES.items()
        },
        lower(),
        "all have arrived: SJF already serves in that order, and keeps to it"
        if "burst" in statement and other == SJF
        else "",
        said=_span,
    )


def _figure_7(runs: Runs) -> Iterable[Finding]:
    burst = judged(runs, "burst")
    for other in (FCFS, SJF):
        yield _in_all_figures(
            f"Figure 7: in a burst TRAIL has lower mean and median latency and TTFT than {other}",
            TRAIL,
            other,
            burst,
        )
    found = {
        f"{name} at {figure}": each.ratio(with_c(1.0), TRAIL, figure)
        for name, each in burst.items()
        for figure in FIGURES
    }
    yield _judged(
        "Figure 7: in a burst C = 0.8 and C = 1 perform similarly", "similar", found, alike(SIMILAR)
    )
    found = {
        f"{system} with {name} errors": each.ratio(system, with_c(0.0, system), "mean_latency")
        for name, each in burst.items()
        for system in (BERT, TRAIL)
    }
    yield _judged(
        "Figure 7: no new requests arrive, so preemption has no advantage (C = 0.8 over C = 0)",
        "no advantage",
        found,
        inside(1 - SIMILAR, inf),
    )


def _figure_8(queue: pd.DataFrame) -> Iterable[Finding]:
    by = ["option.law", "option.rate", "option.fraction"]
    means = queue.groupby(by).mean(numeric_only=True)

    def over_free(figure: str, c: float) -> list[float]:
        """Return figures at some C over those of C = 1."""
        by_c = means[figure].unstack()
        return [float(value) for value in by_c[c] / by_c[1.0]]

    for figure, name in (("mean_age", "mean memory"), ("peak_age", "peak memory")):
        ratio = means[figure].unstack().pipe(lambda by_c: by_c[0.2] / by_c[1.0])
        found = {
            f"{law} predictions": ratio[law].astype(float).tolist()
            for law in ratio.index.get_level_values(0).unique()
        }
        words = (f"{law} {min(v):.3g} to {max(v):.3g} times" for law, v in found.items())
        yield in_settings(
            f"Figure 8: limiting preemption lowers {name}",
            "lower",
            found,
            below(1),
            "the peak of a run is the age of its largest job when that is waited for"
            if figure == "peak_age"
            else "",
            said=f"C = 0.2 over C = 1: {'; '.join(words)}",
        )
    values = over_free("response_time", 0.5)
    yield Finding(
        "Figure 8: limiting preemption maintains a reasonable response time",
        "reasonable",
        values,
        at_most(1.1),
        "reasonable: at most 10% more",
        said=f"C = 0.5: {min(values):.3g} to {max(values):.3g} times that of C = 1",
    )
    printed, exact = (
        float((means[f"{kind}_response_time"] / means["response_time"] - 1).abs().max())
        for kind in ("printed", "exact")
    )
    yield Finding(
        "Lemma 1 is the mean response time of this queue",
        "exact",
        printed,
        below(0.02),
        "the printed lemma is false, even below the optimum at C = 1",
        said=f"as printed up to {printed:.1%} off the simulation, corrected up to {exact:.1%}",
    )
