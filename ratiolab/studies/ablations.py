"""Ablations of the exact solver: what a solve takes when a mechanism is switched off."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd

from ratiolab.hindsight import solve
from ratiolab.hindsight.params import DEFAULT, SolveParams
from ratiolab.workloads.generators import generate

CELLS, LABELS = DEFAULT.cells, DEFAULT.labelling


class Ablation(NamedTuple):
    """Instances of one kind of workload, and the solver without each mechanism."""

    workload: str
    settings: Mapping[str, float]
    without: Mapping[str, SolveParams]


WITHOUT_CELLS = {
    "delays in lists": replace(DEFAULT, cells=replace(CELLS, annealings=0)),
    "prices of memory": replace(DEFAULT, cells=replace(CELLS, share=0.0)),
    "configurations": replace(DEFAULT, cells=replace(CELLS, tables=0)),
    "coarse cells": replace(DEFAULT, cells=replace(CELLS, cells=96, widths=1)),
    "choice of the width": replace(DEFAULT, cells=replace(CELLS, widths=1)),
    "end of slow widths": replace(DEFAULT, cells=replace(CELLS, wider=10**9)),
    "narrow passes": replace(DEFAULT, cells=replace(CELLS, width=CELLS.room)),
}
WITHOUT_LABELS = {
    "most rounds of cuts": replace(DEFAULT, cuts=replace(DEFAULT.cuts, rounds=1, rounds_few=1)),
    "steps of the bundle": replace(DEFAULT, bundle=replace(DEFAULT.bundle, steps=0)),
    "turns of the search": replace(DEFAULT, turns=replace(DEFAULT.turns, share=0.0)),
    "dominance": replace(DEFAULT, labelling=replace(LABELS, compared=0)),
    "growing critical sets": replace(DEFAULT, labelling=replace(LABELS, more_critical=64)),
}

ABLATIONS = {
    "conversations": Ablation(
        "trace-conversations", {"n": 9, "memory": 4_096, "load": 0}, WITHOUT_CELLS
    ),
    "summaries": Ablation(
        "trace-summaries", {"n": 12, "memory": 4_096, "load": 1.2}, WITHOUT_CELLS
    ),
    "paper": Ablation("jaillet-model-1", {"n_least": 12, "n_most": 12}, WITHOUT_LABELS),
}
"""Few requests at a real memory, at once and over time; and requests of Jaillet et al. (2025)."""

SECONDS = 2.0
"""Limit of a solve, beyond what most take."""


def ablation(kind: str, seeds: Iterable[int] = range(500, 520)) -> pd.DataFrame:
    """Return what solves take without each mechanism of the exact solver.

    Parameters
    ----------
    kind : a key of `ABLATIONS`.
    seeds : seeds of the instances.

    Returns
    -------
    A row for each mechanism: how many of the instances are proven, the median of processor
    seconds, and their geometric mean as a multiple of the whole solver's.

    Raises
    ------
    ValueError
        when the kind is unknown.
    """
    if kind not in ABLATIONS:
        raise ValueError(f"kind {kind!r} must be one of {', '.join(ABLATIONS)}")
    workload, settings, without = ABLATIONS[kind]
    instances = [generate(workload, seed, None, **settings) for seed in seeds]
    rows: dict[str, dict[str, float]] = {}
    for name, params in {"nothing": DEFAULT, **without}.items():
        seconds, proven = [], 0
        solve(instances[0], time_limit=SECONDS, threads=1, params=params)  # compiled, or loaded
        for instance in instances:
            began = process_time()
            result = solve(instance, time_limit=SECONDS, threads=1, params=params)
            seconds.append(process_time() - began)
            proven += result.is_exact
        mean = float(np.exp(np.log(np.maximum(seconds, 0.01)).mean()))
        first = rows["nothing"]["mean"] if rows else mean
        half = float(np.median(seconds))
        rows[name] = {"proven": proven, "seconds": half, "mean": mean, "times": mean / first}
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("without")
    return frame.astype({"proven": int}).round(2)
