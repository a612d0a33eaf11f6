"""Policies that neither know lengths nor kill, on requests that fit one at a time."""

import pytest

from ratiolab.adversary.case import Case
from ratiolab.adversary.known import IN_ORDER, IN_RANDOM_ORDER
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.online import make, simulate
from ratiolab.theory.worst_case.one_at_a_time import long_first_alone


def played(policy, requests, longest, seed=0):
    """Return the latency of a policy on the instance, and the instance."""
    case = long_first_alone(requests, longest)
    blocks = [(0, case.prompt, output, 1) for output in case.outputs]
    instance = Case.of(case.memory, blocks).instance(policy.information)
    return simulate(instance, policy, seed=seed).total_latency, instance, case


@pytest.mark.parametrize("key", IN_ORDER)
def test_in_the_order_of_the_file_the_ratio_tends_to_the_number_of_requests(key):
    for requests in (2, 5):
        latency, instance, case = played(make(key), requests, 300)
        assert tiny_optimum(instance).latency == case.shortest_first
        assert latency == case.in_order
        assert latency > 0.95 * requests * case.shortest_first


@pytest.mark.parametrize("key", IN_RANDOM_ORDER)
def test_in_random_order_it_tends_to_half_of_that(key):
    """With the worst ties it is that of the file; else the long one has a random place p.

    Then the short ones before it pay 1, ..., p, and the others wait for it.
    """
    latency, _, case = played(make(key, {"ties": "worst"}), 5, 300)
    assert latency == case.in_order
    places = [case.in_order - p * (300 - 1) for p in range(5)]
    found = {played(make(key), 5, 300, seed)[0] for seed in range(60)}
    assert found == set(places)
    assert sum(places) / 5 > 0.95 * (5 + 1) / 2 * case.shortest_first


def test_learned_caps_serves_a_long_pilot_first():
    """The first request is a pilot with certainty; pilots are of order log n, so most wait."""
    for requests in (8, 16, 32):
        costs = [played(make("learned-caps"), requests, requests**2, seed)[0] for seed in range(20)]
        case = long_first_alone(requests, requests**2)
        assert sum(costs) / 20 > requests / 3 * case.shortest_first


def test_sizes_must_be_positive():
    with pytest.raises(ValueError, match="at least 1"):
        long_first_alone(0, 3)
