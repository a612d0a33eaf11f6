"""Fleets: exact solvers against enumeration on tiny fleets, and policies against a bound.

``python tests/benchmarks/bench_fleets.py tiny 2000`` draws fleets of two and three replicas with up
to seven requests, of which enumeration knows the optimum, and prints how far the first formulas and
the certificates are below it.
``python tests/benchmarks/bench_fleets.py trace CONV.csv 60`` runs policies behind all routers on
conversations, four replicas at 1.2 times the load that their memories sustain, and divides the best
by the bound that so many seconds prove. `ratiolab.workloads.traces` reads the file.
``python tests/benchmarks/bench_fleets.py routers CONV.csv`` prints the processor seconds of each
router before sixteen replicas with ``svf``.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from common.fleet_oracle import tiny_fleet

from ratiolab.hindsight.bounds import fleet_lower_bound
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.fleets.oracle import tiny_fleet_optimum
from ratiolab.hindsight.fleets.solve import solve_fleet
from ratiolab.model.feasibility import fleet_violations
from ratiolab.model.fleet import Fleet
from ratiolab.model.streams import stream
from ratiolab.online.fleets.loop import simulate_fleet
from ratiolab.online.fleets.registry import ROUTERS
from ratiolab.workloads.traces import instance_from_trace, read_trace

SUSTAINED = 0.06364
"""Conversations a round that a memory of 16,492 tokens sustains, by their mean volume."""


def tiny(number: int) -> None:
    """Compare the solver, enumeration and bounds."""
    rng = stream(0, "instance")
    ratios: dict[str, list[float]] = {"formulas": [], "certificates": []}
    for draw in range(number):
        fleet = tiny_fleet(rng, 7)
        optimum = tiny_fleet_optimum(fleet).total_latency
        found = solve_fleet(fleet)
        assert found.lower == found.upper == optimum, draw
        assert not fleet_violations(found.schedule), draw
        proof = solve_fleet(fleet, method="certified").certificate
        assert certify(proof, fleet) == proof.bound <= optimum, draw
        formula = fleet_lower_bound(fleet)[0].value
        assert formula <= optimum, draw
        ratios["formulas"].append(formula / optimum)
        ratios["certificates"].append(proof.bound / optimum)
    print("| bound | fleets | mean bound / optimum | worst | tight |")
    print("|---|---|---|---|---|")
    for name, values in ratios.items():
        tight = sum(value == 1 for value in values)
        print(f"| {name} | {len(values)} | {np.mean(values):.4f} | {min(values):.2f} | {tight} |")


def conversations(path: str, number: int, replicas: int, load: float) -> Fleet:
    """Return conversations with Poisson arrivals at a part of the load that memories sustain."""
    rules = {"arrivals": "poisson", "rate": load * SUSTAINED * replicas, "max_prompt": 16_492 // 2}
    drawn = instance_from_trace(read_trace(path), memory=16_492, sample=number, seed=1, **rules)
    return Fleet(drawn, replicas)


def trace(path: str, seconds: float) -> None:
    """Divide the best policy behind the best router by a bound."""
    fleet = conversations(path, 4000, 4, 1.2)
    began = time.process_time()
    found = solve_fleet(fleet, method="certified", time_limit=seconds)
    spent = time.process_time() - began
    rows = []
    for policy in ("fcfs", "svf", "mc-sf"):
        for router in ROUTERS:
            total = simulate_fleet(fleet, policy, router, preemption="restart").total_latency
            assert total is not None
            assert total >= found.lower
            rows.append((total, policy, router))
    for total, policy, router in sorted(rows)[:5]:
        print(
            f"{policy} behind {router}: mean latency {total / len(fleet):.1f}, "
            f"{total / found.lower:.3f} times the bound"
        )
    mean = found.lower / len(fleet), found.upper / len(fleet)
    print(f"bound {mean[0]:.1f}, best found {mean[1]:.1f}, {spent:.0f} processor seconds")


def routers(path: str) -> None:
    """Print processor seconds of each router, after a run that compiles what it calls."""
    fleet = conversations(path, 2000, 16, 1.2)
    few = Fleet(fleet.instance.take(range(40)), 2)
    print("| router | processor s |")
    print("|---|---|")
    for router in ROUTERS:
        simulate_fleet(few, "svf", router, preemption="restart")
        began = time.process_time()
        simulate_fleet(fleet, "svf", router, preemption="restart")
        print(f"| {router} | {time.process_time() - began:.2f} |")


if __name__ == "__main__":
    kind, value, *more = sys.argv[1:]
    if kind == "tiny":
        tiny(int(value))
    elif kind == "trace":
        trace(value, float(more[0]))
    else:
        routers(value)
