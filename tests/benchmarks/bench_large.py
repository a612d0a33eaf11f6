"""What the starts of few large requests have to do with a gap: a part of `bench_targets.py`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from bench_rows import INSTANCES
from bench_traces import sampled
from numba import njit

from ratiolab.hindsight import solve
from ratiolab.hindsight.relaxation.subgradient import FloatArray, Steps, climb
from ratiolab.hindsight.scale.ascent import Climb, Problem, ascend, fluid_duals, token_sums
from ratiolab.hindsight.scale.row_kernels import row_use, start_cost
from ratiolab.model.footprint import IntArray

compiled: Any = njit(cache=True)

LARGEST = (20, 100, 400)
"""Numbers of requests whose starts are kept."""

NEAR = 10
"""Rounds by which they may start earlier or later."""

BUCKETS, FIRST_STEPS, STEPS = 16_384, 400, Steps(400, 0.06, 20, 1e-5)


def large(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What gap is left once the largest requests start where the best schedule found starts them.

    The bound of prices, when the requests of largest volume may start within ten rounds of where
    they start in the schedule, and all others anywhere: the gap to that schedule, in percent. What
    is gone is not proven, as other schedules start them elsewhere. It says that relaxations gain
    by running few large requests in thin parts, wherever memory is idle.
    """
    yield "| instance | requests | gap | " + " | ".join(f"{k} largest" for k in LARGEST) + " |"
    yield "|---|---|---|" + "---|" * len(LARGEST)
    for title, file, requests, rate in INSTANCES:
        instance = sampled(file, requests, rate, seeds[0])
        schedule = solve(instance, time_limit=limit).uninterrupted().schedule
        starts = schedule.starts - instance.arrival.min()
        problem = Problem.of(instance, instance.memory)
        fluid, width = fluid_duals(instance, instance.memory, BUCKETS)
        duals, value = ascend(problem, fluid[None, :], width, FIRST_STEPS)
        found, order = [value], np.argsort(-instance.volume, kind="stable")
        for count in LARGEST:
            kept = Kept(problem, width, order[:count], starts)
            duals, value, _ = climb(kept.value, duals, 0.01, STEPS, lambda _: False)
            found.append(value)
        cells = " | ".join(f"{100 * (schedule.total_latency / v - 1):.1f}" for v in found)
        yield f"| {title} | {requests:,} | {cells} |"


class Kept:
    """The ascent when some requests start near where a schedule starts them."""

    def __init__(self, problem: Problem, width: int, kept: IntArray, starts: IntArray) -> None:
        rest = np.ones(len(starts), bool)
        rest[kept] = False
        columns = problem.arrival, problem.prompt, problem.output
        others = (column[rest] for column in columns)
        self.rest = Climb(Problem(*others, problem.memory, problem.tokens, problem.rounds), width)
        self.arrival, self.prompt, self.output = (column[kept] for column in columns)
        self.low = np.maximum(self.arrival, starts[kept] - NEAR)
        self.high = starts[kept] + NEAR

    def value(self, duals: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound of these duals, and a subgradient."""
        bound, slope = self.rest.value(duals)
        problem, width = self.rest.problem, self.rest.width
        sums = token_sums(problem, duals, width)
        columns = self.arrival, self.prompt, self.output
        least, starts = cheapest_within(sums, *columns, self.low, self.high)
        none = np.zeros(0, np.int64)
        use = row_use(starts, *columns[1:], duals.shape[1], width, problem.memory, none, none)
        return bound + float(least.sum()), slope + use


@compiled
def cheapest_within(sums, arrival, prompt, output, low, high, step=1):  # type: ignore[no-untyped-def]
    """Return the least cost of each request over starts from low to high, and where it is.

    With a greater ``step`` only starts so many rounds apart are looked at.
    """
    least, starts = np.full(len(low), np.inf), low.copy()
    for i in range(len(low)):
        for p in range(low[i], high[i] + 1, step):
            cost = start_cost(sums, arrival[i], prompt[i], output[i], p)
            if cost < least[i]:
                least[i], starts[i] = cost, p
    return least, starts
