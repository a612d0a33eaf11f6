"""One policy on one instance: figures of the run, quantiles, a timeline, a bound beside it."""

from functools import lru_cache
from math import ceil, isnan

import numpy as np

from ratiolab.model import Instance
from ratiolab.online import Simulation
from ratiolab.online import simulate as simulate_policy
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import over_time, per_request, summary, unit
from ratiolab.studies.cell import Cell, Row, Value

DIGITS = 9
"""Significant digits of figures that are no integers: enough for every use, and short files."""

SHARES = (0, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)
"""Percents; the name of a column is ``p25_ttft``."""

SPAN_FIGURES = ("begin", "memory", "running", "waiting", "throughput", "arriving", "prefill")
"""Columns of the timeline."""

KEPT = 1000
"""Bounds that a process keeps: policies share them."""


def simulate(cell: Cell) -> list[Row]:
    """Return one row: the figures of `ratiolab.online.metrics.summary`, and what they are about.

    A run that stalled or looped has an outcome and no latencies.
    """
    return [_described(cell, _simulated(cell))]


def quantiles(cell: Cell) -> list[Row]:
    """Return the row of the task simulate with quantiles of latency and time to first token.

    ``preempted`` is the share of requests that were preempted at least once.
    """
    done = _simulated(cell)
    row = _described(cell, done)
    if done.outcome == "complete":
        frame = per_request(done)
        row["preempted"] = short(float((frame["preemptions"] > 0).mean()))
        for name in ("latency", "ttft"):
            values = np.percentile(frame[name], SHARES)
            row |= {f"p{s}_{name}": short(v) for s, v in zip(SHARES, values, strict=True)}
    return [row]


def timeline(cell: Cell) -> list[Row]:
    """Return one row for each span of time, from the first arrival to the last completion.

    ``memory`` (tokens), ``running`` and ``waiting`` (requests) are averages over the span;
    ``throughput`` counts output tokens, ``prefill`` tokens of requests that start, and
    ``arriving`` prompt and output of requests that arrive, each a second (or round).
    """
    instance = cell.instance()
    done = simulate_policy(instance, cell.policy(), seed=cell.seed, clock=cell.clock())
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
    peak = float(schedule.stretches().most())
    rows: list[Row] = []
    for record in table.to_dict("records"):
        figures = {name: float(f"{record[name]:.6g}") for name in SPAN_FIGURES}
        rows.append({"unit": str(record["unit"]), "peak_memory": peak, **figures})
    return rows


def against_bound(cell: Cell) -> list[Row]:
    """Return the row of ``simulate`` with ``lower``, a bound on total latency under restart.

    In seconds when the cell has a clock, else in rounds; neither needs a solver.
    """
    bare = cell.instance().without_predictions().replace(name="bare", source="")
    lower = _lower(bare, cell.clock())
    return [row | {"lower": float(f"{lower:.9g}")} for row in simulate(cell)]


def _simulated(cell: Cell) -> Simulation:
    """Return the run of a cell."""
    semantics = cell.fields.get("preemption")
    return simulate_policy(
        cell.instance(),
        cell.policy(),
        seed=cell.seed,
        preemption=semantics,  # type: ignore[arg-type]  # checked when the study was read
        clock=cell.clock(),
    )


def _described(cell: Cell, done: Simulation) -> Row:
    """Return the row of a run."""
    instance = cell.instance()
    row: Row = {
        "instance": instance.digest,
        "requests": len(instance),
        "outcome": done.outcome,
        "preempted_as": done.preemption,
        "unit": unit(done),
    }
    return row | {name: short(v) for name, v in summary(done).items() if not isnan(v)}


def short(value: float) -> Value:
    """Return a figure as results keep it."""
    return int(value) if value == int(value) else float(f"{value:.{DIGITS}g}")


@lru_cache(KEPT)
def _lower(instance: Instance, clock: BatchTime | None) -> float:
    if clock is None:
        from ratiolab.hindsight.bounds import best_lower_bound

        return best_lower_bound(instance).value
    from ratiolab.ratio.clock_bound import clock_lower_bound

    return clock_lower_bound(instance, clock)
