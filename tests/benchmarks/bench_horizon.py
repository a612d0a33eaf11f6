"""What the proven last starts and the tail relaxation save against the paper's horizon.

Prints, for instances drawn as in Jaillet et al. Section 5.1 with fewer requests (model 1: all at
round 0; model 2: uniform arrivals over n rounds), the entries of the program with the horizon
sum(a + o), with the proven last starts, and with the tail relaxation that `solve` begins with;
then, unless --sizes is given, the seconds to proof with each, up to a time limit.

Run with ``python tests/benchmarks/bench_horizon.py [--sizes] [--limit SECONDS] [n ...]``.
"""

import argparse
import time

import numpy as np

from ratiolab.hindsight.horizon import last_starts, naive_horizon
from ratiolab.hindsight.params import ProgramParams
from ratiolab.hindsight.program_stages import first_horizon
from ratiolab.hindsight.programs.highs import solve_program
from ratiolab.hindsight.programs.timeindexed import build
from ratiolab.hindsight.schedules.heuristics import (
    best_list_schedule,
    improved_schedule,
)
from ratiolab.model import Instance
from ratiolab.model.streams import stream


def draw(n: int, seed: int, *, arrivals: bool) -> Instance:
    """One instance of the paper's synthetic experiment, with n requests."""
    rng = stream(seed, "instance")
    memory = int(rng.integers(30, 51))
    prompt = rng.integers(1, 6, n)
    output = [int(rng.integers(1, memory - s + 1)) for s in prompt]
    arrival = np.sort(rng.integers(0, n, n)) if arrivals else np.zeros(n, np.int64)
    return Instance(f"n={n} seed={seed}", memory, arrival, prompt, output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="*", default=[6, 8, 10])
    parser.add_argument("--sizes", action="store_true", help="count entries, solve nothing")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each solve")
    parser.add_argument("--seeds", type=int, default=2)
    wish = parser.parse_args()
    for n in wish.n:
        for arrivals in (False, True):
            for seed in range(wish.seeds):
                compare(draw(n, seed, arrivals=arrivals), arrivals, wish.sizes, wish.limit)


def compare(instance: Instance, arrivals: bool, sizes: bool, limit: float) -> None:
    """Print one line for each way to limit time."""
    known = improved_schedule(best_list_schedule(instance))
    last = last_starts(instance, known.total_latency)
    programs = {
        "naive": build(instance, naive_horizon(instance) - instance.output, merge=False),
        "last starts": build(instance, last),
        "tail": build(instance, last, first_horizon(known, ProgramParams())),
    }
    entries = len(programs["naive"].values)
    for name, program in programs.items():
        line = f"{instance.name:14} arrivals={arrivals:d} {name:8} entries {len(program.values):8}"
        line += f"  naive/this {entries / len(program.values):7.1f}"
        if not sizes:
            began = time.perf_counter()
            start = program.counts(known.starts)
            outcome = solve_program(program, start=start, time_limit=limit)
            seconds = time.perf_counter() - began
            line += f"  {seconds:6.1f} s  lower {outcome.lower}  {outcome.status}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
