"""Growth laws against sweeps, and the fit of the published curve."""

from math import log, sqrt

import numpy as np
import pytest
from pencil import secular
from scipy.optimize import brentq

from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.asymptotics import (
    LogFit,
    closed_bound,
    expansion,
    log_fit,
)
from ratiolab.theory.rayleigh.spectrum import spectral_radius


def extended_radius(log_upper: float) -> float:
    """Return the spectral radius for lengths 1..u, ``L = ln u``, when u is too large to sweep.

    Takes ``H(mu)`` from two sweeps over ``2^12`` and ``2^13`` lengths, their ``u^-p`` term
    eliminated, and solves ``L / (4 mu + 1) + H(mu) = 1``. What is left out is ``O(2^-26)`` with a
    small constant, and ``u^-p`` itself: the error is below 1e-9 from ``u = 10^6`` on.
    """
    base = 1 << 12

    def excess(mu: float) -> float:
        short, long = (secular(mu, 1, u) - log(u) / (4 * mu + 1) for u in (base, 2 * base))
        gain = 2 ** sqrt(1 + 3 * mu / (1 + mu))
        return log_upper / (4 * mu + 1) + (gain * long - short) / (gain - 1) - 1

    guess = expansion(log_upper) - 1
    return 1 + float(brentq(excess, guess - 0.1, guess + 0.1, xtol=1e-12))


def continuum_radius(alpha: float) -> float:
    """Return the supremum of the radius at prompt 0 over all intervals with ``l/u = alpha``.

    At ``s = 0`` the quotient ignores scale, so ``(m l, m u)`` refines ``(l, u)`` and the radius
    rises with ``m`` to that of continuous lengths: taking ``l = 1`` *is* a loss of generality, of
    ``(1 - ln 2 - gamma/2) / 2 = 0.009`` for wide intervals. The tails solve Euler's equation, with
    atoms at both ends; the four conditions are linear but for the radius.
    """

    def excess(mu: float) -> float:
        # X = a/t + rise (t alpha)^(p-1) + fall t^(-1-p) on (1, 1/alpha], and X = first at 1, with
        # mean length W = 1: the conditions at 1/alpha, then value and slope at 1.
        p = sqrt(1 + 3 * mu / (1 + mu))
        a, weight, small = 1 / (4 * mu + 1), 4 * (1 + mu), alpha ** (p - 1)
        conditions = [
            [2 + p, (2 - p) * alpha ** (1 + p), 0],
            [weight * small, weight, -(6 * mu + 4)],
            [weight * p * small, -weight * p, -(12 * mu + 4)],
        ]
        constants = [2 * alpha * (1 / weight - a), -2 - weight * a, -6]
        rise, fall, first = np.linalg.solve(conditions, constants)
        shrink = alpha**p
        ends = rise * (1 - shrink) / alpha + fall * (1 - shrink)
        return float(first - a * log(alpha) + ends / p - 1)

    # Below: the two-point distribution. Above: the bound of `closed_bound`, in the limit.
    return 1 + float(brentq(excess, (1 - alpha) / 2, 1 / 2 - log(alpha) / 4, xtol=1e-13))


@pytest.fixture(scope="module")
def curve() -> list[float]:
    """Radii for u = 2..2000."""
    return [spectral_radius(upper, tolerance=1e-11).rho for upper in range(2, 2001)]


def test_the_expansion_is_wrong_by_order_one_over_log_squared():
    for upper in (10**3, 10**4, 10**5, 10**6):
        gap = spectral_radius(upper).rho - expansion(log(upper))
        assert 0.4 < gap * log(upper) ** 2 < 1.2


def test_the_next_order_of_the_expansion_settles_down():
    # A wrong coefficient of 1/L would make (radius - expansion) L^2 grow like L.
    scaled = [(extended_radius(L) - expansion(L)) * L**2 for L in (1e2, 1e3, 1e4)]
    assert scaled[0] < scaled[1] < scaled[2] < scaled[0] * 1.05


@pytest.mark.parametrize("upper", [10**5, 10**6])
def test_the_extension_agrees_with_a_full_sweep(upper):
    assert extended_radius(log(upper)) == pytest.approx(
        spectral_radius(upper, tolerance=1e-12).rho, abs=1e-9
    )


def test_the_radius_at_prompt_zero_ignores_scale_but_refinement_raises_it():
    for lower, upper in [(1, 2), (1, 10)]:
        radii = [spectral_radius(m * upper, m * lower).rho for m in (1, 2, 4, 64, 512)]
        assert radii == sorted(radii)
        limit = continuum_radius(lower / upper)
        assert radii[-1] < limit
        assert limit - radii[-1] < (limit - radii[0]) / 500


def test_continuous_lengths_grow_with_their_own_constant():
    # Derived as for l = 1, with the atom at l for the small lengths: L/4 + 5/4 - 3/(8 L) + O(L^-2).
    for L in (60.0, 120.0):
        alpha = 2.718281828459045**-L
        assert abs(continuum_radius(alpha) - L / 4 - 5 / 4 + 3 / (8 * L)) < 2 / L**2


@pytest.mark.parametrize(
    ("lower", "upper", "prompt"), [(1, 2, 0), (1, 500, 0), (40, 500, 0), (1, 500, 30), (10, 20, 3)]
)
def test_the_closed_bound_holds_for_every_prompt(lower, upper, prompt):
    assert spectral_radius(upper, lower, prompt).rho <= closed_bound(lower, upper, prompt)


def test_the_closed_bound_is_a_quarter_above_in_the_limit_and_the_trace_four_times():
    upper = 5000
    rho = spectral_radius(upper).rho
    assert 0.25 < float(closed_bound(1, upper)) - rho < 0.31
    assert float(amin.trace(1, upper)) > 2.7 * rho


def test_a_logarithmic_curve_is_recovered():
    wanted = LogFit(0.3, 0.5, 1.0, 1.0)
    fit = log_fit(range(1, 60), [wanted(u) for u in range(1, 60)])
    assert (fit.scale, fit.shift, fit.offset) == pytest.approx((0.3, 0.5, 1.0), abs=1e-6)
    assert fit.r_squared == pytest.approx(1.0, abs=1e-12)


def test_the_published_curve_is_the_fit_to_3_to_2000_one_length_off(curve):
    # Printed: 0.2555 log(u + 0.2793) + 1.1587. Every printed digit returns with u - 1 for u.
    fit = log_fit(range(2, 2000), curve[1:])
    assert (fit.scale, fit.shift, fit.offset) == pytest.approx((0.2555, 0.2793, 1.1587), abs=5e-5)
    assert fit.r_squared > 0.99999


def test_the_published_curve_as_labelled_misses_the_exact_start(curve):
    printed = LogFit(0.2555, 0.2793, 1.1587, 0.0)
    assert printed(2) - curve[0] == pytest.approx(0.119, abs=1e-3)
    mean = sum(curve) / len(curve)
    spread = sum((rho - mean) ** 2 for rho in curve)
    miss = sum((rho - printed(u)) ** 2 for u, rho in enumerate(curve, start=2))
    assert 1 - miss / spread < 0.9999


@pytest.mark.parametrize("largest", [10, 100, 1000, 2000])
def test_the_best_fit_is_close_on_every_range(curve, largest):
    fit = log_fit(range(2, largest + 1), curve[: largest - 1])
    assert fit.r_squared > 0.99999
    assert fit.shift < 0


def test_arguments_out_of_reach_are_refused():
    with pytest.raises(ValueError, match="log_upper"):
        expansion(0.0)
    with pytest.raises(ValueError, match="uppers"):
        log_fit([1, 2, 3], [1.0, 2.0, 3.0])
