"""Policies on predicted laws, ranks, bits and classifiers: every run that of the literal rounds."""

import numpy as np
import pytest
import reference
import reference_predictions
from drawn import MANY, drawn, ended, in_two, word
from reference_promises import rule_of

from ratiolab.hindsight import solve_promises
from ratiolab.model import Instance, violations
from ratiolab.model.promises import goodput
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.ratio.choice import usable_policies

INSTANCES, ROUNDS = 60, 400
ONE_ROUND_AHEAD = [
    ("ssjf", {}),
    ("ltr", {}),
    ("svf-1bit", {}),
    ("sept", {}),
    ("sept", {"max_tokens": "5"}),
    ("sept", {"batch": "3"}),
    ("tie", {}),
    ("tie", {"batch": "1"}),
    ("tie", {"batch": "1", "tau": "5"}),
    ("tie", {"batch": "3", "limited": "true"}),
    ("tie", {"beta": "0.3", "gamma": "1"}),
    ("tie", {"batch": "1", "beta_from": "arrival"}),
    ("tie", {"batch": "2", "limited": "true", "max_tokens": "9", "tail_tokens": "11"}),
    ("tie", {"batch": "1", "max_tokens": "8", "tail_tokens": "9", "capped": "log-t"}),
    ("tie", {"beta": "2", "alpha": "0.5", "max_tokens": "12", "tau": "3"}),
]
SMALL = {"bins": "4", "longest": "12"}
TRAILS = [
    *({**SMALL, "c": c} for c in ("1", "0.8", "0.3", "0")),
    {**SMALL, "spread": "0.7"},
    {**SMALL, "spread": "0.05", "c": "1"},
    {**SMALL, "propagation": "printed", "c": "1"},
    {**SMALL, "propagation": "printed", "spread": "0.6"},
    {**SMALL, "batch": "2"},
    {**SMALL, "correlation": "0.8", "spread": "0.5"},
    {**SMALL, "changes": "0.3", "spread": "0.5"},
    {**SMALL, "correlation": "0.5", "changes": "0.6", "spread": "0.7", "batch": "3"},
    {**SMALL, "batch": "1", "c": "1"},
]


@in_two(6, INSTANCES)
@pytest.mark.parametrize("preemption", ["restart", "recompute"])
@pytest.mark.parametrize("case", ONE_ROUND_AHEAD, ids=word)
def test_orders_that_look_one_round_ahead_make_every_run_of_the_literal_ones(
    case, preemption, seeds
):
    key, parameters = case
    rule = reference_predictions.rule_of(key, **parameters)
    policy = make(key, parameters)
    evictions = 0
    for seed in seeds:
        expected, complete = reference.serve(drawn(seed), rule, ROUNDS, preemption)
        assert complete
        simulation = simulate(drawn(seed), policy, preemption=preemption)
        assert ended(simulation) == expected, seed
        evictions += simulation.schedule.evictions
    assert evictions > len(seeds) / 3


@pytest.mark.parametrize("base", ["1.5", "2", "3"])
def test_gba_makes_every_run_of_the_literal_one_and_kills_nobody(base):
    rule = reference_predictions.rule_of("gba", base=base)
    for seed in range(INSTANCES):
        expected, complete = reference.serve(drawn(seed), rule, ROUNDS)
        assert complete
        schedule = simulate(drawn(seed), make("gba", {"base": base})).schedule
        assert [(run.request, run.start, run.stop) for run in schedule.runs] == expected, seed
        assert schedule.evictions == 0


@in_two(5, INSTANCES)
@pytest.mark.parametrize("parameters", TRAILS, ids=lambda p: "-".join(p.values()))
def test_trail_makes_every_run_of_the_literal_filter_in_fractions(parameters, seeds):
    evictions = 0
    for seed in seeds:
        rule = reference_predictions.rule_of("trail", seed=seed, **parameters)
        expected, complete = reference.serve(drawn(seed), rule, ROUNDS, "recompute")
        assert complete
        simulation = simulate(drawn(seed), make("trail", parameters), seed=seed)
        assert simulation.preemption == "recompute"
        assert violations(simulation.schedule) == []
        assert ended(simulation) == expected, seed
        evictions += simulation.schedule.evictions
    assert evictions > len(seeds) / 3


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


def test_no_policy_serves_more_in_time_than_the_proven_bound():
    for seed in range(12):
        instance = promised(seed)
        if not {"deadline", "first_by"} & set(instance.promises):
            continue
        bound = solve_promises(instance, "goodput", method="certified").upper
        for key in (*KEYS, "svf", "mc-sf"):
            assert goodput(simulate(instance, make(key)).schedule) <= bound


def test_tables_leave_out_policies_that_read_columns_which_are_not_there():
    usable, skipped = usable_policies(drawn(1), None)
    assert not {policy.name for policy in usable} & set(KEYS)
    assert ("edf", "the instance has no column deadline or first_by") in skipped
    with_dates = drawn(1).replace(deadline=[99] * len(drawn(1)))
    assert set(KEYS) <= {policy.name for policy in usable_policies(with_dates, None)[0]}
