"""The capped log-t law against arbitrary-precision quadrature, sampling and limits."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
def test_capped_mean_and_cvar_are_right_to_ten_digits(law: LogT, cap: float) -> None:
    beyond = precise(law, 0, math.exp(2 * law.mu) / cap, 0)  # by symmetry in ln X
    mean = precise(law, 0, cap, 1) + cap * beyond
    assert law.survival(cap) == pytest.approx(beyond, rel=1e-8, abs=1e-12)
    assert law.capped_mean(cap) == pytest.approx(mean, rel=1e-10)
    if beyond < 0.1:
        tail = precise(law, law.quantile(0.9), cap, 1) + cap * law.survival(cap)
        assert law.cvar(0.9, cap) == pytest.approx(10 * tail, rel=1e-10)


@pytest.mark.parametrize("law", LAWS)
def test_the_quantile_is_the_inverse_of_the_distribution(law: LogT) -> None:
    for x in (3.0, 90.0, 400.0, 5000.0):
        assert law.cdf(x) + law.survival(x) == pytest.approx(1)
        if 1e-6 < law.cdf(x) < 1 - 1e-6:
            assert law.quantile(law.cdf(x)) == pytest.approx(x, rel=1e-8)


def test_capped_mean_is_the_integral_of_the_survival_function() -> None:
    x, w = np.polynomial.legendre.leggauss(400)
    law, cap = LogT(5, 0.8), 1000.0
    survival = [law.survival(cap / 2 * (1 + t)) for t in x]
    assert cap / 2 * float(w @ survival) == pytest.approx(law.capped_mean(cap), rel=1e-9)


@given(st.floats(2, 8), st.floats(0.1, 3), st.floats(0.5, 0.99))
def test_cvar_is_the_cap_exactly_when_enough_mass_lies_beyond_it(
    mu: float, sigma: float, alpha: float
) -> None:
    law, cap = LogT(mu, sigma), 512.0
    heavy = law.survival(cap) >= 1 - alpha
    assert (law.cvar(alpha, cap) == cap) == heavy
    assert law.capped_mean(cap) < law.cvar(alpha, cap) <= cap


def test_untruncated_mean_is_infinite_because_a_lower_bound_diverges() -> None:
    law = LogT(5, 0.8)
    assert law.mean == math.inf
    bounds = [10.0**k * law.survival(10.0**k) for k in (10, 20, 40, 80, 160, 300)]
    assert all(later > 1e6 * earlier for earlier, later in pairwise(bounds))
    assert law.capped_mean(1e10) >= bounds[0]


def test_tail_is_slower_than_a_power_law() -> None:
    # P(X > x) ~ const (ln x)^(-nu): squaring x multiplies it by 2^(-nu), for all large x;
    # a power law would square it.
    law = LogT(0, 1)
    assert law.survival(1e200) / law.survival(1e100) == pytest.approx(2**-3.5, rel=1e-3)


def test_sampling_error_is_what_samples_show() -> None:
    law, cap, beta, n = LogT(5, 0.8), 2048.0, 0.5, 10_000
    rng = np.random.default_rng(3)
    draws = np.exp(law.mu + law.sigma * rng.standard_t(law.nu, (600, n))).clip(max=cap)
    draws.sort(axis=1)
    scores = draws.mean(axis=1) + beta * draws[:, -n // 10 :].mean(axis=1)
    # Four standard errors each: of a mean of 600, and of a spread, 1/sqrt(1200) = 2.9 %.
    error = law.sampling_error(beta, cap)
    assert scores.mean() == pytest.approx(law.score(beta, cap), abs=4 * error / math.sqrt(600))
    assert scores.std(ddof=1) == pytest.approx(error, rel=0.116)


def test_sampling_error_without_a_tail_term_is_that_of_the_mean() -> None:
    law, cap = LogT(7, 0.8), 1024.0  # P(X > cap) > 1/2: the CVaR is the cap, without error
    assert law.sampling_error(0.5, cap) == law.sampling_error(0, cap)
    wide = LogT(5, 0.8)
    second = precise(wide, 0, 2048, 2) + 2048**2 * wide.survival(2048)
    variance = second - wide.capped_mean(2048) ** 2
    assert wide.sampling_error(0, 2048, samples=1) == pytest.approx(math.sqrt(variance), rel=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 512))
def test_adaptive_beta_never_reaches_sept(waiting: int, batch: int) -> None:
    beta = adaptive_beta(waiting, batch)
    assert Fraction(1, 10) <= beta <= Fraction(1, 2)
    assert (beta == Fraction(1, 10)) == (waiting <= batch)
    assert (beta == Fraction(1, 2)) == (waiting >= 5 * batch)


def test_waiting_decay_never_swaps_requests_that_both_wait() -> None:
    # Scores 3 and 1, the larger arrives 400 s earlier: 30 ln 3 / ln(10/9) = 312.8 s < 400.
    assert head_start(3) == pytest.approx(30 * math.log(3) / math.log(10 / 9))
    ahead = [3 * 0.9 ** ((t + 400) / 30) < 0.9 ** (t / 30) for t in (0, 50, 1000)]
    assert ahead == [True] * 3


def test_bad_parameters_are_refused_by_name() -> None:
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
