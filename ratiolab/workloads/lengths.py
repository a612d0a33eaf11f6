"""Length distributions that `ratiolab.theory.laws.distributions` does not need: log-normal, log-t
and the lengths of LMSYS-Chat-1M as two papers publish them.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ratiolab.theory.laws.distributions import LengthDistribution, Tail, from_weights

FloatArray = NDArray[np.float64]


def log_normal(
    mu: float, sigma: float, upper: int, *, tail: Tail = "condition"
) -> LengthDistribution:
    """Return the rounded log-normal distribution on 1..upper, in tokens.

    A draw exp(N(mu, sigma^2)) is rounded to the nearest integer and to at least 1; draws above
    ``upper`` are thrown away (``condition``) or become ``upper`` (``move``). Cost O(upper). mu and
    sigma > 0 are mean and standard deviation of the logarithm.

    >>> median(log_normal(4, 1, 1000, tail="move"))
    55
    """
    from scipy.special import ndtr

    return _rounded(lambda z: ndtr(-z), mu, sigma, upper, tail, "log-normal")


def log_t(
    mu: float, sigma: float, nu: float, upper: int, *, tail: Tail = "move"
) -> LengthDistribution:
    """Return the rounded log-t distribution on 1..upper, in tokens.

    A draw exp(mu + sigma T), T of Student's t with ``nu`` degrees of freedom, is rounded and cut
    as in `log_normal`. The uncut mean is infinite for every ``nu``. Cost O(upper).

    Source: summary of Scheduling LLM Inference with Uncertainty-Aware Output Length Predictions,
    method, parts 1 and 3 (nu = 3.5, cut by min(X, x_max)), arXiv 2604.00499.

    >>> median(log_t(4, 1, 3.5, 1000))
    55
    """
    if not 0 < nu < float("inf"):
        raise ValueError(f"nu {nu} must be positive and finite")
    from scipy.special import stdtr

    return _rounded(
        lambda z: np.asarray(stdtr(nu, -z), np.float64), mu, sigma, upper, tail, "log-t"
    )


def median(lengths: LengthDistribution) -> int:
    """Return the smallest length that at least half of the draws do not exceed."""
    return int(lengths.lengths[np.searchsorted(np.cumsum(lengths.array), 0.5)])


def variance(lengths: LengthDistribution) -> float:
    """Return the variance, tokens squared."""
    return float(lengths.second_moment - lengths.mean**2)


@cache
def log_normal_with(mean: float, median: int, upper: int) -> LengthDistribution:
    """Return the log-normal distribution, conditioned on 1..upper, with this mean and median.

    Half of the probability of the median itself counts as below it. Two parameters meet two
    moments; the variance follows and is whatever it is. Cost O(upper) times about a thousand. Raise
    ValueError if no sigma between 0.05 and 4 gives the mean.

    >>> round(log_normal_with(85, 43, 883).mean)
    85
    """
    from scipy.optimize import brentq

    def with_median(sigma: float) -> LengthDistribution:
        def below(mu: float) -> float:
            masses = log_normal(mu, sigma, upper).array
            return float(masses[: median - 1].sum() + masses[median - 1] / 2 - 0.5)

        middle = np.log(median)
        mu = brentq(below, middle - 9 * sigma, middle + 4 * sigma, xtol=1e-10)
        return log_normal(mu, sigma, upper)

    def excess(sigma: float) -> float:
        return float(with_median(sigma).mean) - mean

    narrow, wide = 0.05, 4.0
    if not excess(narrow) <= 0 <= excess(wide):
        raise ValueError(f"mean {mean} with median {median} on 1..{upper} is out of reach")
    return with_median(brentq(excess, narrow, wide, xtol=1e-9))


@cache
def two_log_normals_with(
    mean: float, median: int, variance: float, upper: int, sigma: float = 0.6
) -> LengthDistribution:
    """Return a mixture of two log-normals, conditioned on 1..upper, with these three moments.

    The two parts have one `sigma`; the share of the first and the two medians meet mean, median and
    variance. The median counts as in `log_normal_with`. Cost O(upper) times some hundreds. Raise
    ValueError if no such mixture has these moments.

    >>> law = two_log_normals_with(85, 43, 9702, 883)
    >>> round(law.mean), median(law), round(variance(law))
    (85, 43, 9702)
    """
    from scipy.optimize import least_squares
    from scipy.special import expit, ndtr

    lengths = np.arange(1, upper + 1)
    edges = np.log(np.arange(upper + 1) + 0.5)

    def masses(at: FloatArray) -> FloatArray:
        share = expit(at[0])
        first, second = (ndtr((edges - mu) / sigma) for mu in at[1:])
        below = share * first + (1 - share) * second
        below[0] = 0  # what rounds to nothing is one token
        found: FloatArray = np.diff(below) / below[-1]
        return found

    def misses(at: FloatArray) -> list[float]:
        found = masses(at)
        average = lengths @ found
        spread = (lengths - average) ** 2 @ found
        half = found[: median - 1].sum() + found[median - 1] / 2
        return [average / mean - 1, spread / variance - 1, half - 0.5]

    begin = 0.0, np.log(median) - 1, np.log(median) + 1
    best = least_squares(misses, begin, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    if max(map(abs, misses(best.x))) > 1e-6:
        moments = f"mean {mean}, median {median} and variance {variance}"
        raise ValueError(f"{moments} on 1..{upper} are out of reach with sigma {sigma}")
    return from_weights(1, masses(best.x).tolist(), "two log-normals")


def lmsys_prompt() -> LengthDistribution:
    """Return prompt lengths like those of LMSYS-Chat-1M: mean 41, median 11, range 1..468.

    The published variance is 4961 (2000 conversations); that of this distribution is the doctest's.

    Source: Chen, Ye, Zhou (2025), Section 6, arXiv 2508.14544v2; Jaillet et al. (2025),
    Section 5.2, arXiv 2502.07115v5, has mean 40.62 and median 11 for 10,000 others.

    >>> median(lmsys_prompt()), round(variance(lmsys_prompt()), -2)
    (11, 5400.0)
    """
    return log_normal_with(41, 11, 468)


def lmsys_output() -> LengthDistribution:
    """Return output lengths like those of LMSYS-Chat-1M: mean 85, median 43, range 1..883.

    The published variance is 9702; that of this distribution is larger, see the doctest: no
    log-normal distribution on this range has all of mean, median and variance.

    Source: as `lmsys_prompt`; the other sample has mean 85.32 and median 45.

    >>> median(lmsys_output()), round(variance(lmsys_output()), -2)
    (43, 13500.0)
    """
    return log_normal_with(85, 43, 883)


def lmsys_prompt_mixed() -> LengthDistribution:
    """Return prompt lengths with mean, median and variance of `lmsys_prompt`'s source.

    >>> median(lmsys_prompt_mixed()), round(variance(lmsys_prompt_mixed()))
    (11, 4961)
    """
    return two_log_normals_with(41, 11, 4961, 468)


def lmsys_output_mixed() -> LengthDistribution:
    """Return output lengths with mean, median and variance of `lmsys_output`'s source.

    >>> median(lmsys_output_mixed()), round(variance(lmsys_output_mixed()))
    (43, 9702)
    """
    return two_log_normals_with(85, 43, 9702, 883)


def _rounded(
    survival: Callable[[FloatArray], FloatArray],
    mu: float,
    sigma: float,
    upper: int,
    tail: Tail,
    name: str,
) -> LengthDistribution:
    """Return the masses of max(1, round(exp(mu + sigma Z))) on 1..upper, Z by its survival."""
    if not np.isfinite(mu):
        raise ValueError(f"mu {mu} must be finite")
    if not 0 < sigma < float("inf"):
        raise ValueError(f"sigma {sigma} must be positive and finite")
    if upper < 1:
        raise ValueError(f"upper {upper} must be at least 1")
    edges = np.log(np.arange(1, upper + 1) + 0.5)
    above = survival((edges - mu) / sigma)
    masses = -np.diff(above, prepend=1.0)
    if tail == "move":
        masses[-1] += above[-1]
    return from_weights(1, masses.tolist(), name)
