"""Engines' schedulers and skip-join queues against literal lists and a public simulator."""

import csv
import gzip
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import reference_engines as literal
import reference_mlfq
from drawn import drawn, in_two, word
from round_by_round import serve

from ratiolab.model import Instance, violations
from ratiolab.online import PolicyError, make, simulate
from ratiolab.online.clock import BatchTime, clock_of
from ratiolab.online.metrics import over_time, per_request
from ratiolab.online.policies.greedy import FCFS
from ratiolab.online.policies.vllm import VLLMFCFS
from ratiolab.workloads.traces import instance_from_trace, read_trace

VICTIMS = ("last", "least-computed", "most-computed", "longest-remaining")


BATCHES = ((0, 0), (1, 0), (3, 3), (2, 5), (4, 4), (1, 1), (9, 9))
"""Most requests and most tokens; 0 sets no limit."""

CLOCK = BatchTime(fixed=0.5, prefill=0.125, decode=0.0625, kv=0.03125, tick=1.0)


def stays(simulation):
    """Runs with the rounds before the first token, and what was never prefilled."""
    schedule = simulation.schedule
    names = ("request", "start", "stop", "lead", "unfilled")
    return list(zip(*(getattr(schedule, name).tolist() for name in names), strict=True))


def rules_of(key, parameters):
    """Who joins first and who leaves first, in the literal loop."""
    if key in ("vllm-fcfs", "sarathi"):
        return literal.fcfs, literal.VICTIMS[parameters.get("victim", "last")]
    length = {
        "prompt": lambda r: r.prompt,
        "predicted": lambda r: r.predicted,
        "sum": lambda r: r.prompt + r.predicted,
    }
    if key == "vllm-priority":
        least = length[parameters["priority"]]
    else:

        def least(request):
            years = Fraction(parameters["ageing"]) * request.since
            return length[parameters["length"]](request) + years

    if parameters.get("victim") == "least-computed":
        return literal.by(least), literal.VICTIMS["least-computed"]
    return literal.by(least), literal.last_by(least)


CASES = [
    *(("vllm-fcfs", {"victim": victim}) for victim in VICTIMS),
    *(("vllm-priority", {"priority": priority}) for priority in ("prompt", "predicted")),
    ("sarathi", {}),
    ("short-first", {"length": "predicted", "ageing": "0.5", "victim": "least-computed"}),
    *(
        ("short-first", {"length": length, "ageing": ageing})
        for length, ageing in (
            ("predicted", "0"),
            ("predicted", "0.5"),
            ("prompt", "0.1"),
            ("sum", "1"),
        )
    ),
]


@in_two(20, 600)
@pytest.mark.parametrize("case", CASES, ids=word)
def test_an_engine_makes_every_run_of_the_literal_loop(case, seeds):
    key, parameters = case
    evicting = chunked = 0
    for seed in seeds:
        batch, tokens = BATCHES[seed % len(BATCHES)]
        block = (1, 1, 2, 4)[seed % 4]
        rules = rules_of(key, parameters)
        expected, _ = literal.serve(drawn(seed), *rules, batch, tokens or 10**9, block=block)
        policy = make(key, parameters | {"batch": batch, "tokens": tokens, "block": block})
        simulation = simulate(drawn(seed), policy)
        assert stays(simulation) == expected, seed
        assert violations(simulation.schedule) == []
        evicting += simulation.schedule.evictions > 0
        chunked += simulation.schedule.lead.any()
    assert evicting > len(seeds) / 8
    assert chunked > len(seeds) / 8


@in_two(21, 300)
@pytest.mark.parametrize("case", CASES, ids=word)
def test_a_batch_takes_what_the_literal_loop_adds_up(case, seeds):
    key, parameters = case
    for seed in seeds:
        instance, clock = drawn(seed), replace(CLOCK, tick=(0.25, 1.5)[seed % 2])
        batch, tokens = BATCHES[seed % len(BATCHES)]
        expected, times = literal.serve(
            instance, *rules_of(key, parameters), batch, tokens or 10**9, clock
        )
        policy = make(key, parameters | {"batch": batch, "tokens": tokens})
        simulation = simulate(instance, policy, clock=clock)
        assert stays(simulation) == expected, seed
        assert simulation.times.tolist() == pytest.approx([float(time) for time in times])


def test_a_prompt_in_chunks_waits_for_its_first_token_and_makes_none_before():
    """By hand: 5 prompt tokens, two a batch, make the first of 3 tokens in the third batch."""
    one = Instance("one", 9, [0], [5], [3], tick_seconds=1)
    done = simulate(one, make("sarathi", {"batch": 1, "tokens": 2}), clock=CLOCK)
    seconds = [0.5 + 2 / 8, 0.5 + 2 / 8 + 2 / 32, 0.5 + 1 / 8 + 4 / 32]
    seconds += [0.5 + 1 / 16 + 6 / 32, 0.5 + 1 / 16 + 7 / 32]
    assert done.times.tolist() == pytest.approx([sum(seconds[:k]) for k in range(6)])
    (row,) = per_request(done).to_dict("records")
    assert row["ttft"] == pytest.approx(sum(seconds[:3]))
    assert row["latency"] == pytest.approx(sum(seconds))
    spans = over_time(done, bins=5)
    assert float((spans["throughput"] * (spans["end"] - spans["begin"])).sum()) == pytest.approx(3)


@dataclass(frozen=True)
class Eager(FCFS):
    """First come, first served in batches of so many tokens, whatever an eviction costs."""

    tokens: int = 3

    name: ClassVar[str] = "eager"

    @property
    def budget(self):
        return self.tokens


def test_a_policy_may_not_run_more_requests_than_a_batch_computes_tokens():
    crowd = Instance("crowd", 90, [0] * 4, [1] * 4, [2] * 4)
    with pytest.raises(PolicyError, match="4 requests run in a batch of 3 tokens"):
        simulate(crowd, Eager())
    assert simulate(crowd, Eager(batch=3)).outcome == "complete"


def test_chunks_need_evictions_that_lose_the_cache():
    one = Instance("one", 9, [0], [5], [3])
    for preemption in ("swap", "pause"):
        with pytest.raises(ValueError, match="a budget of tokens needs restart or recompute"):
            simulate(one, Eager(), preemption=preemption)


def test_under_restart_every_token_of_an_evicted_run_is_made_again():
    lost = 0
    for seed in range(60):
        schedule = simulate(drawn(seed), Chunked(batch=2, tokens=3), preemption="restart").schedule
        assert violations(schedule) == []
        made = np.bincount(schedule.request, schedule.made, len(schedule.instance))
        again = np.bincount(schedule.request[~schedule.completes], minlength=len(made)) > 0
        assert (made >= schedule.instance.output).all()
        assert (made[~again] == schedule.instance.output[~again]).all()
        lost += int(again.sum())
    assert lost > 10


@dataclass(frozen=True)
class Chunked(VLLMFCFS):
    """vLLM's rule where evicted requests lose what they made."""

    semantics: ClassVar = ("restart", "recompute")


RESULTS = Path(__file__).parents[2] / "results"
VIDUR = clock_of("vidur-llama2-70b-2xa100")
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
    found = per_request(simulate(instance, make(*AGREE[name]), clock=VIDUR))
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


QUEUES = [
    {"slice": 1, "ratio": 2, "queues": 3, "prompt": 1, "patience": 0, "batch": 0},
    {"slice": 1, "ratio": 2, "queues": 4, "prompt": 2, "patience": 3, "batch": 3},
    {"slice": 2, "ratio": 3, "queues": 2, "prompt": 100, "patience": 5, "batch": 0},
    {"slice": 1, "ratio": 2, "queues": 8, "prompt": 1, "patience": 1, "batch": 2},
    {"slice": 3, "ratio": 2, "queues": 1, "prompt": 1, "patience": 0, "batch": 0},
]


@in_two(20, 400)
@pytest.mark.parametrize("case", QUEUES, ids=lambda case: "-".join(map(str, case.values())))
def test_every_run_is_that_of_the_lists(case, seeds):
    evicting = 0
    for seed in seeds:
        instance = drawn(seed)
        preemption = ("recompute", "swap", "pause")[seed % 3]
        rule = reference_mlfq.Queues(**case)
        expected, complete = serve(instance, rule, 800, preemption)
        assert complete
        simulation = simulate(instance, make("mlfq", case), preemption=preemption)
        runs = [(run.request, run.start, run.stop) for run in simulation.schedule.runs]
        assert runs == [run[:3] for run in expected], seed
        if preemption == "pause":
            assert simulation.schedule.release.tolist() == [run[3] for run in expected], seed
        assert violations(simulation.schedule) == []
        evicting += simulation.schedule.preemptions > 0
    assert evicting > len(seeds) / 12


def test_the_default_cost_of_a_prompt_is_that_of_the_measured_clock():
    """To ten tokens, for 12 requests that fill a memory of 16,492 tokens."""
    clock = clock_of("vidur-llama2-70b-2xa100")
    decoding = clock.fixed + 12 * clock.decode + 16_492 * clock.kv
    assert make("mlfq").prompt == round(decoding / clock.prefill, -1)
