"""Ratios to an optimum that is known only between bounds."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratiolab.ratio import RatioInterval


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6))
def test_the_interval_holds_the_ratio_to_every_optimum_between_the_bounds(
    cost: int, lower: int, width: int, step: int
) -> None:
    upper = lower + width
    optimum = lower + step % (width + 1)
    ratio = RatioInterval(Fraction(cost), lower, upper)
    assert ratio.low <= Fraction(cost, optimum) <= ratio.high
    assert not ratio.is_exact


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 10**4))
def test_what_is_printed_is_still_proved(cost: int, lower: int, width: int) -> None:
    ratio = RatioInterval(Fraction(cost, 7), lower, lower + width)
    low, high = (Fraction(word) for word in str(ratio).strip("[]").split(", "))
    assert low <= ratio.low <= ratio.high <= high
    assert ratio.low - low < Fraction(2, 10**4)
    assert high - ratio.high < Fraction(2, 10**4)


def test_an_exact_ratio_is_one_number() -> None:
    assert str(RatioInterval(Fraction(9), 5, 5)) == "1.8000"


@pytest.mark.parametrize(("lower", "upper"), [(0, 5), (6, 5), (-1, 1)])
def test_bounds_that_bracket_nothing_are_refused(lower: int, upper: int) -> None:
    with pytest.raises(ValueError, match="1 <= opt_lower <= opt_upper"):
        RatioInterval(Fraction(1), lower, upper)
