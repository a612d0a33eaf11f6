"""Other solvers on the same instances: CP-SAT, SCIP and plain HiGHS beside `ratiolab solve`.

Run ``python tests/benchmarks/bench_peers.py [--limit SECONDS] [--seeds N] [--threads K] [n ...]``.
Requests are drawn as in Jaillet et al. (2025), Section 5.1, with n fixed. Every solver runs in a
process of its own with the same wall-clock limit and number of threads; what is not installed
(``pip install ortools pyscipopt``) is left out and named. The peers get

- ``cp-sat program``, ``scip``, ``highs``: the integer program of the paper, with the last starts
  that a good schedule allows, the same arrays for all;
- ``cp-sat cumulative``: one start variable a request and a cumulative resource, in which each round
  of a request is an interval of length 1 with its own demand.

A cell is the wall-clock time of a proof, or the interval that was proved; every schedule is
rechecked, and a bound above another solver's schedule stops the benchmark.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np

from ratiolab.hindsight import solve
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.programs.timeindexed import Program, build
from ratiolab.hindsight.schedules.heuristics import (
    best_list_schedule,
    improved_schedule,
)
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.footprint import held
from ratiolab.workloads.generators import generate

Answer = tuple[np.ndarray | None, float]
"""Starts of the requests, if a schedule was found, and the solver's lower bound."""


def drawn(n: int, seed: int) -> Instance:
    return generate("jaillet-model-1", seed, n_least=n, n_most=n)


def full_program(instance: Instance) -> Program:
    return build(
        instance,
        last_starts(instance, improved_schedule(best_list_schedule(instance)).total_latency),
    )


def _rows(program: Program) -> list[list[tuple[int, int]]]:
    """Columns and values of every row."""
    rows: list[list[tuple[int, int]]] = [[] for _ in program.row_upper]
    for column in range(len(program.cost)):
        for entry in range(program.indptr[column], program.indptr[column + 1]):
            rows[program.indices[entry]].append((column, int(program.values[entry])))
    return rows


def cp_sat_program(instance: Instance, limit: float, threads: int) -> Answer:
    from ortools.sat.python import cp_model

    program, model = full_program(instance), cp_model.CpModel()
    x = [model.new_int_var(0, int(most), "") for most in program.upper]
    for row, low, high in zip(_rows(program), program.row_lower, program.row_upper, strict=True):
        total = cp_model.LinearExpr.weighted_sum([x[c] for c, _ in row], [v for _, v in row])
        model.add_linear_constraint(total, int(low), int(high))
    model.minimize(cp_model.LinearExpr.weighted_sum(x, program.cost.tolist()))
    solver, found = _cp_sat(model, limit, threads)
    counts = np.array([solver.value(v) for v in x]) if found else None
    return None if counts is None else program.starts(counts), solver.best_objective_bound


def cp_sat_cumulative(instance: Instance, limit: float, threads: int) -> Answer:
    from ortools.sat.python import cp_model

    last = last_starts(instance, improved_schedule(best_list_schedule(instance)).total_latency)
    model, starts, intervals, demands = cp_model.CpModel(), [], [], []
    for (arrival, prompt, output), latest in zip(instance.requests, last.tolist(), strict=True):
        start = model.new_int_var(arrival, latest, "")
        starts.append(start)
        for age in range(1, output + 1):
            intervals.append(model.new_fixed_size_interval_var(start + age, 1, ""))
            demands.append(held(prompt, age))
    model.add_cumulative(intervals, demands, instance.memory)
    model.minimize(sum(starts) + int((instance.output - instance.arrival).sum()))
    solver, found = _cp_sat(model, limit, threads)
    return (
        np.array([solver.value(v) for v in starts]) if found else None,
        solver.best_objective_bound,
    )


def _cp_sat(model: Any, limit: float, threads: int) -> tuple[Any, bool]:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = threads
    return solver, solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)


def scip(instance: Instance, limit: float, threads: int) -> Answer:
    """SCIP is sequential: `threads` is not used."""
    import pyscipopt

    program, model = full_program(instance), pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.setParam("limits/gap", 0.0)
    x = [
        model.addVar(vtype="I", lb=0, ub=int(most), obj=int(cost))
        for most, cost in zip(program.upper, program.cost, strict=True)
    ]
    for row, low, high in zip(_rows(program), program.row_lower, program.row_upper, strict=True):
        total = pyscipopt.quicksum(value * x[column] for column, value in row)
        model.addCons((total >= int(low)) if low == high else (total <= int(high)))
        if low == high:
            model.addCons(total <= int(high))
    model.optimize()
    best = model.getBestSol() if model.getNSols() else None
    counts = None if best is None else np.array([round(best[v]) for v in x])
    return None if counts is None else program.starts(counts), model.getDualbound()


def highs(instance: Instance, limit: float, threads: int) -> Answer:
    """One thread: the parallel search of HiGHS does not pay on these programs."""
    result = solve(instance, method="ip", time_limit=limit)
    return result.schedule.starts, result.lower


def ratiolab(instance: Instance, limit: float, threads: int) -> Answer:
    result = solve(instance, time_limit=limit)
    return result.schedule.starts, result.lower


PEERS: dict[str, tuple[Callable[[Instance, float, int], Answer], str]] = {
    "ratiolab": (ratiolab, "ratiolab"),
    "cp-sat program": (cp_sat_program, "ortools"),
    "cp-sat cumulative": (cp_sat_cumulative, "ortools"),
    "scip": (scip, "pyscipopt"),
    "highs": (highs, "highspy"),
}


def run_here(peer: str, n: int, seed: int, limit: float, threads: int) -> dict[str, Any]:
    """Solve in this process; compiled and imported before the clock starts."""
    solver, _ = PEERS[peer]
    solver(drawn(5, 0), limit, threads)
    if peer == "ratiolab":  # all its stages
        solver(drawn(9, 0), limit, threads)
    instance = drawn(n, seed)
    began = perf_counter()
    starts, bound = solver(instance, limit, threads)
    seconds = perf_counter() - began
    upper = None
    if starts is not None:
        upper = require_feasible(Schedule.from_starts(instance, starts)).total_latency
    return {"seconds": seconds, "lower": ceil(bound - 1e-6), "upper": upper}


def run_apart(peer: str, n: int, seed: int, limit: float, threads: int) -> dict[str, Any]:
    words = [peer, n, seed, limit, threads]
    command = [sys.executable, __file__, "--one", *(str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{peer}: {done.stderr.strip().splitlines()[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def cell(answer: dict[str, Any]) -> str:
    if answer["lower"] == answer["upper"]:
        return f"{answer['seconds']:.1f} s"
    upper = "none" if answer["upper"] is None else f"{answer['upper']}"
    return f"[{answer['lower']}, {upper}]"


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        peer, n, seed, limit, threads = sys.argv[2:]
        print(json.dumps(run_here(peer, int(n), int(seed), float(limit), int(threads))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", nargs="*", type=int, default=[10, 12, 15, 20])
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    wish = parser.parse_args()
    peers = [peer for peer, (_, module) in PEERS.items() if find_spec(module)]
    for peer in sorted(set(PEERS) - set(peers)):
        print(f"{peer}: {PEERS[peer][1]} is not installed")
    print(f"{'n':>3} {'seed':>4}  " + "".join(f"{peer:20}" for peer in peers))
    for n in wish.n:
        for seed in range(wish.seeds):
            answers = [run_apart(peer, n, seed, wish.limit, wish.threads) for peer in peers]
            print(f"{n:3} {seed:4}  " + "".join(f"{cell(a):20}" for a in answers), flush=True)
            least = min(a["upper"] for a in answers if a["upper"] is not None)
            for peer, answer in zip(peers, answers, strict=True):
                if answer["lower"] > least:
                    raise SystemExit(f"{peer}: bound {answer['lower']} above a schedule of {least}")


if __name__ == "__main__":
    main()
