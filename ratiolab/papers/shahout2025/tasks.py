"""One run of the single-server queue with limited preemption, beside what formulas say of it."""

from functools import lru_cache

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.shahout2025.queues import mg1
from ratiolab.papers.shahout2025.queues.mg1_simulation import (
    Sampler,
    exponential_predictions,
    perfect_exponential,
)
from ratiolab.papers.shahout2025.queues.mg1_simulation import run as serve
from ratiolab.studies.cell import Cell, Row, Value
from ratiolab.studies.tasks.task import Task

LAWS: dict[str, tuple[mg1.PredictionModel, Sampler]] = {
    "perfect": (mg1.PERFECT, perfect_exponential),
    "exponential": (mg1.EXPONENTIAL, exponential_predictions),
}


def queue_means(cell: Cell) -> list[Row]:
    """Return one row: mean response time, mean and peak total age; exact and printed means.

    The first and the last tenth of the jobs load the queue but are not counted as responses. Runs
    of one seed share their arrivals, sizes and predictions, whatever C is.
    """
    law, fraction, rate = cell.option("law"), cell.option("fraction"), cell.option("rate")
    if law not in LAWS:
        raise ValueError(f"law {law!r}: known are {', '.join(LAWS)}")
    jobs, rng = cell.option("jobs"), stream(cell.seed, "queue")
    arrival = np.cumsum(rng.exponential(1 / rate, jobs))
    size, prediction = LAWS[law][1](rng, jobs)
    completion, age = serve(arrival, size, prediction, fraction)
    exact, printed = _profiles(law, fraction)
    figures = {
        "response_time": (completion - arrival)[jobs // 10 : -(jobs // 10)].mean(),
        "mean_age": age[0] / completion.max(),
        "peak_age": age[1],
        "exact_response_time": exact.mean_response_time(rate),
        "exact_mean_age": exact.mean_memory(rate),
        "printed_response_time": printed.mean_response_time(rate),
    }
    return [{name: float(f"{value:.9g}") for name, value in figures.items()}]


@lru_cache
def _profiles(law: str, fraction: float) -> tuple[mg1.Profile, mg1.Profile]:
    return mg1.corrected(LAWS[law][0], fraction), mg1.as_printed(LAWS[law][0], fraction)


_QUEUE: dict[str, Value] = {"law": "perfect", "fraction": 1.0, "rate": 0.8, "jobs": 100_000}
TASKS = (Task("limited-queue", queue_means, workload=False, policy=False, options=_QUEUE),)
