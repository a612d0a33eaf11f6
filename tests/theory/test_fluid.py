from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from ratiolab.theory.laws.distributions import (
    LengthDistribution,
    from_weights,
    linearly_weighted_geometric,
    two_point,
    uniform,
)
from ratiolab.theory.laws.distributions import geometric as geometric_lengths
from ratiolab.theory.limits import fluid, suprema
from ratiolab.theory.rayleigh import amin, geometric

weights = st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any)


def literal_shortest_first(d: LengthDistribution, s: int) -> Fraction:
    """The denominator of Lemma 2 as printed."""
    x = {k: d.probability(k) for k in range(d.lower, d.upper + 1)}
    return sum(k * (s + k) * x[k] * (x[k] + 2 * sum(x[i] for i in x if i > k)) for k in x)


@settings(deadline=None)
@given(weights, st.integers(1, 5), st.integers(0, 9))
def test_shortest_first_latency_is_the_printed_denominator(w, lower, s):
    d = from_weights(lower, w)
    assert fluid.shortest_first_latency(d, s) == literal_shortest_first(d, s)


@settings(deadline=None)
@given(weights, st.integers(1, 5), st.integers(0, 9))
def test_no_distribution_exceeds_the_suprema(w, lower, s):
    d = from_weights(lower, w)
    top = float(suprema.max_length_supremum(lower, d.upper, s))
    assert fluid.max_length_ratio(d, s) <= top * (1 + 1e-12)
    assert fluid.random_order_ratio(d, s) <= float(
        suprema.random_order_supremum(lower, d.upper, s)
    ) * (1 + 1e-12)


@pytest.mark.parametrize(("lower", "upper", "s"), [(1, 2, 0), (1, 40, 0), (3, 60, 5), (2, 9, 100)])
def test_max_length_supremum_is_an_eigenvalue_and_is_attained(lower, upper, s):
    k = np.arange(lower, upper + 1.0)
    low = np.minimum.outer(k, k)
    B = low * (s + low)
    A = (s + upper) * np.add.outer(k, k) / 2
    eigenvalue = np.linalg.eigvals(np.linalg.solve(B, A)).real.max()
    value = float(suprema.max_length_supremum(lower, upper, s))
    assert value == pytest.approx(eigenvalue, rel=1e-8)
    worst = suprema.max_length_maximiser(lower, upper, s)
    assert worst.array.min() >= 0
    assert fluid.max_length_ratio(worst, s) == pytest.approx(value, rel=1e-12)


def best_two_point(ratio, lower: int, upper: int) -> float:
    """The maximum over the share of long requests; each ratio has one interior peak."""
    found = minimize_scalar(
        lambda x: -float(ratio(two_point(lower, upper, x))),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    ends = (two_point(lower, upper, x) for x in (0.0, 1.0))
    return max(-found.fun, *(float(ratio(d)) for d in ends))


@pytest.mark.parametrize("lower", [1, 4])
@pytest.mark.parametrize("upper", [5, 30])
@pytest.mark.parametrize("s", [0, 7, 300])
def test_two_point_suprema_are_maxima_over_the_share(lower, upper, s):
    laws = (
        (lambda d: fluid.max_length_ratio(d, s), suprema.max_length_two_point_supremum),
        (lambda d: fluid.random_order_ratio(d, s), suprema.random_order_supremum),
        (lambda d: fluid.promote_short_ratio(d, s), suprema.promote_short_supremum),
        (
            lambda d: amin.quotient(d.probabilities, lower, s),
            suprema.lower_bound_two_point_supremum,
        ),
    )
    for ratio, supremum in laws:
        best = best_two_point(ratio, lower, upper)
        assert best == pytest.approx(float(supremum(lower, upper, s)), rel=1e-9)


u, s, t, a = sp.symbols("u s t a", positive=True)


@pytest.mark.parametrize("ratio", [0, Fraction(1, 3), 1, 7, 1000])
def test_switch_alpha_makes_both_two_point_maxima_equal(ratio):
    alpha = suprema.switch_alpha(ratio)
    assert sp.Rational(1, 4) < alpha <= (3 - sp.sqrt(5)) / 2
    sig = sp.Rational(str(ratio))
    root = float(suprema.area_root(alpha, 1, sig))
    assert root <= 0.5
    promote = 1 + root / (2 * (1 - root))
    lower_bound = float(suprema.lower_bound_two_point_supremum(alpha, 1, sig))
    assert promote == pytest.approx(lower_bound, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: suprema.max_length_supremum(3, 2), "3..2"),
        (lambda: suprema.promote_short_supremum(1, 2, -1), "prompt -1"),
        (lambda: suprema.switch_alpha(-1), "negative"),
        (lambda: fluid.promote_short_latency(uniform(1, 3)), "length 2"),
        (lambda: fluid.max_length_latency(uniform(1, 3), 0, 2), "upper 2"),
    ],
)
def test_refusals_name_field_value_and_rule(call, words):
    with pytest.raises(ValueError, match=words):
        call()


q = geometric.symbol()


@pytest.mark.parametrize(
    "d",
    [
        uniform(1, 9),
        two_point(1, 6, Fraction(2, 5)),
        from_weights(1, (3, 0, 1, 4, 1, 5)),
        geometric_lengths(Fraction(3, 4), 12),
        linearly_weighted_geometric(Fraction(3, 4), 12),
    ],
)
def test_reduced_quotient_is_lemma_2(d):
    assert geometric.quotient(d) == amin.quotient(d.probabilities)


@pytest.mark.parametrize(
    ("value", "cut"), [(Fraction(1, 10), 40), (Fraction(1, 2), 100), (Fraction(4, 5), 260)]
)
def test_closed_forms_are_limits_of_the_double_sum_as_the_cut_recedes(value, cut):
    # The neglected mass is below 0.8**260 * 260 < 1e-22, the moments to third order with it.
    uncut = geometric_lengths(value, cut)
    closed = geometric.geometric_quotient().subs(q, sp.Rational(value.numerator, value.denominator))
    exact = geometric.quotient(uncut)
    assert abs(closed - sp.Rational(exact.numerator, exact.denominator)).evalf(30) < 1e-14
    weighted = linearly_weighted_geometric(value, cut)
    closed = geometric.linearly_weighted_quotient().subs(q, sp.Rational(str(value)))
    exact = geometric.quotient(weighted)
    assert abs(closed - sp.Rational(exact.numerator, exact.denominator)).evalf(30) < 1e-14


def test_reduced_quotient_refuses_another_lower_bound():
    with pytest.raises(ValueError, match="lower 2"):
        geometric.quotient(uniform(2, 4))
