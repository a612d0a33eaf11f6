"""Predictions of the output lengths of an instance, made from the true ones.

Each function returns a new instance; arrivals, prompts and outputs stay as they are.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import Instance, stream
from ratiolab.model.instance import LARGEST
from ratiolab.theory.laws.confusion import bin_of, require_confusion, spreading
from ratiolab.workloads.predicted_laws import SAMPLES, Family, distributional


def exact(instance: Instance) -> Instance:
    """Predict every output itself: intervals of one point."""
    output = instance.output
    return instance.replace(lower=output, upper=output, predicted=output)


def rough(instance: Instance, lower: int = 1, upper: int = 1000) -> Instance:
    """Predict one interval for all requests.

    Raise ValueError if an output lies outside the interval.

    Source: Chen, Ye, Zhou (2025), Section 6, Rough Prediction, arXiv 2508.14544v2.
    """
    requests = len(instance)
    return instance.replace(lower=[lower] * requests, upper=[upper] * requests)


def buckets(instance: Instance, width: int = 100) -> Instance:
    """Predict the bucket of each output: ``[1, width], [width + 1, 2 width], ...``.

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
    """Predict the integers in ``[(1 - x) o, (1 + x) o]``: an interval around each output.

    The lower end is rounded up and the upper end down: no integer outside the real interval is
    admitted and none inside is lost, so that 1 <= lower <= o <= upper. A float counts as the
    decimal number that it prints as, and the rounding is exact.

    The paper calls larger x more precise in the set-up and less precise in the results; the
    formula, and this function, make the interval wider as x grows. x is the half width relative to
    the output, 0 <= x < 1.

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
    """Predict a point of Uniform((1 - epsilon) o, (1 + epsilon) o), rounded, at least 1.

    epsilon is the largest relative error, 0 <= epsilon <= 1.

    Source: Jaillet et al. (2025), Section 5.2.2 (epsilon = 0.2, 0.5, 0.8), arXiv 2502.07115v5.
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon {epsilon} must be between 0 and 1")
    drawn = rng.uniform((1 - epsilon) * instance.output, (1 + epsilon) * instance.output)
    return instance.replace(predicted=np.maximum(np.rint(drawn), 1).astype(np.int64))


def gaussian(
    instance: Instance,
    sigma: float,
    rng: np.random.Generator,
    *,
    floor: int = 1,
    ceiling: int = 1024,
) -> Instance:
    """Predict o + Normal(0, sigma**2), rounded, at least `floor` and at most `ceiling`.

    sigma is the standard deviation in tokens, at least 0.

    Source: Gogineni, Paul, Stec, Zhang, Section 3.5 (floor 1, ceiling 1024; sigma = 25 and more).
    """
    if not 0 <= sigma < float("inf"):
        raise ValueError(f"sigma {sigma} must be at least 0 and finite")
    if not 1 <= floor <= ceiling:
        raise ValueError(f"floor {floor} must be at least 1 and at most ceiling {ceiling}")
    drawn = np.clip(np.rint(rng.normal(instance.output, sigma)), floor, ceiling)
    return instance.replace(predicted=drawn.astype(np.int64))


def one_bit(instance: Instance, threshold: int) -> Instance:
    """Predict only whether an output is above a threshold: intervals [1, T] or [T + 1, M].

    >>> example = one_bit(Instance("two", 300, [0, 0], [1, 1], [10, 11]), 10)
    >>> example.lower.tolist(), example.upper.tolist()
    ([1, 11], [10, 300])
    """
    if not 1 <= threshold < instance.memory:
        raise ValueError(f"threshold {threshold} must be at least 1 and below the memory")
    long = instance.output > threshold
    return instance.replace(
        lower=np.where(long, threshold + 1, 1), upper=np.where(long, instance.memory, threshold)
    )


def ranked(instance: Instance, noise: float, rng: np.random.Generator) -> Instance:
    """Predict only ranks: the place of ln o + noise * Normal(0, 1) among all, from 1 on.

    Predictions of a model that learned to rank. At noise z two outputs that differ by the factor r
    are in the right order with probability Phi(ln r / (z sqrt 2)).

    >>> ranked(Instance("three", 9, [0] * 3, [1] * 3, [5, 2, 7]), 0, stream(0, "predictions")
    ...        ).predicted.tolist()
    [2, 1, 3]
    """
    if not 0 <= noise < float("inf"):
        raise ValueError(f"noise {noise} must be at least 0 and finite")
    score = np.log(instance.output) + noise * rng.standard_normal(len(instance))
    place = np.empty(len(instance), np.int64)
    place[np.argsort(score, kind="stable")] = np.arange(1, len(instance) + 1)
    return instance.replace(predicted=place)


def misjudged(instance: Instance, noise: float, rng: np.random.Generator) -> Instance:
    """Move medians of predicted distributions by factors exp(noise * Normal(0, 1)).

    This is extra spread of a model that sees the prompt alone. Medians stay between 1 and 10^9
    tokens, and are the point predictions. Raise ValueError if the instance predicts no
    distributions.
    """
    if not 0 <= noise < float("inf"):
        raise ValueError(f"noise {noise} must be at least 0 and finite")
    if instance.location is None:
        raise ValueError(
            "predictions misjudged need distributions before them, as in log-t+misjudged:0.3"
        )
    moved = instance.location + 1000 * noise * rng.standard_normal(len(instance))
    location = np.rint(np.clip(moved, 0, 1000 * np.log(LARGEST) - 1)).astype(np.int64)
    median = np.rint(np.exp(location / 1000)).astype(np.int64)
    return instance.replace(location=location, predicted=median)


def classified(
    instance: Instance,
    confusion: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    longest: int = 512,
) -> Instance:
    """Predict the middle of the bin that a classifier of k bins of equal width names.

    Outputs beyond `longest` belong to the last bin. This is TRAIL's initial prediction; it takes
    ten bins up to 512 tokens. `confusion` has the probability of each answer (column) for each true
    bin (row); see `ratiolab.theory.laws.confusion`. `longest` is the end of the last bin, tokens.

    Source: Shahout et al. (2025), Section 3.1, arXiv 2410.01035.
    """
    require_confusion(confusion)
    width = longest / len(confusion)
    chances = np.cumsum(confusion, axis=1)[bin_of(instance.output, len(confusion), width)]
    answer = (rng.random(len(instance))[:, None] > chances[:, :-1]).sum(axis=1)
    middle = np.maximum(np.rint(width * (answer + 0.5)), 1)
    return instance.replace(predicted=middle.astype(np.int64))


def add_predictions(instance: Instance, words: str, seed: int) -> Instance:
    """Return the instance with the predictions that a few words name; its source says which.

    Parameters
    ----------
    words : ``exact``, ``rough``, ``buckets`` or ``buckets:WIDTH``, ``overlap:X``, ``noisy:E``,
        ``gaussian:SIGMA``, ``one-bit:THRESHOLD``, ``ranked:NOISE``, ``classified:SPREAD`` (ten bins
        up to 512 tokens), ``log-t``, ``log-t-nu`` or ``log-normal``, each also with a number of
        draws, as ``log-t:5`` (distributions of each output fitted to this number of draws, with
        their medians as predictions; the draws are of the instance's own distributions if it states
        them), or ``misjudged:NOISE`` behind a distribution. Several, joined by ``+``, are added one
        after the other; a later one replaces what it also predicts.
    seed : seed of the noise.

    Raises
    ------
    ValueError
        for words that name no prediction, or a number that is missing, out of place or not one.

    >>> add_predictions(Instance("one", 300, [0], [1], [101]), "buckets", 0).upper.tolist()
    [200]
    """
    truth = instance
    for number, part in enumerate(words.split("+")):
        rng = stream(seed, "predictions", number)
        instance = _add_one(instance, part, rng, truth)
    return instance.replace(source=f"{instance.source}; predictions {words}, seed {seed}")


def _add_one(instance: Instance, words: str, rng: np.random.Generator, truth: Instance) -> Instance:
    """Add one kind of prediction."""
    kind, colon, text = words.partition(":")
    known: dict[str, Callable[[], Instance]] = {
        "exact": lambda: exact(instance),
        "rough": lambda: rough(instance),
        "buckets": lambda: buckets(instance, _width(words, text or "100")),
        "overlap": lambda: overlapping(instance, _number(words, text)),
        "noisy": lambda: noisy(instance, float(_number(words, text, 1)), rng),
        "gaussian": lambda: gaussian(instance, float(_number(words, text)), rng),
        "one-bit": lambda: one_bit(instance, _width(words, text)),
        "ranked": lambda: ranked(instance, float(_number(words, text)), rng),
        "misjudged": lambda: misjudged(instance, float(_number(words, text)), rng),
        "classified": lambda: classified(
            instance, spreading(10, float(_number(words, text, 1))), rng
        ),
        **{
            family: lambda: distributional(
                instance,
                rng,
                family=kind,  # type: ignore[arg-type]
                samples=_width(words, text or str(SAMPLES)),
                truth=truth,
            )
            for family in get_args(Family)
        },
    }
    if kind not in known:
        raise ValueError(f"predictions {words!r} must be one of {', '.join(known)}")
    if colon and kind in ("exact", "rough"):
        raise ValueError(f"predictions {words!r}: {kind} takes no number")
    return known[kind]()


def _width(words: str, text: str) -> int:
    """Read the whole number behind the colon."""
    number = _number(words, text)
    if number.denominator != 1:
        raise ValueError(f"predictions {words!r} needs a whole number of tokens")
    return number.numerator


def _number(words: str, text: str, most: int = LARGEST) -> Fraction:
    """Read the decimal number behind the colon."""
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", text) is None:
        raise ValueError(f"predictions {words!r} needs a number behind a colon, as in overlap:0.5")
    if not 0 <= (number := Fraction(text)) <= most:
        raise ValueError(f"predictions {words!r}: {text} must be between 0 and {most}")
    return number
