"""Length laws: their masses against closed forms, their draws against their masses."""

from math import exp

import numpy as np
import pytest
from scipy import optimize, stats

from ratiolab.model import Instance
from ratiolab.theory.laws import distributions
from ratiolab.workloads import lengths
from ratiolab.workloads.predicted_laws import NU, SIGMA, distributional, fit, fit_t

LAWS = {
    "two-point": distributions.two_point(2, 9, 0.25),
    "uniform": distributions.uniform(3, 7),
    "geometric": distributions.geometric(0.8, 30),
    "linear": distributions.linearly_weighted_geometric(0.8, 40),
    "log-normal": lengths.log_normal(2.0, 0.7, 60),
    "log-t": lengths.log_t(2.0, 0.7, 3.5, 60),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_draws_follow_the_masses(law):
    """Chi-square over the lengths that are expected at least five times; p-value above 1e-6."""
    drawn = law.sample(np.random.default_rng(0), 20_000)
    assert drawn.dtype == np.int64
    assert drawn.min() >= law.lower
    assert drawn.max() <= law.upper
    counts = np.bincount(drawn - law.lower, minlength=len(law.array))
    expected = law.array * len(drawn)
    common = expected >= 5
    counts = np.append(counts[common], counts[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    used = expected > 0
    assert counts[~used].sum() == 0
    assert stats.chisquare(counts[used], expected[used]).pvalue > 1e-6


def test_log_normal_masses_are_differences_of_its_distribution_function():
    law = lengths.log_normal(2.0, 0.7, 60, tail="move")
    cdf = stats.lognorm(0.7, scale=exp(2.0)).cdf
    assert law.probability(1) == pytest.approx(cdf(1.5), abs=1e-12)
    assert law.probability(7) == pytest.approx(cdf(7.5) - cdf(6.5), abs=1e-12)
    assert law.probability(60) == pytest.approx(1 - cdf(59.5), abs=1e-12)
    cut = lengths.log_normal(2.0, 0.7, 60)
    assert cut.probability(7) == pytest.approx(law.probability(7) / cdf(60.5), abs=1e-12)


@pytest.mark.parametrize(
    ("law", "mean", "median", "largest"),
    [(lengths.lmsys_prompt, 41, 11, 468), (lengths.lmsys_output, 85, 43, 883)],
)
def test_lmsys_lengths_have_the_published_mean_median_and_range(law, mean, median, largest):
    # recomputed from the masses by sums that the calibration does not use
    masses = law().probabilities
    assert sum(k * p for k, p in enumerate(masses, 1)) == pytest.approx(mean, abs=1e-5)
    assert sum(masses[: median - 1]) < 0.5 <= sum(masses[:median])
    assert (law().lower, law().upper) == (1, largest)


def test_an_unreachable_mean_is_refused():
    with pytest.raises(ValueError, match=r"mean 5 with median 43 on 1\.\.883 is out of reach"):
        lengths.log_normal_with(5, 43, 883)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: lengths.log_normal(0, 0, 5), "sigma 0 must be positive and finite"),
        (lambda: lengths.log_normal(float("nan"), 1, 5), "mu nan must be finite"),
        (lambda: lengths.log_normal(0, 1, 0), "upper 0 must be at least 1"),
        (lambda: lengths.log_t(0, 1, -1, 5), "nu -1 must be positive and finite"),
    ],
)
def test_bad_parameters_are_named(build, message):
    with pytest.raises(ValueError) as caught:
        build()
    assert str(caught.value) == message


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
