"""Simulation of the M/G/1 queue under SPRPT with limited preemption.

An oracle for `mg1`: it knows the rule (least predicted remaining time first, a job of
prediction r is immune once its age reaches C r) and no formula. Jobs that wait do not
change rank, so a binary heap of waiting jobs is the whole state.

The event loop is compiled by numba on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from ratiolab.papers.shahout2025.queues.quadrature import Array
from ratiolab.theory.estimate import Estimate

Sampler = Callable[[Generator, int], tuple[Array, Array]]


def perfect_exponential(rng: Generator, jobs: int) -> tuple[Array, Array]:
    """Draw sizes exponential with mean 1; predictions equal to them."""
    size = rng.exponential(size=jobs)
    return size, size


def exponential_predictions(rng: Generator, jobs: int) -> tuple[Array, Array]:
    """Draw sizes exponential with mean 1; given size x, predictions exponential with mean x."""
    size = rng.exponential(size=jobs)
    return size, size * rng.exponential(size=jobs)


@dataclass(frozen=True)
class Simulated:
    """Estimates of one queue.

    Parameters
    ----------
    response_time : mean time from arrival to completion.
    memory : time average of the total age of the jobs in the system.
    peak_memory : largest total age seen in a replication; grows with its length.
    """

    response_time: Estimate
    memory: Estimate
    peak_memory: Estimate


def run(arrival: Array, size: Array, prediction: Array, fraction: float) -> tuple[Array, Array]:
    """Serve the given jobs, from an empty system until all are done.

    At C = 0 a started job is never preempted (the limit C -> 0+).

    ``arrival`` does not decrease; all three arrays have shape (n,). Return the completion times,
    and integral and maximum over time of the total age of unfinished jobs.

    Cost: O(n log q), q the longest queue.

    A short job preempts a long one before half its predicted length, not after.

    >>> two = np.array([0.0, 4.0]), np.array([10.0, 1.0]), np.array([10.0, 1.0])
    >>> [int(t) for t in run(*two, 0.5)[0]]
    [11, 5]
    >>> [int(t) for t in run(*two, 0.25)[0]]
    [10, 11]
    """
    if not arrival.shape == size.shape == prediction.shape:
        raise ValueError(f"size {size.shape}: arrival, size and prediction must have one shape")
    if np.any(np.diff(arrival) < 0):
        raise ValueError("arrival: times must not decrease")
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction {fraction}: must lie in [0, 1]")
    completion, memory = _loop()(arrival, size, prediction, fraction)
    return completion, memory


def simulate(
    sampler: Sampler,
    fraction: float,
    rate: float,
    *,
    rng: Generator,
    jobs: int = 200_000,
    replications: int = 10,
    confidence: float = 0.99,
) -> Simulated:
    """Estimate mean response time and memory of the stationary queue.

    In every replication the first and the last tenth of the jobs load the queue but are
    not counted in the response time.

    ``sampler`` draws sizes, of a mean below 1 / rate, and predictions; the intervals have the given
    ``confidence``, over at least two replications.

    Cost: O(replications * jobs * log q).
    """
    if replications < 2:
        raise ValueError(f"replications {replications}: must be at least 2")
    response, memory, peak = np.empty((3, replications))
    for i in range(replications):
        arrival = np.cumsum(rng.exponential(1 / rate, jobs))
        size, prediction = sampler(rng, jobs)
        completion, total = run(arrival, size, prediction, fraction)
        response[i] = (completion - arrival)[jobs // 10 : -(jobs // 10) or None].mean()
        memory[i], peak[i] = total[0] / completion.max(), total[1]
    return Simulated(
        *(Estimate.of(values.tolist(), confidence) for values in (response, memory, peak))
    )


@cache
def _loop() -> Any:
    """Compile the event loop."""
    from heapq import heappop, heappush

    from ratiolab.machine_code import careful

    def loop(
        arrival: Array, size: Array, prediction: Array, fraction: float
    ) -> tuple[Array, Array]:
        n = len(arrival)
        age = np.zeros(n)
        completion = np.empty(n)
        waiting = [(0.0, 0)]  # (rank, job); the first entry only fixes the type
        waiting.pop()
        memory, integral, peak = 0.0, 0.0, 0.0
        now, current, upcoming, done = 0.0, -1, 0, 0
        while done < n:
            if current < 0:
                if waiting:
                    current = heappop(waiting)[1]
                else:
                    now, current = arrival[upcoming], upcoming
                    upcoming += 1
                    memory = 0.0  # of an idle system; sheds rounding errors
            end = now + size[current] - age[current]
            if upcoming < n and arrival[upcoming] < end:
                work = arrival[upcoming] - now
                now = arrival[upcoming]
            else:
                work = size[current] - age[current]
                now = end
            integral += work * (memory + work / 2)
            memory += work
            age[current] += work
            peak = max(peak, memory)
            if now == end:
                completion[current] = end
                memory -= size[current]
                done += 1
                current = -1
                continue
            rank = prediction[current] - age[current]
            immune = age[current] > 0 and age[current] >= fraction * prediction[current]
            if prediction[upcoming] < rank and not immune:
                heappush(waiting, (rank, current))
                current = upcoming
            else:
                heappush(waiting, (prediction[upcoming], upcoming))
            upcoming += 1
        return completion, np.array([integral, peak])

    return careful(loop)
