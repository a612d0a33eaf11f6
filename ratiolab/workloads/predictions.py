"""Predictions laid over the true output lengths of an instance.

Each function returns a new instance; arrivals, prompts and outputs stay as they are.
"""

from fractions import Fraction

import numpy as np

from ratiolab.model import Instance


def exact(instance: Instance) -> Instance:
    """Every prediction is the output itself: intervals of one point."""
    output = instance.output
    return instance.replace(lower=output, upper=output, predicted=output)


def rough(instance: Instance, lower: int = 1, upper: int = 1000) -> Instance:
    """One interval for all requests.

    Raises
    ------
    ValueError
        If an output lies outside.

    Source: Chen, Ye, Zhou (2025), Section 6, Rough Prediction, arXiv 2508.14544v2.
    """
    requests = len(instance)
    return instance.replace(lower=[lower] * requests, upper=[upper] * requests)


def buckets(instance: Instance, width: int = 100) -> Instance:
    """The bucket of each output: ``[1, width], [width + 1, 2 width], ...``.

    Source: Chen, Ye, Zhou (2025), Section 6, Non-Overlapping Classification (ten buckets of 100),
    arXiv 2508.14544v2.

    >>> example = buckets(Instance("three", 300, [0] * 3, [1] * 3, [1, 100, 101]))
    >>> example.lower.tolist(), example.upper.tolist()
    ([1, 1, 101], [100, 100, 200])
    """
    if width < 1:
        raise ValueError(f"width {width} must be at least 1 token")
    lower = (instance.output - 1) // width * width + 1
    return instance.replace(lower=lower, upper=lower + width - 1)


def overlapping(instance: Instance, x: float | Fraction) -> Instance:
    """The integers in ``[(1 - x) o, (1 + x) o]``: an interval around each output.

    The lower end is rounded up and the upper end down: no integer outside the real interval is
    admitted and none inside is lost, so that 1 <= lower <= o <= upper. A float counts as the
    decimal number that it prints as, and the rounding is exact.

    The paper calls larger x more precise in the set-up and less precise in the results; the
    formula, and this function, make the interval wider as x grows.

    Parameters
    ----------
    x : half width relative to the output, 0 <= x < 1.

    Source: Chen, Ye, Zhou (2025), Section 6, Overlapping Interval Prediction (x = 0.1, 0.95,
    0.99), arXiv 2508.14544v2.

    >>> example = overlapping(Instance("two", 99, [0, 0], [1, 1], [10, 15]), 0.1)
    >>> example.lower.tolist(), example.upper.tolist()
    ([9, 14], [11, 16])
    """
    share = x if isinstance(x, Fraction) else Fraction(str(x))
    if not 0 <= share < 1:
        raise ValueError(f"x {x} must be at least 0 and below 1")
    part, whole = share.numerator, share.denominator
    outputs = instance.output.tolist()
    return instance.replace(
        lower=[-((part - whole) * output // whole) for output in outputs],
        upper=[(part + whole) * output // whole for output in outputs],
    )


def noisy(instance: Instance, epsilon: float, rng: np.random.Generator) -> Instance:
    """Point predictions Uniform((1 - epsilon) o, (1 + epsilon) o), rounded, at least 1.

    Source: Jaillet et al. (2025), Section 5.2.2 (epsilon = 0.2, 0.5, 0.8), arXiv 2502.07115v5.

    Parameters
    ----------
    epsilon : largest relative error, 0 <= epsilon <= 1.
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon {epsilon} must be between 0 and 1")
    drawn = rng.uniform((1 - epsilon) * instance.output, (1 + epsilon) * instance.output)
    return instance.replace(predicted=np.maximum(np.rint(drawn), 1).astype(np.int64))
