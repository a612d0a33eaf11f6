"""The search for tiny optima against the oracle that tries every start, and against `solve`."""

import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight import solve
from ratiolab.hindsight.tiny import one_at_a_time, tiny_optimum
from ratiolab.model import Instance, require_feasible


def test_it_finds_the_optimum_of_the_oracle_and_a_schedule_of_that_latency():
    for seed in range(480):
        instance = tiny(seed, longest=6)
        found = tiny_optimum(instance)
        assert found.latency == least_latency(instance), instance.to_dict()
        assert require_feasible(found.schedule).total_latency == found.latency


def test_a_limit_below_the_optimum_is_proved_to_be_below():
    for seed in range(96):
        instance = tiny(seed)
        optimum = tiny_optimum(instance).latency
        assert tiny_optimum(instance, optimum).latency == optimum
        below = tiny_optimum(instance, optimum - 1)
        assert below.latency is None
        assert below.above


def test_many_equal_requests_have_the_optimum_of_the_solver():
    # 15 requests of one kind, and 13 of two kinds: what makes MC-SF bad
    for memory, prompt, outputs in (
        (21, 5, [3] * 15),
        (14, 3, [5] * 9),
        (24, 6, [1, 1, 1] + [3] * 10),
    ):
        n = len(outputs)
        instance = Instance("few kinds", memory, [0] * n, [prompt] * n, outputs)
        proved = solve(instance)
        assert tiny_optimum(instance).latency == proved.lower == proved.upper


def test_a_search_that_may_keep_few_states_ends_without_an_answer():
    instance = Instance("few kinds", 21, [0] * 15, [5] * 15, [3] * 15)
    found = tiny_optimum(instance, states=10)
    assert found.latency is None
    assert not found.above
    with pytest.raises(ValueError, match="no optimum was found"):
        _ = found.schedule


def test_one_request_at_a_time_is_a_schedule():
    # volumes 3, 1, 6: completions 1, 3, 6
    assert one_at_a_time(Instance("three", 9, [0] * 3, [0] * 3, [2, 1, 3])) == 10


@pytest.mark.slow
def test_thousands_more_optima_agree():
    for seed in range(480, 40_000):
        instance = tiny(seed, most=6, longest=6)
        assert tiny_optimum(instance).latency == least_latency(instance), instance.to_dict()
