"""What the claims about A_min rest on: the recursion over bounds, and the counts by period."""

from fractions import Fraction
from itertools import pairwise

import pytest

from ratiolab.model import Instance, Schedule
from ratiolab.papers.chen2025.claims._lemma2 import completions, latency
from ratiolab.papers.chen2025.claims._printed import by_period
from ratiolab.papers.chen2025.claims.corollary_2 import starts_of
from ratiolab.papers.chen2025.claims.quotient import pivots
from ratiolab.papers.chen2025.claims.theorem_4 import bad_shares
from ratiolab.theory.laws.distributions import from_weights
from ratiolab.theory.rayleigh import amin, geometric


@pytest.mark.parametrize(("lower", "prompt"), [(1, 0), (2, 0), (1, 3), (3, 2)])
def test_the_recursion_completes_everybody_and_serves_what_proposition_1_says(lower, prompt):
    shares = [Fraction(1, 2), Fraction(1, 3), Fraction(0), Fraction(1, 6)]
    served, done = completions(shares, lower, prompt)
    for n, share in enumerate(shares):
        j = lower + n
        assert sum(done[i, j] for i in range(lower, lower + 4)) == share
        assert served[lower, j] == share
        for i in range(lower + 1, j + 1):
            assert served[i, j] == share / (prompt + i)


def test_a_later_first_bound_can_only_help():
    shares = [Fraction(1, 4)] * 4
    costs = [latency(shares, 1, 0, [1, 2, *[start] * 2]) for start in (1, 2, 3)]
    assert all(later <= earlier for earlier, later in pairwise(costs))
    assert latency(shares, 1, 0) == amin.numerator(shares)


def test_exact_first_bounds_cost_what_h_sf_costs():
    shares = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    assert latency(shares, 2, 1, [2, 3, 4]) == amin.denominator(shares, 2, 1)


def test_periods_are_read_off_a_schedule():
    instance = Instance("periods", 9, [0, 0], [0, 0], [3, 1])
    runs = [(0, 0, 1), (0, 1, 2), (0, 4, 7), (1, 0, 1)]
    served, done = by_period(Schedule.from_runs(instance, runs), 1)
    assert served == {(1, 3): 1, (2, 3): 2, (1, 1): 1}
    assert done == {(1, 3): 0, (2, 3): 1, (1, 1): 1}


def test_an_output_at_two_ends_belongs_to_the_upper_interval():
    assert starts_of([(1, 3), (3, 5)]) == [1, 1, 3, 3, 3]


def test_pivots_stop_at_the_first_that_is_not_positive():
    assert pivots([[2, 1], [1, Fraction(1, 2)]]) == [2, 0]
    assert pivots([[Fraction(2), 1], [1, 2]]) == [2, Fraction(3, 2)]


def test_the_bad_shares_are_a_distribution_of_whole_numbers_near_the_worst():
    shares = bad_shares(500)
    assert min(shares) > 0
    assert all(share % k == 0 for k, share in enumerate(shares, 1))
    tails = [sum(shares[k:]) for k in range(500)]
    assert tails[9] / tails[0] == pytest.approx(1 / 19, rel=0.02)


def test_the_slope_of_the_geometric_ratio_is_positive_where_it_is_computed():
    """The proof in figure_3 bounds the logarithm; finite differences do not need it."""
    values = [
        float(geometric.quotient(from_weights(1, [q**k for k in range(400)])))
        for q in [k / 40 for k in range(1, 37)]
    ]
    assert all(a < b for a, b in pairwise(values))
    assert values[-1] < 1.6823
