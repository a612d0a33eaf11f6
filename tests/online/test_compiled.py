"""The loop that is compiled for long runs makes the runs that policies make when they are asked."""

import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest
from numba import config, typeof

from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.online import Decision, InformationError, View, compiled, make, simulate
from ratiolab.online.account import LEFT
from ratiolab.online.accounts import boundaries, opened, schedule_of
from ratiolab.online.ahead import compile_rule, policies_to_compile
from ratiolab.online.clock import BatchTime, clock_of
from ratiolab.online.compiled import COMPLETE, serve_compiled
from ratiolab.online.observations import Known, Revealed, setting_of
from ratiolab.online.policies.greedy import FCFS
from ratiolab.online.rules import OnLists
from ratiolab.online.simulate import COMPILING
from ratiolab.online.view import NEVER
from ratiolab.workloads.generators import generate

POLICIES = [
    ("fcfs", {}),
    ("fcfs", {"batch": 3}),
    ("sjf", {}),
    ("vllm-fcfs", {}),
    ("vllm-fcfs", {"batch": 4, "tokens": 9}),
    ("vllm-fcfs", {"batch": 0, "tokens": 0}),
    ("sarathi", {"batch": 3, "tokens": 5}),
    ("vllm-priority", {}),
    ("vllm-priority", {"priority": "predicted", "batch": 4, "tokens": 9}),
    ("vllm-priority", {"priority": "weight", "batch": 0, "tokens": 0}),
    ("alpha-protection", {"alpha": 0.1}),
    ("alpha-beta-clearing", {"alpha": 0.1, "beta": 0.4}),
    ("srpt", {}),
    ("sprpt", {"c": 0.5, "batch": 3}),
    ("mc-sf", {}),
    ("mc-sf", {"lengths": "predicted", "margin": 0.2}),
    ("mc-benchmark", {}),
    ("svf", {"lengths": "upper"}),
    ("swf", {}),
    ("svf-fit", {}),
    ("svf-fit", {"lengths": "upper", "candidates": 3}),
    ("swf-fit", {"ratio": 3.0}),
    ("h-sf", {}),
    ("a-max", {}),
    ("a-random", {}),
    ("rr", {"quantum": 2}),
    ("rr", {"quantum": 2, "starts": "one", "counts": "request", "victim": "last", "batch": 3}),
    ("rr-sjf", {"quantum": 1, "starts": "fill"}),
    ("mlfq", {"slice": 1, "queues": 3, "prompt": 3, "patience": 9}),
    ("mlfq", {"slice": 2, "patience": 0, "batch": 2}),
    ("volume-restart", {"base": 3.0}),
    ("learned-caps", {"pilots": 1.0}),
]
PLANNED = ("mc-sf", "mc-benchmark", "svf", "swf", "svf-fit", "swf-fit", "h-sf", "a-max", "a-random")
"""They plan memory with lengths that are never too short; with predictions they evict."""

CLOCKS = [None, BatchTime(0.031, 0.007, 0.002, 0.001, 0.005)]
COLUMNS = ("request", "start", "stop", "release", "lead", "unfilled")


def drawn(seed):
    """Requests that compete for memory, some of them at once."""
    rng = np.random.default_rng(seed)
    number, memory = int(rng.integers(1, 30)), int(rng.integers(8, 60))
    prompt, output = rng.integers(0, memory // 2, number), rng.integers(1, memory // 2 + 1, number)
    arrival = rng.integers(0, int(rng.choice([1, 30, 900])), number)
    predicted = np.maximum(1, output + rng.integers(-3, 4, number))
    columns = (arrival, prompt, output)
    weight = stream(seed, "cases").integers(1, 4, number)
    given = {"predicted": predicted, "weight": weight}
    return Instance("drawn", memory, *columns, **given, tick_seconds=0.05)


def rule_of(instance, policy, preemption="restart", clock=None):
    setting = setting_of(instance, policy, 0, preemption, clock)
    order = np.argsort(instance.arrival, kind="stable")
    return policy.rule(setting, Known(instance, policy, order), stream(0, "policy"))


def uncompiled(instance, policy, preemption, clock, patience=10**6):
    """What `serve_compiled` does, on lists; what has not arrived cannot be read."""
    lists = OnLists()
    s = opened(instance, preemption, policy.budget, clock, lists)
    rule = rule_of(instance, policy, preemption, clock)
    own, prompt = rule.remember(lists), Revealed("prompt", policy.name)
    own = own._replace(key=Revealed("key", policy.name))
    key = [-1] * len(instance) if rule.key is None else rule.key
    arrival = [-1] * len(instance)
    loop = compiled._serving(rule.decide)
    outcome, decisions, runs, stretches = loop(s, own, prompt, arrival, key, rule.length, patience)
    return s._replace(runs=runs, stretches=stretches), outcome, decisions, arrival


def same_runs(schedule, expected):
    return all(
        getattr(schedule, name).tolist() == getattr(expected, name).tolist() for name in COLUMNS
    )


@pytest.mark.parametrize("clock", CLOCKS, ids=["unit", "clock"])
@pytest.mark.parametrize(("key", "parameters"), POLICIES)
def test_the_loop_makes_the_runs_of_the_policy_that_is_asked(key, parameters, clock):
    policy = make(key, parameters)
    evictions = 0
    for seed in range(10):
        instance = drawn(seed)
        allowed = {*policy.semantics} - {"pause"} - ({"restart"} if policy.may_loop else set())
        for preemption in sorted(allowed):
            asked = simulate(instance, policy, preemption=preemption, clock=clock)
            s, outcome, decisions, arrival = uncompiled(instance, policy, preemption, clock)
            assert (outcome, decisions) == (COMPLETE, asked.decisions)
            assert arrival == asked.schedule.instance.arrival.tolist()
            assert same_runs(schedule_of(s, asked.schedule.instance, preemption), asked.schedule)
            if clock is not None:
                assert boundaries(s).tolist() == asked.times.tolist()
            evictions += asked.schedule.evictions
    assert evictions > 0 or key in PLANNED


def test_a_rule_that_reads_what_has_not_arrived_is_found_out():
    def curious(seen, own):
        return seen.prompt[1]

    instance = Instance("two", 9, [0, 5], [1, 1], [2, 2])
    policy = make("fcfs")
    lists = OnLists()
    s = opened(instance, "restart", 0, None, lists)
    rule = rule_of(instance, policy)
    prompt, none = Revealed("prompt", "curious"), [-1, -1]
    with pytest.raises(InformationError, match="prompt of request 1"):
        compiled._serving(curious)(s, rule.remember(lists), prompt, none, none.copy(), None, 99)


@dataclass(frozen=True)
class OldestLast(FCFS):
    """An order of one's own, on top of a policy with a rule."""

    def key(self, view: View, request: int) -> float:
        return -view.arrival[request]


@dataclass(frozen=True)
class Odd(FCFS):
    """A decision of one's own, on top of a policy with a rule."""

    def start(self, setting, rng):
        return lambda view: Decision()


def test_python_serves_what_has_no_rule_or_leaves_64_bits():
    instance, slow = drawn(1), BatchTime(fixed=1e6, kv=1e6)
    assert rule_of(instance, OldestLast()) is None
    assert rule_of(instance, make("vllm-fcfs", {"block": 2})) is None
    assert rule_of(instance, make("vllm-fcfs", {"victim": "least-computed"})) is None
    for policy, preemption, clock in (
        (make("trail"), "recompute", None),
        (Odd(), "restart", None),
        (make("fcfs"), "pause", None),
        (make("fcfs"), "restart", slow),
    ):
        assert serve_compiled(instance, policy, 0, preemption, clock, NEVER) is None


@pytest.mark.parametrize(("key", "parameters"), POLICIES)
def test_no_step_takes_longer_than_its_bound(key, parameters):
    policy, clock = make(key, parameters), BatchTime(0.001, 0.5, 0.3, 0.2, 0.7, tick=1)
    for seed, preemption in product(range(3), ("recompute", "swap")):
        instance = drawn(seed)
        s, *_ = uncompiled(instance, policy, preemption, clock)
        steps = [
            (later[1] - time)
            for (_, time, _, second, _), later in pairwise(s.stretches)
            if second  # else no request runs
        ]
        assert max(steps) <= compiled.longest_step(instance, clock, policy.budget)


def test_a_memory_without_limit_leaves_times_within_64_bits():
    instance = generate("trace-conversations", 0, n=2_000, memory=16_492).replace(memory=10**9)
    assert compiled._fits(instance.replace(tick_seconds=0.1), clock_of("llama2-70b-2xa100"), 0)


@pytest.mark.long
@pytest.mark.parametrize("clock", CLOCKS, ids=["unit", "clock"])
@pytest.mark.parametrize(("key", "parameters"), POLICIES)
def test_compiled_it_makes_the_same_runs(key, parameters, clock):
    policy = make(key, parameters)
    for seed in range(20):
        instance = drawn(seed)
        asked = simulate(instance, policy, preemption="recompute", clock=clock)
        ended = serve_compiled(instance, policy, 0, "recompute", clock, 10**6)
        assert (ended.outcome, ended.decisions) == ("complete", asked.decisions)
        schedule = schedule_of(ended.account, asked.schedule.instance, "recompute")
        assert same_runs(schedule, asked.schedule)
        if clock is not None:
            assert boundaries(ended.account).tolist() == asked.times.tolist()


def test_all_loops_of_long_runs_are_compiled_ahead(monkeypatch):
    called = set()

    def noted(decide, state, anew):
        compiled._loop(decide)  # which tells the compiler what an empty list is to hold
        called.add((decide, tuple(map(typeof, state))))
        raise StopIteration

    monkeypatch.setattr(compiled, "_compiled", noted)
    for key in policies_to_compile():
        with pytest.raises(StopIteration):
            compile_rule(key)
    ahead = called.copy()
    for key, parameters in POLICIES:
        for preemption, clock in product(("restart", "recompute", "swap"), CLOCKS):
            with suppress(StopIteration):
                serve_compiled(drawn(0), make(key, parameters), 0, preemption, clock, 10**6)
    assert len(ahead) > 5
    assert called == ahead


@pytest.mark.long
def test_machine_code_that_is_kept_is_used_for_shorter_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    compiled._loop.cache_clear()
    n = FCFS.many // COMPILING
    columns = np.arange(n) // 2, np.ones(n, np.int64), 1 + np.arange(n) % 4
    instance, outcomes = Instance("shorter", 30, *columns), []
    real = compiled._compiled

    def noted(*arguments):
        found = real(*arguments)
        outcomes.append(found is not None)
        return found

    monkeypatch.setattr(compiled, "_compiled", noted)
    runs = [simulate(instance, "fcfs").schedule]
    serve_compiled(drawn(0), FCFS(), 0, "restart", None, 10**6)
    compiled._loop.cache_clear()
    runs.append(simulate(instance, "fcfs").schedule)
    compiled._loop.cache_clear()
    assert outcomes == [False, True, True]
    assert same_runs(*runs)


@pytest.mark.long
def test_a_compiled_run_stalls_when_its_patience_ends():
    instance = Instance("two", 9, [0, 0], [1, 1], [5, 5])
    ended = serve_compiled(instance, make("fcfs"), 0, "restart", None, 2)
    asked = simulate(instance, make("fcfs"), patience=2)
    assert (ended.outcome, ended.decisions) == (asked.outcome, asked.decisions)
    assert asked.outcome == "stalled"


@pytest.mark.long
def test_ctrl_c_is_heard_during_a_compiled_run(ctrl_c, monkeypatch):
    n, policy, accounts = 1_000_000, make("fcfs"), []

    def kept(*arguments):
        accounts.append(opened(*arguments))
        return accounts[-1]

    monkeypatch.setattr(compiled, "opened", kept)
    serve_compiled(drawn(0), policy, 0, "restart", None, 10**6)  # compiled by now
    columns = np.arange(n) // 10, np.ones(n, np.int64), 1 + np.arange(n) % 40
    instance = Instance("long", 300, *columns)
    alarm = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    real = compiled._compiled

    def begun(*arguments):
        alarm.start()
        return real(*arguments)

    monkeypatch.setattr(compiled, "_compiled", begun)
    with pytest.raises(KeyboardInterrupt):
        serve_compiled(instance, policy, 0, "restart", None, 10**9)
    assert 0 < accounts[-1].v[LEFT] < n
