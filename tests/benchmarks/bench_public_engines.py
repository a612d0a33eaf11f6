"""Engines of this project beside those of a public simulator, request by request.

Run ``python tests/benchmarks/bench_public_engines.py [--write results/engines-public.md]``. It
reads what Vidur wrote of its requests, in ``results/engines-public``, serves the same requests with
the nearest policy of ours under the same clock, and compares the times of every request.
"""

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from ratiolab.evaluation.service import Service
from ratiolab.model import Instance
from ratiolab.model.io import write_text
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime, clock_of
from ratiolab.workloads.traces import Trace, instance_from_trace, read_trace

FOLDER = Path(__file__).parents[2] / "results/engines-public"
CLOCK = "vidur-llama2-70b-2xa100"
AMPLE = 1_000_000
LOGS = ("chat", "prompts")
"""What was served: log-normal lengths and Poisson arrivals in whole milliseconds."""


class Pair(NamedTuple):
    """A scheduler of Vidur, its file, and the policy of ours that is nearest to it.

    Parameters
    ----------
    name : of the files, behind the name of the log.
    vidur : the scheduler with its parameters, in words.
    policy, parameters, memory : ours; the memory in tokens.
    same : whether both are meant to do the same.
    """

    name: str
    vidur: str
    policy: str
    parameters: dict[str, int]
    memory: int
    same: bool


PAIRS = (
    Pair(
        *("sarathi-128-512", "Sarathi, 128 requests, chunks of 512"),
        *("sarathi", {"batch": 128, "tokens": 512}, AMPLE, True),
    ),
    Pair(
        *("sarathi-16-2048", "Sarathi, 16 requests, chunks of 2,048"),
        *("sarathi", {"batch": 16, "tokens": 2048}, AMPLE, True),
    ),
    Pair(
        *("orca-13", "Orca, 13 requests"),
        *("vllm-fcfs", {"batch": 13, "tokens": 0}, AMPLE, True),
    ),
    Pair(
        *("sarathi-128-512-memory", "Sarathi, 128 requests, chunks of 512, 8,000 tokens of memory"),
        *("sarathi", {"batch": 128, "tokens": 512}, 8000, False),
    ),
    Pair(
        *("sarathi-128-512-blocks", "Sarathi, memory in 500 blocks of 16 tokens"),
        *("sarathi", {"batch": 128, "tokens": 512, "block": 16}, 8000, False),
    ),
    Pair(
        *("sarathi-128-512-blocks-changed", "Sarathi in blocks, changed as below"),
        *("sarathi", {"batch": 128, "tokens": 512, "block": 16}, 8000, False),
    ),
    Pair(
        *("vllm-128-4096", "vLLM, version 0: prompts before decoding, 128 requests, 4,096 tokens"),
        *("vllm-fcfs", {"batch": 128, "tokens": 4096}, AMPLE, False),
    ),
)


class Found(NamedTuple):
    """Times of the same requests in both simulators, and who was evicted how often."""

    theirs: Service
    ours: Service
    restarts: int
    evictions: int

    @property
    def farthest(self) -> float:
        """Largest difference of a latency or of a TTFT, seconds."""
        pairs = (self.theirs.latency, self.ours.latency), (self.theirs.ttft, self.ours.ttft)
        return max(float(np.abs(one - other).max()) for one, other in pairs)


def served(log: str, pair: Pair) -> tuple[Trace, Instance]:
    """Return what Vidur wrote, and the requests as an instance."""
    trace = read_trace(FOLDER / f"{log}-{pair.name}.csv.gz")
    return trace, instance_from_trace(trace, memory=pair.memory, rounds_per_second=1000)


def found(log: str, pair: Pair, clock: BatchTime | None = None) -> Found:
    """Return both simulators' times of the requests of a log."""
    import pandas as pd

    from ratiolab.evaluation.observed import observed_service

    trace, instance = served(log, pair)
    policy = make(pair.policy, pair.parameters)
    run = simulate(instance, policy, preemption="recompute", clock=clock or clock_of(CLOCK))
    restarts = pd.read_csv(FOLDER / f"{log}-{pair.name}.csv.gz")["request_num_restarts"].sum()
    ours = Service.of(run)
    return Found(observed_service(trace), ours, int(restarts), run.schedule.evictions)


HEAD = """# Our engines beside a public simulator's

Vidur (Agrawal et al., 2024, arXiv 2405.05465) is a simulator of serving engines; it has schedulers
after Sarathi-Serve, Orca and version 0 of vLLM. This page serves the same requests with Vidur (its
repository at commit 7d47513) and with the policies of this project, and compares every request.
One thing was replaced in Vidur: the time of a batch is that of the clock `{clock}` here, which is
fitted to Vidur's own measurements, so that all differences are the schedulers' and the loops'.
What Vidur wrote is in `results/engines-public`, columns under its own names, and `ratiolab
evaluate` reads it with `--observed`. Two logs of {n} requests: {logs}.

`python tests/benchmarks/bench_public_engines.py --write results/engines-public.md` makes this page;
a test repeats every row that must agree.

## Schedulers that are meant to do the same

{same}

Equal requests and chunks, batch by batch: {agreeing} latencies and times to first token, found
by code that shares nothing with ours but the formula of the clock, differ by no more than
{farthest:.1g} s, which is the rounding of floating point. Chunked prefill, the order of admission,
the limit on requests and the sums of all batches are therefore confirmed from outside; the formula
itself is not, since it was given to both.

## Schedulers that differ, and why

{other}

- **Memory.** A request holds room for the token that it is making here, one token more than Vidur
  counts, and of several that no longer fit here as many leave at once as must, before the batch.
  The two simulators evict the request that arrived last, but not always at the same batch, and
  after the first difference the runs part. Means differ by {memory}.
- **Blocks.** In Vidur a running request goes on only while a block is free, even if its next token
  fits into a block that it has. With full memory it therefore evicts requests that need nothing:
  {blocks} restarts, where ours evicts {evictions} times. vLLM asks for a block only when a request
  needs one, and so do we. With this one condition changed in a copy of Vidur, its mean latencies
  are {changed}, and {blocked} without the change. Its predictions for blocks and full memory
  contain this.
- **Prompts before decoding.** Version 0 of vLLM lets all decoding requests wait while prompts are
  prefilled; version 1, and `vllm-fcfs` here, puts both into one batch. That is not a difference of
  simulators but of schedulers: under this clock the old one has {old} times the mean latency.
"""


def page() -> str:
    """Return the page."""
    clock = clock_of(CLOCK)
    results = [(log, pair, found(log, pair, clock)) for log in LOGS for pair in PAIRS]
    agreed = [each for _, pair, each in results if pair.same]

    def of(name: str) -> list[Found]:
        return [each for _, pair, each in results if pair.name == name]

    def means(name: str) -> str:
        return _and(f"{each.theirs.latency.mean():.2f} s" for each in of(name))

    def change(each: Found) -> float:
        return 1 - float(each.ours.latency.mean() / each.theirs.latency.mean())

    blocks = of("sarathi-128-512-blocks")
    words = HEAD.format(
        clock=CLOCK,
        n=len(agreed[0].ours.latency),
        logs="; ".join(f"*{log}*, {_described(log)}" for log in LOGS),
        same=_table(results, same=True),
        other=_table(results, same=False),
        agreeing=f"{sum(2 * len(each.ours.latency) for each in agreed):,}",
        farthest=max(each.farthest for each in agreed),
        memory=_and(f"{100 * change(each):.1f}%" for each in of("sarathi-128-512-memory")),
        blocks=_and(each.restarts for each in blocks),
        evictions=_and(each.evictions for each in blocks),
        blocked=means("sarathi-128-512-blocks"),
        changed=means("sarathi-128-512-blocks-changed"),
        old=_and(f"{1 / (1 - change(each)):.2f}" for each in of("vllm-128-4096")),
    )
    return "".join(map(_wrapped, re.split(r"(\n\n|\n(?=- ))", words)))


def _wrapped(words: str) -> str:
    """Return a paragraph or an item of a list in lines of 100 letters; other text as it is."""
    if words.isspace() or words.startswith(("#", "|")):
        return words
    indent, end = "  " * words.startswith("- "), "\n" * words.endswith("\n")
    options = {"break_on_hyphens": False, "break_long_words": False, "subsequent_indent": indent}
    return "\n".join(wrap(" ".join(words.split()), 100, **options)) + end  # type: ignore[arg-type]


def _and(words: Iterable[object]) -> str:
    return " and ".join(map(str, words))


def _described(log: str) -> str:
    trace, _ = served(log, PAIRS[0])
    assert trace.seconds is not None
    prompt, output = (f"{np.median(tokens):,.0f}" for tokens in (trace.prompt, trace.output))
    rate = len(trace) / float(trace.seconds[-1])
    words = f"prompts of {prompt} tokens in the median, outputs of {output}"
    return f"{words}, {rate:.1f} requests a second"


def _table(results: Sequence[tuple[str, Pair, Found]], *, same: bool) -> str:
    lines = [
        "| log | scheduler of Vidur | policy here | mean latency, Vidur (s) | here (s) | "
        "P99, Vidur (s) | here (s) | mean TTFT, Vidur (s) | here (s) | farthest request (s) | "
        "evictions, Vidur | here |",
        "|---|---|---|---" + "|---" * 8 + "|",
    ]
    for log, pair, each in results:
        if pair.same is not same:
            continue
        words = ", ".join(f"{name}={value}" for name, value in pair.parameters.items())
        cells = [log, pair.vidur, f"`{pair.policy}:{words}`".replace(", ", ",")]
        for name, figure in (("latency", np.mean), ("latency", _p99), ("ttft", np.mean)):
            pairs = (getattr(service, name) for service in (each.theirs, each.ours))
            cells += [f"{float(figure(values)):,.4f}" for values in pairs]
        cells += [f"{each.farthest:.1e}" if same else f"{each.farthest:.1f}"]
        cells += [str(each.restarts), str(each.evictions)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _p99(values: np.ndarray) -> float:
    return float(np.percentile(values, 99))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare engines with a public simulator's.")
    parser.add_argument("--write", type=Path, help="file of the page")
    where = parser.parse_args().write
    if where is None:
        print(page())
    else:
        write_text(where, page())
