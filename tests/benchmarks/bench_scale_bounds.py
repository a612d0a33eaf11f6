"""How close proven bounds come to good schedules at 1,000 to 10,000 requests, memory 16,492.

Prints, for log-normal lengths with the moments of LMSYS-Chat (prompts with mean 41 and median 11,
outputs 85 and 45) and, where it is at hand, the Azure conversation trace of 2023 (in the folder
that RATIOLAB_TRACES names): the mean
latency of the best schedule found, how far it is above each proven bound, in percent, and CPU
seconds. The last column is no bound: it is the mean-busy-time bound of 5 % less memory, that is,
what a schedule that leaves 5 % of memory idle could at best reach by that account. Where it is far
above the bound, a linear relaxation, which packs memory to the last token, must be weak.

Run with ``python tests/benchmarks/bench_scale_bounds.py [--iterations K] [--largest N]``.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np

from ratiolab.hindsight.bounds import best_lower_bound, mean_busy_time
from ratiolab.hindsight.relaxation.ascent import PARAMS
from ratiolab.hindsight.relaxation.growth import dual_bound
from ratiolab.hindsight.schedules.heuristics import (
    best_list_schedule,
    improved_schedule,
)
from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.traces import instance_from_trace, read_trace

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 16_492
LOADS = ((1_000, 0.0), (2_000, 0.0), (10_000, 0.0), (1_000, 0.9), (1_000, 1.2))
LOADS += ((1_000, 2.0), (2_000, 2.0), (10_000, 2.0))


def log_normal(requests: int, rate: float, seed: int = 7) -> Instance:
    """Lengths with the LMSYS moments, cut at 4,000; Poisson arrivals, or all at round 0."""
    rng = stream(seed, "instance")

    def lengths(mean: float, median: float) -> np.ndarray:
        sigma = np.sqrt(2 * np.log(mean / median))
        drawn = np.exp(np.log(median) + sigma * rng.standard_normal(requests))
        return np.clip(np.round(drawn), 1, 4_000).astype(np.int64)

    prompt, output = lengths(41, 11), lengths(85, 45)
    arrival = poisson_arrivals(rng, requests, rate)
    name = f"log-normal {requests:6,d} " + (f"rate {rate}" if rate else "at 0")
    return Instance(name, MEMORY, arrival, prompt, output)


def azure(requests: int, load: float, path: Path) -> Instance:
    """A sample of the trace as a Poisson process of this load (0: all at round 0)."""
    sample = instance_from_trace(
        read_trace(path), memory=MEMORY, max_prompt=MEMORY // 2, sample=requests, arrivals="zero"
    )
    name = f"azure conv {requests:6,d} " + (f"load {load}" if load else "at 0")
    rate = load * MEMORY / float(sample.volume.mean())
    arrival = poisson_arrivals(stream(1, "arrivals"), requests, rate)
    return sample.replace(name=name, arrival=arrival)


def instances() -> Iterator[Instance]:
    for requests, rate in LOADS:
        yield log_normal(requests, rate)
    folder = Path(os.environ.get("RATIOLAB_TRACES", ROOT.parent / "shared" / "traces"))
    path = folder / "AzureLLMInferenceTrace_conv.csv"
    if path.is_file():
        for requests, load in ((2_000, 0.0), (2_000, 0.9), (2_000, 1.2), (10_000, 1.2)):
            yield azure(requests, load, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=PARAMS.steps)
    parser.add_argument("--largest", type=int, default=10_000, help="most requests")
    wish = parser.parse_args()
    few = log_normal(20, 0)
    dual_bound(
        few, improved_schedule(best_list_schedule(few), steps=10).total_latency
    )  # compiled before anything is timed
    head = ("schedule", "CPU s", "cheap bound", "% above", "prices", "% above", "CPU s", "5 % idle")
    print(f"{'':26}" + "".join(f"{word:>13}" for word in head))
    for instance in instances():
        n = len(instance)
        if n > wish.largest:
            continue
        began = process_time()
        upper = improved_schedule(best_list_schedule(instance)).total_latency
        searched = process_time() - began
        cheap = best_lower_bound(instance).value
        began = process_time()
        priced = dual_bound(instance, upper, steps=wish.iterations).bound
        seconds = process_time() - began
        idle = mean_busy_time(instance.replace(memory=MEMORY * 19 // 20)).value
        line = f"{instance.name:26}{upper / n:13.2f}{searched:13.1f}"
        line += f"{cheap / n:13.2f}{100 * (upper / cheap - 1):13.2f}"
        line += f"{priced / n:13.2f}{100 * (upper / priced - 1):13.2f}"
        print(line + f"{seconds:13.1f}{idle / n:13.2f}", flush=True)


if __name__ == "__main__":
    main()
