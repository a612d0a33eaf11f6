"""The ascent over prices of memory rows and growth rows, in floating point."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.bounds import one_machine
from ratiolab.hindsight.relaxation.dual_bound import busy_duals
from ratiolab.hindsight.relaxation.subgradient import FloatArray, Steps, climb
from ratiolab.hindsight.scale.row_kernels import Sums, accumulate, cheapest_near, row_use
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

DEFLECTION = 0.06
"""Part of the newest subgradient in the direction of a step."""

PATIENCE = 6
"""Steps without a better bound before the aim comes closer."""

Levels: TypeAlias = tuple[tuple[int, float], ...]
"""Buckets that share duals while climbing, from coarse to fine, and parts of the time."""

LEVELS: Levels = ((16, 0.4), (4, 0.3), (1, 0.3))
FINE_LEVELS: Levels = ((64, 0.2), (16, 0.3), (4, 0.3), (1, 0.2))

MOST_BUCKETS = 2048
"""Most buckets of times, about, with duals of their own, where prices guide a beam."""

AIM = 0.01
"""How far above the best bound the ascent aims at first, as a part of it."""

LEAST_STEPS = 8
"""A level for which the time does not allow so many steps is left out, with those after it."""

MOST_LOOKED = 10**8
"""Starts that an ascent without a time limit looks at, about; some seconds."""

LEAST_AIM = 1e-5
"""Aim at which a level ends."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance as the ascent sees it: times from its first arrival on, and the rows.

    Parameters
    ----------
    memory : tokens that the rows allow, which may be fewer than those of the instance.
    tokens, rounds : m0 and w of each growth row, shape (rows,).
    """

    arrival: IntArray = field(repr=False)
    prompt: IntArray = field(repr=False)
    output: IntArray = field(repr=False)
    memory: float
    tokens: IntArray
    rounds: IntArray

    @classmethod
    def of(
        cls, instance: Instance, memory: float, rows: tuple[tuple[int, int], ...] = ()
    ) -> "Problem":
        columns = np.array(rows, np.int64).reshape(-1, 2)
        arrival = instance.arrival - instance.arrival.min()
        tokens, rounds = np.ascontiguousarray(columns.T)
        return cls(arrival, instance.prompt, instance.output, memory, tokens, rounds)


def token_sums(problem: Problem, duals: FloatArray, width: int) -> Sums:
    """Accumulate the prices that scaled duals stand for: those of a row, over its tokens."""
    scale = np.concatenate([[1.0], 1.0 / problem.tokens])[:, None]
    sums: Sums = accumulate(
        duals * scale, width, float(problem.memory), problem.tokens, problem.rounds, 1.0
    )
    return sums


def credit_slack(memory: float, duals: FloatArray, rounds: IntArray) -> float:
    """Return the most that the credits of completions take off a cost, whatever the start."""
    most = duals[1:].max(axis=1, initial=0)
    return float((most * rounds * (rounds + 1) / 2).sum() * memory)


def ascend(
    problem: Problem,
    start: FloatArray,
    width: int,
    steps: int,
    seconds: float | None = None,
    levels: Levels = LEVELS,
    patience: int = PATIENCE,
) -> tuple[FloatArray, float]:
    """Return duals of an ascent on coarse buckets and then on finer ones, and their value.

    Parameters
    ----------
    start : duals to begin with, shape (1 + rows, buckets); buckets are a multiple of the coarsest.
    steps : of the ascent at most; fewer without a limit, when each looks at many starts.
    seconds : at most, or None for no limit.
    levels : buckets that share duals, and parts of the time.
    patience : steps without a better bound before the aim comes closer.
    """
    duals, aim, value = start, AIM, -math.inf
    for group, part in levels:
        began, stop = time.perf_counter(), _deadline(None if seconds is None else part * seconds)
        climb = Climb(problem, width * group)
        # fine detail of the start may be worth more than what coarse steps found
        entries = [fine.reshape(len(fine), -1, group).mean(axis=2) for fine in (duals, start)]
        values = [climb.value(entries[0])[0]]
        took = time.perf_counter() - began
        if seconds is not None and LEAST_STEPS * took > part * seconds:
            break
        values.append(climb.value(entries[1])[0])
        coarse = entries[int(np.argmax(values))]
        few = round(part * steps)
        if seconds is None:
            few = min(few, round(part * MOST_LOOKED) // (climb.looked // len(entries) + 1))
        coarse, value, aim = climb.run(coarse, max(aim, AIM / 10), few, patience, stop)
        duals = np.repeat(coarse, group, axis=1)
    return duals, value


def _deadline(seconds: float | None) -> Callable[[], bool]:
    """Return a predicate: are these seconds from now over?"""
    if seconds is None:
        return lambda: False
    ends = time.perf_counter() + seconds
    return lambda: time.perf_counter() > ends


class Climb:
    """One level of the ascent: buckets of one width, duals of shape (1 + rows, buckets)."""

    def __init__(self, problem: Problem, width: int) -> None:
        self.problem, self.width = problem, width
        self.room = problem.memory * width
        self.looked = 0

    def value(self, duals: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound of these duals in floating point, and a subgradient."""
        problem = self.problem
        scaled = duals[1:] / problem.tokens[:, None]
        slack = credit_slack(problem.memory, np.vstack([duals[:1], scaled]), problem.rounds)
        sums = token_sums(problem, duals, self.width)
        columns = problem.prompt, problem.output
        least, starts, looked = cheapest_near(sums, problem.arrival, *columns, self.width, slack)
        use = row_use(
            *(starts, *columns, duals.shape[1], self.width),
            *(problem.memory, problem.tokens, problem.rounds),
        )
        self.looked += looked
        return float(least.sum() - self.room * duals.sum()), use - self.room

    def run(
        self, duals: FloatArray, aim: float, steps: int, patience: int, stop: Callable[[], bool]
    ) -> tuple[FloatArray, float, float]:
        """Return the best duals met, their value, and the aim at the end."""
        most = Steps(steps, DEFLECTION, patience, LEAST_AIM)
        return climb(self.value, duals, aim, most, lambda _: stop())


def fluid_duals(
    instance: Instance, memory: float, most: int = MOST_BUCKETS
) -> tuple[FloatArray, int]:
    """Return prices of the preemptive schedule behind mean busy times, and the width of buckets.

    Buckets reach up to when this schedule ends and one longest output more, as completions come
    later than in it.
    """
    room = math.floor(memory)
    released = ((instance.arrival - instance.arrival.min()) * room).tolist()
    served = one_machine(released, instance.volume.tolist(), shortest_remaining=False)
    pieces = [(piece.request, piece.begin / room, piece.end / room) for piece in served]
    rounds = math.ceil(pieces[-1][2]) + int(instance.output.max())
    width = max(1, -(-rounds // most))
    return busy_duals(instance, pieces, rounds, width, FINE_LEVELS[0][0]), width
