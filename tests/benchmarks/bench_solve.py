"""What `solve` proves in a minute, on draws that nothing was tuned on.

``python tests/benchmarks/bench_solve.py [ROW ...] [--seeds N] [--first SEED] [--limit SECONDS]
[--write]`` solves ``--seeds`` instances of each row and prints a line for each row. With
``--write`` the lines enter ``results/benchmarks.csv``, and the section on the solver and the chart
of ``results/benchmarks.md`` are made anew from that table. Rows of traces read the public traces in
the folder that ``RATIOLAB_TRACES`` names.

Seconds are processor time, counted for each of the two threads of a solve by itself: a busy machine
shows what two idle cores would show. A check, whose threads wait for each other, is counted by the
clock on the wall where that shows less than its threads together: on a busy machine both show more
than two idle cores would. The gap is (upper - lower) / lower, in percent.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, median
from time import perf_counter, process_time, thread_time
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from bench_page import RESULTS, kept, put

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.effort import allowing
from ratiolab.model import Instance
from ratiolab.workloads.generators import generate
from ratiolab.workloads.traces import instance_from_trace, read_trace

TRACES = {
    "conversations": "AzureLLMInferenceTrace_conv.csv",
    "code": "AzureLLMInferenceTrace_code.csv",
    "summaries": "arxiv_summarization.csv",
}
CHECKED = 600
"""Seconds that a check may take."""


class Row(NamedTuple):
    """Instances of one kind: what the table says of them, how a seed is drawn, seconds of a solve,
    and seeds of the table."""

    title: str
    draw: Callable[[int], Instance]
    limit: float
    seeds: int


def of_trace(
    trace: str, n: int, memory: int, load: float = 0, times: int = 1
) -> Callable[[int], Instance]:
    """Draw requests of a trace with prompts up to half of memory, at round 0 or with Poisson
    arrivals at ``load`` times the rate that memory sustains. Lengths, memory and arrivals are
    multiplied by ``times``."""

    def draw(seed: int) -> Instance:
        whole = read_trace(Path(os.environ["RATIOLAB_TRACES"]) / TRACES[trace])
        given = {"memory": memory, "max_prompt": memory // 2, "sample": n, "seed": seed}
        one = instance_from_trace(whole, **given, arrivals="zero")
        if load:
            rate = load * memory * n / float(one.volume.sum())
            one = instance_from_trace(whole, **given, arrivals="poisson", rate=rate)
        columns = (times * np.array(column) for column in (one.arrival, one.prompt, one.output))
        return Instance(one.name, memory * times, *columns)

    return draw


def of_paper(n: int) -> Callable[[int], Instance]:
    """Draw as Jaillet et al. (2025), Section 5.1: even seeds all at round 0, odd ones the first n
    requests of a draw with arrivals, which has up to some hundred."""

    def draw(seed: int) -> Instance:
        if seed % 2 == 0 or n > 100:
            return generate("jaillet-model-1", seed, n_least=n, n_most=n)
        for attempt in range(seed, 1_000_000, 1_000):
            instance = generate("jaillet-model-2", attempt)
            if len(instance) >= n:
                return instance.take(range(n))
        raise AssertionError("no draw of the model has so many requests")

    return draw


def between(seed: int) -> Instance:
    """Draw 20 to 40 requests at a memory of 200 to 2,000: shapes of traces, and heavy tails."""
    shapes = ("trace-conversations", "trace-code", "trace-summaries")
    memory = (200, 500, 1_000, 2_000)[seed % 4]
    n = (20, 30, 40)[seed % 3]
    kind = (*shapes, "heavy-tail")[seed // 4 % 4]
    if kind in shapes:
        return generate(kind, seed, n=n, memory=16_000, scale=16_000 // memory, load=2.0)
    return generate(kind, seed, n=n, memory=memory, prompt=5, mu=3.0, upper=memory // 2)


def rows() -> dict[str, Row]:
    """Return all rows by key, in the order of the table."""
    found = {}
    for n, limit in ((12, 30), (16, 60), (20, 60), (30, 60)):
        for trace in ("conversations", "code"):
            for memory in (4_096, 16_492) if n <= 16 else (4_096,):
                title = f"{n} {trace} at once, M = {memory:,}"
                draw = of_trace(trace, n, memory)
                found[f"{trace}-{memory}-{n}"] = Row(title, draw, limit, 20 if n <= 16 else 10)
    for trace in ("conversations", "code"):
        found[f"{trace}-4096-20-long"] = found[f"{trace}-4096-20"]._replace(limit=600, seeds=3)
    for n in (20, 30):
        for trace in ("conversations", "code"):
            title = f"{n} {trace} at load 1.2, M = 4,096"
            draw = of_trace(trace, n, 4_096, load=1.2)
            found[f"{trace}-load-{n}"] = Row(title, draw, 60, 10)
    for n in (12, 16):
        title = f"{n} conversations at once, M = 8 x 4,096"
        draw = of_trace("conversations", n, 4_096, times=8)
        found[f"conversations-times-8-{n}"] = Row(title, draw, 180, 20)
    found["between"] = Row("20 to 40 requests, M = 200 to 2,000", between, 60, 20)
    for n in (15, 20, 25, 30):
        found[f"paper-{n}"] = Row(f"{n} requests of the paper, M = 30 to 50", of_paper(n), 60, 20)
    for n in (40, 50, 60, 100, 200):
        title = f"{n} requests of the paper, M = 30 to 50"
        found[f"paper-{n}"] = Row(title, of_paper(n), 60, 10 if n <= 60 else 3)
    for trace, load in (("conversations", 0.9), ("conversations", 1.2), *_LOADED):
        title = f"2,000 {trace} at load {load}, M = 16,492"
        draw = of_trace(trace, 2_000, 16_492, load=load)
        found[f"{trace}-2000-{load}"] = Row(title, draw, 60, 3)
    return found


_LOADED = ("code", 1.2), ("summaries", 1.2)

COLUMNS = ("row", "title", "limit", "first", "seeds", "proven", "median", "most")
COLUMNS += ("gap", "widest", "check", "seconds")
"""Of the table: proofs; seconds of a solve, median and most; gap, mean and widest; checking over
finding, the largest; and the seconds of each solve."""


def measured(key: str, row: Row, first: int, seeds: int, limit: float) -> dict[str, str]:
    """Solve the instances of a row, check their certificates, and return its line."""
    gaps, seconds, checks = [], [], []
    for seed in range(first, first + seeds):
        instance = row.draw(seed)
        began = thread_time()
        result = solve(instance, time_limit=limit).uninterrupted()
        seconds.append(thread_time() - began)
        gaps.append(100 * (result.upper - result.lower) / result.lower)
        began = process_time(), perf_counter()
        with allowing(CHECKED):
            certify(result.certificate, instance)
        took = process_time() - began[0], perf_counter() - began[1]
        checks.append(min(took) / max(seconds[-1], 0.1))
        print(f"{key} {seed}: {gaps[-1]:.2f}%, {seconds[-1]:.1f} s", file=sys.stderr, flush=True)
    values = (key, row.title, f"{limit:g}", first, seeds, gaps.count(0))
    values += tuple(f"{value:.1f}" for value in (median(seconds), max(seconds)))
    values += tuple(f"{value:.2f}" for value in (fmean(gaps), max(gaps), max(checks)))
    values += (" ".join(f"{second:.1f}" for second in seconds),)
    return dict(zip(COLUMNS, map(str, values), strict=True))


def count_processor_time() -> None:
    """Let limits of solves count the processor time of each thread."""
    for name, module in list(sys.modules.items()):
        if name.startswith("ratiolab.hindsight.") and hasattr(module, "time"):
            module.time = SimpleNamespace(perf_counter=thread_time)


def warm() -> None:
    """Compile what rows need before anything is timed."""
    few = of_paper(14)
    for instance in (few(0), few(1), generate("trace-code", 0, n=12, memory=4_096, load=0)):
        certify(solve(instance, time_limit=20).certificate, instance)
    solve(generate("trace-code", 0, n=600), time_limit=20)


def section(lines: list[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of the page's section on the solver."""
    yield "| instances | proven | s, median (most) | gap, mean (widest) | checking / finding |"
    yield "|---|--:|--:|--:|--:|"
    for row in lines:
        times = f"{row['median']} ({row['most']})"
        gap = "0" if float(row["widest"]) == 0 else f"{row['gap']}% ({row['widest']}%)"
        yield (
            f"| {row['title']} | {row['proven']} of {row['seeds']} in {row['limit']} s "
            f"| {times} | {gap} | {row['check']} |"
        )


def write_page(lines: list[dict[str, str]]) -> None:
    """Put the section in its place on the page, and draw the chart."""
    put("solver", section(lines))
    chart(lines)


def chart(lines: list[dict[str, str]]) -> None:
    """Draw the mean gap of each row as a bar, and the widest as a dot."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.26 * len(lines) + 1.2), layout="constrained")
    place = range(len(lines))
    axes.barh(place, [float(row["gap"]) for row in lines], color="#4c72b0", label="mean")
    axes.plot([float(row["widest"]) for row in lines], place, "k.", label="widest")
    for at, row in enumerate(lines):
        text = f"{row['proven']} of {row['seeds']} proven"
        where = (float(row["widest"]), at)
        axes.annotate(text, where, (6, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(place, [row["title"] for row in lines])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.3 * max([1.0, *(float(row["widest"]) for row in lines)]))
    axes.set_xlabel("gap between schedule and certified bound, %")
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(RESULTS / "benchmarks.png", dpi=100)
    plt.close(figure)


def main() -> None:
    """Measure the rows that are named, or all."""
    known = rows()
    places = {key: place for place, key in enumerate(known)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(known))
    parser.add_argument("--seeds", type=int, help="instances of a row")
    parser.add_argument("--first", type=int, default=301, help="first seed")
    parser.add_argument("--limit", type=float, help="seconds of a solve")
    parser.add_argument("--write", action="store_true", help="write results/benchmarks.*")
    wish = parser.parse_args()
    for key in set(wish.rows) - set(known):
        parser.error(f"row {key!r} must be one of {', '.join(known)}")
    warm()
    count_processor_time()
    for key in wish.rows or known:
        row = known[key]
        seeds, limit = wish.seeds or row.seeds, wish.limit or row.limit
        line = measured(key, row, wish.first, seeds, limit)
        print(" | ".join(line[column] for column in COLUMNS[:-1]), flush=True)
        if wish.write:
            lines = kept("benchmarks.csv", COLUMNS, line, lambda row: places.get(row["row"]))
            write_page(lines)


if __name__ == "__main__":
    main()
