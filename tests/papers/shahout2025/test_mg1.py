"""Limited preemption: limits that other formulas know, and closed forms for exponentials."""

import math
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from ratiolab.papers.shahout2025.queues import mg1, mg1_classics
from ratiolab.papers.shahout2025.queues.mg1_light_traffic import as_printed, slope, two_jobs
from ratiolab.papers.shahout2025.queues.mg1_simulation import (
    Sampler,
    exponential_predictions,
    perfect_exponential,
    run,
    simulate,
)

LOADS = [0.2, 0.5, 0.8, 0.95]


def exponential(x: float) -> float:
    return math.exp(-x)


def nonpreemptive_sjf(rate: float) -> float:
    """Return the mean response time of shortest job first without preemption (Phipps, 1956).

    Sizes are exponential with mean 1: E[S^2] = 2, and int_0^x t e^-t dt = 1 - (1 + x) e^-x.
    """
    from scipy.integrate import quad

    def at(x: float) -> float:
        return exponential(x) / (1 - rate * (1 - (1 + x) * exponential(x))) ** 2

    return 1 + rate * quad(at, 0, math.inf, epsabs=1e-13, epsrel=1e-12, limit=200)[0]


@pytest.mark.parametrize("rate", LOADS)
def test_full_preemption_with_perfect_predictions_is_srpt(rate):
    value = mg1.corrected(mg1.PERFECT, 1).mean_response_time(rate)
    assert value == pytest.approx(mg1_classics.srpt(rate, exponential), rel=1e-9)


@pytest.mark.parametrize("rate", LOADS)
def test_no_preemption_with_perfect_predictions_is_shortest_job_first(rate):
    value = mg1.corrected(mg1.PERFECT, 0).mean_response_time(rate)
    assert value == pytest.approx(nonpreemptive_sjf(rate), rel=1e-9)


@pytest.mark.parametrize("rate", LOADS)
def test_predictions_that_know_nothing_leave_the_mean_of_fcfs_when_nothing_is_preempted(rate):
    # Independent predictions, C = 0: a random order without preemption, and E[T] is the
    # same for all orders that are blind to size (Kleinrock's conservation law).
    model = mg1.Joint(lambda x, r: np.exp(-x - r))
    value = mg1.corrected(model, 0).mean_response_time(rate)
    # Pollaczek and Khinchine: E[S] + rate E[S^2] / (2 (1 - rate E[S])), with E[S^2] = 2
    assert value == pytest.approx(1 + rate / (1 - rate), rel=1e-8)


def test_perfect_predictions_agree_with_hand_derived_closed_forms():
    from scipy.integrate import quad

    # Exponential sizes, C = 1/2, tagged job x = r = 2, rate 1/2. With E = exp(-2):
    # rho(2) = (1 - 3E)/2; int_0^2 t^2 f = 2 - 10E; for t in (2, 4) the old job leaves 2:
    # 4(E - E^2); beyond it leaves t/2: (1/4)(16 + 8 + 2)E^2 = 6.5 E^2.
    e = math.exp(-2)
    square = 2 - 10 * e + 4 * (e - e * e) + 6.5 * e * e
    waiting = 0.5 * square / (2 * (1 - (1 - 3 * e) / 2) ** 2)
    residence = quad(lambda u: 1 / (1 - 0.5 * (1 - (1 + u) * math.exp(-u))), 1, 2)[0] + 1
    value = mg1.response_time(mg1.PERFECT, 0.5, 0.5, 2, 2)
    assert value == pytest.approx(waiting + residence, rel=1e-9)


def test_memory_without_preemption_is_the_mean_age_in_service():
    # One started job at a time: lambda E[X^2] / 2 = rate for exponential sizes.
    for model in (mg1.PERFECT, mg1.EXPONENTIAL):
        assert mg1.corrected(model, 0).mean_memory(0.6) == pytest.approx(0.6, rel=1e-8)


def test_overload_and_impossible_fractions_are_refused():
    for rate in (0, 1, 1.5):
        with pytest.raises(ValueError, match=f"rate {rate}"):
            mg1.corrected(mg1.PERFECT, 0.5).mean_response_time(rate)
    with pytest.raises(ValueError, match="rate 2"):
        mg1.response_time(mg1.PERFECT, 0.5, 2, 50, 50)
    for formula in (mg1.corrected, mg1.as_printed):
        with pytest.raises(ValueError, match=r"fraction 1\.5"):
            formula(mg1.PERFECT, 1.5)


GRID = [Fraction(k, 20) for k in range(21)]


@pytest.mark.parametrize("fraction", GRID[::4])
def test_exact_values_are_the_derivatives_of_the_profiles(fraction):
    exact, printed = (f(mg1.PERFECT, float(fraction)) for f in (mg1.corrected, mg1.as_printed))
    assert slope(exact) == pytest.approx(float(two_jobs(fraction)), rel=1e-9)
    assert slope(printed) == pytest.approx(float(as_printed(fraction)), rel=1e-9)
    difference = (exact.mean_response_time(1e-4) - 1) / 1e-4
    assert slope(exact) == pytest.approx(difference, rel=1e-3)


def test_defining_integrals_give_the_closed_forms():
    from scipy.integrate import quad

    for c in (0.2, 0.5, 0.8):
        w = 1 - c
        policy = quad(lambda v, w=w: (1 - exp(-v)) * (exp(-v) - exp(-v / w)), 0, 60)[0] + w * w
        assert policy == pytest.approx(float(two_jobs(Fraction(c).limit_denominator(10))))
        residence = quad(lambda u, w=w: (1 - (1 + u) * exp(-u)) * (exp(-u) - exp(-u / w)), 0, 60)[0]
        old = quad(lambda r, c=c: r * r * exp(-(2 + c) * r), 0, 60)[0]
        printed = (0.25 + old) / 2 + residence
        assert printed == pytest.approx(float(as_printed(Fraction(c).limit_denominator(10))))


def naive(arrival, size, prediction, fraction):
    """Integer times, one unit at a time, the rule written out again."""
    n = len(arrival)
    age, completion = [0] * n, [0] * n
    last, now = -1, 0
    while min(completion) == 0:
        here = [i for i in range(n) if arrival[i] <= now and completion[i] == 0]
        if here:
            immune = [i for i in here if age[i] > 0 and age[i] >= fraction * prediction[i]]
            rank = {i: prediction[i] - age[i] for i in here}
            # An immune job holds the server; the running job keeps it at equal rank.
            i = immune[0] if immune else min(here, key=lambda j: (rank[j], j != last, j))
            age[i] += 1
            last = i
            if age[i] == size[i]:
                completion[i] = now + 1
        now += 1
    return completion


def test_event_loop_follows_the_rule_unit_by_unit():
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(1, 7))
        arrival = np.sort(rng.choice(15, n, replace=False))
        size = rng.integers(1, 8, n)
        prediction = size + rng.integers(-1, 3, n) * rng.integers(0, 2)
        prediction = np.maximum(prediction, 1) + np.arange(n) / 64  # no ties
        fraction = float(rng.choice([0, 0.25, 0.5, 1]))
        completion, _ = run(arrival * 1.0, size * 1.0, prediction, fraction)
        assert completion.tolist() == naive(arrival, size, prediction, fraction)


@pytest.mark.parametrize(
    ("sampler", "model"),
    [(perfect_exponential, mg1.PERFECT), (exponential_predictions, mg1.EXPONENTIAL)],
)
@pytest.mark.parametrize("fraction", [0.2, 1])
def test_simulation_confirms_the_corrected_formula_and_refutes_the_printed_one(
    sampler: Sampler, model: mg1.PredictionModel, fraction: float
) -> None:
    exact, printed = mg1.corrected(model, fraction), mg1.as_printed(model, fraction)
    rng = np.random.default_rng(int(100 * fraction))
    for rate in (0.5, 0.7):
        seen = simulate(sampler, fraction, rate, rng=rng, confidence=0.999)
        assert seen.response_time.covers(exact.mean_response_time(rate))
        assert seen.memory.covers(exact.mean_memory(rate))
        assert not seen.response_time.covers(printed.mean_response_time(rate))
        assert seen.response_time.half_width < 0.04 * seen.response_time.mean


def test_same_seed_same_estimate():
    one, two = (
        simulate(perfect_exponential, 0.5, 0.5, rng=np.random.default_rng(1), jobs=1000)
        for _ in range(2)
    )
    assert one == two


def test_bad_input_is_refused_by_name():
    one = np.ones(1)
    with pytest.raises(ValueError, match="size"):
        run(one, np.ones(2), one, 0.5)
    with pytest.raises(ValueError, match="arrival"):
        run(np.array([1.0, 0.0]), np.ones(2), np.ones(2), 0.5)
    with pytest.raises(ValueError, match="fraction 2"):
        run(one, one, one, 2)
    with pytest.raises(ValueError, match="replications 1"):
        simulate(perfect_exponential, 0, 0.5, rng=np.random.default_rng(0), replications=1)
