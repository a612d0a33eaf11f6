"""The optimum of a family in the limit, and feasible schedules of its members that come near it."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ratiolab.adversary.case import Case
from ratiolab.hindsight.programs.highs import LinearProgram
from ratiolab.hindsight.programs.timeindexed import Program, build
from ratiolab.hindsight.relaxation.growth import exact_value
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.online import Information, make, simulate

DENOMINATOR = 10**6
"""Duals are rounded down to multiples of 1 / DENOMINATOR."""


@dataclass(frozen=True, eq=False)
class FluidOptimum:
    """The limit of OPT(k)/k for a family of instances, whose factor k grows.

    Parameters
    ----------
    value : value of the linear program, in floating point; rounds.
    proven : an exact lower bound on that value.
    parts : amount of requests that start, for each column of the program.
    """

    value: float
    proven: Fraction
    program: Program = field(repr=False)
    parts: Any = field(repr=False)

    def latency(self, case: Case, factor: int) -> int:
        """Return the latency of a feasible schedule of a member.

        Whole requests start as the program says, and all other requests go last; or all as in
        MC-SF.
        """
        program = self.program
        whole = np.floor(self.parts * factor + 1e-9).astype(np.int64)
        arrival, prompt, output = _columns(program)
        starts = [np.repeat(program.start, whole)]
        kept = [np.repeat(program.group, whole)]
        members = np.bincount(program.member)
        left = members * factor - np.bincount(program.group, whole, len(members)).astype(np.int64)
        if left.any():
            rest = np.repeat(np.arange(len(members)), left)
            end = int((np.repeat(program.start, whole) + output[kept[0]]).max(initial=0))
            memory = case.memory * factor
            zeros = np.zeros(len(rest), np.int64)
            last = Instance("rest", memory, zeros, prompt[rest], output[rest])
            starts.append(simulate(last, make("mc-sf")).schedule.starts + max(end, arrival.max()))
            kept.append(rest)
        group, start = np.concatenate(kept), np.concatenate(starts)
        member = Instance(
            "member", case.memory * factor, arrival[group], prompt[group], output[group]
        )
        rounded = require_feasible(Schedule.from_starts(member, start)).total_latency
        # a small member is served better without the program
        return min(rounded, simulate(member, make("mc-sf")).schedule.total_latency)


def _columns(program: Program) -> tuple[Any, Any, Any]:
    """Return arrival, prompt and output of each class."""
    _, first = np.unique(program.member, return_index=True)
    instance = program.instance
    return instance.arrival[first], instance.prompt[first], instance.output[first]


def fluid_optimum(case: Case) -> FluidOptimum:
    """Solve the linear program of a case, with a horizon that its solution does not reach."""
    instance = case.instance(Information.NOTHING)
    horizon = int(instance.arrival.max() + 2 * instance.volume.sum() // case.memory)
    horizon += 2 * case.longest
    while True:
        program = build(instance, np.full(len(instance), 8 * horizon), horizon)
        rows, _ = program.shape
        solver = LinearProgram()
        nothing = np.zeros(rows + 1, np.int64)
        solver.add_rows(
            program.row_lower.astype(float),
            program.row_upper.astype(float),
            nothing,
            np.zeros(0, np.int64),
            np.zeros(0),
        )
        solver.add_columns(
            program.cost.astype(float),
            program.upper.astype(float),
            program.indptr,
            program.indices,
            program.values.astype(float),
        )
        found = solver.solve()
        if not found.columns[program.deferred].any():
            break
        horizon *= 2
    # the rows behind those of the classes are the times after the first arrival, without a gap
    duals = -found.duals[program.member.max() + 1 :]
    token = np.floor(np.maximum(duals, 0) * DENOMINATOR).astype(np.int64)
    value = exact_value(instance, token[None, :], DENOMINATOR, 1)
    proven = Fraction(value, DENOMINATOR)
    return FluidOptimum(found.value, proven, program, found.columns)
