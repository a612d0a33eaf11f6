"""Time long runs, and a textbook loop that goes batch by batch beside them, compiled.

Run ``python tests/benchmarks/bench_long_runs.py [--requests N] [--policies KEYS]``. The workload is
that of bench_simulator.py, as often as it takes, at a load of 0.9 in unit rounds with 16,492 tokens
of memory, and at 1.2 under the measured clock with 200,000 tokens. Each run is made twice, and the
second is timed: the first may compile. Compare ratios, not seconds: machines differ.
"""

import argparse
import resource
from time import process_time

import numpy as np
from bench_simulator import MEMORY, workload
from numba import njit

from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime, clock_of
from ratiolab.workloads.arrivals import poisson_arrivals

CLOCK = "vidur-llama2-70b-2xa100"
TICK = 0.001
WIDE = 200_000
"""Tokens of memory under the clock."""


def repeated(requests: int, memory: int, load: float, clock: BatchTime | None) -> Instance:
    """Requests of the workload, as often as it takes, that arrive as a Poisson process."""
    once = workload(min(requests, 10_000))
    rows = np.arange(requests) % len(once)
    prompt, output, predicted = (c[rows] for c in (once.prompt, once.output, once.predicted))
    rounds = float(once.volume.mean()) / memory / load  # between two arrivals
    if clock is not None:  # the seconds of a batch that fills the memory, in ticks
        rounds *= (clock.fixed + clock.kv * memory) / TICK
    arrival = poisson_arrivals(stream(0, "arrivals"), requests, 1 / rounds)
    tick = None if clock is None else TICK
    columns = (arrival, prompt, output)
    return Instance("repeated", memory, *columns, predicted=predicted, tick_seconds=tick)


@njit
def textbook(due, prompt, output, memory, fixed, prefill, decode, kv):  # type: ignore[no-untyped-def]
    """Return mean latency and batches: first come, first served; who came last leaves first."""
    n, size, back, head, done, batches = len(due), 0, 0, 0, 0, 0
    running, returned, made = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    time = total = 0.0
    while done < n:
        held = 0
        for k in range(size):
            held += prompt[running[k]] + made[running[k]] + 1
        full = held > memory
        while held > memory and size > 1:
            size -= 1
            i = running[size]
            held -= prompt[i] + made[i] + 1
            returned[back] = i
            back += 1
        begun = size
        started = 0
        while not full and (back or (head < n and due[head] <= time)):
            i = returned[back - 1] if back else head
            if held + prompt[i] + made[i] + 1 > memory and size:
                break
            back, head = (back - 1, head) if back else (back, head + 1)
            held += prompt[i] + made[i] + 1
            started += prompt[i] + made[i]
            running[size] = i
            size += 1
        if size == 0:
            time = due[head]
            continue
        time += fixed + prefill * started + decode * begun + kv * (held - size - started)
        batches += 1
        left = 0
        for k in range(size):
            i = running[k]
            made[i] += 1
            if made[i] == output[i]:
                total += time - due[i]
                done += 1
            else:
                running[left] = i
                left += 1
        size = left
    return total / n, batches


def main() -> None:
    """Print a table for each setting."""
    parser = argparse.ArgumentParser(description="Time long runs.")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--policies", default="fcfs,vllm-fcfs,mc-sf")
    options = parser.parse_args()
    for memory, load, clock in ((MEMORY, 0.9, None), (WIDE, 1.2, clock_of(CLOCK))):
        instance = repeated(options.requests, memory, load, clock)
        print(f"{options.requests:,} requests, memory {memory:,}, load {load}, clock {clock}")
        if clock is not None:
            times = (clock.fixed, clock.prefill, clock.decode, clock.kv)
            columns = (instance.arrival * TICK, instance.prompt, instance.output)
            textbook(*(column[:100] for column in columns), memory, *times)
            began = process_time()
            textbook(*columns, memory, *times)
            line("textbook loop", process_time() - began, options.requests)
        for key in options.policies.split(","):
            simulate(instance, make(key), clock=clock)
            began = process_time()
            simulate(instance, make(key), clock=clock)
            line(key, process_time() - began, options.requests)


def line(name: str, seconds: float, requests: int) -> None:
    """Print one row."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{name:15}{seconds:9.2f} s {requests / seconds:12,.0f} requests/s {memory:6.2f} GB so far"
    )


if __name__ == "__main__":
    main()
