"""Policies of weights and deadlines against a literal loop, and the laws that define them."""

import numpy as np
import pytest
import reference
from drawn import MANY, drawn, ended, in_two, word
from reference_promises import rule_of

from ratiolab.hindsight import solve_promises
from ratiolab.model import Instance
from ratiolab.model.promises import goodput
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.ratio.choice import usable_policies

KEYS = ("edf", "least-slack", "density")
CASES = [(key, {"lengths": lengths}) for key in KEYS for lengths in ("true", "upper")]


def promised(seed: int) -> Instance:
    """A drawn instance with dates around what its requests need, some columns left out."""
    instance, rng = drawn(seed), stream(seed, "instance", 2)
    n, output = len(instance), instance.output
    columns = {
        "deadline": np.maximum(1, instance.arrival + output + rng.integers(-2, 15, n)),
        "first_by": np.maximum(1, instance.arrival + rng.integers(0, 12, n)),
        "weight": rng.integers(1, 6, n),
    }
    for name in list(columns):
        if rng.random() < 0.25:
            del columns[name]
    return instance.replace(**columns)


@in_two(MANY, 250)
@pytest.mark.parametrize("case", CASES, ids=word)
def test_the_event_driven_policy_makes_every_run_of_the_literal_one(case, seeds):
    key, parameters = case
    late = 0
    for seed in seeds:
        instance = promised(seed)
        expected, complete = reference.serve(instance, rule_of(key, **parameters), 400)
        simulation = simulate(instance, make(key, parameters), patience=400)
        assert complete
        assert ended(simulation) == expected, seed
        if {"deadline", "first_by"} & set(instance.promises):
            weights = 1 if instance.weight is None else instance.weight
            late += goodput(simulation.schedule) < np.sum(weights * np.ones(len(instance)))
    assert late > len(seeds) / 8


def test_under_a_clock_the_order_alone_counts():
    clock = BatchTime(fixed=0.5, prefill=0.25, decode=0.125, kv=0.0625, tick=1)
    for seed in range(40):
        instance = promised(seed)
        for key in KEYS:
            rule = rule_of(key, dated=False)
            expected, *_ = reference.serve_by_clock(instance, rule, 400, "restart", clock)
            assert ended(simulate(instance, make(key), clock=clock)) == expected, (seed, key)


def test_without_promises_they_are_policies_that_are_known():
    for seed in range(60):
        bare = drawn(seed)
        assert ended(simulate(bare, make("density"))) == ended(simulate(bare, make("svf")))
        for key in ("edf", "least-slack"):
            assert ended(simulate(bare, make(key))) == ended(simulate(bare, make("mc-benchmark")))


def test_due_first_slack_first_and_worth_first_differ():
    # One request at a time. 0 is due first, 1 has the least slack, 2 is worth most for its volume.
    columns = {"deadline": [5, 6, 20], "weight": [1, 1, 9]}
    three = Instance("three", 8, [0] * 3, [4, 1, 4], [3, 6, 3], **columns)
    first = {key: int(simulate(three, make(key)).schedule.request[0]) for key in KEYS}
    assert first == {"edf": 0, "least-slack": 1, "density": 2}


def test_a_request_that_is_late_makes_way_at_once():
    # 0 runs to 6. 1 must start by 2 and cannot; from round 3 on 2 goes before it, beside 0.
    columns = {"deadline": [6, 10, 99], "weight": [1, 1, 1]}
    three = Instance("three", 12, [0, 1, 1], [0, 4, 1], [6, 8, 4], **columns)
    schedule = simulate(three, make("edf")).schedule
    assert schedule.starts.tolist() == [0, 6, 3]


def test_no_policy_serves_more_in_time_than_the_proven_bound():
    for seed in range(20):
        instance = promised(seed)
        if not {"deadline", "first_by"} & set(instance.promises):
            continue
        bound = solve_promises(instance, "goodput", method="certified").upper
        for key in (*KEYS, "svf", "mc-sf"):
            assert goodput(simulate(instance, make(key)).schedule) <= bound


def test_an_urgent_request_waits_behind_running_ones_in_vllm():
    # The batch takes two; the heavy request 2 comes when both places are taken, and waits.
    three = Instance("three", 50, [0, 0, 1], [1, 1, 1], [9, 9, 2], weight=[1, 1, 9])
    run = simulate(three, make("vllm-priority", {"priority": "weight", "batch": 2}))
    assert run.schedule.starts.tolist() == [0, 0, 9]
    sooner = make("vllm-priority", {"priority": "weight", "batch": 1})
    assert simulate(three.replace(arrival=[0, 0, 0]), sooner).schedule.starts.tolist()[2] == 0


def test_tables_leave_out_policies_that_read_columns_which_are_not_there():
    usable, skipped = usable_policies(drawn(1), None)
    assert not {policy.name for policy in usable} & set(KEYS)
    assert ("edf", "the instance has no column deadline or first_by") in skipped
    with_dates = drawn(1).replace(deadline=[99] * len(drawn(1)))
    assert set(KEYS) <= {policy.name for policy in usable_policies(with_dates, None)[0]}
