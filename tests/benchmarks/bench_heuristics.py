"""How good the schedules of the search are, for how much processor time.

Prints, after one search that compiles,

- for draws of Jaillet et al. Section 5.1, both models: MC-SF's latency over that of a schedule, for
  the default search and the stored schedules that a long annealing found;
- how often the search reaches the optimum of tiny instances, found by brute force;
- for log-normal lengths: MC-SF, the best list schedule and the search, over the mean-busy-time
  bound.

Seconds are of the processor. Run with ``python tests/benchmarks/bench_heuristics.py``.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from ratiolab.hindsight.bounds import mean_busy_time
from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.hindsight.schedules.heuristics import (
    STEPS,
    best_list_schedule,
    improved_schedule,
    list_schedule,
)
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.streams import stream
from ratiolab.papers.witness import read_witness
from ratiolab.workloads.generators import generate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5, help="of each model of Section 5.1")
    parser.add_argument("--tiny", type=int, default=300, help="instances for brute force")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000])
    wish = parser.parse_args()
    _, seconds = timed(lambda: improved_schedule(best_list_schedule(generate("equal", 0)), steps=1))
    print(f"import and compile, or load from cache: {seconds:.1f} s")
    for model in (1, 2):
        for seed in range(wish.draws):
            section_5_1(model, seed)
    tiny(wish.tiny)
    for n in wish.sizes:
        for rate in (0.0, 2.0):
            large(generate("lmsys", 0, n=n, rate=rate), rate)


def timed(work: Callable[[], Schedule]) -> tuple[Schedule, float]:
    """A feasible schedule and the processor seconds it took."""
    began = time.process_time()
    schedule = work()
    return require_feasible(schedule), time.process_time() - began


def mc_sf(instance: Instance) -> int:
    return list_schedule(instance, np.argsort(instance.output, kind="stable")).total_latency


def section_5_1(model: int, seed: int) -> None:
    """One line for one draw."""
    instance = generate(f"jaillet-model-{model}", seed)
    reference = mc_sf(instance)
    line = f"model {model} seed {seed} n={len(instance)}  MC-SF over"
    schedule, took = timed(lambda: improved_schedule(best_list_schedule(instance)))
    line += f"  default {reference / schedule.total_latency:.4f} ({took:.1f} s)"
    witness = read_witness(f"jaillet2025-section-5-1-model-{model}-{seed:02d}")
    stored = witness.schedule("better").total_latency
    print(f"{line}  stored {reference / stored:.4f}", flush=True)


def tiny(count: int) -> None:
    """How many of these random instances with up to 6 requests the search solves."""
    exact = 0
    for seed in range(count):
        rng = stream(seed, "instance")
        n, memory = int(rng.integers(4, 7)), int(rng.integers(5, 10))
        prompt = rng.integers(0, 3, n)
        output = rng.integers(1, memory - prompt + 1)
        instance = Instance(f"tiny {seed}", memory, rng.integers(0, 6, n), prompt, output)
        optimum = brute_force(instance).total_latency
        exact += improved_schedule(best_list_schedule(instance)).total_latency == optimum
    print(f"optimal on tiny instances, of {count}: {exact}", flush=True)


def large(instance: Instance, rate: float) -> None:
    """One line for one large instance: latencies over the mean-busy-time bound."""
    bound = mean_busy_time(instance).value
    listed, before = timed(lambda: best_list_schedule(instance))
    found, took = timed(lambda: improved_schedule(listed, steps=STEPS))
    print(
        f"lmsys n={len(instance)} rate={rate}  over the bound: MC-SF {mc_sf(instance) / bound:.4f}"
        f"  best list {listed.total_latency / bound:.4f} ({before:.1f} s)"
        f"  search {found.total_latency / bound:.4f} ({took:.1f} s more)",
        flush=True,
    )


if __name__ == "__main__":
    main()
