"""Ideas for better bounds, and what each would close: a part of `bench_targets.py`."""

from collections.abc import Iterator

import numpy as np
from bench_traces import CODE, CONVERSATIONS, SUMMARIES, sampled

from ratiolab.hindsight.relaxation.subgradient import FloatArray, Steps, climb
from ratiolab.hindsight.scale.ascent import (
    Climb,
    Problem,
    ascend,
    fluid_duals,
    token_sums,
)
from ratiolab.hindsight.scale.growth import PARTS
from ratiolab.hindsight.scale.row_kernels import row_use, start_cost
from ratiolab.model import Instance

INSTANCES = (
    ("conversations, load 1.1", CONVERSATIONS, 2_000, 0.072),
    ("code, load 1.2", CODE, 2_000, 0.333),
    ("summaries, load 1.2", SUMMARIES, 2_000, 0.02806),
)

TRIED = 5
"""Large requests that are divided, one at a time."""

BUCKETS, FIRST_STEPS, STEPS = 2048, 400, 60
"""Buckets of prices, and steps of their ascent and of those with a divided request."""


def rows(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What other rows would say of idle memory, and what whole large requests would add.

    Idle memory in percent, as each row promises it when memory is full: growth rows, the same with
    those counted in full, and no others, that hold more than M / (K + 1) (a class of prompts), and
    the limit N / (2 e M) of all rows at one time, with N running and e completions a round. Then,
    in percent of the bound of prices: the most that the bound rises when one of the five largest
    requests must start either up to some round or after it, not in parts on both sides: the least
    of both cases, after an ascent of its own in each.
    """
    yield "| instance | growth row | class row | limit | no parts |"
    yield "|---|---|---|---|---|"
    for title, file, requests, rate in INSTANCES:
        instance = sampled(file, requests, rate, seeds[0])
        cells = [f"{100 * share:.3f}" for share in promises(instance)]
        cells.append(f"{100 * whole(instance):.4f}")
        yield f"| {title} | " + " | ".join(cells) + " |"


def promises(instance: Instance) -> list[float]:
    """Return the share of memory that is idle by each row, and the limit."""
    memory, tokens = instance.memory, int(instance.volume.sum())
    ended = memory * len(instance) / tokens  # completions a round when memory is full
    ages = np.concatenate([np.arange(1, o + 1) for o in instance.output.tolist()])
    held = np.repeat(instance.prompt, instance.output) + ages
    found = []
    for part in PARTS:
        shares = np.minimum(1.0, held * part / memory)
        counted = (held > memory / (part + 1)).astype(float)
        level = [memory * f.sum() / tokens for f in (shares, counted)]
        found.append([x * x / (2 * part * ended) / memory for x in level])
    growth, classes = (max(column) for column in zip(*found, strict=True))
    number = memory * len(held) / tokens
    return [growth, classes, number / (2 * ended * memory)]


class Divided(Climb):
    """An ascent in which one request may only start up to a round, or only after it."""

    def __init__(self, problem: Problem, width: int, one: int, allowed: range) -> None:
        rest = np.arange(len(problem.arrival)) != one
        columns = (problem.arrival[rest], problem.prompt[rest], problem.output[rest])
        others = Problem(*columns, problem.memory, problem.tokens, problem.rounds)
        super().__init__(others, width)
        self.own = tuple(int(c[one]) for c in (problem.arrival, problem.prompt, problem.output))
        self.allowed = allowed

    def value(self, duals: FloatArray) -> tuple[float, FloatArray]:
        bound, slope = super().value(duals)
        sums = token_sums(self.problem, duals, self.width)
        costs = [start_cost(sums, *self.own, p) for p in self.allowed]
        at = int(np.argmin(costs))
        start, prompt, output = (
            np.array([x]) for x in (self.allowed[at], self.own[1], self.own[2])
        )
        none = np.zeros(0, np.int64)
        use = row_use(
            *(start, prompt, output, duals.shape[1], self.width, self.problem.memory, none, none)
        )
        return bound + float(costs[at]), slope + use


def whole(instance: Instance) -> float:
    """Return the most that the bound of prices rises by a division of a large request."""
    problem = Problem.of(instance, instance.memory)
    fluid, width = fluid_duals(instance, instance.memory, BUCKETS)
    duals, value = ascend(problem, fluid[None, :], width, FIRST_STEPS)
    more = Steps(STEPS, 0.06, 20, 1e-6)
    duals, value, _ = climb(Climb(problem, width).value, duals, 1e-3, more, lambda _: False)
    gains = [0.0]
    for one in np.argsort(-instance.volume)[:TRIED].tolist():
        sums = token_sums(problem, duals, width)
        own = tuple(int(c[one]) for c in (problem.arrival, problem.prompt, problem.output))
        last = len(sums.level) - 1
        starts = np.arange(own[0], last, max(1, width // 2))
        costs = np.array([start_cost(sums, *own, p) for p in starts])
        good = starts[costs <= costs.min() + 1e-4 * value]  # where parts of it start, about
        middle = int(good.mean())
        sides = [range(own[0], middle + 1), range(middle + 1, last)]
        reached = []
        for side in sides:
            thin = range(side.start, side.stop, max(1, width // 2))
            divided = Divided(problem, width, one, thin)
            reached.append(climb(divided.value, duals, 1e-3, more, lambda _: False)[1])
        gains.append(min(reached) / value - 1)
    return max(gains)
