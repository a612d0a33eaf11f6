"""The bin filter: exact moments of the matrices, and Bayes' rule by enumerating paths."""

from fractions import Fraction
from itertools import product

import pytest

from ratiolab.theory.laws.bin_filter import (
    World,
    apply,
    bayes_filter,
    demonstration,
    mean_length,
    middles,
    normalised,
    transition,
    transition_as_printed,
)

F = Fraction
WIDTH = F(512, 10)
LOPSIDED = World(
    width=F(3),
    start=(F(1, 2), F(1, 5), F(3, 10)),
    likelihood=((F(3, 5), F(2, 5)), (F(1, 4), F(3, 4)), (F(1, 10), F(9, 10))),
)


def unit(i: int, bins: int) -> tuple[Fraction, ...]:
    return tuple(F(int(i == j)) for j in range(bins))


def test_each_token_shortens_by_one_and_the_printed_matrix_lengthens_by_one():
    for j in range(1, 9):
        q = unit(j, 10)
        before = mean_length(q, WIDTH)
        assert mean_length(apply(transition(10, WIDTH), q), WIDTH) == before - 1
        assert mean_length(apply(transition_as_printed(10, WIDTH), q), WIDTH) == before + 1


def test_corrected_filter_is_the_posterior_of_every_observation():
    matrix = transition(3, LOPSIDED.width)
    for symbols in product(range(2), repeat=4):
        outputs = [LOPSIDED.classifier(s) for s in symbols]
        filtered = bayes_filter(outputs, matrix, LOPSIDED.start)
        for t, estimate in enumerate(filtered):
            assert estimate == normalised(LOPSIDED.joint(symbols[: t + 1]))


def test_bayes_has_the_least_squared_error_and_the_printed_one_is_worse_than_none():
    errors = demonstration(3)
    best = errors.pop("posterior, likelihood")
    assert all(best < other for other in errors.values())
    assert errors["as printed"] > errors["classifier alone"]
    assert errors["as printed"] > errors["as printed, matrix turned"]


def test_contradictions_and_bad_bins_are_refused():
    with pytest.raises(ValueError, match="exclude each other"):
        normalised((F(0), F(0)))
    with pytest.raises(ValueError, match="bins 0"):
        transition(0, WIDTH)
    with pytest.raises(ValueError, match="width 1/2"):
        middles(3, F(1, 2))
