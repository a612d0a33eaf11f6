"""The lower end of V(R) again, in integers: law and price as found, rounded, and every path."""

from fractions import Fraction
from itertools import accumulate, pairwise

import pytest

from ratiolab.game.ranges import enclose

BITS = 34


def scaled(numbers):
    """Return the numbers times 2**BITS, rounded; in their order, equal ones stay equal."""
    return [round(number * 2**BITS) for number in numbers]


def least_cost(volumes, shares, ends, prices):
    """Return the least cost of a path less what work is worth, times 2**(3 BITS).

    Backwards through the steps: at the begin of each, the bound stays or jumps to any larger one.
    """
    cells = zip(pairwise(volumes), shares, strict=False)
    filled = [0, *accumulate((b - a) * share for (a, b), share in cells)]
    widths = [b - a for a, b in pairwise([0, *ends])]
    costs = [0] * len(volumes)
    for price, width in reversed(list(zip(prices, widths, strict=True))):
        stays = [(2 * s * width << BITS) + c for s, c in zip(shares, costs, strict=True)]
        jump, costs = None, stays.copy()
        for bound in reversed(range(len(volumes) - 1)):
            reached = price * filled[bound + 1] + stays[bound + 1]
            jump = reached if jump is None else min(jump, reached)
            again = volumes[bound] * shares[bound] - filled[bound]
            costs[bound] = min(stays[bound], jump + price * again)
    worth = sum(price * width for price, width in zip(prices, widths, strict=True))
    return costs[0] - (worth << BITS)


@pytest.mark.long
@pytest.mark.parametrize(("ratio", "gap"), [(3.0, 0.006), (4.0, 0.0075)])
def test_the_lower_end_is_proved_without_rounding(ratio, gap):
    found = enclose(ratio, gap)
    volumes, shares = scaled(found.volumes), scaled(found.shares)
    ends, prices = scaled(found.ends), scaled(found.prices)
    # a law on [1, R] and a price, which rounding has left them
    assert volumes[:2] == [0, 2**BITS]
    assert volumes[-1] <= ratio * 2**BITS
    assert shares[0] == 2**BITS
    assert shares[-1] == 0
    for falls in (shares, prices):
        assert all(one >= other >= 0 for one, other in pairwise(falls))
    for rises in (volumes, ends):
        assert all(one < other for one, other in pairwise(rises))
    optimum = sum((b - a) * s**2 for (a, b), s in zip(pairwise(volumes), shares, strict=False))
    proved = Fraction(least_cost(volumes, shares, ends, prices), optimum)
    assert abs(proved - Fraction(found.enclosure.lower)) < Fraction(1, 10**9)
    # where work is free all is done at once: the price proves it
    assert least_cost(volumes, shares, ends, [0] * len(prices)) == 0
