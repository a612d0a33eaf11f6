"""One instance, its optimum or bounds, all policies: what must hold between them."""

import dataclasses
from fractions import Fraction
from importlib import import_module
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratiolab.hindsight import bracket
from ratiolab.model import Instance, violations
from ratiolab.online import Policy, Simulation, make
from ratiolab.ratio import RatioInterval, compare, default_policies
from ratiolab.ratio.choice import usable_policies
from ratiolab.report.tables import comparison_table
from ratiolab.testing import instances
from ratiolab.workloads.predictions import add_predictions

TIGHT = Instance("tight", 12, [0, 0, 1, 2], [1, 2, 1, 3], [9, 3, 2, 4], predicted=[4, 4, 4, 4])


@settings(max_examples=25, deadline=None)
@given(instances(max_requests=4, max_memory=10))
def test_no_policy_beats_the_optimum(instance):
    result = compare(instance, runs=2)
    for row in result.rows:
        if row.ratio is None:  # only who says that it may loop for ever may fail to end
            assert row.policy.may_loop, row.policy
        else:
            assert row.ratio.low >= 1, row.policy


def test_rows_are_means_over_the_seeds():
    result = compare(TIGHT, [make("a-min"), make("mc-sf")], runs=5, seed=3)
    random, fixed = result.row("a-min"), result.row("mc-sf")
    assert [run.seed for run in random.runs] == [3, 4, 5, 6, 7]
    assert random.mean_cost == Fraction(sum(run.schedule.total_latency for run in random.runs), 5)
    low, high = random.cost_interval or (1, 0)
    assert low <= random.mean_cost <= high
    assert len(fixed.runs) == 1
    assert fixed.cost_interval is None
    assert fixed.ratio.is_exact
    assert len(random.latencies) == 5 * len(TIGHT)


def test_rows_are_in_the_order_of_their_cost_and_who_never_ends_is_last():
    chosen = [make(key) for key in ("a-max", "fcfs", "alpha-protection", "mc-sf", "a-min")]
    looping = Instance("looping", 16, [0] * 3, [1] * 3, [14] * 3)
    for instance in (TIGHT.replace(lower=[1] * 4, upper=[9] * 4), looping):
        result = compare(instance, chosen, runs=3)
        costs = [inf if row.mean_cost is None else row.mean_cost for row in result.rows]
        assert costs == sorted(costs)
        assert [row.policy.name for row in result.knowing] == ["mc-sf"]
        groups = [row for _, rows in result.groups for row in rows]
        assert groups == [*result.deployable, *result.knowing]
        assert len(groups) == 5
    assert inf in costs


def test_a_policy_that_beats_the_best_known_schedule_becomes_it():
    blocked = Instance("blocked", 10, [0, 0], [1, 5], [9, 3])  # the long one comes first
    loose = bracket(blocked)
    worse = dataclasses.replace(
        loose,
        schedule=(first := compare(blocked, [make("mc-benchmark")]).rows[0].runs[0].schedule),
        upper=first.total_latency,
        lower=1,
        status="bounded",
    )
    result = compare(blocked, [make("mc-sf")], optimum=worse)
    best = result.rows[0].runs[0].schedule.total_latency
    assert best < worse.upper
    assert result.optimum.upper == result.optimum.schedule.total_latency == best
    assert violations(result.optimum.schedule) == []


def test_policies_that_lack_their_column_are_left_out_with_the_reason():
    bare = Instance("bare", 9, [0], [1], [2])
    usable, skipped = default_policies(bare)
    assert {"sjf", "tie"}.isdisjoint(policy.name for policy in usable)
    reasons = dict(skipped)
    assert reasons["sjf"] == "the instance has no column 'predicted'; --predict exact adds it"
    assert reasons["tie"] == "the instance has no column 'location'; --predict log-t adds it"
    assert "--preemption recompute" in reasons["srpt"]
    # each reason names what brings the policy back
    for key in ("sjf", "tie"):
        kind = reasons[key].split("--predict ")[1].split()[0]
        told = add_predictions(bare, kind, 0)
        assert key in [policy.name for policy in default_policies(told)[0]]
    kept, others = usable_policies(bare, "recompute")
    assert "srpt" in [policy.name for policy in kept]
    assert dict(others)["a-min"] == "not made for --preemption recompute"
    with pytest.raises(ValueError, match="no column 'predicted'"):
        compare(bare, [make("sjf")])


@pytest.mark.parametrize(("stop", "left"), [("fcfs", {"mc-sf", "svf"}), ("mc-sf", set())])
def test_ctrl_c_keeps_the_optimum_and_the_policies_that_had_run(stop, left, monkeypatch):
    module = import_module("ratiolab.ratio.runs")
    simulated = module.simulate

    def stopping(instance: Instance, policy: Policy, **options: Any) -> Simulation:
        if policy.name == stop:
            raise KeyboardInterrupt
        run: Simulation = simulated(instance, policy, **options)
        return run

    monkeypatch.setattr(module, "simulate", stopping)
    result = compare(TIGHT, [make(key) for key in ("mc-sf", "svf", "fcfs", "h-sf")])
    assert result.interrupted
    assert result.optimum.is_exact
    assert {row.policy.name for row in result.rows} == left
    assert result.to_dict()["interrupted"]
    assert comparison_table(result).row_count == len(left)
    with pytest.raises(KeyboardInterrupt):
        result.uninterrupted()


def test_an_optimum_of_another_instance_is_refused():
    other = TIGHT.replace(output=[1, 1, 1, 1], name="other")
    with pytest.raises(ValueError, match=r"optimum is of other .* must be of tight"):
        compare(TIGHT, ["mc-sf"], optimum=bracket(other))
    renamed = bracket(TIGHT.replace(name="other"))  # a name is no part of what is served
    assert compare(TIGHT, ["mc-sf"], optimum=renamed).rows[0].ratio is not None


def test_variants_of_a_policy_are_told_apart_by_their_parameters():
    one, two = (make("fcfs", {"batch": size}) for size in (1, 2))
    result = compare(TIGHT, [one, two, "svf"])
    names = {"fcfs(batch=1)", "fcfs(batch=2)", "svf"}
    assert {row.name for row in result.rows} == set(result.to_frame()["policy"]) == names
    assert result.row("fcfs(batch=2)").policy == result.row(two).policy == two
    with pytest.raises(ValueError, match=r"'fcfs' has several rows: name one of 'fcfs\(batch="):
        result.row("fcfs")
    with pytest.raises(KeyError):
        result.row("mc-sf")
    assert compare(TIGHT, [one, "fcfs"]).row("fcfs").policy == make("fcfs")
    assert compare(TIGHT, [one]).row("fcfs").policy == one
    printed = [cell for column in comparison_table(result).columns for cell in column.cells]
    assert names <= set(printed)


def test_runs_must_be_positive():
    with pytest.raises(ValueError, match="runs 0 must be at least 1"):
        compare(TIGHT, runs=0)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6))
def test_the_interval_holds_the_ratio_to_every_optimum_between_the_bounds(cost, lower, width, step):
    upper = lower + width
    optimum = lower + step % (width + 1)
    ratio = RatioInterval(Fraction(cost), lower, upper)
    assert ratio.low <= Fraction(cost, optimum) <= ratio.high
    assert not ratio.is_exact


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 10**4))
def test_what_is_printed_is_still_proved(cost, lower, width):
    ratio = RatioInterval(Fraction(cost, 7), lower, lower + width)
    low, high = (Fraction(word) for word in str(ratio).strip("[]").split(", "))
    assert low <= ratio.low <= ratio.high <= high
    assert ratio.low - low < Fraction(2, 10**4)
    assert high - ratio.high < Fraction(2, 10**4)


@pytest.mark.parametrize(("lower", "upper"), [(0, 5), (6, 5), (-1, 1)])
def test_bounds_that_bracket_nothing_are_refused(lower, upper):
    with pytest.raises(ValueError, match="1 <= opt_lower <= opt_upper"):
        RatioInterval(Fraction(1), lower, upper)
