"""Predicted distributions of output lengths, as a model would state them.

Each request is given a distribution of its own that its output is a draw of; a few more draws,
answers of the same prompt, are what a predictor is trained on; their fit is what a policy sees.

Source: Zheng et al. (2026), arXiv 2604.00499, known from a summary.
"""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import Instance
from ratiolab.model.instance import LARGEST, LAW_COLUMNS

FloatArray: TypeAlias = NDArray[np.float64]
Family: TypeAlias = Literal["log-t", "log-t-nu", "log-normal"]

NU = 3.5
"""Degrees of freedom that the paper fixes."""

SIGMA = 0.585
"""Scale at which the 99th percentile is 10.77 medians, the largest ratio that the paper reports."""

SAMPLES = 20
"""Draws for each prompt: the paper's training samples."""

MOST_DRAWS = 50_000_000
"""Most draws of all requests together: they take 400 megabytes."""

_CHOICES = (1.0, 1.5, 2.0, 2.5, 3.5, 5.0, 8.0, 15.0, 30.0)
_LEAST_SCALE = 0.01  # equal draws would have scale 0 and an infinite likelihood


def distributional(
    instance: Instance,
    rng: np.random.Generator,
    *,
    family: Family = "log-t",
    samples: int = SAMPLES,
    sigma: float = SIGMA,
    most: int = 1024,
    truth: Instance | None = None,
) -> Instance:
    """Predict a distribution for each output, fitted to draws, and its median as the length.

    Request i has a log-t distribution with scale sigma * 2**U, U uniform on [-1, 1], and NU degrees
    of freedom, placed such that its output is one draw of it: location ln o - scale * Z, Z of
    Student's t. This is the distribution given the output when all locations were equally likely
    before. When `truth` states distributions, as those of the kind ``log-t-laws`` do, its
    distributions are taken instead. The fit sees `samples` more draws, rounded to tokens and
    stopped at `most`, and not the output.

    Parameters
    ----------
    family : ``log-t`` with NU degrees of freedom, ``log-t-nu`` with those of greatest likelihood
        among nine between 1 and 30, or ``log-normal``.
    samples : draws for each request, at least 2, all together at most `MOST_DRAWS`; the paper
        trains on 20.
    sigma : median scale of the distributions; the default comes from the paper's P99/P50.
    most : tokens at which a draw is stopped.
    truth : an instance whose distributions the outputs were drawn from, if there is one.

    Returns
    -------
    An instance with `location`, `scale`, `freedom` and `predicted`, the median of the fitted
    distribution. Cost O(n samples) for each of at most 200 steps.
    """
    if samples < 2:
        raise ValueError(f"samples {samples} must be at least 2")
    if samples * len(instance) > MOST_DRAWS:
        most_each = f"{len(instance):,} requests take at most {MOST_DRAWS // len(instance):,} each"
        raise ValueError(f"samples {samples:,} are too many; {most_each}")
    if not 0 < sigma < float("inf"):
        raise ValueError(f"sigma {sigma} must be positive and finite")
    if most < 1:
        raise ValueError(f"most {most} must be at least 1 token")
    n = len(instance)
    if truth is None or truth.location is None:
        scale = sigma * 2 ** rng.uniform(-1, 1, n)
        location = np.log(instance.output) - scale * rng.standard_t(NU, n)
        freedom = np.full(n, NU)
    else:
        location, scale, freedom = (getattr(truth, name) / 1000 for name in LAW_COLUMNS)
    logs = location[:, None] + scale[:, None] * rng.standard_t(freedom[:, None], (n, samples))
    lengths = np.exp(np.clip(logs, 0, np.log(most)))
    fitted = fit(np.log(np.maximum(np.rint(lengths), 1)), family)
    told = {
        name: np.rint(1000 * np.maximum(column, 0)).astype(np.int64)
        for name, column in zip(LAW_COLUMNS, fitted, strict=True)
    }
    median = np.rint(np.exp(told["location"] / 1000)).astype(np.int64)
    return instance.replace(**told, predicted=median)


def fit(logs: FloatArray, family: Family = "log-t") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit location, scale and degrees of freedom of greatest likelihood, row by row.

    Parameters
    ----------
    logs : logarithms of observed lengths, shape (requests, samples).
    family : a family that `distributional` takes.

    Returns
    -------
    Three arrays of shape (requests,); a million degrees of freedom stand for the normal
    distribution. Scales are at least 0.01: equal observations have none.
    """
    rows = len(logs)
    if family == "log-normal":
        scale = np.maximum(logs.std(axis=1), _LEAST_SCALE)
        return logs.mean(axis=1), scale, np.full(rows, LARGEST / 1000)
    if family == "log-t":
        return *fit_t(logs, NU), np.full(rows, NU)
    if family != "log-t-nu":
        raise ValueError(f"family {family!r} must be one of log-t, log-t-nu, log-normal")
    fits = [fit_t(logs, nu) for nu in _CHOICES]
    likelihood = [
        log_likelihood(logs, *found, nu) for found, nu in zip(fits, _CHOICES, strict=True)
    ]
    best = np.argmax(likelihood, axis=0)
    location, scale = (np.array(column) for column in zip(*fits, strict=True))
    chosen = np.arange(rows)
    return location[best, chosen], scale[best, chosen], np.array(_CHOICES)[best]


def fit_t(values: FloatArray, nu: float) -> tuple[FloatArray, FloatArray]:
    """Fit location and scale of greatest likelihood under Student's t, row by row, nu given.

    Expectation-maximisation: t is normal with a random precision, whose expectation given a value
    at z scales from the location is (nu + 1) / (nu + z**2).
    """
    location = np.median(values, axis=1)
    scale = np.maximum(values.std(axis=1), _LEAST_SCALE)
    for _ in range(200):
        z = (values - location[:, None]) / scale[:, None]
        weight = (nu + 1) / (nu + z * z)
        before = location, scale
        location = (weight * values).sum(axis=1) / weight.sum(axis=1)
        spread = np.sqrt((weight * (values - location[:, None]) ** 2).mean(axis=1))
        scale = np.maximum(spread, _LEAST_SCALE)
        if all(
            np.allclose(a, b, rtol=0, atol=1e-5)
            for a, b in zip(before, (location, scale), strict=True)
        ):
            break
    return location, scale


def log_likelihood(
    values: FloatArray, location: FloatArray, scale: FloatArray, nu: float
) -> FloatArray:
    """Return the log-likelihood of each row under Student's t with this location, scale and nu."""
    from scipy.special import gammaln

    z = (values - location[:, None]) / scale[:, None]
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2
    density = constant - np.log(scale)[:, None] - (nu + 1) / 2 * np.log1p(z * z / nu)
    total: FloatArray = density.sum(axis=1)
    return total
