from fractions import Fraction

import pytest

from ratiolab.theory.laws.distributions import (
    LengthDistribution,
    from_weights,
    geometric,
    linearly_weighted_geometric,
    two_point,
    uniform,
)

EXACT = [
    two_point(2, 9, Fraction(1, 7)),
    uniform(3, 8),
    geometric(Fraction(2, 3), 12),
    geometric(Fraction(2, 3), 12, lower=4, tail="move"),
    linearly_weighted_geometric(Fraction(3, 5), 11),
    linearly_weighted_geometric(Fraction(3, 5), 11, tail="move"),
]


@pytest.mark.parametrize("d", EXACT, ids=lambda d: d.name)
def test_moments_and_cdf_equal_their_defining_sums(d):
    pairs = list(zip(range(d.lower, d.upper + 1), d.probabilities, strict=True))
    assert d.is_exact
    assert sum(p for _, p in pairs) == 1
    assert d.mean == sum(k * p for k, p in pairs)
    assert d.second_moment == sum(k * k * p for k, p in pairs)
    for c in (0, d.lower - 1, d.lower, d.lower + 0.5, d.upper - 0.01, d.upper, d.upper + 3):
        assert d.cdf(c) == sum(p for k, p in pairs if k <= c)
        assert d.survival(c) == sum(p for k, p in pairs if k > c)
    assert [d.probability(k) for k, _ in pairs] == [p for _, p in pairs]
    assert d.probability(d.upper + 1) == 0


@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(9, 10)])
def test_conditioning_keeps_ratios_and_moving_keeps_masses(q):
    conditioned, moved = geometric(q, 6), geometric(q, 6, tail="move")
    for k in range(1, 6):
        assert conditioned.probability(k + 1) == q * conditioned.probability(k)
        assert moved.probability(k) == (1 - q) * q ** (k - 1)
    weighted = linearly_weighted_geometric(q, 6, tail="move")
    for k in range(1, 6):
        assert weighted.probability(k) == k * (1 - q) ** 2 * q ** (k - 1)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: LengthDistribution(0, (1,)), "lower 0"),
        (lambda: LengthDistribution(1, ()), "empty"),
        (lambda: LengthDistribution(1, (Fraction(1, 2), Fraction(1, 3))), "sum to 5/6"),
        (lambda: LengthDistribution(3, (Fraction(3, 2), Fraction(-1, 2))), "length 4"),
        (lambda: LengthDistribution(1, (float("nan"), 1.0)), "length 1"),
        (lambda: from_weights(1, (0, 0)), "not positive"),
        (lambda: two_point(3, 2, 0), "3..2"),
        (lambda: two_point(1, 2, 2), "share_upper 2"),
        (lambda: geometric(1, 4), "q 1"),
        (lambda: geometric(0.5, 4, tail="drop"), "drop"),
    ],
)
def test_refusals_name_field_value_and_rule(build, words):
    with pytest.raises(ValueError, match=words):
        build()
