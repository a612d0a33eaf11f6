"""Protected memory: thresholds, clearing, endless loops, and the margin of mc-sf."""

from fractions import Fraction

import numpy as np
import pytest
from drawn import drawn

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.policies.mc_sf import MCSF
from ratiolab.online.policies.prefix import unreserved
from ratiolab.online.policies.protection import AlphaBetaClearing, AlphaProtection

TWO = Instance("two", 5, [0, 0], [1, 1], [3, 3])
"""Both at once hold 2 + 2 at round 1 and would hold 3 + 3 > 5 at round 2."""


def runs_of(instance, policy, seed=0):
    simulation = simulate(instance, policy, seed=seed)
    return [(run.request, run.start, run.stop) for run in simulation.schedule.runs]


def test_without_protection_both_are_cleared_and_start_again_for_ever():
    simulation = simulate(TWO, AlphaProtection(0))
    assert simulation.outcome == "looping"
    assert runs_of(TWO, AlphaProtection(0)) == [(0, 0, 1), (1, 0, 1), (0, 2, 3), (1, 2, 3)]


def test_a_protected_quarter_serves_one_after_the_other():
    # (1 - 1/4) 5 = 3.75: beside 2 tokens of request 0 there is no room for another 2.
    assert runs_of(TWO, AlphaProtection(0.25)) == [(0, 0, 3), (1, 3, 6)]


def test_usage_up_to_the_threshold_is_allowed():
    # (1 - 1/5) 5 = 4 = 2 + 2: both start, overflow, and do so again.
    assert simulate(TWO, AlphaProtection(0.2)).outcome == "looping"


def test_nobody_is_admitted_in_a_round_of_clearing_and_the_cleared_come_first_again():
    # 0 and 1 are cleared at round 1, when 2 arrives; at round 2 they take all 4 of 5 tokens again,
    # so that 2 never starts.
    instance = Instance("three", 5, [0, 0, 1], [1, 1, 0], [3, 3, 1])
    assert simulate(instance, AlphaProtection(0.2)).outcome == "looping"
    assert {request for request, _, _ in runs_of(instance, AlphaProtection(0.2))} == {0, 1}


def test_a_request_above_the_threshold_starts_when_nobody_runs():
    # Half of 6 is 3: the second would hold 5 in its first round.
    instance = Instance("wide", 6, [0, 0], [0, 4], [2, 2])
    assert runs_of(instance, AlphaProtection(0.5)) == [(0, 0, 2), (1, 2, 4)]


def test_a_loop_is_found_at_once_however_long_the_requests_are():
    long = Instance("long", 10**9, [0, 0], [0, 0], [9 * 10**8] * 2)
    simulation = simulate(long, AlphaProtection(0.3))
    assert simulation.outcome == "looping"
    assert simulation.decisions <= 5


def test_certain_clearing_is_alpha_protection():
    for alpha in (0.0, 0.2):
        for seed in range(100):
            one, two = AlphaProtection(alpha), AlphaBetaClearing(alpha, 1)
            assert runs_of(drawn(seed), one) == runs_of(drawn(seed), two, seed)
            assert simulate(drawn(seed), one).outcome == simulate(drawn(seed), two).outcome


def test_only_as_many_are_cleared_as_draw_it():
    """Ten of one token each overflow by one; with a small probability few of them go."""
    instance = Instance("ten", 19, [0] * 10, [0] * 10, [9] * 10)
    first = []
    for seed in range(400):
        runs = runs_of(instance, AlphaBetaClearing(0, 0.05), seed)
        first.append(sum(stop == 1 for _, _, stop in runs))
    assert min(first) == 1
    # of ten draws repeated until one succeeds: 0.5 / (1 - 0.95**10) = 1.246 on average, and a
    # standard deviation of 0.49, 0.025 over 400 runs
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


def test_a_margin_is_reserved_in_the_check_only():
    # (1 - 0.5) 4 = 2 tokens: request 0 fits at its prediction and runs on to 3 without clearing.
    one = SHORT.take([0])
    assert runs_of(one, MCSF("predicted", margin=0.5)) == [(0, 0, 3)]


def test_who_does_not_fit_under_the_margin_starts_when_nobody_runs():
    instance = Instance("wide", 6, [0, 0], [0, 2], [2, 3])
    assert runs_of(instance, MCSF(margin=0.5)) == [(0, 0, 2), (1, 2, 5)]


def test_true_lengths_never_overflow_under_any_margin():
    for seed in range(100):
        for margin in (0.1, 0.5, 0.9):
            simulation = simulate(drawn(seed), MCSF(margin=margin))
            assert (simulation.outcome, simulation.schedule.evictions) == ("complete", 0)


def test_no_margin_is_mc_sf():
    assert make("mc-sf") == MCSF(margin=0.0)
