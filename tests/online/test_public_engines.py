"""Engines make the batches of a public simulator; the table of the page says of which."""

import csv
import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from ratiolab.online import make, simulate
from ratiolab.online.clock import clock_of
from ratiolab.online.metrics import per_request
from ratiolab.workloads.traces import instance_from_trace, read_trace

RESULTS = Path(__file__).parents[2] / "results"
CLOCK = clock_of("vidur-llama2-70b-2xa100")
AGREE = {
    "sarathi-128-512": ("sarathi", {"batch": 128, "tokens": 512}),
    "sarathi-16-2048": ("sarathi", {"batch": 16, "tokens": 2048}),
    "orca-13": ("vllm-fcfs", {"batch": 13, "tokens": 0}),
}


@pytest.mark.parametrize("name", AGREE)
@pytest.mark.parametrize("log", ["chat", "prompts"])
def test_every_request_has_the_times_that_vidur_gives_it(log: str, name: str) -> None:
    path = RESULTS / f"engines-public/{log}-{name}.csv.gz"
    instance = instance_from_trace(read_trace(path), memory=10**6, rounds_per_second=1000)
    found = per_request(simulate(instance, make(*AGREE[name]), clock=CLOCK))
    with gzip.open(path, "rt") as lines:  # not through the reader of the library
        rows = list(csv.DictReader(lines))
    for column, theirs in (("latency", "request_e2e_time"), ("ttft", "prefill_e2e_time")):
        np.testing.assert_allclose(
            found[column].to_numpy(), [float(row[theirs]) for row in rows], rtol=0, atol=1e-9
        )


@pytest.mark.long
def test_the_page_is_what_its_command_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    from bench_public_engines import page

    def plain(words: str) -> str:  # the last bits of sums may depend on the machine
        return re.sub(r"\d(?:\.\d)?e-\d\d", "tiny", words)

    assert plain(page()) == plain((RESULTS / "engines-public.md").read_text())
