"""The parts of `bench_targets.py` on traces, on what is lost where, and on seconds.

Run by `bench_targets.py`. Samples of public traces have Poisson arrivals, memory 16,492 and
prompts up to half of it; `ratiolab.workloads.trace_shapes` stands for them where many small
instances are solved to proof.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import thread_time
from types import SimpleNamespace

import numpy as np
from target_options import Rows

from ratiolab.hindsight import many_requests, solve, state
from ratiolab.hindsight.cuts import cut_bound as cuts
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.relaxation import ascent, growth
from ratiolab.hindsight.relaxation.growth import growth_bounds
from ratiolab.hindsight.scale import portfolio
from ratiolab.model import Instance, Schedule
from ratiolab.online import make, simulate
from ratiolab.online.clock import clock_of
from ratiolab.ratio import clock_search
from ratiolab.ratio.clock_bound import clock_lower_bound
from ratiolab.seconds.order_search import search_order, total_seconds
from ratiolab.workloads.generators import generate
from ratiolab.workloads.traces import instance_from_trace, read_trace

CONVERSATIONS, CODE, SUMMARIES = (
    "AzureLLMInferenceTrace_conv.csv",
    "AzureLLMInferenceTrace_code.csv",
    "arxiv_summarization.csv",
)
TRACED = (
    ("conversations, load 1.1", CONVERSATIONS, 2_000, 0.072),
    ("conversations, load 1.2", CONVERSATIONS, 2_000, 0.0764),
    ("conversations, load 0.9", CONVERSATIONS, 2_000, 0.0573),
    ("code, load 1.2", CODE, 2_000, 0.333),
    ("summaries, load 1.2", SUMMARIES, 2_000, 0.02806),
    ("conversations, load 1.2", CONVERSATIONS, 10_000, 0.0764),
    ("conversations, load 1.1", CONVERSATIONS, 100_000, 0.072),
)
"""Title, file, requests and rate a round. There are fewer than 20,000 requests in a file: for more,
the file is repeated."""

SMALL = (
    ("conversations", 40, 8_000, 40),
    ("conversations", 20, 4_000, 20),
    ("code", 40, 8_000, 40),
    ("code", 30, 4_000, 20),
    ("summaries", 24, 8_000, 40),
    ("summaries", 18, 4_000, 20),
)
"""Shape, requests, memory, and by what lengths and memory are divided: 200 tokens are the most for
all rows at one time."""

CUTS = ((24, 5), (32, 5), (40, 5), (32, 3))
"""Requests, and by what outputs and arrivals of code are divided; memory and prompts by 83."""

CLOCKED = (
    ("conversations", CONVERSATIONS, 500, 0.08),
    ("conversations", CONVERSATIONS, 2_000, 0.08),
    ("code", CODE, 1_000, 0.4),
)
"""Title, file, requests and rate a tick of 50 ms."""

CLOCK = "llama2-70b-2xa100"


def traces(limit: float, seeds: range, long: float, rows: Rows = ()) -> Iterator[str]:
    """Gaps of samples of public traces, at memory 16,492."""
    yield "| instance | requests | seeds | seconds | gap, %: mean (each) |"
    yield "|---|---|---|---|---|"
    wanted = rows or range(len(TRACED))
    for title, file, requests, rate in (TRACED[row] for row in wanted):
        for seconds in (limit, long)[: 1 + (long > limit)]:
            found = []
            for seed in seeds:
                instance = sampled(file, requests, rate, seed)
                result = solve(instance, time_limit=seconds).uninterrupted()
                found.append(100 * float(result.gap))
                print(f"{title}, seed {seed}: {result.lower}..{result.upper}", flush=True)
            gap = f"{sum(found) / len(found):.1f} ({', '.join(f'{gap:.1f}' for gap in found)})"
            drawn = f"{seeds[0]} to {seeds[-1]}"
            yield f"| {title} | {requests:,} | {drawn} | {seconds:g} | {gap} |"


def sampled(file: str, requests: int, rate: float, seed: int) -> Instance:
    """Return requests of a trace in random order, as a Poisson process."""
    trace = read_trace(Path(os.environ["RATIOLAB_TRACES"]) / file)
    wish = {"memory": 16_492, "max_prompt": 8_246, "arrivals": "poisson", "rate": rate}
    if requests <= len(trace):
        return instance_from_trace(trace, sample=requests, seed=seed, **wish)
    copies = -(-requests // (len(trace) - 100))  # some requests are too large
    parts = [instance_from_trace(trace, seed=seed * copies + k, **wish) for k in range(copies)]
    ends = [0, *(int(part.arrival.max()) for part in parts)]
    arrival = [a + sum(ends[: k + 1]) for k, part in enumerate(parts) for a in part.arrival]
    prompt, output = (
        [int(x) for part in parts for x in getattr(part, name)] for name in ("prompt", "output")
    )
    whole = Instance(f"{file} {requests}", 16_492, arrival, prompt, output)
    return whole.take(range(requests))


def split(limit: float, seeds: range, long: float) -> Iterator[str]:
    """How the gap splits on small cuts with lengths as of traces, load 2, solved to proof.

    The first three figures are bounds, in percent below the optimum: the linear relaxation, growth
    rows beside its prices, and all rows over tokens held and rounds left of those who run at one
    time. Then schedules, in percent above it: the portfolio of beams and annealing that instances
    of traces get, and smallest volume first. Means over the seeds that are proven, which are the
    easier ones where few are.
    """
    yield "| shape | requests | memory | relaxation | growth | one time | beams | SVF | proven |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for shape, n, tokens, scale in SMALL:
        lost: list[list[float]] = []
        for seed in seeds:
            instance = generate(f"trace-{shape}", seed, n=n, memory=tokens, scale=scale, load=2.0)
            result = solve(instance, time_limit=limit)
            if result.is_exact:
                lost.append([100 * abs(v / result.upper - 1) for v in _values(instance, limit)])
        means = [f"{sum(column) / len(lost):.2f}" for column in zip(*lost, strict=True)]
        cells = " | ".join(means or ["-"] * 5)
        yield f"| {shape} | {n} | {tokens:,} / {scale} | {cells} | {len(lost)} of {len(seeds)} |"


def waiting(limit: float, seeds: range, long: float) -> Iterator[str]:
    """How much of the waiting of code is proven, on small cuts at load 2 and on a trace.

    Outputs and arrivals are divided by less than prompts and memory: divided by the same, most
    outputs would be of one token. The relaxation and growth rows, in percent below the optimum;
    the part of the optimum's waiting that they prove, which is latency without outputs, as those
    nobody can save; beams and smallest volume first, in percent above the optimum. Means over the
    seeds that are proven. The last row, of one seed, has the best schedule found instead of an
    optimum.
    """
    yield "| instance | outputs | relaxation | growth | waiting, % | beams | SVF | proven |"
    yield "|---|---|---|---|---|---|---|---|"
    for n, slow in CUTS:
        lost: list[list[float]] = []
        for seed in seeds:
            instance = cut(seed, n, slow)
            result = solve(instance, time_limit=limit)
            if result.is_exact:
                relaxed, growth_rows, _, beams, svf = _values(instance, limit)
                parts = [
                    100 * abs(v / result.upper - 1) for v in (relaxed, growth_rows, beams, svf)
                ]
                lost.append([*parts[:2], _proven(instance, growth_rows, result.upper), *parts[2:]])
        means = [f"{sum(column) / len(lost):.2f}" for column in zip(*lost, strict=True)]
        cells = " | ".join(means or ["-"] * 5)
        yield f"| {n} requests | / {slow} | {cells} | {len(lost)} of {len(seeds)} |"
    title, file, requests, rate = TRACED[3]
    instance = sampled(file, requests, rate, seeds[0])
    result = solve(instance, time_limit=limit)
    part = f"{_proven(instance, result.lower, result.upper):.2f}"
    yield f"| {title}, {requests:,} requests | / 1 | - | - | {part} | - | - | none |"


def cut(seed: int, n: int, slow: int, scale: int = 83) -> Instance:
    """Return few requests of code at load 2, outputs and arrivals divided by ``slow``.

    Prompts and memory are divided by ``scale``.
    """
    whole = generate("trace-code", seed, n=n, load=2.0)
    columns = (whole.arrival, slow), (whole.prompt, scale), (whole.output, slow)
    arrival, prompt, output = (np.rint(column / by).astype(np.int64) for column, by in columns)
    memory = whole.memory // scale
    prompt = np.clip(prompt, 1, memory // 2)
    return Instance(f"cut {seed}", memory, arrival, prompt, np.clip(output, 1, memory - prompt))


def _proven(instance: Instance, lower: int, upper: int) -> float:
    """Return what part of the waiting of a schedule a bound proves, in percent."""
    least = int(instance.output.sum())
    return 100 * (lower - least) / (upper - least) if upper > least else 100.0


def _values(instance: Instance, limit: float) -> list[int]:
    """Return the three bounds and the two latencies of `split`."""
    known = simulate(instance, make("svf")).schedule
    cuts = cut_bound(instance, time_limit=limit)
    growth_rows = max([cuts.plain, *(proof.bound for proof in growth_bounds(instance))])
    found = [known.total_latency]

    def told(schedule: Schedule) -> None:
        found.append(schedule.total_latency)

    portfolio.Portfolio(known, told).run()
    one_time = max(growth_rows, cuts.lower)
    return [cuts.plain, growth_rows, one_time, min(found), known.total_latency]


def clock(limit: float, seeds: range, long: float) -> Iterator[str]:
    """The best schedule in seconds: a searched order above, the bound of the clock below.

    Clock llama2-70b-2xa100, memory 16,492, arrivals in ticks of 50 ms. Mean latencies, seconds, of
    fcfs and svf, of the order found in ``--limit`` seconds, and the bound; the gap is the mean over
    the seeds.
    """
    yield "| instance | requests | fcfs | svf | searched | bound | gap, % |"
    yield "|---|---|---|---|---|---|---|"
    time = clock_of(CLOCK)
    assert time is not None
    for title, file, requests, rate in CLOCKED:
        rows = []
        for seed in seeds:
            instance = sampled(file, requests, rate, seed).replace(tick_seconds=0.05)
            runs = [simulate(instance, make(key), clock=time) for key in ("fcfs", "svf")]
            runs.append(search_order(instance, time, limit, seed=seed))
            values = [*map(total_seconds, runs), clock_lower_bound(instance, time)]
            rows.append([value / requests for value in values] + [values[2] / values[3] - 1])
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        cells = " | ".join(f"{mean:.4g}" for mean in means[:-1])
        yield f"| {title} | {requests:,} | {cells} | {100 * means[-1]:.1f} |"


def count_cpu() -> None:
    """Let limits of searches and of solves count each thread's processor time."""
    seconds = SimpleNamespace(perf_counter=thread_time)
    for module in (state, cuts, many_requests, portfolio, growth, ascent, clock_search):
        module.time = seconds


Part = Callable[..., Iterator[str]]
PARTS: dict[str, Part] = {part.__name__: part for part in (traces, split, waiting, clock)}
