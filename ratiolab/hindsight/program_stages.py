"""The stages that hand an integer program to a solver, and the one that tries everything.

`ratiolab.hindsight.stages` says what a stage is.
"""

from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight import memory
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.programs.timeindexed import build, size
from ratiolab.hindsight.schedules.heuristics import serial_schedule
from ratiolab.hindsight.search import Search
from ratiolab.hindsight.stages import MOST_REQUESTS
from ratiolab.model.feasibility import require_feasible, violations
from ratiolab.model.schedule import Schedule

MOST_NONZEROS = 2_000_000
"""Largest program that is handed to a solver."""

AT_ONCE = A_SECOND = 20_000
"""Non-zeros that any time limit, and each second left of it, allow: presolve does not stop."""

TAIL = 0.1
"""First horizon beyond the last start of the known schedule, as a part of it."""

EASY_NONZEROS = 4_000
"""A program of this size is tried as it is, before cuts are looked for: nodes, and time."""

EASY_NODES, EASY_PART = 50, 0.2


@dataclass(frozen=True)
class IntegerProgram:
    """Tail relaxations of growing horizon, until one proves the optimum or a limit is met.

    ``easy`` tries only a small one, for a few nodes and a part of the time. Cuts that are known
    become rows, and columns that their bound excludes go.
    """

    easy: bool = False

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.cuts.strengthen import strengthen
        from ratiolab.hindsight.programs import highs

        instance = search.instance
        if len(instance) > MOST_REQUESTS:
            return _too_many(search)
        if search.nodes and search.nodes_left == 0:
            return "stopped before proof: node limit"
        last = last_starts(instance, search.upper)
        horizon = first_horizon(search.schedule)
        while True:
            entries = size(instance, last, horizon)
            if self.easy and entries > EASY_NONZEROS:
                return ""
            if refused := _too_large(search, entries):
                return refused
            program = build(instance, last, horizon)
            if search.prices is not None:
                program = strengthen(program, search.prices, search.upper)
            full = memory.Watch(search.options["memory_limit"])
            nodes = search.nodes_left
            if self.easy:
                nodes = EASY_NODES if nodes is None else min(EASY_NODES, nodes)
            outcome = highs.solve_program(
                program,
                start=program.counts(search.schedule.starts),
                time_limit=search.share(EASY_PART if self.easy else 1.0),
                node_limit=nodes,
                seed=search.options["seed"],
                progress=search.tell,
                stop=full,
            )
            search.nodes += outcome.nodes
            search.interrupted = outcome.interrupted
            search.raise_lower(outcome.lower, "HiGHS")
            if outcome.counts is not None:
                starts = program.starts(outcome.counts)
                literal = Schedule.from_starts(instance, starts)
                if violations(literal):
                    literal = serial_schedule(instance, np.argsort(starts, kind="stable"))
                search.offer(literal)
            if search.closed:
                return ""
            if not outcome.optimal:
                cause = "memory limit" if full.met else outcome.status
                return f"HiGHS stopped before proof: {cause}"
            if horizon >= last.max():  # nothing was deferred: only a solver's error leads here
                return "HiGHS's optimum failed the exact check"
            horizon += max(1, horizon // 2)


@dataclass(frozen=True)
class PulpProgram:
    """The full program; PuLP hands on no bound, so short of a proof ours is the only one."""

    solver: str

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.programs import pulp

        instance = search.instance
        if len(instance) > MOST_REQUESTS:
            return _too_many(search)
        last = last_starts(instance, search.upper)
        if refused := _too_large(search, size(instance, last, int(last.max()), merge=False)):
            return refused
        answer = pulp.solve_model(
            instance,
            last.tolist(),
            solver=self.solver,
            time_limit=search.time_left,
            seed=search.options["seed"],
        )
        if answer.schedule is not None:
            search.offer(require_feasible(answer.schedule))
            if answer.proven:
                search.raise_lower(answer.schedule.total_latency, f"{self.solver} through PuLP")
        return "" if answer.proven else f"{self.solver} stopped before proof: {answer.status}"


@dataclass(frozen=True)
class BruteForce:
    """Every vector of starts that could still be best."""

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.bruteforce import brute_force

        search.offer(brute_force(search.instance))
        search.raise_lower(search.upper, "brute force")
        return ""


def first_horizon(known: Schedule) -> int:
    """Where the first tail relaxation ends: a little beyond the last start of a good schedule."""
    latest = int(known.starts.max())
    return latest + max(1, int(TAIL * latest))


def _too_many(search: Search) -> str:
    requests = f"{len(search.instance)} requests, more than {MOST_REQUESTS}"
    return f"no program: {requests}; bounds and heuristics only"


def _too_large(search: Search, entries: int) -> str:
    """Why a program of so many non-zeros is not built; empty when it is."""
    if entries > MOST_NONZEROS:
        return f"no program: {entries} non-zeros, more than {MOST_NONZEROS}"
    left = search.time_left
    if left is not None and entries > max(AT_ONCE, A_SECOND * left):
        return f"no program: {entries} non-zeros are too many for the {left:.1f} s that are left"
    if search.room is not None and entries > memory.program_entries(search.room):
        return f"no program: {memory.needs(entries * memory.NONZERO)}"
    return ""
