"""The log-normal law against quadrature of its survival function, and as a limit of log-t."""

import math

import pytest
from scipy import integrate, stats

from ratiolab.theory.laws.log_normal import LogNormal
from ratiolab.theory.laws.log_t import LogT

CASES = [(3.0, 0.5, 60.0), (0.0, 1.0, 5.0), (5.0, 0.1, 1000.0), (4.0, 2.0, 20.0)]


@pytest.mark.parametrize(("mu", "sigma", "cap"), CASES)
def test_mean_and_cvar_are_areas_below_the_survival_function(mu, sigma, cap):
    law = stats.lognorm(sigma, scale=math.exp(mu))
    points = sorted({min(cap, float(law.ppf(q))) for q in (0.001, 0.5, 0.9, 0.999)})

    def area(low):
        return integrate.quad(law.sf, low, cap, points=[p for p in points if low < p < cap])[0]

    assert LogNormal(mu, sigma).capped_mean(cap) == pytest.approx(area(0), rel=1e-8)
    value = min(cap, float(law.ppf(0.9)))
    expected = value + area(value) / 0.1
    assert LogNormal(mu, sigma).cvar(0.9, cap) == pytest.approx(expected, rel=1e-8)


def test_it_is_what_log_t_comes_to_with_many_degrees_of_freedom():
    """Student's t differs from the normal law by O(1 / nu)."""
    for cap in (30.0, 500.0):
        for question in (lambda law, x: law.capped_mean(x), lambda law, x: law.cvar(0.9, x)):
            limit = question(LogNormal(3.0, 0.5), cap)
            gaps = [abs(question(LogT(3.0, 0.5, nu), cap) - limit) for nu in (20.0, 40.0, 80.0)]
            if max(gaps) > 1e-9 * limit:
                assert gaps[1] == pytest.approx(gaps[0] / 2, rel=0.15)
                assert gaps[2] == pytest.approx(gaps[1] / 2, rel=0.15)


def test_the_worst_tenth_is_the_cap_when_a_tenth_reaches_it():
    assert LogNormal(9.0, 1.0).cvar(0.9, 100) == 100.0


def test_what_makes_no_law_is_named():
    with pytest.raises(ValueError, match="sigma 0"):
        LogNormal(1.0, 0.0)
    with pytest.raises(ValueError, match="cap 0"):
        LogNormal(1.0, 1.0).capped_mean(0)
