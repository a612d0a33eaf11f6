"""Predictions: exact rounding, nothing else touched, and errors that follow nothing else."""

from fractions import Fraction
from math import ceil, floor
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.workloads import predictions
from ratiolab.workloads.generators import KINDS, generate
from ratiolab.workloads.predicted_laws import Family
from ratiolab.workloads.predictions import add_predictions

FAMILIES = get_args(Family)
SHARES = st.integers(0, 99).map(lambda k: Fraction(k, 100))


def of_outputs(outputs: list[int]) -> Instance:
    n = len(outputs)
    return Instance("plain", 10**6, list(range(n)), [3] * n, outputs)


OUTPUTS = st.lists(st.integers(1, 5000), min_size=1, max_size=20)


@given(OUTPUTS, SHARES)
def test_overlapping_intervals_are_exactly_the_integers_of_the_real_interval(outputs, x):
    both = predictions.overlapping(of_outputs(outputs), x)
    assert both.lower.tolist() == [ceil((1 - x) * o) for o in outputs]
    assert both.upper.tolist() == [floor((1 + x) * o) for o in outputs]
    assert (both.lower >= 1).all()


@given(OUTPUTS, st.integers(0, 99))
def test_a_float_means_the_decimal_number_that_it_prints(outputs, hundredths):
    instance = of_outputs(outputs)
    by_float = predictions.overlapping(instance, hundredths / 100)
    assert by_float == predictions.overlapping(instance, Fraction(hundredths, 100))


@given(OUTPUTS, st.integers(1, 200))
def test_buckets_tile_the_integers_and_hold_their_outputs(outputs, width):
    both = predictions.buckets(of_outputs(outputs), width)
    tiles = [(k * width + 1, (k + 1) * width) for k in range(5000 // width + 1)]
    for o, lower, upper in zip(outputs, both.lower, both.upper, strict=True):
        assert [tile for tile in tiles if tile[0] <= o <= tile[1]] == [(lower, upper)]


def test_rough_is_one_interval_and_refuses_outputs_outside():
    both = predictions.rough(of_outputs([5, 1000]))
    assert (both.lower.tolist(), both.upper.tolist()) == ([1, 1], [1000, 1000])
    with pytest.raises(ValueError, match="request 1: upper 1000 is below output 1001"):
        predictions.rough(of_outputs([5, 1001]))


def test_noise_stays_within_epsilon_and_fills_the_interval_evenly():
    output = 1000
    both = predictions.noisy(of_outputs([output] * 20_000), 0.5, np.random.default_rng(0))
    drawn = both.predicted
    assert drawn.min() >= 500
    assert drawn.max() <= 1500
    # uniform on 500..1500: mean 1000, deviation 1000 / sqrt(12) = 289, standard error 2
    assert drawn.mean() == pytest.approx(1000, abs=9)
    assert drawn.std() == pytest.approx(1000 / 12**0.5, rel=0.02)
    assert both.lower is None


def test_gaussian_noise_has_its_deviation_between_floor_and_ceiling():
    both = predictions.gaussian(of_outputs([500] * 20_000), 25, np.random.default_rng(0))
    assert both.predicted.mean() == pytest.approx(500, abs=0.9)  # standard error 0.18
    assert both.predicted.std() == pytest.approx(25, rel=0.03)
    ends = predictions.gaussian(of_outputs([1, 1024] * 2000), 25, np.random.default_rng(0))
    short, long = ends.predicted[::2], ends.predicted[1::2]
    assert (short.min(), long.max()) == (1, 1024)
    # below 1.5 with probability Phi(0.02) = 0.508, and above 1023.5 alike; deviation 0.011
    assert np.mean(short == 1) == pytest.approx(0.508, abs=0.05)
    assert np.mean(long == 1024) == pytest.approx(0.508, abs=0.05)


def test_ranks_without_noise_are_the_order_and_with_noise_right_as_often_as_computed():
    outputs = [4, 9, 1, 4]
    exact = predictions.ranked(of_outputs(outputs), 0, np.random.default_rng(0))
    assert exact.predicted.tolist() == [2, 4, 1, 3]
    # factor 2 at noise 0.5: Phi(ln 2 / (0.5 sqrt 2)) = Phi(0.980) = 0.8365; 200 draws, sd 0.026
    right = 0
    for seed in range(200):
        both = predictions.ranked(of_outputs([10, 20]), 0.5, np.random.default_rng(seed))
        right += both.predicted.tolist() == [1, 2]
    assert right / 200 == pytest.approx(0.8365, abs=0.08)


def test_a_classifier_answers_the_middle_of_a_bin_as_often_as_its_matrix_says():
    confusion = np.array([[0.7, 0.3, 0.0], [0.1, 0.8, 0.1], [0.0, 0.5, 0.5]])
    outputs = [5] * 6000 + [40] * 6000 + [1000] * 6000  # bins of 30 up to 90, and beyond
    both = predictions.classified(
        of_outputs(outputs), confusion, np.random.default_rng(0), longest=90
    )
    assert set(both.predicted.tolist()) == {15, 45, 75}
    for row, answers in zip(confusion, both.predicted.reshape(3, -1), strict=True):
        shares = [np.mean(answers == middle) for middle in (15, 45, 75)]
        np.testing.assert_allclose(shares, row, atol=0.03)  # deviation 0.0065
        assert all(share == 0 for share, chance in zip(shares, row, strict=True) if chance == 0)


def test_predictions_by_name_are_those_of_the_functions():
    instance = of_outputs([7, 1, 250])
    by_function = predictions.gaussian(instance, 25, stream(3, "predictions", 0))
    assert add_predictions(instance, "gaussian:25", 3).predicted.tolist() == (
        by_function.predicted.tolist()
    )
    assert add_predictions(instance, "gaussian:2.5e1", 3).predicted.tolist() == (
        by_function.predicted.tolist()
    )
    assert add_predictions(instance, "one-bit:100", 3).upper.tolist() == [100, 100, 10**6]


@pytest.mark.parametrize(
    "words",
    [
        *("exact", "rough", "buckets", "overlap:0.3", "noisy:0.2", "gaussian:25", "one-bit:100"),
        *("ranked:0.5", "classified:0.2", *FAMILIES),
    ],
)
def test_requests_stay_as_they_are(words):
    instance = of_outputs([7, 1, 250])
    predicted = add_predictions(instance, words, 0)
    assert list(predicted.requests) == list(instance.requests)
    assert (predicted.name, predicted.memory) == (instance.name, instance.memory)
    assert predicted != instance


def test_medians_that_are_moved_far_stay_lengths():
    instance = add_predictions(of_outputs([7] * 50), "log-t+misjudged:1e9", 0)
    assert set(instance.location.tolist()) == {0, round(1000 * np.log(10**9) - 1)}
    assert 0.99 * 10**9 < instance.predicted.max() <= 10**9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("overlap:1", "x 1 must be at least 0 and below 1"),
        ("buckets:0", "width 0 must be at least 1 token"),
        ("noisy:1.5", "predictions 'noisy:1.5': 1.5 must be between 0 and 1"),
        ("classified:5", "predictions 'classified:5': 5 must be between 0 and 1"),
        ("noisy:-1", "predictions 'noisy:-1': -1 must be between 0 and 1"),
        ("gaussian:1e10", "predictions 'gaussian:1e10': 1e10 must be between 0 and 1000000000"),
        ("buckets:1e30", "predictions 'buckets:1e30': 1e30 must be between 0 and 1000000000"),
        ("noisy:", "predictions 'noisy:' needs a number behind a colon"),
        ("noisy:nan", "predictions 'noisy:nan' needs a number behind a colon"),
        ("one-bit:0", "threshold 0 must be at least 1 and below the memory"),
        ("log-t:1", "samples 1 must be at least 2"),
        ("log-t:1e9", "samples 1,000,000,000 are too many"),
        ("exact:3", "predictions 'exact:3': exact takes no number"),
        ("misjudged:0.3", "predictions misjudged need distributions before them, as in log-t+"),
    ],
)
def test_bad_parameters_are_named(words, message):
    with pytest.raises(ValueError) as caught:
        add_predictions(of_outputs([7]), words, 0)
    assert str(caught.value).startswith(message)


def test_bad_confusions_and_ranges_are_named():
    instance, rng = of_outputs([7]), np.random.default_rng(0)
    for predict in (predictions.gaussian, predictions.ranked, predictions.misjudged):
        with pytest.raises(ValueError, match=r"(sigma|noise) -0.1 must be at least 0 and finite"):
            predict(instance, -0.1, rng)
    with pytest.raises(ValueError, match=r"x -0.1 must be at least 0 and below 1"):
        predictions.overlapping(instance, -0.1)
    with pytest.raises(ValueError, match="floor 9 must be at least 1 and at most ceiling 8"):
        predictions.gaussian(instance, 1, rng, floor=9, ceiling=8)
    with pytest.raises(ValueError, match=r"confusion of shape \(2, 3\) must be square"):
        predictions.classified(instance, np.eye(3)[:2], rng)
    with pytest.raises(ValueError, match="confusion must have rows of probabilities that sum to 1"):
        predictions.classified(instance, np.eye(3) / 2, rng)


def test_predictions_joined_by_a_plus_are_added_one_after_the_other():
    instance = of_outputs([7, 30, 250])
    both = predictions.add_predictions(instance, "log-t+noisy:0.5+buckets", 3)
    first = predictions.add_predictions(instance, "log-t", 3)
    assert both.upper.tolist() == predictions.add_predictions(instance, "buckets", 0).upper.tolist()
    assert both.predicted.tolist() != first.predicted.tolist()
    assert (abs(both.predicted - instance.output) <= instance.output / 2 + 1).all()
    assert both.source.endswith("log-t+noisy:0.5+buckets, seed 3")
    with pytest.raises(ValueError, match="'nonsense' must be one of"):
        predictions.add_predictions(instance, "exact+nonsense", 3)


def test_a_misjudged_law_is_moved_by_normal_logarithms_and_nothing_else():
    n = 4000
    instance = predictions.add_predictions(of_outputs([250] * n), "log-t", 3)
    moved = predictions.misjudged(instance, 0.3, np.random.default_rng(5))
    shift = (moved.location - instance.location) / 1000
    assert abs(shift.mean()) < 0.02
    assert shift.std() == pytest.approx(0.3, rel=0.05)
    assert (moved.scale == instance.scale).all()
    assert (abs(moved.predicted - np.exp(moved.location / 1000)) <= 0.5).all()


def test_laws_are_fitted_to_draws_of_the_laws_that_an_instance_states():
    """More draws come nearer to the stated law, also behind another law in the same words."""
    stated = generate("log-t-laws", 1, n=500, memory=9000, mu=5.0, upper=1024)
    errors = [
        float(np.std(predictions.add_predictions(stated, words, 2).location - stated.location))
        for words in ("log-t:3", "log-t:200", "log-t:3+log-t:200")
    ]
    assert errors[0] > 4 * errors[1]
    assert errors[2] == pytest.approx(errors[1], rel=0.2)


N, SEED, SIGMAS = 6_000, 11, 5
NOISES = [
    "noisy:0.5",
    "gaussian:25",
    "ranked:0.5",
    "classified:0.65",
    "log-t:3",
    "log-normal:3",
    "log-t:3+misjudged:1",
]


def drawn(kind: str) -> Instance:
    """Draw many requests of a kind, which arrive one after the other if they can."""
    if kind == "jaillet-model-1":
        return generate(kind, SEED, n_least=N, n_most=N)
    if kind == "jaillet-model-2":
        return generate(kind, SEED, horizon_least=N, horizon_most=N)
    if kind.startswith("trace-"):
        return generate(kind, SEED, n=N)
    return generate(kind, SEED, n=N, rate=1.0)


def errors(instance: Instance, words: str) -> np.ndarray:
    """Return what the noise makes of equal outputs, shape (n,)."""
    outputs = np.full(len(instance), 500)
    equal = dict.fromkeys(("lower", "upper", "predicted", "location", "scale", "freedom"))
    if instance.location is not None:
        laws = {name: getattr(instance, name) for name in ("location", "scale", "freedom")}
        equal |= {name: np.full(len(instance), int(np.median(c))) for name, c in laws.items()}
        equal["predicted"] = outputs
    flat = instance.replace(memory=10**6, output=outputs, **equal)
    return add_predictions(flat, words, SEED).predicted


def largest_correlation(instance: Instance, noise: np.ndarray) -> float:
    """Return the largest linear or rank correlation with a column, in standard deviations."""
    columns = [instance.prompt, instance.output, instance.arrival]
    pairs = [
        (of(column), of(noise))
        for column in columns
        if column.min() < column.max()
        for of in (np.asarray, rankdata)
    ]
    return max(abs(np.corrcoef(*pair)[0, 1]) for pair in pairs) * len(noise) ** 0.5


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "equal"])
def test_errors_of_every_prediction_are_independent_of_the_requests(kind):
    instance = drawn(kind)
    for words in NOISES:
        noise = errors(instance, words)
        assert noise.min() < noise.max()
        assert largest_correlation(instance, noise) < SIGMAS, words
