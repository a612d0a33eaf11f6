"""Goodput: exact solvers against enumeration on tiny instances, and the gap on a trace.

``python tests/benchmarks/bench_promises.py tiny 2000`` draws tiny instances with dates, of which
enumeration knows the optimum, and prints how far certificates are above it.
``python tests/benchmarks/bench_promises.py trace CONV.csv 60`` solves 2,000 conversations at 1.2
times the load that the memory sustains, first tokens within 200 rounds, and prints the gap; the
last word is the time limit in seconds. `ratiolab.workloads.traces` reads the file.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "common"))

from promised_instances import promised

from ratiolab.hindsight import solve_promises
from ratiolab.hindsight.certificates.certify_promises import certify_promises
from ratiolab.model.promises import with_limits
from ratiolab.model.streams import stream
from ratiolab.workloads.traces import instance_from_trace, read_trace

SUSTAINED = 0.06364
"""Conversations a round that a memory of 16,492 tokens sustains, by their mean volume."""


def tiny(number: int) -> None:
    """Compare programs, enumeration and certificates, by the footprints' part of the memory."""
    ratios: dict[int, list[float]] = {1: [], 2: [], 3: []}
    nothing = 0
    for seed in range(number):
        instance = promised(seed)
        if {"deadline", "first_by"}.isdisjoint(instance.promises):
            continue
        optimum = solve_promises(instance, "goodput", method="brute").upper
        found = solve_promises(instance, "goodput")
        assert found.lower == found.upper == optimum, seed
        bound = certify_promises(found.certificate, instance)
        assert bound >= optimum, seed
        if optimum:
            ratios[1 + seed % 3].append(bound / optimum)
        nothing += not optimum
    print("| footprints up to | instances | mean bound / optimum | worst | tight |")
    print("|---|---|---|---|---|")
    for part, values in ratios.items():
        tight = sum(value == 1 for value in values)
        mean, worst = np.mean(values), max(values)
        print(f"| M/{part} | {len(values)} | {mean:.4f} | {worst:.2f} | {tight} |")
    every = [value for values in ratios.values() for value in values]
    print(f"\nall: {len(every)} instances, mean {np.mean(every):.4f}; optimum 0: {nothing}")


def trace(path: str, seconds: float) -> None:
    """Solve four promises on conversations at 1.2 times the sustained load."""
    log = read_trace(path)
    rules = {"arrivals": "poisson", "rate": 1.2 * SUSTAINED, "max_prompt": 16_492 // 2}
    bare = instance_from_trace(log, memory=16_492, sample=2000, seed=1, **rules)
    weights = stream(7, "instance").integers(1, 6, 2000)
    cases = {
        "first token within 200": with_limits(bare, ttft=200),
        "latency within 2 outputs + 100": bare.replace(
            deadline=bare.arrival + 2 * bare.output + 100
        ),
        "the same, weights 1 to 5": bare.replace(
            deadline=bare.arrival + 2 * bare.output + 100, weight=weights
        ),
        "latency within 1,000": with_limits(bare, latency=1000),
    }
    print("| promise | all | bound | best found | bound / best | processor s | check s |")
    print("|---|---|---|---|---|---|---|")
    for name, instance in cases.items():
        began = time.process_time()
        found = solve_promises(instance, "goodput", time_limit=seconds)
        solved = time.process_time()
        assert certify_promises(found.certificate, instance) == found.upper
        checked = time.process_time()
        total = 2000 if instance.weight is None else int(instance.weight.sum())
        print(
            f"| {name} | {total:,} | {found.upper:,} | {found.lower:,} | "
            f"{found.upper / found.lower:.3f} | {solved - began:.0f} | {checked - solved:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1] == "tiny":
        tiny(int(sys.argv[2]))
    else:
        trace(sys.argv[2], float(sys.argv[3]))
