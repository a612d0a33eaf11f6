"""Policies that neither know lengths nor kill, on requests that fit one at a time.

The family and its latencies are those that `ratiolab.adversary.known.IN_ORDER` describes.
"""

import pytest

from ratiolab.adversary.case import Case
from ratiolab.adversary.known import IN_ORDER, IN_RANDOM_ORDER
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.online import make, simulate


def played(policy, requests, longest, seed=0):
    """Return the latency of a policy on one long request before short ones, and the instance."""
    blocks = [(0, longest, output, 1) for output in (longest, *[1] * (requests - 1))]
    instance = Case.of(2 * longest, blocks).instance(policy.information)
    return simulate(instance, policy, seed=seed).total_latency, instance


def in_order(requests, longest):
    """Return the total latency in the order of the file."""
    return requests * longest + requests * (requests - 1) // 2


def shortest_first(requests, longest):
    """Return the total latency in the other order, which is optimal."""
    return longest + requests - 1 + requests * (requests - 1) // 2


@pytest.mark.parametrize("key", IN_ORDER)
def test_in_the_order_of_the_file_the_ratio_tends_to_the_number_of_requests(key):
    for requests in (2, 5):
        latency, instance = played(make(key), requests, 300)
        assert tiny_optimum(instance).latency == shortest_first(requests, 300)
        assert latency == in_order(requests, 300)
        assert latency > 0.95 * requests * shortest_first(requests, 300)


@pytest.mark.parametrize("key", IN_RANDOM_ORDER)
def test_in_random_order_it_tends_to_half_of_that(key):
    """With the worst ties it is that of the file; else the long one has a random place p.

    Then the short ones before it pay 1, ..., p, and the others wait for it.
    """
    latency, _ = played(make(key, {"ties": "worst"}), 5, 300)
    assert latency == in_order(5, 300)
    places = [latency - p * (300 - 1) for p in range(5)]
    found = {played(make(key), 5, 300, seed)[0] for seed in range(60)}
    assert found == set(places)
    assert sum(places) / 5 > 0.95 * (5 + 1) / 2 * shortest_first(5, 300)


def test_learned_caps_serves_a_long_pilot_first():
    """The first request is a pilot with certainty; pilots are of order log n, so most wait."""
    for requests in (8, 16, 32):
        costs = [played(make("learned-caps"), requests, requests**2, seed)[0] for seed in range(20)]
        assert sum(costs) / 20 > requests / 3 * shortest_first(requests, requests**2)
