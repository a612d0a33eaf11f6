"""Proofs and gaps of few requests of a trace at a real memory, and the time that checking takes.

``RATIOLAB_TRACES=FOLDER python tests/benchmarks/bench_real_memory.py --sizes 12,16 --seeds 20``
prints a row for each trace, memory and size; the traces are those of Azure (2023). ``--times 8``
multiplies lengths and memory. ``--load 1.2`` draws Poisson arrivals at this part of the rate that
memory sustains.
"""

import argparse
import os
import statistics
import time
from pathlib import Path

import numpy as np

from ratiolab import Instance, certify, solve
from ratiolab.hindsight.certificates.effort import allowing
from ratiolab.workloads.traces import instance_from_trace, read_trace

TRACES = {
    "conversations": "AzureLLMInferenceTrace_conv.csv",
    "code": "AzureLLMInferenceTrace_code.csv",
}


def drawn(trace: str, memory: int, n: int, seed: int, times: int, load: float) -> Instance:
    """Return requests of a trace, at round 0 or at Poisson arrivals."""
    folder = Path(os.environ["RATIOLAB_TRACES"])
    options = {"memory": memory, "max_prompt": 2_048, "sample": n, "seed": seed}
    whole = read_trace(folder / TRACES[trace])
    instance = instance_from_trace(whole, **options, arrivals="zero")
    if load:
        rate = load * memory * n / float(instance.volume.sum())
        instance = instance_from_trace(whole, **options, arrivals="poisson", rate=rate)
    columns = instance.prompt * times, instance.output * times
    return Instance(instance.name, memory * times, np.array(instance.arrival) * times, *columns)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="12,16")
    parser.add_argument("--memories", default="4096,16492")
    parser.add_argument("--traces", default="conversations,code")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=101)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--load", type=float, default=0)
    given = parser.parse_args()
    print("trace memory n | proven | seconds median, most | gap mean, most | check / find, most")
    for trace in given.traces.split(","):
        for memory in map(int, given.memories.split(",")):
            for n in map(int, given.sizes.split(",")):
                gaps, seconds, ratios = [], [], []
                for seed in range(given.first, given.first + given.seeds):
                    instance = drawn(trace, memory, n, seed, given.times, given.load)
                    result = solve(instance, time_limit=given.seconds)
                    begun = time.perf_counter()
                    with allowing(120):
                        certify(result.certificate, instance)
                    checked = time.perf_counter() - begun
                    gaps.append(100 * (result.upper - result.lower) / result.upper)
                    seconds.append(result.seconds)
                    ratios.append(checked / max(result.seconds, 0.1))
                print(
                    f"{trace} {memory} {n} | {gaps.count(0)} of {len(gaps)} | "
                    f"{statistics.median(seconds):.1f}, {max(seconds):.1f} | "
                    f"{statistics.fmean(gaps):.2f}, {max(gaps):.2f} % | {max(ratios):.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
