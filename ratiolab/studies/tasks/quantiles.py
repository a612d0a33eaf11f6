"""One policy on one instance: the figures of the run, and quantiles for boxes."""

import numpy as np

from ratiolab.online.metrics import per_request
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks.simulate import described, short, simulated
from ratiolab.studies.tasks.task import Task

SHARES = (0, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)
"""Percents; the name of a column is ``p25_ttft``."""


def run(cell: Cell) -> list[Row]:
    """One row: that of the task simulate, quantiles of latency and time to first token, and
    ``preempted``, the share of requests that were at least once."""
    done = simulated(cell)
    row = described(cell, done)
    if done.outcome == "complete":
        frame = per_request(done)
        row["preempted"] = short(float((frame["evictions"] > 0).mean()))
        for name in ("latency", "ttft"):
            values = np.percentile(frame[name], SHARES)
            row |= {f"p{s}_{name}": short(v) for s, v in zip(SHARES, values, strict=True)}
    return [row]


QUANTILES = Task("quantiles", run)
