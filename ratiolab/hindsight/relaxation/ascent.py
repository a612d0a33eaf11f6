"""Dual ascent over the prices of memory and of growth rows, in floating point.

The bound. Let u_t >= 0 be prices of a token at times t = 1..T. Adding to the latency of any
feasible schedule price times (tokens held - M), which is at most 0, and letting every request
choose its start alone,

    latency >= sum over i of min over p >= a_i of c_i(p) - M sum over t of u_t,
    c_i(p) = p + o_i - a_i + sum over ages g = 1..o_i of u_{p+g} (s_i + g).

Growth rows add terms, see `ratiolab.hindsight.certificates.duals`. Any prices prove a bound.
The best ones of memory prove the value of the linear relaxation in which requests are started in
parts (Geoffrion 1974), which fills memory to the last token.

The ascent. Prices are equal within buckets of times, first coarse, then fine. It begins with the
optimal prices of the preemptive schedule behind mean busy times. A step is as long as would reach a
target a little above the best bound, were the bound linear. The direction is a long mean of
subgradients.

Source: Lagrangian relaxation of capacity rows: Christofides, Alvarez-Valdes, Tamarit (1987),
European J. Oper. Res. 29; deflection: Camerini, Fratta, Maffioli (1975), Math. Programming Study 3;
a target that adapts: Goffin, Kiwiel (1999), Math. Programming 85.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.bounds import one_machine
from ratiolab.hindsight.objective import NEVER_LATE, Objective
from ratiolab.hindsight.params import DualParams
from ratiolab.hindsight.relaxation.row_kernels import (
    Sums,
    Terms,
    accumulate,
    cheapest_near,
    row_use,
)
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

FloatArray = NDArray[np.float64]

PARAMS = DualParams()

LONGEST = 2**21
"""Most times that have prices: sums over all times take 16 megabytes."""

MOST_LOOKED = 10**8
"""Starts that an ascent without a time limit looks at, about; some seconds."""

LEAST_STEPS = 8
"""A level without time for this number of steps is left out, with those after it."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance as the ascent sees it: times from its first arrival on, and the rows.

    Parameters
    ----------
    memory : tokens of a replica, the largest one, which completions earn in growth rows; it may be
        less than that of the instance.
    room : tokens of all replicas, which the rows allow.
    tokens, rounds : m0 and w of each growth row, shape (rows,); none for prices of memory alone.
    slope, last, late : of the objective, `last` from the first arrival on.
    """

    arrival: IntArray = field(repr=False)
    prompt: IntArray = field(repr=False)
    output: IntArray = field(repr=False)
    memory: float
    room: float
    tokens: IntArray
    rounds: IntArray
    slope: IntArray = field(repr=False)
    last: IntArray = field(repr=False)
    late: IntArray = field(repr=False)

    @classmethod
    def of(
        cls,
        instance: Instance,
        memory: float,
        rows: tuple[tuple[int, int], ...] = (),
        room: float | None = None,
        objective: Objective | None = None,
    ) -> "Problem":
        columns = np.array(rows, np.int64).reshape(-1, 2)
        arrival = instance.arrival - instance.arrival.min()
        aim = objective or Objective.of(instance, "total")
        ends = aim.last - instance.arrival.min()
        tokens, rounds = np.ascontiguousarray(columns.T)
        lengths = (
            np.array(instance.prompt),
            np.array(instance.output),
        )  # writeable, for one compilation
        sizes = memory, memory if room is None else room
        return cls(arrival, *lengths, *sizes, tokens, rounds, aim.slope, ends, aim.late)

    def terms(self) -> Terms:
        """Return the costs of starts beside prices, as floats."""
        late = np.where(self.late == NEVER_LATE, math.inf, self.late)
        return Terms(self.slope.astype(float), self.last, late)

    def whole_terms(self, unit: int) -> Terms:
        """Return ``unit`` times the costs of starts beside prices, as integers."""
        never = self.late == NEVER_LATE
        late = np.where(never, NEVER_LATE, np.where(never, 0, self.late) * unit)
        return Terms(self.slope * unit, self.last, late)

    @property
    def scale(self) -> FloatArray:
        """Return what a price of each row is multiplied by: growth rows are over their tokens."""
        return np.concatenate([[1.0], 1.0 / self.tokens])[:, None]

    def sums(self, duals: FloatArray, width: int) -> Sums:
        """Return the sums of the prices that scaled duals stand for."""
        memory = float(self.memory)
        return accumulate(duals * self.scale, width, memory, self.tokens, self.rounds)


def ascend(
    problem: Problem,
    start: FloatArray,
    width: int,
    steps: int = PARAMS.steps,
    seconds: float | None = None,
    *,
    enough: Callable[[float], bool] = lambda _: False,
) -> tuple[FloatArray, float]:
    """Return duals of an ascent on coarse buckets and then on finer ones, and their value.

    Parameters
    ----------
    start : duals to begin with, shape (1 + rows, buckets); buckets are a multiple of the coarsest.
    steps : steps of the ascent at most; fewer without a limit, when each looks at many starts.
    seconds : at most, or None for no limit.
    enough : asked before each step with the best value so far; True ends the ascent.
    """
    duals, aim, value = start, PARAMS.aim, -math.inf
    for group in PARAMS.levels:
        began, share = time.perf_counter(), 1 / len(PARAMS.levels)
        level = Level(problem, width * group)
        # fine detail of the start may be worth more than what coarse steps found
        entries = [fine.reshape(len(fine), -1, group).mean(axis=2) for fine in (duals, start)]
        values = [level.value(entries[0])[0]]
        took = time.perf_counter() - began
        if seconds is not None and LEAST_STEPS * took > share * seconds:
            break
        values.append(level.value(entries[1])[0])
        few = math.ceil(share * steps)
        if seconds is None:
            few = min(few, round(share * MOST_LOOKED) // (level.looked // len(entries) + 1))
        ends = math.inf if seconds is None else began + share * seconds
        over = lambda value, ends=ends: enough(value) or time.perf_counter() > ends  # noqa: E731
        coarse, value, aim = level.climb(
            entries[int(np.argmax(values))], max(aim, PARAMS.aim / 10), few, over
        )
        duals = np.repeat(coarse, group, axis=1)
    return duals, value


class Level:
    """One level of the ascent: buckets of one width, duals of shape (1 + rows, buckets)."""

    def __init__(self, problem: Problem, width: int) -> None:
        self.problem, self.width = problem, width
        self.room = problem.room * width
        self.terms = problem.terms()
        self.looked = 0
        self.worth = float(problem.late.sum()) if (problem.late < NEVER_LATE).all() else 0.0
        self.least = np.empty(len(problem.arrival))
        self.starts = np.empty(len(problem.arrival), np.int64)

    def value(self, duals: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound of these duals in floating point, and a subgradient.

        The starts that attain it, about, are in ``starts``.
        """
        problem, use = self.problem, np.zeros_like(duals)
        most = (duals * problem.scale)[1:].max(axis=1, initial=0)
        slack = float((most * problem.rounds * (problem.rounds + 1) / 2).sum() * problem.memory)
        columns = problem.prompt, problem.output
        self.looked += cheapest_near(
            *(problem.sums(duals, self.width), self.terms, problem.arrival, *columns),
            *(self.width, slack, self.least, self.starts),
        )
        rows = float(problem.memory), problem.tokens, problem.rounds
        row_use(self.starts, *columns, self.width, *rows, use)
        use[1:] += use[0]
        return float(self.least.sum() - self.room * duals.sum()), use - self.room

    def climb(
        self,
        duals: FloatArray,
        aim: float,
        steps: int,
        over: Callable[[float], bool],
    ) -> tuple[FloatArray, float, float]:
        """Return the best duals met, their value, and the aim at the end.

        Parameters
        ----------
        aim : how far above the best bound the target is at first, as a part of it.
        over : asked before each step with the best value so far; True ends the ascent.
        """
        best_value, excess = self.value(duals)
        best, direction, failures = duals, excess, 0
        for _ in range(steps):
            if aim < PARAMS.aim / 1000 or over(best_value):
                break
            usable = np.where((duals <= 0) & (direction < 0), 0.0, direction)
            norm = float(np.vdot(usable, usable))
            if norm == 0:
                break
            size = max(best_value, self.worth)  # no weight may be lost at first
            duals = np.maximum(0.0, duals + aim * size / norm * usable)
            reached, excess = self.value(duals)
            failures += 1
            if reached > best_value:
                best_value, best, failures = reached, duals, 0
            elif failures == PARAMS.patience:
                duals, aim, failures = best, aim * PARAMS.closer, 0
            direction = (1 - PARAMS.deflection) * direction + PARAMS.deflection * excess
        return best, best_value, aim


def fluid_duals(
    instance: Instance,
    memory: float,
    most: int = PARAMS.buckets,
    weight: IntArray | None = None,
) -> tuple[FloatArray, int]:
    """Return prices of the preemptive schedule behind mean busy times, and the width of buckets.

    With weights it serves the largest weight for each slot, and mean busy times count with them.

    Buckets reach up to when this schedule ends and one longest output more, as completions come
    later than in it.
    """
    room = math.floor(memory)
    released = ((instance.arrival - instance.arrival.min()) * room).tolist()
    volumes = instance.volume
    slope = (1 if weight is None else weight) / volumes
    ranks = None if weight is None else (-slope).tolist()
    served = one_machine(released, volumes.tolist(), shortest_remaining=False, ranks=ranks)
    pieces = [(piece.request, piece.begin / room, piece.end / room) for piece in served]
    rounds = min(LONGEST, math.ceil(pieces[-1][2]) + int(instance.output.max()))
    width = max(1, -(-rounds // most))
    coarsest = PARAMS.levels[0]
    buckets = coarsest * -(-rounds // (coarsest * width))
    return _busy_duals(slope.tolist(), pieces, buckets, width), width


def _busy_duals(
    slope: list[float], pieces: Sequence[tuple[int, float, float]], buckets: int, width: int
) -> FloatArray:
    """Return the optimal prices of the relaxation by mean busy times, in the middle of buckets.

    There a slot of time t costs request i t times its slope, its weight over v_i. The price is the
    maximum over released i of k_i - t slope_i: it falls with this slope while i is served, does not
    jump when i has its last slot, is zero when memory idles, and k_i is one number for all pieces
    of i.

    Parameters
    ----------
    pieces : request, begin and end of each slot, in order of time.
    """
    height: dict[int, float] = {}  # k_i
    after, following = 0.0, math.inf
    for i, begin, end in reversed(pieces):
        if i not in height:
            height[i] = end * slope[i] + (after if end == following else 0.0)
        after, following = height[i] - begin * slope[i], begin
    middle = (np.arange(buckets) + 0.5) * width
    ends = np.array([end for _, _, end in pieces])
    served = np.minimum(np.searchsorted(ends, middle, side="right"), len(pieces) - 1)
    request = np.array([i for i, _, _ in pieces])[served]
    heights = np.array([height[i] for i in request.tolist()])
    dual = heights - middle * np.array(slope)[request]
    idle = (middle >= ends[-1]) | (middle < np.array([begin for _, begin, _ in pieces])[served])
    return np.where(idle, 0.0, np.maximum(dual, 0.0))
