"""Tokens that survive an eviction: literal rounds, hand-made schedules, and what is refused."""

from typing import get_args

import numpy as np
import pytest
import reference
from drawn import MANY, drawn, ended, in_two, word

from ratiolab.model import violations
from ratiolab.model.eviction import EVICTIONS, Preemption
from ratiolab.online import make, simulate

KEEPING = [name for name, each in EVICTIONS.items() if each.keeps_tokens and not each.stays]
CASES = [
    ("fcfs", {}),
    ("sjf", {}),
    ("mc-sf", {"lengths": "predicted"}),
    ("mc-sf", {"lengths": "predicted", "margin": "0.1"}),
    ("mc-benchmark", {"lengths": "predicted"}),
    ("svf", {"lengths": "predicted"}),
    ("alpha-protection", {"alpha": "0"}),
    ("alpha-protection", {"alpha": "0.25"}),
]


@in_two(60, 250)
@pytest.mark.parametrize("case", CASES, ids=word)
def test_every_run_is_that_of_the_literal_rounds_when_tokens_are_kept(case, seeds):
    key, parameters = case
    policy, rule = make(key, parameters), reference.rule_of(key, **parameters)
    resumed = 0
    for seed in seeds:
        expected, complete = reference.serve(drawn(seed), rule, 400, "recompute")
        assert complete, "every run brings its request nearer to its end"
        for preemption in KEEPING:
            simulation = simulate(drawn(seed), policy, preemption=preemption)
            assert simulation.outcome == "complete"
            assert simulation.preemption == simulation.schedule.preemption == preemption
            assert ended(simulation) == expected, seed
            assert violations(simulation.schedule) == []
        resumed += simulation.schedule.evictions > 0
    assert resumed > len(seeds) / 25


PREEMPTIVE = [
    *(
        (key, {"quantum": quantum, "starts": starts})
        for key in ("rr", "rr-sjf")
        for quantum in ("1", "2", "5")
        for starts in ("all", "one", "fill")
    ),
    *(
        (key, {"quantum": quantum, "starts": starts, "counts": counts, "batch": batch})
        for key in ("rr", "rr-sjf")
        for quantum, batch in (("1", "1"), ("2", "3"), ("4", "2"))
        for starts in ("all", "one", "fill")
        for counts in ("run", "request")
    ),
    *(
        ("rr", {"quantum": quantum, "starts": starts, "victim": "last"})
        for quantum in ("1", "3")
        for starts in ("all", "fill")
    ),
    *((key, {"c": c}) for key in ("srpt", "sprpt") for c in ("0", "0.5", "0.8", "1")),
    *(
        (key, {"c": c, "batch": batch})
        for key in ("srpt", "sprpt")
        for c, batch in (("1", "2"), ("0.8", "3"))
    ),
]


@in_two(MANY, 300)
@pytest.mark.parametrize("case", PREEMPTIVE, ids=word)
def test_a_preemptive_policy_makes_every_run_of_the_literal_one(case, seeds):
    key, parameters = case
    policy, rule = make(key, parameters), reference.rule_of(key, **parameters)
    resumed = 0
    for seed in seeds:
        instance = drawn(seed)
        expected, complete = reference.serve(instance, rule, 400, "recompute")
        assert complete
        simulation = simulate(instance, policy, preemption=KEEPING[seed % len(KEEPING)])
        assert ended(simulation) == expected, seed
        assert violations(simulation.schedule) == []
        resumed += simulation.schedule.evictions > 0
    assert resumed > len(seeds) / 5


@pytest.mark.parametrize("key", ["a-min", "a-ell", "a-switch", "gsa", "kill-restart"])
def test_policies_that_count_on_lost_tokens_refuse_to_keep_them(key):
    with pytest.raises(ValueError, match=f"{key}: preemption 'swap' must be one of restart"):
        simulate(drawn(0), make(key), preemption="swap")


def test_unknown_semantics_are_refused():
    with pytest.raises(ValueError, match="preemption 'kill' must be one of restart, recompute, s"):
        simulate(drawn(0), make("fcfs"), preemption="kill")


@pytest.mark.parametrize("key", ["fcfs", "sjf", "rr", "rr-sjf", "srpt", "sprpt", "trail"])
def test_a_batch_is_never_larger_than_it_may_be(key):
    for seed in range(40):
        schedule = simulate(drawn(seed), make(key, {"batch": 2}), preemption="recompute").schedule
        now = np.arange(schedule.makespan)[:, None]
        running = ((schedule.start <= now) & (now < schedule.stop)).sum(axis=1)
        assert running.max() <= 2
    with pytest.raises(ValueError, match=f"policy {key}: batch -1 must be at least 1, or 0 for"):
        make(key, {"batch": -1})


@pytest.mark.parametrize("key", ["rr", "rr-sjf"])
def test_a_slice_has_at_least_one_token(key):
    with pytest.raises(ValueError, match=f"policy {key}: quantum 0 must be at least 1"):
        make(key, {"quantum": 0})


def test_every_semantics_of_preemption_has_an_entry():
    assert tuple(EVICTIONS) == get_args(Preemption)
    for eviction in EVICTIONS.values():
        assert not (eviction.moves and eviction.stays)
        assert eviction.keeps_tokens or not (eviction.refills or eviction.moves or eviction.stays)
