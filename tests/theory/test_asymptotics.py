"""Growth laws against sweeps, and the fit of the published curve."""

from math import log

import pytest

from ratiolab.theory.quotient import amin
from ratiolab.theory.quotient.asymptotics import (
    LogFit,
    closed_bound,
    continuum_radius,
    expansion,
    extended_radius,
    log_fit,
)
from ratiolab.theory.quotient.spectrum import spectral_radius


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
    with pytest.raises(ValueError, match="log_upper"):
        extended_radius(5.0)
    with pytest.raises(ValueError, match="alpha"):
        continuum_radius(1.0)
    with pytest.raises(ValueError, match="uppers"):
        log_fit([1, 2, 3], [1.0, 2.0, 3.0])
