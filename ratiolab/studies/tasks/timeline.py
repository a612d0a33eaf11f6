"""One policy on one instance, second by second."""

from math import ceil

import numpy as np

from ratiolab.online import simulate
from ratiolab.online.metrics import over_time, per_request
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks.task import Task

NAMES = ("begin", "memory", "running", "waiting", "throughput", "arriving", "prefill")


def run(cell: Cell) -> list[Row]:
    """One row a span of time, from the first arrival to the last completion.

    ``memory`` (tokens), ``running`` and ``waiting`` (requests) are averages over the span;
    ``throughput`` counts output tokens, ``prefill`` tokens of requests that start, and
    ``arriving`` prompt and output of requests that arrive, each a second (or round).
    """
    instance = cell.instance()
    done = simulate(instance, cell.policy(), seed=cell.seed, clock=cell.clock())
    requests, schedule = per_request(done), done.schedule
    times = np.arange(schedule.makespan + 1.0) if done.times is None else done.times
    began, ended = times[int(schedule.instance.arrival.min())], requests["completion"].max()
    table = over_time(done, bins=ceil((ended - began) / cell.option("width")))
    edges = [*table["begin"], table["end"].iloc[-1]]
    width = np.diff(edges)
    tokens = instance.prompt + instance.output
    table["arriving"] = np.histogram(requests["arrival"], edges, weights=tokens)[0] / width
    starts = times[schedule.start]
    prefilled = instance.prompt[schedule.request]
    table["prefill"] = np.histogram(starts, edges, weights=prefilled)[0] / width
    peak = float(schedule.usage().max())
    rows: list[Row] = []
    for record in table.to_dict("records"):
        figures = {name: float(f"{record[name]:.6g}") for name in NAMES}
        rows.append({"unit": str(record["unit"]), "peak_memory": peak, **figures})
    return rows


TIMELINE = Task("timeline", run, options={"width": 1.0})
