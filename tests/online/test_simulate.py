"""Schedules derived by hand, from the papers' examples and from our own."""

import pytest
import reference_intervals

from ratiolab.model import Instance
from ratiolab.online import PolicyError, make, simulate
from ratiolab.online.policies.a_ell import prefers_a_ell


def runs_of(instance, key, **parameters):
    simulation = simulate(instance, make(key, parameters))
    return [(run.request, run.start, run.stop) for run in simulation.schedule.runs]


def latency(instance, key, **parameters):
    return simulate(instance, make(key, parameters)).total_latency


def test_chen_example_1_hindsight_takes_5_rounds_and_a_max_9():
    instance = Instance("example 1", 10, [0] * 5, [1] * 5, [1] * 5, lower=[1] * 5, upper=[4] * 5)
    assert latency(instance, "h-sf") == 1 + 1 + 1 + 1 + 1
    assert latency(instance, "a-max") == 1 + 1 + 2 + 2 + 3


@pytest.mark.parametrize("key", ["h-sf", "mc-sf", "mc-benchmark"])
def test_chen_example_ec_1_starts_three_at_once_and_the_last_at_round_2(key):
    instance = Instance("example EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
    assert runs_of(instance, key) == [(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 2, 6)]
    assert latency(instance, key) == 12


def test_mc_benchmark_stops_at_the_first_misfit():
    # The first alone: with the second, round 3 would hold 4 + 4 > 7, though the last would fit.
    # At round 3 the second fits, 5 + 2 <= 7 at round 4, and nobody beside it. At round 4 the two
    # others do: 3 + 2 + 2 at round 5, 4 + 3 at round 6.
    instance = Instance("reversed", 7, [0] * 4, [1] * 4, [4, 3, 2, 1])
    assert runs_of(instance, "mc-benchmark") == [(0, 0, 4), (1, 3, 6), (2, 4, 6), (3, 4, 5)]


def test_a_min_evicts_the_smallest_bound_and_restarts_it_next_round():
    # All three are believed to end at round 1. They hold 6 at round 2 and would hold 9 at round 3:
    # the first of equals goes, and waits for the others to end.
    instance = Instance("three", 6, [0] * 3, [0] * 3, [3] * 3)
    runs = [(0, 0, 2), (1, 0, 3), (2, 0, 3), (0, 3, 6)]
    assert runs_of(instance, "a-min", ties="index") == runs


BOUNDS = Instance("bounds", 3, [2, 0, 0], [0] * 3, [2, 3, 2], lower=[2, 1, 1])
"""At round 1 requests 1 and 2 would hold 4 > 3 in the next round: 1, the first of equals, goes."""


def test_a_min_with_certified_bounds_believes_k_plus_1():
    # Request 1 is now believed to need 2, as is request 0, which stands first in the file. Both
    # together would hold 4 at round 4, so request 1 waits for round 3: 2 + 1, then 2, then 3.
    runs = [(1, 0, 1), (2, 0, 2), (0, 2, 4), (1, 3, 6)]
    assert runs_of(BOUNDS, "a-min", ties="index") == runs


def test_a_min_with_printed_bounds_repeats_its_mistake():
    # Request 1 is still believed to need 1: it starts at round 2, before and beside request 0, and
    # is evicted again at round 3, where they would hold 4 at round 4.
    runs = [(1, 0, 1), (2, 0, 2), (0, 2, 4), (1, 2, 3), (1, 4, 7)]
    assert runs_of(BOUNDS, "a-min", ties="index", bound="printed") == runs


def test_a_min_counts_who_has_outlived_its_bound():
    # Request 0, believed to need 1, holds 2 at round 2 and 3 at round 3: beside it request 1 has
    # no room at round 1 (2 + 2 > 3), nor at round 2 (3 + 2 > 3). It ends at round 3.
    instance = Instance("outlived", 3, [0, 1], [0, 1], [3, 1])
    assert runs_of(instance, "a-min") == [(0, 0, 3), (1, 3, 4)]


def test_a_ell_evicts_after_exactly_l_tokens_and_serves_the_long_ones_last():
    # Everybody for one round. Then requests 0 and 2 are known to need 3 = M: one at a time.
    instance = Instance("l = 1", 3, [0] * 3, [0] * 3, [3, 1, 3], lower=[1] * 3, upper=[3] * 3)
    runs = [(0, 0, 1), (1, 0, 1), (2, 0, 1), (0, 1, 4), (2, 4, 7)]
    assert runs_of(instance, "a-ell", ties="index") == runs


def test_a_ell_restarts_a_long_request_in_the_round_of_its_eviction():
    # Both hold 3 at round 2; request 0 lacks one token, starts anew and is done at round 5.
    instance = Instance("l = 2", 6, [0, 0], [1, 1], [3, 2], lower=[2, 2], upper=[3, 3])
    assert runs_of(instance, "a-ell") == [(0, 0, 2), (1, 0, 2), (0, 2, 5)]


def test_a_ell_lets_late_arrivals_pass_the_promoted():
    # Request 0 is promoted at round 1, when request 1 arrives. The late one goes first and fills
    # the memory at round 2 with 2 + 1 tokens; the promoted one starts after it.
    instance = Instance("late", 3, [0, 1], [0, 2], [3, 1], lower=[1, 1], upper=[3, 3])
    assert runs_of(instance, "a-ell") == [(0, 0, 1), (1, 1, 2), (0, 2, 5)]


def test_fcfs_evicts_the_latest_arrival():
    # 2 + 2 at round 1 fit, 3 + 3 at round 2 do not; request 1 returns when request 0 has ended.
    instance = Instance("two", 5, [0, 0], [1, 1], [3, 3])
    assert runs_of(instance, "fcfs") == [(0, 0, 3), (1, 0, 1), (1, 3, 6)]


def test_sjf_evicts_the_longest_prediction():
    instance = Instance("two", 5, [0, 0], [1, 1], [3, 3], predicted=[9, 2])
    assert runs_of(instance, "sjf") == [(0, 0, 1), (1, 0, 3), (0, 3, 6)]


def test_predictions_that_are_too_short_clear_everybody_for_ever():
    # Both start at round 0, would hold 6 > 4 at round 3, are cleared at round 2 and start at 3.
    instance = Instance("short", 4, [0, 0], [0, 0], [3, 3], predicted=[1, 1])
    # Both are two rounds old at round 2 and again at round 5: nothing else can ever happen.
    simulation = simulate(instance, make("mc-sf", {"lengths": "predicted"}))
    assert simulation.outcome == "looping"
    assert simulation.total_latency is None
    starts = [(run.start, run.stop) for run in simulation.schedule.runs if run.request == 0]
    assert starts == [(0, 2), (3, 5)]


def test_nothing_is_said_to_loop_while_somebody_is_still_to_arrive():
    # The two are cleared at rounds 2, 5, ..., 20, when request 2 finds the memory empty. It ends;
    # from 21 on the two start and are cleared as before, at 23 and at 26.
    instance = Instance("late", 4, [0, 0, 20], [0, 0, 3], [3, 3, 1], predicted=[1, 1, 1])
    simulation = simulate(instance, make("mc-sf", {"lengths": "predicted"}))
    assert simulation.outcome == "looping"
    assert simulation.schedule.completion.tolist() == [-1, -1, 21]
    stops = [run.stop for run in simulation.schedule.runs if run.request == 0]
    assert stops == [2, 5, 8, 11, 14, 17, 20, 23, 26]


def test_predictions_of_more_than_memory_do_not_wait_for_ever():
    instance = Instance("long", 5, [0, 0], [1, 1], [2, 2], predicted=[10, 10])
    assert runs_of(instance, "mc-sf", lengths="predicted") == [(0, 0, 2), (1, 2, 4)]


@pytest.mark.parametrize(("upper", "chosen"), [(5, "a-min"), (6, "a-ell")])
def test_the_switch_takes_a_ell_from_one_to_two_point_six_on(upper, chosen):
    # l = 2: l/u is below (3 - sqrt 5)/2 = 0.38... for u = 6 (0.33...), not for u = 5 (0.4).
    outputs = [2, upper, 2, upper, 2]
    instance = Instance("switch", 8, [0] * 5, [0] * 5, outputs, lower=[2] * 5, upper=[upper] * 5)
    by_policy = {key: runs_of(instance, key, ties="index") for key in ("a-min", "a-ell")}
    assert by_policy["a-min"] != by_policy["a-ell"]
    assert runs_of(instance, "a-switch", ties="index") == by_policy[chosen]


def test_the_threshold_of_the_switch_is_that_of_a_hundred_digits():
    fibonacci = [1, 1]
    while fibonacci[-1] < 10**18:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    pairs = [(lower, upper) for upper in range(1, 151) for lower in range(1, upper + 1)]
    # F_k / F_(k+2) are the best approximations of (3 - sqrt 5)/2, from both sides
    pairs += zip(fibonacci[:-2], fibonacci[2:], strict=True)
    assert all(prefers_a_ell(*pair) == reference_intervals.below_threshold(*pair) for pair in pairs)
    assert {prefers_a_ell(*pair) for pair in pairs[-2:]} == {True, False}


def test_ties_worst_and_best_bracket_every_order_of_equals():
    instance = Instance("equals", 4, [0] * 4, [0] * 4, [1, 2, 3, 4], upper=[4] * 4)
    costs = {ties: latency(instance, "a-max", ties=ties) for ties in ("best", "index", "worst")}
    # every output is taken for 4 = M: one at a time, shortest or longest first
    assert costs == {"best": 1 + 3 + 6 + 10, "index": 20, "worst": 4 + 7 + 9 + 10}
    random = [simulate(instance, make("a-max"), seed=seed).total_latency for seed in range(20)]
    assert all(20 <= cost <= 30 for cost in random)


@pytest.mark.parametrize(
    "key",
    [
        *("h-sf", "mc-sf", "svf", "sorted-f", "a-max", "a-min", "a-ell", "fcfs", "sjf"),
    ],
)
def test_the_policy_is_asked_at_events_not_for_tokens(key):
    long = [100_000, 200_000, 300_000]
    instance = Instance("long", 400_000, [0, 5, 9], [7, 7, 7], long, long, long, long)
    simulation = simulate(instance, make(key))
    assert simulation.outcome == "complete"
    assert simulation.decisions <= 20


def test_a_run_reports_what_was_run():
    instance = Instance("one", 5, [3], [1], [2])
    policy = make("fcfs")
    simulation = simulate(instance, policy, seed=4)
    assert (simulation.policy, simulation.seed, simulation.preemption) == (policy, 4, "restart")
    assert (simulation.outcome, simulation.decisions, simulation.total_latency) == (
        "complete", 1, 2,
    )  # fmt: skip
    assert issubclass(PolicyError, RuntimeError)
