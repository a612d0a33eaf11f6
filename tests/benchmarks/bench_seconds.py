"""How closely the best possible schedule is enclosed in seconds: bounds, schedules, gaps.

``python tests/benchmarks/bench_seconds.py [--logs LOG ...] [--seeds SEED ...] [--seconds S]
[--write]`` prints a line for each log and seed. With ``--write`` the lines enter
``results/benchmarks_seconds.csv``, and their section of ``results/benchmarks.md`` is made anew from
that table. Seeds 0 to 10 were used while settings were chosen. Traces are read from
``RATIOLAB_TRACES``.

Seconds are processor time of the thread that does the work: each end has all of them, as in
``evaluate --effort`` on two idle cores. Each line has a process of its own, whose memory is told.
"""

import argparse
import os
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from time import process_time, thread_time
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from bench_page import kept, put

from ratiolab.model import Instance
from ratiolab.model.instance import PICOSECONDS
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA2_70B_2XA100
from ratiolab.ratio.clock_bound import clock_lower_bound
from ratiolab.seconds import certified_bound, order_search
from ratiolab.seconds.certified_bound import seconds_certificate
from ratiolab.seconds.order_search import search_order, total_seconds
from ratiolab.workloads.traces import instance_from_trace, read_trace

MEMORY = 16_492
CLOCK = LLAMA2_70B_2XA100


def sampled(file: str, requests: int, rate: float, seed: int) -> Instance:
    """Requests of a trace, Poisson arrivals at some rate a tick of 50 ms."""
    trace = read_trace(Path(os.environ["RATIOLAB_TRACES"]) / file)
    made = instance_from_trace(
        trace,
        sample=requests,
        seed=seed,
        memory=MEMORY,
        max_prompt=MEMORY // 2,
        arrivals="poisson",
        rate=rate,
    )
    return made.replace(tick_seconds=0.05)


def synthetic(seed: int) -> Instance:
    """300 requests at 8 a second, log-normal prompts and outputs."""
    rng = stream(seed, "instance")
    seconds = np.cumsum(rng.exponential(1 / 8, 300))
    prompt = np.clip(np.rint(rng.lognormal(5.5, 1, 300)), 1, MEMORY // 2).astype(int)
    output = np.clip(np.rint(rng.lognormal(4.5, 0.8, 300)), 1, 2000).astype(int)
    arrival = np.rint((seconds - seconds[0]) * 1000).astype(int)
    return Instance("synthetic", MEMORY, arrival, prompt, output, tick_seconds=0.001)


CONVERSATIONS, CODE = "AzureLLMInferenceTrace_conv.csv", "AzureLLMInferenceTrace_code.csv"


class Log(NamedTuple):
    """Requests of one kind: how a seed is drawn, seconds of each end, and seeds of the table."""

    draw: Callable[[int], Instance]
    seconds: float
    seeds: tuple[int, ...]


def conversations(n: int) -> Callable[[int], Instance]:
    """Conversations at 1.6 a second."""
    return lambda seed: sampled(CONVERSATIONS, n, 0.08, seed)


SEEDS = 11, 12, 13, 14, 15
LOGS = {
    "conversations 2,000": Log(conversations(2000), 60, SEEDS),
    "code 1,000": Log(lambda seed: sampled(CODE, 1000, 0.4, seed), 60, SEEDS),
    "conversations 500": Log(conversations(500), 60, SEEDS),
    "synthetic 300": Log(synthetic, 60, SEEDS),
    "conversations 19,365": Log(conversations(19_365), 60, (11,)),  # all of the trace
}

COLUMNS = ("log", "seed", "seconds", "machine", "bound", "bound_recompute", "schedule")
COLUMNS += ("svf_fit", "swf_fit", "processor", "gigabytes")
"""Of the table: mean latencies, seconds; the bound of a machine and the one for evictions that lose
tokens, the one for those that keep them; seconds of the processor in all, and most memory."""


def measured(name: str, seed: int, seconds: float) -> dict[str, str]:
    """Return the line of a log and a seed."""
    for module in (certified_bound, order_search):
        module.time = SimpleNamespace(perf_counter=thread_time)
    warm = synthetic(0).take(range(20))
    search_order(warm, CLOCK, 0.1)
    seconds_certificate(warm, CLOCK, seconds=0.1)
    instance, began = LOGS[name].draw(seed), process_time()
    n = len(instance)
    bounds = [
        seconds_certificate(instance, CLOCK, preemption, seconds=seconds).bound / PICOSECONDS / n
        for preemption in ("restart", "recompute")
    ]
    machine = clock_lower_bound(instance, CLOCK, "recompute") / n
    found = total_seconds(search_order(instance, CLOCK, seconds)) / n
    keys = ("svf-fit", "swf-fit")
    policies = [total_seconds(simulate(instance, make(key), clock=CLOCK)) / n for key in keys]
    times = *bounds, found, *policies
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    values = (name, seed, f"{seconds:g}", *(f"{time:.3f}" for time in (machine, *times)))
    return dict(
        zip(
            COLUMNS,
            (*map(str, values), f"{process_time() - began:.0f}", f"{most:.2f}"),
            strict=True,
        )
    )


def gap(row: dict[str, str], high: str, low: str) -> float:
    """Return by how many percent one of the times of a line is above another."""
    return 100 * (float(row[high]) / float(row[low]) - 1)


def _place(row: dict[str, str]) -> tuple[int, int]:
    """Return the place of a log in the order of all, and the seed."""
    return list(LOGS).index(row["log"]), int(row["seed"])


def section(lines: list[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of the page's table."""
    yield "| log, seed | enclosed, s | gap before | gap | with recompute |"
    yield "|---|--:|--:|--:|--:|"
    pairs = (("svf_fit", "machine"), ("schedule", "bound"), ("schedule", "bound_recompute"))
    for name, group in groupby(lines, lambda row: row["log"]):
        rows = list(group)
        gaps = [[gap(row, *pair) for pair in pairs] for row in rows]
        for row, own in zip(rows, gaps, strict=True):
            cells = " | ".join(f"{each:.1f}%" for each in own)
            ends = f"{float(row['bound']):.2f} to {float(row['schedule']):.2f}"
            yield f"| {name}, {row['seed']} | {ends} | {cells} |"
        cells = " | ".join(f"**{fmean(each):.1f}%**" for each in zip(*gaps, strict=True))
        used = f"{max(float(row['gigabytes']) for row in rows):.1f} GB"
        yield f"| **{name}**, {rows[0]['seconds']} s, {used} | mean | {cells} |"


def main() -> None:
    """Measure the logs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="of each end")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--logs", nargs="+", default=list(LOGS), choices=list(LOGS))
    parser.add_argument("--write", action="store_true", help="write results/benchmarks*")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    asked = parser.parse_args()
    wanted = [
        (name, seed, asked.seconds or LOGS[name].seconds)
        for name in asked.logs
        for seed in asked.seeds or LOGS[name].seeds
    ]
    kind = get_context("spawn")
    with ProcessPoolExecutor(asked.workers, kind, max_tasks_per_child=1) as pool:
        for line in pool.map(measured, *zip(*wanted, strict=True)):
            print(" | ".join(line[column] for column in COLUMNS), flush=True)
            if asked.write:
                put("seconds", section(kept("benchmarks_seconds.csv", COLUMNS, line, _place)))


if __name__ == "__main__":
    main()
