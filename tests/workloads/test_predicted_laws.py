"""Predicted laws: fits that recover what was drawn, and laws that the outputs are draws of."""

from typing import get_args

import numpy as np
import pytest
from scipy import optimize, stats

from ratiolab.model import Instance
from ratiolab.workloads.predicted_laws import (
    NU,
    SIGMA,
    Family,
    distributional,
    fit,
    fit_t,
    log_likelihood,
)


def test_the_fit_has_the_likelihood_of_a_direct_search():
    rng = np.random.default_rng(0)
    logs = 4 + 0.6 * rng.standard_t(NU, (12, 20))
    location, scale = fit_t(logs, NU)

    for row, found in zip(logs, zip(location, scale, strict=True), strict=True):

        def loss(x, row=row):
            return -stats.t.logpdf(row, NU, x[0], np.exp(x[1])).sum()

        start = np.median(row), np.log(row.std())
        best = optimize.minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-6}).x
        np.testing.assert_allclose(found, (best[0], np.exp(best[1])), atol=2e-4)


def test_the_likelihood_is_that_of_students_t():
    values = np.array([[0.0, 1.0, 5.0], [2.0, 2.5, -3.0]])
    location, scale = np.array([1.0, 2.0]), np.array([0.5, 3.0])
    expected = stats.t.logpdf(values, 2.5, location[:, None], scale[:, None]).sum(axis=1)
    np.testing.assert_allclose(log_likelihood(values, location, scale, 2.5), expected, rtol=1e-12)


def test_many_samples_recover_the_law_in_its_family():
    rng = np.random.default_rng(1)
    heavy = 4 + 0.6 * rng.standard_t(2.0, (3, 20_000))
    location, scale, freedom = fit(heavy, "log-t-nu")
    np.testing.assert_allclose(location, 4, atol=0.03)
    np.testing.assert_allclose(scale, 0.6, atol=0.03)
    assert freedom.tolist() == [2.0] * 3
    normal = 3 + 0.4 * rng.standard_normal((2, 20_000))
    location, scale, freedom = fit(normal, "log-normal")
    np.testing.assert_allclose(location, 3, atol=0.02)
    np.testing.assert_allclose(scale, 0.4, atol=0.02)
    assert freedom.tolist() == [10**6] * 2
    assert fit(normal, "log-t-nu")[2].min() >= 30, "of nine, the one nearest to the normal law"


@pytest.mark.parametrize("family", get_args(Family))
def test_equal_observations_have_the_least_scale(family):
    location, scale, _ = fit(np.full((1, 5), 2.0), family)
    assert (location[0], scale[0]) == pytest.approx((2.0, 0.01))


def test_sigma_is_where_the_99th_percentile_is_10_77_medians():
    assert np.exp(SIGMA * stats.t.ppf(0.99, NU)) == pytest.approx(10.77, rel=0.002)


def test_outputs_are_draws_of_their_predicted_laws():
    """The place of each output in its law is uniform: for exact fits, that is for many samples."""
    n = 4500
    instance = Instance("many", 10**9, [0] * n, [1] * n, [40_000] * n)
    laid = distributional(instance, np.random.default_rng(100), samples=200, most=10**9)
    z = (np.log(40_000) - laid.location / 1000) / (laid.scale / 1000)
    assert stats.kstest(stats.t.cdf(z, NU), "uniform").statistic < 0.03  # probability 0.9994
    halves, doubles = np.quantile(laid.scale / 1000 / SIGMA, [0.01, 0.99])
    assert 0.4 < halves < 0.6
    assert 1.7 < doubles < 2.4
    assert set(laid.freedom.tolist()) == {3500}


def test_the_point_prediction_is_the_median_of_the_law():
    instance = Instance("some", 10**6, [0] * 50, [1] * 50, list(range(10, 510, 10)))
    laid = distributional(instance, np.random.default_rng(0), family="log-normal")
    assert laid.predicted.tolist() == np.rint(np.exp(laid.location / 1000)).tolist()


def test_draws_stop_at_the_most_tokens_and_start_at_one():
    instance = Instance("ends", 10**6, [0, 0], [1, 1], [1, 500_000])
    laid = distributional(instance, np.random.default_rng(0), most=100)
    assert laid.location.max() <= np.rint(1000 * np.log(100))
    assert laid.location.min() >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 1}, "samples 1 must be at least 2"),
        ({"sigma": 0.0}, "sigma 0.0 must be positive and finite"),
        ({"most": 0}, "most 0 must be at least 1 token"),
        ({"family": "normal"}, "family 'normal' must be one of log-t, log-t-nu, log-normal"),
    ],
)
def test_bad_options_are_named(options, message):
    instance = Instance("one", 10, [0], [1], [5])
    with pytest.raises(ValueError, match=message):
        distributional(instance, np.random.default_rng(0), **options)
