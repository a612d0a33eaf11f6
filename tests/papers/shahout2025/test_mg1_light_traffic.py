"""Two jobs decide the first order: exact values against profiles, integrals and a simulation."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from ratiolab.papers.shahout2025.queues import mg1
from ratiolab.papers.shahout2025.queues.mg1_light_traffic import LEAST, as_printed, slope, two_jobs
from ratiolab.papers.shahout2025.queues.mg1_simulation import run

GRID = [Fraction(k, 20) for k in range(21)]


@pytest.mark.parametrize("fraction", GRID[::4])
def test_exact_values_are_the_derivatives_of_the_profiles(fraction: Fraction) -> None:
    exact, printed = (f(mg1.PERFECT, float(fraction)) for f in (mg1.corrected, mg1.as_printed))
    assert slope(exact) == pytest.approx(float(two_jobs(fraction)), rel=1e-9)
    assert slope(printed) == pytest.approx(float(as_printed(fraction)), rel=1e-9)
    difference = (exact.mean_response_time(1e-4) - 1) / 1e-4
    assert slope(exact) == pytest.approx(difference, rel=1e-3)


def test_two_served_jobs_are_delayed_as_assumed() -> None:
    # Midpoint sums over u of the delay seen by the event loop, for a few sizes and fractions.
    for t, x, fraction in ((3.0, 1.0, 0.5), (2.0, 5.0, 1.0), (4.0, 2.0, 0.0), (4.0, 0.5, 0.75)):
        for u in (np.arange(64) + 0.5) * t / 64:
            size = np.array([t, x])
            arrival = np.array([0.0, u])
            completion, _ = run(arrival, size, size, fraction)
            delay = (completion - arrival - size).sum()
            preempts = u < fraction * t and x < t - u
            assert delay == pytest.approx(x if preempts else t - u)


def test_defining_integrals_give_the_closed_forms() -> None:
    from scipy.integrate import quad

    for c in (0.2, 0.5, 0.8):
        w = 1 - c
        policy = quad(lambda v, w=w: (1 - exp(-v)) * (exp(-v) - exp(-v / w)), 0, 60)[0] + w * w
        assert policy == pytest.approx(float(two_jobs(Fraction(c).limit_denominator(10))))
        residence = quad(lambda u, w=w: (1 - (1 + u) * exp(-u)) * (exp(-u) - exp(-u / w)), 0, 60)[0]
        old = quad(lambda r, c=c: r * r * exp(-(2 + c) * r), 0, 60)[0]
        printed = (0.25 + old) / 2 + residence
        assert printed == pytest.approx(float(as_printed(Fraction(c).limit_denominator(10))))


def test_printed_lemma_promises_less_than_any_policy_can_reach() -> None:
    assert all(as_printed(c) < LEAST <= two_jobs(c) for c in GRID)


def test_impossible_fraction_is_refused() -> None:
    with pytest.raises(ValueError, match="fraction 3/2"):
        two_jobs(Fraction(3, 2))
