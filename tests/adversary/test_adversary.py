"""The adversary: what it may do, what it finds, and that what it says can be checked."""

from fractions import Fraction

import numpy as np
import pytest

from ratiolab.adversary import Case, Limits, attack
from ratiolab.adversary.attack import fresh_seeds
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


def test_a_given_start_is_looked_at():
    bad = Case.of(21, [(0, 5, 3, 15)])
    found = attack(make("mc-sf"), Limits(memory=21), evaluations=1, starts=[bad])
    assert found.best.case == bad
    assert found.ratio == Fraction(192, 150)


def test_a_limit_of_time_leaves_room_for_the_first_case():
    found = attack(make("fcfs"), Limits(), time_limit=1e-9)
    assert found.evaluations == 1
    assert found.ratio >= 1
    for none in (0.0, -1.0):
        with pytest.raises(ValueError, match="the budget is too small"):
            attack(make("fcfs"), Limits(), time_limit=none)


def test_a_budget_is_needed_and_wrong_limits_are_refused():
    with pytest.raises(ValueError, match="evaluations or time_limit is needed"):
        attack(make("mc-sf"))
    for wrong in (
        {"prompts": "some"}, {"arrivals": "late"}, {"requests": 1}, {"headroom": 0}, {"memory": 1},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Limits(**wrong)
