"""Simple policies that know every length, on samples of traces: a part of `bench_targets.py`."""

from collections.abc import Iterator
from math import exp, log
from typing import Any

import numpy as np
from bench_traces import CODE, CONVERSATIONS, SUMMARIES, sampled

from ratiolab.model import Instance
from ratiolab.online import make, simulate

REQUESTS = 1_000

ROWS = (
    ("conversations", CONVERSATIONS, 0.0764),
    ("code", CODE, 0.333),
    ("summaries", SUMMARIES, 0.02806),
)
"""Title, file, and the rate a round that is load 1.2."""

LOADS = (0.9, 1.2, None)
"""None is all at round 0."""

POLICIES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("svf-fit", "svf-fit", {}),
    ("ratio 1.3", "svf-fit", {"ratio": 1.3}),
    ("ratio 2.5", "svf-fit", {"ratio": 2.5}),
    ("5 candidates", "svf-fit", {"candidates": 5}),
    ("60 candidates", "svf-fit", {"candidates": 60}),
    ("sorted-f", "sorted-f", {}),
    ("mc-sf", "mc-sf", {}),
)


def fit(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What simple policies that know every length take, as a part of what `svf` takes.

    Total latency of 1,000 requests; geometric means over the seeds, and over all rows last. The
    columns after the first have `svf-fit` with another limit on volumes (default 1.75 times the
    smallest) or another number of candidates (default 20).
    """
    yield "| trace | load | " + " | ".join(title for title, _, _ in POLICIES) + " |"
    yield "|---|---|" + "---|" * len(POLICIES)
    every = []
    for title, file, rate in ROWS:
        for load in LOADS:
            rows = []
            for seed in seeds:
                instance = sampled(file, REQUESTS, rate * (load or 1.2) / 1.2, seed)
                if load is None:
                    instance = instance.replace(arrival=np.zeros(REQUESTS, np.int64))
                known = latency(instance, "svf", {})
                rows.append(
                    [log(latency(instance, key, given) / known) for _, key, given in POLICIES]
                )
            every += rows
            yield f"| {title} | {load or 'all at 0'} | {means(rows)} |"
    yield f"| all | | {means(every)} |"


def latency(instance: Instance, key: str, given: dict[str, Any]) -> int:
    """Return the total latency of a policy."""
    return simulate(instance, make(key, given)).schedule.total_latency


def means(rows: list[list[float]]) -> str:
    """Return cells with the geometric mean of each column of logarithms."""
    return " | ".join(f"{exp(sum(column) / len(rows)):.3f}" for column in zip(*rows, strict=True))
