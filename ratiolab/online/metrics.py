"""Metrics of a run: for each request, in total, and over time.

Times are rounds, or seconds when the run had a clock; the column ``unit`` says which. Everything
is derived from the schedule and the boundaries of its rounds.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import Schedule, stream, volume
from ratiolab.online.clock import BatchTime

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

TIMES = ("latency", "ttft", "tpot", "per_token", "waiting", "slowdown")
"""Columns of `per_request` whose mean, median and tails `summary` gives."""


class Timed(Protocol):
    """The part that measures need of a `ratiolab.online.simulation.Simulation`."""

    @property
    def schedule(self) -> Schedule: ...
    @property
    def outcome(self) -> str: ...
    @property
    def clock(self) -> BatchTime | None: ...
    @property
    def times(self) -> FloatArray | None: ...
    @property
    def arrivals(self) -> FloatArray | None: ...


def unit(simulation: Timed) -> str:
    """Return the unit of the times of a run: ``rounds`` or ``seconds``."""
    return "rounds" if simulation.clock is None else "seconds"


def per_request(simulation: Timed) -> "pd.DataFrame":
    """Return one row a request; requests that never completed have no times (NaN).

    ``latency`` is completion minus arrival, ``ttft`` first token minus arrival, ``tpot`` the time
    per output token after the first (NaN when there is one), ``per_token`` latency over output
    tokens, ``waiting`` the part of the latency out of memory, ``slowdown`` latency over what the
    request takes in isolation. ``wasted_tokens`` are those of `Schedule.wasted_tokens`.

    Source of the definitions: Kwon et al. (2023), arXiv 2309.06180 (normalized latency per token);
    Zheng et al. (2026) and Gogineni et al. (TTFT, time per output token).
    """
    import pandas as pd

    schedule, n = simulation.schedule, len(simulation.schedule.instance)
    instance, request, times = schedule.instance, schedule.request, _times_of(simulation)
    again = np.where(schedule.completes, 0, schedule.made)  # made again later
    if schedule.eviction.keeps_tokens:
        again = schedule.kept * (schedule.prefilled > 0)
    preempted = np.bincount(request[~schedule.completes], minlength=n)
    return pd.DataFrame(
        {
            "request": np.arange(n),
            "prompt": instance.prompt.copy(),
            "output": instance.output.copy(),
            "unit": unit(simulation),
            **times,
            "arrival": times["arrival"].copy(),
            "preemptions": preempted,
            "evictions": preempted - np.bincount(request[schedule.resumes_in_place], minlength=n),
            "wasted_tokens": np.bincount(request, again, n).astype(np.int64),
        },
        copy=False,  # all columns are new
    )


def _times_of(simulation: Timed) -> dict[str, FloatArray]:
    """Return the columns of `per_request` that hold times."""
    schedule, n = simulation.schedule, len(simulation.schedule.instance)
    instance, request, given = schedule.instance, schedule.request, simulation.arrivals
    output, begins = instance.output, partial(_begins, simulation)
    arrival = begins(instance.arrival) if given is None else given
    ended = schedule.completion >= 0
    completion = np.where(ended, begins(schedule.completion), np.nan)
    first = np.full(n, np.inf)
    fruitful = schedule.made > 0
    made = begins((schedule.start + schedule.lead + 1)[fruitful])
    np.minimum.at(first, request[fruitful], made)
    latency = completion - arrival
    served = np.bincount(request, begins(schedule.stop) - begins(schedule.start), n)
    return {
        "arrival": arrival,
        "completion": completion,
        "latency": latency,
        "ttft": np.where(np.isfinite(first), first, np.nan) - arrival,
        "tpot": (completion - first) / np.where(output > 1, output - 1, np.nan),
        "per_token": latency / output,
        "waiting": np.where(ended, latency - served, np.nan),
        "slowdown": latency / isolated_latency(instance.prompt, output, simulation.clock),
    }


def summary(simulation: Timed) -> dict[str, float]:
    """Return the figures of one run, flat; NaN where a run that stalled has none.

    ``mean_``, ``median_``, ``p90_`` and ``p99_`` of each of `TIMES`; ``total_latency``,
    ``makespan`` (last completion minus first arrival), ``throughput`` (output tokens of completed
    requests per unit of time), ``mean_memory`` (over time, tokens) and ``peak_memory``,
    ``overflow_rounds`` (with more in memory than there is: the run is no schedule),
    ``preemptions`` (runs that ended early), ``evictions`` (runs that lost their cache; equal
    without ``pause``), ``wasted_tokens``, ``prefill_tokens`` (all that were prefilled, prompts
    included), ``recompute_tax`` (share of the computed tokens that were computed before),
    ``starvation`` (the longest waiting), ``fairness`` (Jain's index of 1 / slowdown,
    from 1/n to 1) and ``completed`` (share of the requests).
    """
    schedule, ended = simulation.schedule, simulation.outcome == "complete"
    memory = _memory(simulation)  # before the times take memory of the machine
    times = _times_of(simulation)
    figures = {"completed": float((~np.isnan(times["completion"])).mean())}
    for name in TIMES:
        column = times[name][~np.isnan(times[name])] if ended else np.array([])
        figures |= {
            f"mean_{name}": _or_nan(np.mean, column),
            f"median_{name}": _or_nan(np.median, column),
            f"p90_{name}": _or_nan(lambda values: np.percentile(values, 90), column),
            f"p99_{name}": _or_nan(lambda values: np.percentile(values, 99), column),
        }
    instance = schedule.instance
    needed = float((instance.prompt + instance.output - 1).sum())
    span = float(times["completion"].max() - times["arrival"].min()) if ended else float("nan")
    speed = 1 / times["slowdown"]
    return figures | {
        "total_latency": float(times["latency"].sum()) if ended else float("nan"),
        "makespan": span,
        "throughput": float(schedule.instance.output.sum()) / span,
        **memory,
        "preemptions": float(schedule.preemptions),
        "evictions": float(schedule.evictions),
        "wasted_tokens": float(schedule.wasted_tokens),
        "prefill_tokens": float(schedule.prefilled.sum()),
        "recompute_tax": 1 - needed / max(1, schedule.computed_tokens) if ended else float("nan"),
        "starvation": float(times["waiting"].max()) if ended else float("nan"),
        "fairness": jain(speed) if ended else float("nan"),
    }


def over_time(simulation: Timed, bins: int = 100) -> "pd.DataFrame":
    """Return averages over equal spans of time, from the first round to the last.

    Columns ``begin``, ``end``, ``unit``; ``memory`` (tokens held), ``running`` and ``waiting``
    (requests), each an average over the span; ``throughput`` (output tokens produced per unit of
    time, with the tokens that an eviction loses). A round's tokens count evenly over the round.

    Parameters
    ----------
    bins : number of spans, at least 1.
    """
    import pandas as pd

    if bins < 1:
        raise ValueError(f"bins {bins} must be at least 1")
    schedule, times = simulation.schedule, _times(simulation)
    usage = schedule.usage()
    end = len(usage) - 1
    begin = int(schedule.instance.arrival.min())
    if end <= begin:
        raise ValueError(f"{schedule.instance.name}: no run has ended, there is no time to show")
    lasted = np.diff(times[begin : end + 1])

    def count(rounds: NDArray[np.int64]) -> NDArray[np.int64]:
        within = rounds[(rounds >= 0) & (rounds <= end)]
        return np.cumsum(np.bincount(within, minlength=end + 1))[begin:end]

    running = count(schedule.start) - count(schedule.stop)
    making = count(schedule.start + schedule.lead) - count(schedule.stop)
    present = count(schedule.instance.arrival) - count(schedule.completion)
    edges = np.linspace(times[begin], times[end], bins + 1)

    def averages(integral_of_rounds: FloatArray) -> FloatArray:
        passed = np.concatenate([[0.0], np.cumsum(integral_of_rounds)])
        at_edges = np.interp(edges, times[begin : end + 1], passed)
        mean: FloatArray = np.diff(at_edges) / np.diff(edges)
        return mean

    return pd.DataFrame(
        {
            "begin": edges[:-1],
            "end": edges[1:],
            "unit": unit(simulation),
            "memory": averages(usage[begin + 1 :] * lasted),
            "running": averages(running * lasted),
            "waiting": averages((present - running) * lasted),
            "throughput": averages(making.astype(np.float64)),
        }
    )


def intervals(
    frame: "pd.DataFrame", by: list[str], *, level: float = 0.95, resamples: int = 2000
) -> "pd.DataFrame":
    """Return means over runs with percentile bootstrap intervals, one row a group and figure.

    Parameters
    ----------
    frame : one row a run, as `summary` gives it, with the columns of `by` beside.
    by : what tells groups apart; every other column that holds numbers is a figure.
    level : probability that an interval is to cover, in (0, 1).
    resamples : how often the runs of a group are drawn again, with replacement. The draws are
        seeded by the number of runs, so the same frame gives the same intervals.

    Returns
    -------
    Columns `by`, ``metric``, ``runs``, ``mean``, ``low``, ``high``. Runs without the figure are
    left out; with fewer than two there is no interval (NaN).
    """
    import pandas as pd

    if not 0 < level < 1:
        raise ValueError(f"level {level} must be between 0 and 1")
    metrics = [c for c in frame.columns if c not in by and frame[c].dtype.kind in "iuf"]
    rows = []
    for key, group in frame.groupby(by, sort=False, dropna=False):
        for metric in metrics:
            values = group[metric].dropna().to_numpy(np.float64)
            rows.append([*key, metric, len(values), *interval(values, level, resamples)])
    return pd.DataFrame(rows, columns=[*by, "metric", "runs", "mean", "low", "high"])


def interval(
    values: FloatArray, level: float = 0.95, resamples: int = 2000
) -> tuple[float, float, float]:
    """Return the mean of values, and its percentile bootstrap interval as `intervals` draws it."""
    low = high = float("nan")
    if len(values) > 1:
        tail = 50 * (1 - level)
        means = stream(len(values), "bootstrap").choice(values, (resamples, len(values)))
        low, high = np.percentile(means.mean(axis=1), [tail, 100 - tail])
    return _or_nan(np.mean, values), low, high


def jain(shares: FloatArray) -> float:
    """Return Jain's fairness index (sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has all.

    >>> jain(np.array([1.0, 1.0, 0.0, 0.0]))
    0.5
    """
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def isolated_latency(
    prompt: NDArray[np.int64], output: NDArray[np.int64], clock: BatchTime | None
) -> FloatArray:
    """Return the time from start to completion of requests that share no batch, shape (n,)."""
    if clock is None:
        return output.astype(np.float64)
    # the batches after the first decode, and read s + 1, ..., s + o - 1 tokens
    read = volume(prompt, output - 1)
    seconds: FloatArray = (
        output * clock.fixed
        + prompt * clock.prefill
        + (output - 1) * clock.decode
        + read * clock.kv
    )
    return seconds


def _memory(simulation: Timed) -> dict[str, float]:
    """Return the figures of `summary` about memory; the mean is that over time, to the end."""
    instance, memory = simulation.schedule.instance, simulation.schedule.stretches()
    began, end, times = int(instance.arrival.min()), int(memory.first[-1]) - 1, simulation.times
    if end <= began:
        mean = 0.0
    elif times is None:
        mean = memory.total() / (end - began)
    else:
        lasted = np.diff(times[began : end + 1])
        mean = float(memory.tokens_by_round()[began + 1 :] @ lasted / lasted.sum())
    return {
        "mean_memory": mean,
        "peak_memory": float(memory.most()),
        "overflow_rounds": float(memory.rounds_above(instance.memory)),
    }


def _begins(simulation: Timed, rounds: NDArray[np.int64]) -> FloatArray:
    """Return when some rounds begin."""
    return rounds.astype(np.float64) if simulation.times is None else simulation.times[rounds]


def _times(simulation: Timed) -> FloatArray:
    """Return the beginning of every round, with one more beyond the last."""
    if simulation.times is not None:
        return simulation.times
    schedule = simulation.schedule
    last = max(int(schedule.stop.max(initial=0)), int(schedule.instance.arrival.max()))
    return np.arange(last + 1, dtype=np.float64)


def _or_nan(figure: Callable[[FloatArray], np.floating[Any]], values: FloatArray) -> float:
    return float(figure(values)) if len(values) else float("nan")
