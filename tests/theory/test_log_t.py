"""The capped log-t law against arbitrary-precision quadrature, sampling and limits."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from ratiolab.theory.laws.log_normal import LogNormal
from ratiolab.theory.laws.log_t import LogT, adaptive_beta, head_start

LAWS = [LogT(5, 0.8), LogT(4, 0.3, 8), LogT(6, 2, 1), LogT(5, 0.05)]


def precise(law: LogT, low: float, high: float, power: int) -> float:
    """E[X^power; low < X <= high] in the variable z, with 25 digits."""
    import mpmath as mp

    with mp.workdps(25):
        nu = mp.mpf(law.nu)
        constant = mp.gamma((nu + 1) / 2) / (mp.sqrt(mp.pi * nu) * mp.gamma(nu / 2))

        def integrand(z: object) -> object:
            return (
                mp.exp(power * (law.mu + law.sigma * z))
                * constant
                * (1 + z * z / nu) ** (-(nu + 1) / 2)
            )

        top = (mp.log(high) - law.mu) / law.sigma
        bottom = (mp.log(low) - law.mu) / law.sigma if low else -mp.inf
        knots = [-100, -30, -10, -5, -2, -1, 0, 1, 2, 5, 10, 30, 100]
        knots += [top - k / mp.mpf(law.sigma) for k in (1, 5)]
        inner = sorted({mp.mpf(k) for k in knots if bottom < k < top})
        return float(mp.quad(integrand, [bottom, *inner, top]))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("cap", [64, 8192])
def test_capped_mean_and_cvar_are_right_to_ten_digits(law, cap):
    beyond = precise(law, 0, math.exp(2 * law.mu) / cap, 0)  # by symmetry in ln X
    mean = precise(law, 0, cap, 1) + cap * beyond
    assert law.survival(cap) == pytest.approx(beyond, rel=1e-8, abs=1e-12)
    assert law.capped_mean(cap) == pytest.approx(mean, rel=1e-10)
    if beyond < 0.1:
        tail = precise(law, law.quantile(0.9), cap, 1) + cap * law.survival(cap)
        assert law.cvar(0.9, cap) == pytest.approx(10 * tail, rel=1e-10)


@pytest.mark.parametrize("law", LAWS)
def test_the_quantile_is_the_inverse_of_the_distribution(law):
    for x in (3.0, 90.0, 400.0, 5000.0):
        assert law.cdf(x) + law.survival(x) == pytest.approx(1)
        if 1e-6 < law.cdf(x) < 1 - 1e-6:
            assert law.quantile(law.cdf(x)) == pytest.approx(x, rel=1e-8)


@given(st.floats(2, 8), st.floats(0.1, 3), st.floats(0.5, 0.99))
def test_cvar_is_the_cap_exactly_when_enough_mass_lies_beyond_it(mu, sigma, alpha):
    law, cap = LogT(mu, sigma), 512.0
    heavy = law.survival(cap) >= 1 - alpha
    assert (law.cvar(alpha, cap) == cap) == heavy
    assert law.capped_mean(cap) < law.cvar(alpha, cap) <= cap


def test_sampling_error_is_what_samples_show():
    law, cap, beta, n = LogT(5, 0.8), 2048.0, 0.5, 10_000
    rng = np.random.default_rng(3)
    draws = np.exp(law.mu + law.sigma * rng.standard_t(law.nu, (600, n))).clip(max=cap)
    draws.sort(axis=1)
    scores = draws.mean(axis=1) + beta * draws[:, -n // 10 :].mean(axis=1)
    # Four standard errors each: of a mean of 600, and of a spread, 1/sqrt(1200) = 2.9 %.
    error = law.sampling_error(beta, cap)
    assert scores.mean() == pytest.approx(law.score(beta, cap), abs=4 * error / math.sqrt(600))
    assert scores.std(ddof=1) == pytest.approx(error, rel=0.116)


def test_bad_parameters_are_refused_by_name():
    law = LogT(5, 1)
    for call, match in (
        (lambda: LogT(5, 0), "sigma 0"),
        (lambda: LogT(5, 1, 0), "nu 0"),
        (lambda: law.quantile(1), "level 1"),
        (lambda: law.cdf(-1), "x -1"),
        (lambda: law.score(0.1, 0), "cap 0"),
        (lambda: adaptive_beta(1, 0), "batch 0"),
        (lambda: head_start(0.5), r"ratio 0\.5"),
    ):
        with pytest.raises(ValueError, match=match):
            call()


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


def test_what_makes_no_law_is_named():
    with pytest.raises(ValueError, match="sigma 0"):
        LogNormal(1.0, 0.0)
    with pytest.raises(ValueError, match="cap 0"):
        LogNormal(1.0, 1.0).capped_mean(0)


@given(st.integers(0, 10_000), st.integers(1, 512))
def test_adaptive_beta_never_reaches_sept(waiting, batch):
    beta = adaptive_beta(waiting, batch)
    assert Fraction(1, 10) <= beta <= Fraction(1, 2)
    assert (beta == Fraction(1, 10)) == (waiting <= batch)
    assert (beta == Fraction(1, 2)) == (waiting >= 5 * batch)
