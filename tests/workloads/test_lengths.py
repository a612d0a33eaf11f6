"""Length laws: their masses against closed forms, their draws against their masses."""

from math import exp, log

import numpy as np
import pytest
from scipy import stats

from ratiolab.theory.laws import distributions
from ratiolab.workloads import lengths

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


def test_log_t_has_the_power_tail_that_it_is_used_for():
    # P(X > x) = P(T > (ln x - mu) / sigma), T of Student's t
    law = lengths.log_t(3.0, 0.5, 3.5, 10_000)
    tail = stats.t(3.5).sf((log(999.5) - 3.0) / 0.5)
    assert law.survival(999) == pytest.approx(tail, rel=1e-9)
    assert law.survival(999) > 100 * lengths.log_normal(3.0, 0.5, 10_000).survival(999)


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


def test_the_variance_of_lmsys_outputs_is_too_large_and_no_log_normal_law_mends_that():
    """Fit mean and variance instead: the median then misses the published 43 by far."""
    assert lengths.variance(lengths.lmsys_output()) > 9702 * 1.3
    # mean 85, variance 9702: sigma^2 = ln(1 + 9702 / 85^2), median = 85 exp(-sigma^2 / 2) = 55.5
    sigma2 = log(1 + 9702 / 85**2)
    assert 85 * exp(-sigma2 / 2) > 55


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
