"""The recursion for the printed A_min against the printed A_min, simulated."""

from fractions import Fraction

import pytest

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits.fluid import shortest_first_latency
from ratiolab.theory.limits.printed_a_min import first_start_throughput, ratio_lower_bound


@pytest.mark.long
@pytest.mark.parametrize(("upper", "share"), [(4, Fraction(1, 5)), (8, Fraction(3, 40))])
def test_first_starts_of_the_simulated_policy_follow_the_recursion(upper, share):
    memory = 1600
    n = 20 * memory
    long = int(n * share)
    outputs = [1] * (n - long) + [upper] * long
    instance = Instance("two", memory, [0] * n, [0] * n, outputs, lower=[1] * n)
    schedule = simulate(instance, make("a-min")).schedule
    first = [10**9] * n
    for run in schedule.runs:
        first[run.request] = min(first[run.request], run.start)
    half = sorted(first)[n // 2]
    started = sum(start < half for start in first)
    simulated = started / half / memory
    assert simulated == pytest.approx(first_start_throughput(upper, float(share), half), rel=0.02)


def test_two_lengths_by_hand():
    """u = 2, p = 1/2: 1 starts, half of it is long and holds 1 in the next round: 0; then 1/2.

    Round 0: 1 starts. Round 1: the long half has age 1 and holds 2 * 1/2 = 1 in round 2, nothing
    starts. Round 2: all are done, 1 starts. So 2 in 3 rounds, 2 in 4.
    """
    assert first_start_throughput(2, 0.5, 3) == 2 / 3
    assert first_start_throughput(2, 0.5, 4) == 1 / 2


def test_the_denominator_is_that_of_h_sf():
    theta = first_start_throughput(6, 0.1, 240)
    base = float(shortest_first_latency(two_point(1, 6, Fraction(1, 10))))
    assert ratio_lower_bound(6, 0.1) == pytest.approx(1 / theta / base, rel=1e-12)


def test_the_bound_grows_like_a_square_root():
    ratios = [ratio_lower_bound(u, 0.6 / u) / u**0.5 for u in (100, 400, 1600)]
    assert 0.6 < min(ratios) < max(ratios) < 0.72


@pytest.mark.parametrize("arguments", [(1, 0.5, 9), (3, 0.0, 9), (3, 1.0, 9), (3, 0.5, 0)])
def test_what_leaves_the_model_is_refused(arguments):
    with pytest.raises(ValueError, match=r"upper|share_upper|rounds"):
        first_start_throughput(*arguments)
