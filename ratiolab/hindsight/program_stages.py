"""The stages that hand an integer program to a solver, and complete enumeration."""

from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.cells.master import serial_schedule
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.params import ProgramParams
from ratiolab.hindsight.programs.timeindexed import build, size
from ratiolab.hindsight.stages import MOST_REQUESTS
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model import Schedule, violations


@dataclass(frozen=True)
class IntegerProgram:
    """Tail relaxations of growing horizon, until one proves the optimum or a limit is met.

    ``easy`` tries only a small one, for a few nodes and a part of the time. Cuts that are known
    become rows, and columns that their bound excludes go.
    """

    easy: bool = False

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.cuts.strengthen import strengthen
        from ratiolab.hindsight.programs import highs

        instance, params = state.instance, state.params.program
        if len(instance) > MOST_REQUESTS:
            return _too_many(state)
        if state.nodes and state.nodes_left == 0:
            return Found(note="stopped before proof: node limit")
        last = last_starts(instance, state.upper)
        horizon = first_horizon(state.schedule, params)
        while True:
            entries = size(instance, last, horizon)
            if self.easy and entries > params.easy_entries:
                return Found()
            if refused := _too_large(state, entries):
                return refused
            program = build(instance, last, horizon)
            if state.duals is not None:
                program = strengthen(program, state.duals, state.upper)
            full = memory.MemoryWatch(state.options.memory_limit)
            nodes = state.nodes_left
            if self.easy:
                nodes = params.easy_nodes if nodes is None else min(params.easy_nodes, nodes)
            result = highs.solve_program(
                program,
                start=program.counts(state.schedule.starts),
                time_limit=state.share(params.easy_part if self.easy else 1.0),
                node_limit=nodes,
                seed=state.options.seed,
                progress=call.progress,
                stop=full,
            )
            schedule = None
            if result.counts is not None:
                starts = program.starts(result.counts)
                schedule = Schedule.from_starts(instance, starts)
                if violations(schedule):
                    schedule = serial_schedule(instance, np.argsort(starts, kind="stable"))
            bound = None if result.lower is None else LowerBound(result.lower, "HiGHS")
            call.found(Found(schedule, bound, nodes=result.nodes, interrupted=result.interrupted))
            if state.closed:
                return Found()
            if not result.optimal:
                cause = "memory limit" if full.met else result.status
                return Found(note=f"HiGHS stopped before proof: {cause}")
            if horizon >= last.max():  # nothing was deferred: only a solver's error leads here
                return Found(note="HiGHS's optimum failed the exact check")
            horizon += max(1, horizon // 2)


@dataclass(frozen=True)
class PulpProgram:
    """The full program; PuLP hands on no bound, so short of a proof ours is the only one."""

    solver: str

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.programs import pulp

        instance = state.instance
        if len(instance) > MOST_REQUESTS:
            return _too_many(state)
        last = last_starts(instance, state.upper)
        if refused := _too_large(state, size(instance, last, int(last.max()), merge=False)):
            return refused
        answer = pulp.solve_model(
            instance,
            last.tolist(),
            solver=self.solver,
            time_limit=state.time_left,
            seed=state.options.seed,
        )
        if answer.schedule is None or not answer.proven:
            note = f"{self.solver} stopped before proof: {answer.status}"
            return Found(answer.schedule, note=note)
        optimum = answer.schedule.total_latency
        return Found(answer.schedule, LowerBound(optimum, f"{self.solver} through PuLP"))


@dataclass(frozen=True)
class BruteForce:
    """Every vector of starts that could still be best."""

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.bruteforce import brute_force

        schedule = brute_force(state.instance)
        return Found(schedule, LowerBound(schedule.total_latency, "brute force"))


def first_horizon(known: Schedule, params: ProgramParams) -> int:
    """Return the end of the first tail relaxation: a little beyond a good schedule's last start."""
    latest = int(known.starts.max())
    return latest + max(1, int(params.tail * latest))


def _too_many(state: SolveState) -> Found:
    requests = f"{len(state.instance)} requests, more than {MOST_REQUESTS}"
    return Found(note=f"no program: {requests}; bounds and heuristics only")


def _too_large(state: SolveState, entries: int) -> Found | None:
    """Return why a program of ``entries`` non-zeros is not built; None when it is."""
    left, budget, params = state.time_left, state.memory_budget, state.params.program
    if entries > params.most_entries:
        return Found(note=f"no program: {entries} non-zeros, more than {params.most_entries}")
    if left is not None and entries > params.entries_a_second * max(1.0, left):
        seconds = f"the {left:.1f} s that are left"
        return Found(note=f"no program: {entries} non-zeros are too many for {seconds}")
    if budget is not None and entries > memory.program_entries(budget):
        return Found(note=f"no program: {memory.needs(entries * memory.NONZERO)}")
    return None
