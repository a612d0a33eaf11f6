"""Families behind lower bounds: independent routes to their figures, and checks that can fail."""

from fractions import Fraction

import pytest

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.ours.claims.slices import member, on_the_clock
from ratiolab.theory.limits.slices import gsa_cost, gsa_ratio, halving_family, staggered_optimum
from ratiolab.theory.worst_case.any_prompts import fat_before_thin, thin_before_fat


def pipeline(law: list[tuple[int, int]], memory: int) -> float:
    """Return GSA's cost on many requests, run after run: a clock, and lengths in turn."""
    cycle = [length for length, weight in law for _ in range(weight)]
    waiting = [cycle[k % len(cycle)] for k in range(2000 * len(cycle))]
    number, clock, cost, size = len(waiting), 0.0, 0.0, 1
    while waiting:
        later = []
        for length in waiting:
            if length > size:
                later.append(length)
            else:
                cost += clock
            clock += size * (size + 1) / 2 / memory
        waiting, size = later, 2 * size
    return cost * 2 * memory / number**2


def test_the_cost_of_slices_is_that_of_a_pipeline_run_request_by_request():
    law = [(1, Fraction(1, 4)), (3, Fraction(1, 2)), (9, Fraction(1, 4))]
    run = pipeline([(1, 1), (3, 2), (9, 1)], 10**6)
    assert run == pytest.approx(float(gsa_cost(law)), rel=1e-3)


def test_the_staggered_optimum_is_what_a_feasible_schedule_of_a_large_member_tends_to():
    law = halving_family(2, 3)  # lengths 5, 9, 17
    limit = float(staggered_optimum(law))
    excess = []
    for number in (100, 400):
        instance, better = member([(o, int(4 * number * p)) for o, p in law], 4)
        excess.append(better * 2 * instance.memory / len(instance) ** 2 / limit - 1)
    assert 0 < excess[1] < excess[0] / 3  # of order 1/n


def test_gsa_grows_towards_its_limit_and_lengths_at_the_slices_cost_less():
    ratios = [gsa_ratio(halving_family(first, 20)) for first in (2, 4, 6)]
    assert ratios == sorted(ratios)
    at_the_slices = [(o - 1, share) for o, share in halving_family(6, 20)]
    assert gsa_ratio(at_the_slices) < ratios[-1] / 2


def test_a_schedule_that_starts_before_the_clock_is_noticed():
    instance, _ = member([(9, 80), (17, 40)], 4)
    assert on_the_clock(simulate(instance, make("gsa")).schedule, 1)
    assert not on_the_clock(simulate(instance, make("gsa")).schedule, 64)
    assert not on_the_clock(simulate(instance, make("mc-sf")).schedule, 32)


@pytest.mark.parametrize("family", [thin_before_fat(3, 6), fat_before_thin(2)])
def test_the_other_order_is_optimal_for_small_members(family):
    columns = [(s, o) for s, o, number in family.requests for _ in range(number)]
    prompts, outputs = zip(*columns, strict=True)
    nothing = [0] * len(columns)
    proved = solve(Instance("family", family.memory, nothing, prompts, outputs))
    assert proved.lower == proved.upper == family.better < family.policy
