from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from cut_quotients import truncated_peak, truncated_quotients

from ratiolab.theory.laws.distributions import (
    LengthDistribution,
    from_weights,
    linearly_weighted_geometric,
    two_point,
    uniform,
)
from ratiolab.theory.laws.distributions import geometric as geometric_lengths
from ratiolab.theory.rayleigh import geometric

q = geometric.symbol()


def literal_lemma_2(d: LengthDistribution) -> Fraction:
    """The quotient of Lemma 2 as printed at s = 0, l = 1, as a double sum."""
    x = dict(zip(range(1, d.upper + 1), d.probabilities, strict=True))
    numerator = denominator = Fraction(0)
    for k in x:
        work = sum(i * x[i] for i in x if i >= k)
        done = sum(x[i] / i for i in x if i >= k)
        left = sum((i - k) * x[i] / i for i in x if i > k)
        numerator += work * (done + 2 * left)
        denominator += k * k * x[k] * (x[k] + 2 * sum(x[i] for i in x if i > k))
    return numerator / denominator


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
def test_reduced_quotient_is_lemma_2(d) -> None:
    assert geometric.quotient(d) == literal_lemma_2(d)


@pytest.mark.parametrize("value", [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)])
def test_closed_forms_are_limits_of_the_double_sum_as_the_cut_recedes(value) -> None:
    # The neglected mass is below 0.8**260 * 260 < 1e-22, the moments to third order with it.
    uncut = geometric_lengths(value, 260)
    closed = geometric.geometric_quotient().subs(q, sp.Rational(value.numerator, value.denominator))
    exact = geometric.quotient(uncut)
    assert abs(closed - sp.Rational(exact.numerator, exact.denominator)).evalf(30) < 1e-14
    weighted = linearly_weighted_geometric(value, 260)
    closed = geometric.linearly_weighted_quotient().subs(q, sp.Rational(str(value)))
    exact = geometric.quotient(weighted)
    assert abs(closed - sp.Rational(exact.numerator, exact.denominator)).evalf(30) < 1e-14


def test_geometric_quotient_has_the_short_form() -> None:
    short = (
        1
        + (3 * q**3 + 7 * q**2 + 7 * q + 1) / (1 + q**2)
        - (1 + q) ** 2 * (q**2 + 4 * q + 1) * sp.log(1 + q) / (q * (1 + q**2))
    )
    assert sp.simplify(geometric.geometric_quotient() - short) == 0


def test_geometric_limit_is_the_quotient_of_exponential_lengths() -> None:
    # o, o' exponential: E[min^2] = 1/2, E[o]^2 = 1. With max = y and min = v y the joint density
    # of both orders is 2 y exp(-(1+v) y), so E[min^3/max] = int_0^1 2 v^3 Gamma(4)/(1+v)^4 dv.
    v = sp.Symbol("v", positive=True)
    longest = sp.integrate(sp.apart(12 * v**3 / (1 + v) ** 4, v), (v, 0, 1))
    exponential = 1 + (1 - longest) / (2 * sp.Rational(1, 2))
    assert sp.simplify(exponential - geometric.geometric_limit()) == 0
    assert float(geometric.geometric_limit()) == pytest.approx(10 - 12 * np.log(2), rel=1e-15)


def test_geometric_quotient_increases_up_to_its_limit_below_the_figures_1_7() -> None:
    derivative = sp.diff(geometric.geometric_quotient(), q)
    slope = sp.lambdify(q, derivative)
    assert np.all(slope(np.linspace(0.01, 0.999, 500)) > 0)
    assert sp.simplify(derivative.subs(q, 1)) == 0
    assert sp.limit(geometric.geometric_quotient(), q, 0) == 1
    assert float(geometric.geometric_limit()) < 1.7


def test_theorem_8_follows_from_lemma_2() -> None:
    printed = (
        (1 + q) ** 2
        * (1 + 3 * q + 6 * q**2 + 3 * q**3 + q**4)
        / (1 + 2 * q + 11 * q**2 + 8 * q**3 + 11 * q**4 + 2 * q**5 + q**6)
    )
    derived = geometric.linearly_weighted_quotient()
    assert sp.cancel(derived - printed) == 0
    assert derived.subs(q, 1) == sp.Rational(14, 9)
    # Increasing on (0, 1): no critical point inside and 1 < 14/9 at the ends.
    top = sp.numer(sp.together(sp.diff(derived, q)))
    assert sp.Poly(top, q).count_roots(sp.Rational(1, 1000), sp.Rational(999, 1000)) == 0
    assert derived.subs(q, 0) == 1


def test_printed_denominator_integrand_of_theorem_8_is_a_misprint() -> None:
    polynomial = 1 + 2 * q + 11 * q**2 + 8 * q**3 + 11 * q**4 + 2 * q**5 + q**6
    closed = polynomial / ((1 - q) ** 6 * (1 + q) ** 4)
    assert sp.cancel(geometric.printed_denominator() - closed) != 0
    half = Fraction(1, 2)
    tail = [sum(i * half ** (i - 1) for i in range(k + 1, 200)) for k in range(200)]
    x = [k * half ** (k - 1) for k in range(200)]
    printed = sum(k**2 * x[k] * (2 * x[k] + tail[k]) for k in range(1, 200))
    meant = sum(k**2 * x[k] * (x[k] + 2 * tail[k]) for k in range(1, 200))
    at_half = float(geometric.printed_denominator().subs(q, sp.Rational(1, 2)))
    assert at_half == pytest.approx(float(printed), rel=1e-14)
    assert float(closed.subs(q, sp.Rational(1, 2))) == pytest.approx(float(meant), rel=1e-14)


@pytest.mark.parametrize("upper", [2, 5, 40, 300])
def test_cut_quotient_is_not_monotone_in_q(upper) -> None:
    at, peak = truncated_peak(upper)
    grid = np.linspace(0, 1, 300)
    values = truncated_quotients(grid, upper)
    assert values.max() <= peak + 1e-14
    assert 0 < at < 1
    assert peak > values[-1] + 0.03
    assert values[-1] == pytest.approx(float(geometric.quotient(uniform(1, upper))), rel=1e-12)
    assert peak < 10 - 12 * np.log(2)


def test_cut_quotient_of_two_lengths_peaks_at_five_quarters() -> None:
    # On {1, 2} the quotient is 1 + 3 t / (8 (t**2/4 + t/2 + 1)) with t = x_1/x_2 = 1/q, at most
    # 1 + 1/4 where t = 2.
    at, peak = truncated_peak(2)
    assert at == pytest.approx(0.5, abs=1e-6)
    assert peak == pytest.approx(1.25, rel=1e-13)


@pytest.mark.parametrize("upper", [1, 3, 17])
def test_vectorised_quotient_agrees_with_the_exact_one(upper) -> None:
    grid = [Fraction(i, 8) for i in range(8)]
    exact = [float(geometric.quotient(geometric_lengths(v, upper))) for v in grid]
    fast = truncated_quotients(np.array([float(v) for v in grid]), upper)
    np.testing.assert_allclose(fast, exact, rtol=1e-13)


def test_reduced_quotient_refuses_another_lower_bound() -> None:
    with pytest.raises(ValueError, match="lower 2"):
        geometric.quotient(uniform(2, 4))
