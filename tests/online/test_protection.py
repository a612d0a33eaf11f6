"""Protected memory: thresholds, clearing, endless loops, and the margin of mc-sf."""

from fractions import Fraction

import numpy as np
import pytest

from ratiolab.model import Instance
from ratiolab.online import simulate
from ratiolab.online.policies.mc_sf import MCSF
from ratiolab.online.policies.prefix import unreserved
from ratiolab.online.policies.protection import AlphaBetaClearing, AlphaProtection


def runs_of(instance, policy, seed=0):
    simulation = simulate(instance, policy, seed=seed)
    return [(run.request, run.start, run.stop) for run in simulation.schedule.runs]


def test_a_loop_is_found_at_once_however_long_the_requests_are():
    long = Instance("long", 10**9, [0, 0], [0, 0], [9 * 10**8] * 2)
    simulation = simulate(long, AlphaProtection(0.3))
    assert simulation.outcome == "looping"
    assert simulation.decisions <= 5


def test_only_as_many_are_cleared_as_draw_it():
    """Ten of one token each overflow by one; with a small probability few of them go."""
    instance = Instance("ten", 19, [0] * 10, [0] * 10, [9] * 10)
    first = []
    for seed in range(200):
        runs = runs_of(instance, AlphaBetaClearing(0, 0.05), seed)
        first.append(sum(stop == 1 for _, _, stop in runs))
    assert min(first) == 1
    # of ten draws repeated until one succeeds: 0.5 / (1 - 0.95**10) = 1.246 on average, and a
    # standard deviation of 0.49, 0.035 over 200 runs
    assert abs(np.mean(first) - 0.5 / (1 - 0.95**10)) < 0.1


@pytest.mark.parametrize("alpha", [-0.1, 1, float("nan")])
def test_shares_outside_zero_and_one_are_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha-protection: alpha .* must be in \[0, 1\)"):
        AlphaProtection(alpha)
    with pytest.raises(ValueError, match=r"alpha-beta-clearing: alpha .* must be in \[0, 1\)"):
        AlphaBetaClearing(alpha)
    with pytest.raises(ValueError, match=r"mc-sf: margin .* must be in \[0, 1\)"):
        MCSF(margin=alpha)


@pytest.mark.parametrize("beta", [0, 1.5, float("nan")])
def test_a_probability_of_clearing_outside_zero_and_one_is_refused(beta):
    with pytest.raises(ValueError, match=r"beta .* must be in \(0, 1\]"):
        AlphaBetaClearing(beta=beta)


def test_a_share_is_the_decimal_that_is_written():
    for tenths in range(10):
        exact = (1 - Fraction(tenths, 10)) * 10
        assert unreserved(10, tenths / 10) == exact
    assert int(10 * (1 - 0.9)) == 0, "which floats get wrong"


SHORT = Instance("short", 4, [0, 0], [0, 0], [3, 3], predicted=[1, 1])


def test_a_margin_keeps_lengths_that_are_too_short_from_looping():
    # Without it both start and are cleared for ever. (1 - 0.6) 4 = 1.6: one token is left, so
    # request 1 waits until request 0, which outlives its prediction, has ended.
    assert simulate(SHORT, MCSF("predicted")).outcome == "looping"
    assert simulate(SHORT, MCSF("predicted", margin=0.5)).outcome == "looping"
    assert runs_of(SHORT, MCSF("predicted", margin=0.6)) == [(0, 0, 3), (1, 3, 6)]
