from fractions import Fraction

import pytest
import sympy as sp

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


def test_reduced_quotient_refuses_another_lower_bound() -> None:
    with pytest.raises(ValueError, match="lower 2"):
        geometric.quotient(uniform(2, 4))
