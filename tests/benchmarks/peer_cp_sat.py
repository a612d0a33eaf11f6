"""CP-SAT for `bench_peers.py`, a process of its own: ortools and highspy cannot be in the same one.

Reads a JSON object and writes one: the values of the variables, None without a solution, the lower
bound, and the seconds of the processor that building and solving took. CP-SAT counts no such
seconds itself; a second thread watches the limit.
"""

import json
import sys
from threading import Event, Thread
from time import process_time
from typing import Any

from ortools.sat.python import cp_model


def program(model: Any, data: dict[str, Any]) -> list[Any]:
    """Build rows over counted columns, and minimise their cost."""
    x = [model.new_int_var(0, most, "") for most in data["upper"]]
    for columns, values, low, high in data["rows"]:
        total = cp_model.LinearExpr.weighted_sum([x[column] for column in columns], values)
        model.add_linear_constraint(total, low, high)
    model.minimize(cp_model.LinearExpr.weighted_sum(x, data["cost"]))
    return x


def cumulative(model: Any, data: dict[str, Any]) -> list[Any]:
    """Build a start for each request and an interval of one round for each of its rounds."""
    starts, intervals, demands = [], [], []
    for first, last, tokens in data["requests"]:
        starts.append(model.new_int_var(first, last, ""))
        for age, demand in enumerate(tokens, 1):
            intervals.append(model.new_fixed_size_interval_var(starts[-1] + age, 1, ""))
            demands.append(demand)
    model.add_cumulative(intervals, demands, data["memory"])
    model.minimize(sum(starts) + data["constant"])
    return starts


def main() -> None:
    data = json.load(sys.stdin)
    model, solver, done = cp_model.CpModel(), cp_model.CpSolver(), Event()
    began = process_time()
    variables = (program if "rows" in data else cumulative)(model, data)
    for variable, value in zip(variables, data["hint"], strict=True):
        model.add_hint(variable, value)
    solver.parameters.num_workers = data["threads"]

    def watch() -> None:
        while not done.wait(0.1):
            if process_time() - began >= data["limit"]:
                solver.stop_search()

    Thread(target=watch, daemon=True).start()
    status = solver.solve(model)
    done.set()
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    values = [solver.value(variable) for variable in variables] if found else None
    seconds = process_time() - began
    print(json.dumps({"values": values, "bound": solver.best_objective_bound, "seconds": seconds}))


if __name__ == "__main__":
    main()
