"""The hindsight solver in one table: proofs, gaps and times, beside the plain integer program.

Run ``python tests/benchmarks/bench_targets.py [--limit SECONDS] [--seeds N] [--first SEED]
[--long SECONDS] [--cpu] [--write FILE] [PART ...]``. Parts: ``proofs``, ``gaps``, ``plain``,
``scale``, ``traces`` (default: all but the last). Small instances are drawn as in Jaillet et al.
(2025), Section 5.1, with n fixed, half of the seeds from each arrival model. Large ones have
log-normal lengths and memory 16,492, see `bench_scale_bounds.py`. Those of ``traces`` are samples
of the public traces of the folder that ``RATIOLAB_TRACES`` names, with Poisson arrivals, memory
16,492 and prompts up to half of it. Times are wall clock, limits too; compare ratios: machines
differ. With ``--cpu`` the limits of ``traces`` are seconds of processor time of each of the two
threads, as on two idle cores, so that a busy machine shows the same.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, thread_time
from types import SimpleNamespace
from typing import NamedTuple

from bench_scale_bounds import log_normal

from ratiolab.hindsight import OptResult, many_requests, solve, state
from ratiolab.hindsight.result import Progress
from ratiolab.hindsight.scale import ascent, growth, portfolio
from ratiolab.model import Instance
from ratiolab.model.io import write_text
from ratiolab.workloads.generators import generate
from ratiolab.workloads.traces import instance_from_trace, read_trace

PROOFS = (10, 15, 20, 25, 30)
GAPS = (40, 50, 60)
CLOSE = 0.045
CONVERSATIONS = "AzureLLMInferenceTrace_conv.csv"
TRACED = (
    ("conversations, load 1.1", CONVERSATIONS, 2_000, 0.072),
    ("conversations, load 1.2", CONVERSATIONS, 2_000, 0.0764),
    ("conversations, load 0.9", CONVERSATIONS, 2_000, 0.0573),
    ("code, load 1.2", "AzureLLMInferenceTrace_code.csv", 2_000, 0.333),
    ("summaries, load 1.2", "arxiv_summarization.csv", 2_000, 0.02806),
    ("conversations, load 1.2", CONVERSATIONS, 10_000, 0.0764),
    ("conversations, load 1.1", CONVERSATIONS, 100_000, 0.072),
)
"""Title, file, requests and rate a round. There are fewer than 20,000 requests in a file: for more,
the file is repeated."""


class Trace(NamedTuple):
    """A solve and the seconds after which its proven gap first was below `CLOSE`, if it was."""

    result: OptResult
    seconds: float
    close_after: float | None

    @property
    def gap(self) -> float:
        return 100 * float(self.result.gap)


def drawn(n: int, seed: int) -> Instance:
    """Even seeds: all at round 0; odd seeds: the first n requests of a draw with arrivals."""
    if seed % 2 == 0:
        return generate("jaillet-model-1", seed, n_least=n, n_most=n)
    for attempt in range(seed, 1_000_000, 1_000):
        instance = generate("jaillet-model-2", attempt)
        if len(instance) >= n:
            return instance.take(range(n), f"{instance.name} first {n}")
    raise AssertionError("no draw of the model is that large")


def traced(instance: Instance, limit: float, method: str = "auto") -> Trace:
    began, close = perf_counter(), None

    def watch(now: Progress) -> None:
        nonlocal close
        if close is None and now.upper - now.lower <= CLOSE * now.lower:
            close = perf_counter() - began

    result = solve(instance, method=method, time_limit=limit, progress=watch)
    seconds = perf_counter() - began
    if close is None and result.upper - result.lower <= CLOSE * result.lower:
        close = seconds
    return Trace(result, seconds, close)


def proofs(limit: float, seeds: range, long: float) -> Iterator[str]:
    """How many are proven optimal, by number of requests."""
    yield "| n | proven optimal | seconds of the proofs, median | largest gap of the rest, % |"
    yield "|---|---|---|---|"
    for n in PROOFS:
        runs = [traced(drawn(n, seed), limit) for seed in seeds]
        proven = sorted(run.seconds for run in runs if run.result.is_exact)
        rest = max((run.gap for run in runs if not run.result.is_exact), default=None)
        cells = (
            f"{len(proven)} of {len(seeds)}",
            f"{proven[len(proven) // 2]:.1f}" if proven else "-",
            "-" if rest is None else f"{rest:.2f}",
        )
        yield f"| {n} | " + " | ".join(cells) + " |"


def gaps(limit: float, seeds: range, long: float) -> Iterator[str]:
    """Certified gaps at the sizes of the paper, and how soon they are small."""
    yield (
        f"| n | seed | seconds to {100 * CLOSE:.1f} % | gap after {limit:.0f} s, % | "
        "gap after --long, % |"
    )
    yield "|---|---|---|---|---|"
    short_gaps, long_gaps = [], []
    for n in GAPS:
        for seed in seeds:
            run = traced(drawn(n, seed), limit)
            short_gaps.append(run.gap)
            after = "-" if run.close_after is None else f"{run.close_after:.1f}"
            more = "-"
            if long > limit:
                long_gaps.append(traced(drawn(n, seed), long).gap)
                more = f"{long_gaps[-1]:.2f}"
            yield f"| {n} | {seed} | {after} | {run.gap:.2f} | {more} |"
    mean = f"{sum(long_gaps) / len(long_gaps):.2f}" if long_gaps else "-"
    yield f"| mean | | | {sum(short_gaps) / len(short_gaps):.2f} | {mean} |"


def plain(limit: float, seeds: range, long: float) -> Iterator[str]:
    """Time to proof at n = 12, the integer program as printed against all methods together."""
    yield "| seed | program as printed, s | ratiolab, s | ratio |"
    yield "|---|---|---|---|"
    for seed in seeds:
        instance = drawn(12, seed)
        ours, theirs = traced(instance, limit), traced(instance, limit, "ip")
        sign = "" if theirs.result.is_exact else "> "
        ratio = f"{sign}{theirs.seconds / ours.seconds:.0f}" if ours.result.is_exact else "-"
        shown = [f"{run.seconds:.1f}" if run.result.is_exact else "open" for run in (theirs, ours)]
        yield f"| {seed} | {shown[0]} | {shown[1]} | {ratio} |"


def scale(limit: float, seeds: range, long: float) -> Iterator[str]:
    """Best schedule against certified bound at memory 16,492."""
    yield "| requests | arrivals | gap, % | seconds |"
    yield "|---|---|---|---|"
    for requests in (1_000, 10_000):
        for rate, arrivals in ((0.0, "all at round 0"), (2.0, "Poisson, overload")):
            run = traced(log_normal(requests, rate), limit)
            yield f"| {requests:,} | {arrivals} | {run.gap:.2f} | {run.seconds:.1f} |"


def traces(limit: float, seeds: range, long: float) -> Iterator[str]:
    """Gaps of samples of public traces, at memory 16,492."""
    yield (
        f"| instance | requests | seeds | gap after {limit:.0f} s, %: mean (least to largest) | "
        "gap after --long, % |"
    )
    yield "|---|---|---|---|---|"
    for title, file, requests, rate in TRACED:
        cells = []
        for seconds in (limit, long):
            found = []
            for seed in seeds if seconds >= limit else ():
                instance = sampled(file, requests, rate, seed)
                found.append(100 * float(solve(instance, time_limit=seconds).gap))
            span = f"({min(found):.1f} to {max(found):.1f})" if found else ""
            cells.append(f"{sum(found) / len(found):.1f} {span}" if found else "-")
        yield f"| {title} | {requests:,} | {seeds[0]} to {seeds[-1]} | " + " | ".join(cells) + " |"


def sampled(file: str, requests: int, rate: float, seed: int) -> Instance:
    """Requests of a trace in random order, as a Poisson process."""
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


def count_cpu() -> None:
    """Let limits of solves of many requests count the processor time of each thread."""
    clock = SimpleNamespace(perf_counter=thread_time)
    for module in (state, many_requests, portfolio, growth, ascent):
        module.time = clock


PARTS = {part.__name__: part for part in (proofs, gaps, plain, scale, traces)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--long", type=float, default=0, help="seconds of a second, longer solve")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--cpu", action="store_true", help="count processor time in `traces`")
    parser.add_argument("--write", type=Path, help="also write a page to this file")
    wish = parser.parse_args()
    for part in wish.parts:
        if part not in PARTS:
            parser.error(f"part {part!r} must be one of {', '.join(PARTS)}")
    for small in (drawn(9, 0), drawn(9, 1)):  # compile first
        traced(small, 20)
    traced(log_normal(600, 2.0), 20)
    if wish.cpu:
        count_cpu()
    seeds = range(wish.first, wish.first + wish.seeds)
    options = f"--limit {wish.limit:g} --seeds {wish.seeds}"
    options += f" --first {wish.first}" * (wish.first > 0) + " --cpu" * wish.cpu
    options += f" --long {wish.long:g}" if wish.long else ""
    command = f"python tests/benchmarks/bench_targets.py {options} {' '.join(wish.parts)}"
    page = ["# What the hindsight solver reaches", "", __doc__.split("\n\n", 1)[1].strip(), ""]
    page += ["```sh", command.strip(), "```"]
    for part in wish.parts or list(PARTS)[:-1]:
        title = (PARTS[part].__doc__ or "").strip()
        page += ["", f"## {title.rstrip('.')}", ""]
        print(f"\n{title}", flush=True)
        for line in PARTS[part](wish.limit, seeds, wish.long):
            print(line, flush=True)
            page.append(line)
    if wish.write:
        write_text(wish.write, "\n".join(page) + "\n")


if __name__ == "__main__":
    main()
