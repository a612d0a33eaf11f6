"""Predictions laid over true lengths: exact rounding, and nothing else touched."""

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratiolab.model import Instance
from ratiolab.workloads import predictions

SHARES = st.integers(0, 99).map(lambda k: Fraction(k, 100))


def of_outputs(outputs: list[int]) -> Instance:
    n = len(outputs)
    return Instance("plain", 10**6, list(range(n)), [3] * n, outputs)


OUTPUTS = st.lists(st.integers(1, 5000), min_size=1, max_size=20)


@given(OUTPUTS, SHARES)
def test_overlapping_intervals_are_exactly_the_integers_of_the_real_interval(outputs, x):
    laid = predictions.overlapping(of_outputs(outputs), x)
    assert laid.lower.tolist() == [ceil((1 - x) * o) for o in outputs]
    assert laid.upper.tolist() == [floor((1 + x) * o) for o in outputs]
    assert (laid.lower >= 1).all()


@given(OUTPUTS, st.integers(0, 99))
def test_a_float_means_the_decimal_number_that_it_prints(outputs, hundredths):
    instance = of_outputs(outputs)
    by_float = predictions.overlapping(instance, hundredths / 100)
    assert by_float == predictions.overlapping(instance, Fraction(hundredths, 100))


def test_the_three_widths_of_the_paper_by_hand():
    # o = 30: [27, 33]; [1.5, 58.5]; [0.3, 59.7]
    for x, interval in ((0.1, (27, 33)), (0.95, (2, 58)), (0.99, (1, 59))):
        laid = predictions.overlapping(of_outputs([30]), x)
        assert (laid.lower[0], laid.upper[0]) == interval


@given(OUTPUTS, st.integers(1, 200))
def test_buckets_tile_the_integers_and_hold_their_outputs(outputs, width):
    laid = predictions.buckets(of_outputs(outputs), width)
    tiles = [(k * width + 1, (k + 1) * width) for k in range(5000 // width + 1)]
    for o, lower, upper in zip(outputs, laid.lower, laid.upper, strict=True):
        assert [tile for tile in tiles if tile[0] <= o <= tile[1]] == [(lower, upper)]


def test_rough_is_one_interval_and_refuses_outputs_outside():
    laid = predictions.rough(of_outputs([5, 1000]))
    assert (laid.lower.tolist(), laid.upper.tolist()) == ([1, 1], [1000, 1000])
    with pytest.raises(ValueError, match="request 1: upper 1000 is below output 1001"):
        predictions.rough(of_outputs([5, 1001]))


def test_noise_stays_within_epsilon_and_fills_the_interval_evenly():
    output = 1000
    laid = predictions.noisy(of_outputs([output] * 20_000), 0.5, np.random.default_rng(0))
    drawn = laid.predicted
    assert drawn.min() >= 500
    assert drawn.max() <= 1500
    # uniform on 500..1500: mean 1000, deviation 1000 / sqrt(12) = 289, standard error 2
    assert drawn.mean() == pytest.approx(1000, abs=9)
    assert drawn.std() == pytest.approx(1000 / 12**0.5, rel=0.02)
    assert laid.lower is None


def test_noise_never_predicts_less_than_one_token():
    laid = predictions.noisy(of_outputs([1] * 1000), 1.0, np.random.default_rng(0))
    assert set(laid.predicted.tolist()) == {1, 2}


@pytest.mark.parametrize(
    "lay",
    [
        predictions.exact,
        predictions.rough,
        predictions.buckets,
        lambda i: predictions.overlapping(i, 0.3),
        lambda i: predictions.noisy(i, 0.2, np.random.default_rng(0)),
    ],
)
def test_requests_stay_as_they_are(lay):
    instance = of_outputs([7, 1, 250])
    laid = lay(instance)
    assert list(laid.requests) == list(instance.requests)
    assert (laid.name, laid.memory) == (instance.name, instance.memory)
    assert laid != instance


def test_exact_predicts_the_output_everywhere():
    laid = predictions.exact(of_outputs([7, 1]))
    for column in (laid.lower, laid.upper, laid.predicted):
        assert column.tolist() == [7, 1]


@pytest.mark.parametrize(
    ("lay", "message"),
    [
        (lambda i: predictions.overlapping(i, 1), "x 1 must be at least 0 and below 1"),
        (lambda i: predictions.overlapping(i, -0.1), "x -0.1 must be at least 0 and below 1"),
        (lambda i: predictions.buckets(i, 0), "width 0 must be at least 1 token"),
        (
            lambda i: predictions.noisy(i, 1.5, np.random.default_rng(0)),
            "epsilon 1.5 must be between 0 and 1",
        ),
    ],
)
def test_bad_parameters_are_named(lay, message):
    with pytest.raises(ValueError) as caught:
        lay(of_outputs([7]))
    assert str(caught.value) == message
