"""Rules of integration against integrals that are known in closed form."""

import numpy as np
import pytest
from scipy.special import k0

from ratiolab.papers.shahout2025.queues.quadrature import half_line, log_line, unit_interval


@pytest.mark.parametrize(("power", "exact"), [(0, 1), (1, 1), (3, 6)])
def test_the_half_line_integrates_gamma_densities(power: int, exact: int) -> None:
    s, weight = half_line(100)
    assert weight @ (s**power * np.exp(-s)) == pytest.approx(exact, rel=1e-9)


def test_the_half_line_integrates_a_logarithmic_singularity() -> None:
    s, weight = half_line(100)
    assert weight @ (-np.log(s) * np.exp(-s)) == pytest.approx(np.euler_gamma, rel=1e-9)


@pytest.mark.parametrize("r", [1e-8, 1e-3, 1, 20])
def test_the_log_line_integrates_on_several_scales_at_once(r: float) -> None:
    s, weight = log_line(140)
    assert weight @ (np.exp(-s - r / s) / s) == pytest.approx(2 * k0(2 * np.sqrt(r)), rel=1e-9)


@pytest.mark.parametrize(("power", "exact"), [(0, 1), (2, 1 / 3), (0.5, 2 / 3)])
def test_the_unit_interval_integrates_powers(power: float, exact: float) -> None:
    x, weight = unit_interval(100)
    assert weight @ x**power == pytest.approx(exact, rel=1e-9)
