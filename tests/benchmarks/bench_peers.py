"""Other solvers on the same instances: CP-SAT, SCIP and HiGHS beside `ratiolab solve`.

Run ``python tests/benchmarks/bench_peers.py [--limit SECONDS] [--seeds N] [--first SEED]
[--threads K] [--peers NAMES] [n ...]``. Instances are those of `bench_solve.py`: requests of even
seeds arrive together, those of odd seeds one after another. Every solver runs in a process of its
own; limits and times are seconds of the processor for each thread. What is not installed (``pip
install "ratiolab[peers]"``) is left out and named. Each peer gets

- ``program``: the integer program of the paper, with the last starts that a good schedule allows,
  and that schedule to begin with; the same arrays for all;
- ``+ cuts``: the same with our cuts as rows and without the columns that their bound excludes: what
  a user gets who takes only the cuts. The search for them counts;
- ``cumulative``, CP-SAT only: one start variable a request and a cumulative resource, in which each
  round of a request is an interval of length 1 with its own demand.

``cuts alone`` is the bound of the cuts beside that schedule, with no solver after them. A cell is
the time of a proof, or the interval that was proved and its width in percent; every schedule is
rechecked, and a bound above another solver's schedule stops the benchmark.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from bench_solve import count_processor_time, of_paper

from ratiolab.hindsight import solve
from ratiolab.hindsight.cuts.cut_bound import CutBound, cut_bound
from ratiolab.hindsight.cuts.strengthen import strengthen
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.programs.highs import solve_program
from ratiolab.hindsight.programs.timeindexed import Program, build
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, improved_schedule
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.footprint import held

CUTS_PART = 0.4
"""Part of the limit that the search for cuts may take, as in `solve`."""

Answer = tuple[np.ndarray | None, float, float]
"""Starts of the requests, if a schedule was found; the solver's lower bound; and processor seconds
that it took in a process of its own."""


class Task(NamedTuple):
    """An instance with a good schedule of it, and what a peer may use."""

    instance: Instance
    known: Schedule
    ends: float
    threads: int

    @property
    def left(self) -> float:
        """Return the processor seconds that are left, of all threads together."""
        return max(0.1, self.ends - process_time())

    def cuts(self) -> CutBound:
        limit, target = CUTS_PART * self.left / self.threads, self.known.total_latency
        horizon = self.known.makespan
        return cut_bound(self.instance, horizon=horizon, rounds=40, time_limit=limit, target=target)

    def program(self, with_cuts: bool) -> Program:
        upper = self.known.total_latency
        program = build(self.instance, last_starts(self.instance, upper))
        return strengthen(program, self.cuts().certificate, upper) if with_cuts else program


def _rows(program: Program) -> list[list[tuple[int, int]]]:
    """Columns and values of every row."""
    rows: list[list[tuple[int, int]]] = [[] for _ in program.row_upper]
    for column in range(len(program.cost)):
        for entry in range(program.indptr[column], program.indptr[column + 1]):
            rows[program.indices[entry]].append((column, int(program.values[entry])))
    return rows


def cp_sat(task: Task, with_cuts: bool) -> Answer:
    program = task.program(with_cuts)
    columns = [([c for c, _ in row], [value for _, value in row]) for row in _rows(program)]
    bounds = program.row_lower.tolist(), program.row_upper.tolist()
    data = {
        "upper": program.upper.tolist(),
        "cost": program.cost.tolist(),
        "rows": [(*row, low, high) for row, low, high in zip(columns, *bounds, strict=True)],
        "hint": program.counts(task.known.starts).tolist(),
    }
    values, *answer = _run_cp_sat(data, task)
    return (None if values is None else program.starts(np.array(values)), *answer)


def cp_sat_cumulative(task: Task) -> Answer:
    instance = task.instance
    last = last_starts(instance, task.known.total_latency).tolist()
    requests = [
        (arrival, latest, [held(prompt, age) for age in range(1, output + 1)])
        for (arrival, prompt, output), latest in zip(instance.requests, last, strict=True)
    ]
    data = {
        "memory": instance.memory,
        "requests": requests,
        "constant": int((instance.output - instance.arrival).sum()),
        "hint": task.known.starts.tolist(),
    }
    values, *answer = _run_cp_sat(data, task)
    return (None if values is None else np.array(values), *answer)


def _run_cp_sat(data: dict[str, Any], task: Task) -> tuple[list[int] | None, float, float]:
    more = {"limit": task.left, "threads": task.threads}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("peer_cp_sat.py")],
        input=json.dumps(data | more),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    return answer["values"], answer["bound"], answer["seconds"]


def scip(task: Task, with_cuts: bool) -> Answer:
    """SCIP is sequential: it uses one thread of them."""
    import pyscipopt

    program, model = task.program(with_cuts), pyscipopt.Model()
    model.hideOutput()
    model.setParam("timing/clocktype", 1)  # of the processor
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
    first = model.createSol()
    for variable, count in zip(x, program.counts(task.known.starts).tolist(), strict=True):
        model.setSolVal(first, variable, count)
    model.addSol(first)
    model.setParam("limits/time", task.left)
    model.optimize()
    best = model.getBestSol() if model.getNSols() else None
    counts = None if best is None else np.array([round(best[v]) for v in x])
    return None if counts is None else program.starts(counts), model.getDualbound(), 0.0


def highs(task: Task, with_cuts: bool) -> Answer:
    program = task.program(with_cuts)
    found = solve_program(
        program,
        start=program.counts(task.known.starts),
        threads=task.threads,
        stop=lambda: process_time() >= task.ends,
    )
    starts = None if found.counts is None else program.starts(found.counts)
    return starts, 0 if found.lower is None else found.lower, 0.0


def cuts_alone(task: Task) -> Answer:
    return task.known.starts, task.cuts().lower, 0.0


def ratiolab(task: Task) -> Answer:
    result = solve(task.instance, time_limit=task.left / task.threads, threads=task.threads)
    return result.schedule.starts, result.lower, 0.0


PEERS: dict[str, tuple[Callable[[Task], Answer], str]] = {
    "ratiolab": (ratiolab, "ratiolab"),
    "cuts alone": (cuts_alone, "ratiolab"),
    "cp-sat cumulative": (cp_sat_cumulative, "ortools"),
    "cp-sat program": (partial(cp_sat, with_cuts=False), "ortools"),
    "cp-sat + cuts": (partial(cp_sat, with_cuts=True), "ortools"),
    "scip program": (partial(scip, with_cuts=False), "pyscipopt"),
    "scip + cuts": (partial(scip, with_cuts=True), "pyscipopt"),
    "highs program": (partial(highs, with_cuts=False), "highspy"),
    "highs + cuts": (partial(highs, with_cuts=True), "highspy"),
}


def task_of(n: int, seed: int, limit: float, threads: int) -> Task:
    instance = of_paper(n)(seed)
    ends = process_time() + limit * threads
    return Task(instance, improved_schedule(best_list_schedule(instance)), ends, threads)


def run_here(peer: str, n: int, seed: int, limit: float, threads: int) -> dict[str, Any]:
    """Solve in this process; compiled and imported before the clock starts."""
    solver, _ = PEERS[peer]
    count_processor_time()
    for small in (5, 0), (14, 0), (13, 1):
        if small[0] == 5 or peer == "ratiolab":  # all its stages
            solver(task_of(*small, 20, threads))
    began = process_time()
    starts, bound, apart = solver(task_of(n, seed, limit, threads))
    seconds = (process_time() - began + apart) / threads
    upper = None
    if starts is not None:
        upper = require_feasible(Schedule.from_starts(of_paper(n)(seed), starts)).total_latency
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
    lower, upper = answer["lower"], answer["upper"]
    if lower == upper:
        return f"{answer['seconds']:.1f} s"
    if upper is None or lower <= 0:  # a solver that has no bound says a large negative number
        return f"{lower if lower > 0 else 'none'} to {'none' if upper is None else upper}"
    return f"{lower} to {upper}: {100 * (upper / lower - 1):.1f} %"


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        peer, n, seed, limit, threads = sys.argv[2:]
        print(json.dumps(run_here(peer, int(n), int(seed), float(limit), int(threads))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", nargs="*", type=int, default=[10, 12, 15, 20])
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default=",".join(PEERS), help="which of them, with commas")
    wish = parser.parse_args()
    peers = [peer for peer in wish.peers.split(",") if find_spec(PEERS[peer][1])]
    for peer in sorted(set(wish.peers.split(",")) - set(peers)):
        print(f"{peer}: {PEERS[peer][1]} is not installed")
    print("| n | seed | " + " | ".join(peers) + " |")
    print("|---|---|" + "---|" * len(peers))
    for n in wish.n:
        for seed in range(wish.first, wish.first + wish.seeds):
            answers = [run_apart(peer, n, seed, wish.limit, wish.threads) for peer in peers]
            print(f"| {n} | {seed} | " + " | ".join(map(cell, answers)) + " |", flush=True)
            least = min(a["upper"] for a in answers if a["upper"] is not None)
            for peer, answer in zip(peers, answers, strict=True):
                if answer["lower"] > least:
                    raise SystemExit(f"{peer}: bound {answer['lower']} above a schedule of {least}")


if __name__ == "__main__":
    main()
