"""The adversary: what it may do, what it finds, and that what it says can be checked."""

from fractions import Fraction

import numpy as np
import pytest

from ratiolab.adversary import Case, Limits, attack
from ratiolab.adversary.attack import fresh_seeds
from ratiolab.adversary.known import IN_RANDOM_ORDER
from ratiolab.adversary.moves import draw, families, neighbour
from ratiolab.hindsight import solve
from ratiolab.online import Information, make, simulate

LIMITS = [
    Limits(),
    Limits(headroom=2, prompts="any", requests=9, memory=20),
    Limits(arrivals="any", prompts="any", requests=8, memory=15),
]


@pytest.mark.parametrize("limits", LIMITS)
def test_drawn_cases_families_and_changes_keep_to_the_limits(limits):
    rng = np.random.default_rng(0)
    for case in families(limits):
        assert limits.allow(case)
    for _ in range(100):
        case = draw(limits, rng)
        assert limits.allow(case)
        for _ in range(5):
            case = neighbour(case, limits, rng)
            instance = case.instance(Information.INTERVAL)
            assert limits.headroom * (instance.prompt + instance.output).max() <= instance.memory
            assert 2 <= len(instance) <= limits.requests
            assert Case.of_instance(instance) == case
            if limits.prompts == "equal":
                assert len(set(instance.prompt.tolist())) == 1
            if limits.arrivals == "zero":
                assert not instance.arrival.any()


def test_it_finds_a_bad_instance_for_mc_sf_and_its_figures_are_those_of_solver_and_simulator():
    limits = Limits(requests=15, memory=21)
    found = attack(make("mc-sf"), limits, evaluations=400)
    # the best instance found by hand-made searches with these limits is 192/150
    assert found.ratio >= Fraction(5, 4)
    proved = solve(found.instance)
    assert proved.is_exact
    assert found.best.optimum == proved.lower == found.optimum.lower
    assert found.costs == (simulate(found.instance, make("mc-sf")).total_latency,)
    assert found.ratio == Fraction(found.costs[0], proved.lower)
    ratios = [moment.ratio for moment in found.history]
    assert ratios == sorted(ratios)
    for niche, candidate in found.archive.items():
        assert candidate.case.niche == niche
        assert candidate.ratio <= found.best.ratio


def test_equal_seeds_give_equal_answers():
    limits = Limits(requests=6, memory=10)
    first, second = (
        attack(make("svf"), limits, evaluations=100, seed=3).to_dict() for _ in range(2)
    )
    for answer in (first, second):
        del answer["seconds"]
        answer["history"] = [row[::2] for row in answer["history"]]
    assert first == second


def test_the_final_mean_of_a_random_policy_is_over_seeds_that_the_search_never_used():
    policy = make("kill-restart")
    found = attack(policy, Limits(requests=5, memory=10), evaluations=30, runs=40)
    assert len(found.costs) == 40
    again = [
        simulate(found.instance, policy, seed=seed).total_latency
        for seed in fresh_seeds(policy, 40)
    ]
    assert list(found.costs) == again
    assert found.error > 0


def test_a_budget_is_needed_and_wrong_limits_are_refused():
    with pytest.raises(ValueError, match="evaluations or time_limit is needed"):
        attack(make("mc-sf"))
    for wrong in (
        {"prompts": "some"}, {"arrivals": "late"}, {"requests": 1}, {"headroom": 0}, {"memory": 1},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Limits(**wrong)


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


PROMPTS = Limits(prompts="any", requests=12, memory=4096)
WORST = {"ties": "worst"}

COLD = [
    ("mc-sf", {}, Limits(requests=15, memory=21), 600, Fraction(192, 150)),
    ("svf", {}, PROMPTS, 1100, Fraction(555, 110)),
    ("gba", {}, Limits(), 140, Fraction(333, 133)),
    ("gsa", {}, Limits(), 3000, Fraction(724, 129)),
    ("kill-restart", {}, Limits(), 640, 3.52),
    ("a-min", WORST, Limits(), 340, 4.12),
    ("a-max", WORST, Limits(), 400, 7.18),
    ("a-ell", WORST, Limits(), 500, 6.41),
    ("alpha-beta-clearing", {}, Limits(), 250, 3.85),
    ("fcfs", {}, Limits(), 4000, 4.04),
    ("mc-benchmark", {}, Limits(), 5000, 4.7),
    ("sorted-f", {}, Limits(prompts="any", requests=9, memory=20), 10_000, Fraction(185, 115)),
]
"""Policy, limits, evaluations of each search, and the ratio that was known."""

SEARCHES = {"sorted-f": 2}
"""Searches, with seeds 0, 1, ...; one where none are named. From seed 0 alone Sorted-F stays below
1.57 in half a minute; from seed 1 it is at 1.64 after six seconds."""


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "parameters", "limits", "evaluations", "known"), COLD)
def test_a_cold_start_comes_to_what_was_known(policy, parameters, limits, evaluations, known):
    found = [
        attack(
            make(policy, parameters),
            limits,
            seed=seed,
            evaluations=evaluations,
            runs=200,
            proof_seconds=300.0,
        )
        for seed in range(SEARCHES.get(policy, 1))
    ]
    worst = max(found, key=lambda one: one.ratio)
    assert worst.optimum.is_exact
    assert worst.ratio >= known
