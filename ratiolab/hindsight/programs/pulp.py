"""The integer program of Jaillet et al. a second time: written to be read, exported and compared.

It is built from the formulas, independently of `ratiolab.hindsight.programs.timeindexed`: one
binary ``x_i_k`` (request i starts at round k), rows ``start_i`` and ``memory_t``.

Source: Jaillet et al. (2025), (1)-(4), arXiv 2502.07115v5.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulp

from ratiolab.hindsight.objective import Aim, with_late
from ratiolab.model import Instance, Schedule, held
from ratiolab.model.promises import weights

DEFAULT_SOLVER = "PULP_CBC_CMD"
"""The solver that PuLP brings along."""


@dataclass(frozen=True)
class Answer:
    """An answer of a solver through PuLP.

    ``proven`` only when the solver reports a proven optimum: at a time limit PuLP calls any
    incumbent optimal and tells the difference in the solution status alone. ``schedule`` is None
    when there is no incumbent; ``replica`` and ``starts`` are those of each request, -1 where it
    does not start.
    """

    proven: bool
    schedule: Schedule | None
    status: str
    replica: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()


def model(
    instance: Instance,
    last: Sequence[int] | None = None,
    memories: Sequence[int] = (),
    objective: Aim = "total",
) -> "pulp.LpProblem":
    """Build the program (1)-(4), for reading, export or any solver.

    With several replicas the binary ``x_i_k_r`` starts request i at round k on replica r, and rows
    ``memory_t_r`` are those of the replica. Of replicas of equal memory, request i takes one of the
    first i + 1. With objective ``weighted`` the latency of a request counts with its weight;
    ``goodput`` maximises the weight of the requests that start, each at most once and up to
    ``last``.

    Parameters
    ----------
    last : last start of each request; by default what the paper's horizon, the sum of all arrivals
        and outputs, leaves it.
    memories : tokens of each replica that serves the requests; one replica by default.

    Cost O(R n T o) for n requests, T rounds and outputs o: for small instances.

    >>> program = model(Instance("two", 5, [0, 0], [1, 1], [2, 2]))
    >>> program.numVariables(), program.numConstraints()
    (6, 6)
    """
    requests = list(instance.requests)
    if last is None:
        horizon = sum(arrival + output for arrival, _, output in requests)
        last = [horizon - output for _, _, output in requests]
    memories = memories or (instance.memory,)
    replicas = len(memories)
    rank = [sum(m == memories[r] for m in memories[:r]) for r in range(replicas)]
    places = [
        [r for r in range(replicas) if rank[r] <= i and prompt + output <= memories[r]]
        for i, (_, prompt, output) in enumerate(requests)
    ]
    suffix = [""] if replicas == 1 else [f"_{r}" for r in range(replicas)]
    worth = weights(instance).tolist()
    goodput = objective == "goodput"
    program = pulp.LpProblem("hindsight", pulp.LpMaximize if goodput else pulp.LpMinimize)
    x = {
        (i, k, r): program.add_variable(f"x_{i}_{k}{suffix[r]}", cat="Binary")
        for i, (arrival, _, _) in enumerate(requests)
        for k in range(arrival, last[i] + 1)
        for r in places[i]
    }
    if goodput:
        program += pulp.lpSum(worth[i] * start for (i, _, _), start in x.items())
    else:
        program += pulp.lpSum(
            (worth[i] if objective == "weighted" else 1)
            * (k + requests[i].output - requests[i].arrival)
            * start
            for (i, k, _), start in x.items()
        )
    for i, (arrival, _, _) in enumerate(requests):
        rounds = range(arrival, last[i] + 1)
        starts = [x[i, k, r] for k in rounds for r in places[i]]
        started = pulp.lpSum(starts)
        if starts or not goodput:
            program += started <= 1 if goodput else started == 1, f"start_{i}"
    for t in _busy_rounds(instance, last):
        for r in range(replicas):
            tokens = [
                held(prompt, t - k) * x[i, k, r]
                for i, (arrival, prompt, output) in enumerate(requests)
                if r in places[i]
                for k in range(max(arrival, t - output), min(t - 1, last[i]) + 1)
            ]
            if tokens:
                program += pulp.lpSum(tokens) <= memories[r], f"memory_{t}{suffix[r]}"
    return program


def _busy_rounds(instance: Instance, last: Sequence[int]) -> Iterator[int]:
    """Yield the rounds in which a request may run, ascending: far fewer than there are, maybe."""
    after = 1
    for (arrival, _, output), k in sorted(zip(instance.requests, last, strict=True)):
        if k >= arrival:
            yield from range(max(after, arrival + 1), k + output + 1)
            after = max(after, k + output + 1)


def write(
    instance: Instance,
    path: str | os.PathLike[str],
    last: Sequence[int] | None = None,
    memories: Sequence[int] = (),
) -> None:
    """Write the program as LP or MPS, by the ending of the path: ``.lp`` or ``.mps``."""
    ending = Path(path).suffix.lower()
    if ending not in (".lp", ".mps"):
        raise ValueError(f"path {os.fspath(path)!r} must end in .lp or .mps")
    program = model(instance, last, memories)
    (program.writeLP if ending == ".lp" else program.writeMPS)(os.fspath(path))


def require_solver(name: str) -> str:
    """Return the name itself, or raise a ValueError that lists the solvers that PuLP finds."""
    available = pulp.listSolvers(onlyAvailable=True)
    if name not in available:
        raise ValueError(f"solver {name!r} is not available; PuLP finds {', '.join(available)}")
    return name


def solve_model(
    instance: Instance,
    last: Sequence[int] | None = None,
    *,
    objective: Aim = "total",
    solver: str = DEFAULT_SOLVER,
    time_limit: float | None = None,
    seed: int = 0,
    memories: Sequence[int] = (),
) -> Answer:
    """Solve the program with any solver that PuLP finds on this machine.

    The schedule is read from the variables and not checked here.

    Parameters
    ----------
    last, objective : see `model`. Under goodput the schedule serves requests without a start when
        all others are done.
    solver : a name from ``pulp.listSolvers(onlyAvailable=True)``.
    time_limit : seconds.
    seed : for CBC and HiGHS; other solvers keep their default.
    memories : see `model`.

    Raises
    ------
    ValueError
        when PuLP does not find the solver.
    """
    require_solver(solver)
    settings: dict[str, Any] = {"msg": False, "gapRel": 0.0}
    if time_limit is not None:
        settings["timeLimit"] = time_limit
    if solver == "PULP_CBC_CMD":
        settings |= {"threads": 1, "gapAbs": 0.0, "options": [f"randomCbcSeed {seed + 1}"]}
    elif solver == "HiGHS":
        settings |= {"threads": 1, "gapAbs": 0.0, "random_seed": seed}
    program = model(instance, last, memories, objective)
    program.solve(pulp.getSolver(solver, **settings))
    status = pulp.LpSolution[program.sol_status]
    if program.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return Answer(False, None, status)
    starts, places = [-1] * len(instance), [0] * len(instance)
    for variable in program.variables():
        if variable.value() is not None and variable.value() > 0.5:
            i, k, *place = map(int, variable.name.split("_")[1:])
            starts[i], places[i] = k, place[0] if place else 0
    if min(starts) < 0 and objective != "goodput":
        return Answer(False, None, status)
    proven = program.sol_status == pulp.LpSolutionOptimal
    return Answer(proven, with_late(instance, starts), status, tuple(places), tuple(starts))
