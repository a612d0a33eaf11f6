"""Limited preemption: limits that other formulas know, and closed forms for exponentials."""

import math

import numpy as np
import pytest

from ratiolab.papers.shahout2025 import appendix_d
from ratiolab.papers.shahout2025.queues import mg1, mg1_classics
from ratiolab.papers.shahout2025.queues.quadrature import half_line

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
def test_full_preemption_with_perfect_predictions_is_srpt(rate: float) -> None:
    value = mg1.corrected(mg1.PERFECT, 1).mean_response_time(rate)
    assert value == pytest.approx(mg1_classics.srpt(rate, exponential), rel=1e-9)


@pytest.mark.parametrize("rate", LOADS)
def test_no_preemption_with_perfect_predictions_is_shortest_job_first(rate: float) -> None:
    value = mg1.corrected(mg1.PERFECT, 0).mean_response_time(rate)
    assert value == pytest.approx(nonpreemptive_sjf(rate), rel=1e-9)


@pytest.mark.parametrize("rate", LOADS)
def test_predictions_that_know_nothing_leave_the_mean_of_fcfs_when_nothing_is_preempted(
    rate: float,
) -> None:
    # Independent predictions, C = 0: a random order without preemption, and E[T] is the
    # same for all orders that are blind to size (Kleinrock's conservation law).
    model = mg1.Joint(lambda x, r: np.exp(-x - r))
    value = mg1.corrected(model, 0).mean_response_time(rate)
    # Pollaczek and Khinchine: E[S] + rate E[S^2] / (2 (1 - rate E[S])), with E[S^2] = 2
    assert value == pytest.approx(1 + rate / (1 - rate), rel=1e-8)


def test_exponential_sizes_and_blind_predictions_make_every_fraction_fcfs() -> None:
    # Memoryless sizes: preempting or not on blind information leaves M/M/1, 1/(1 - rho).
    model = mg1.Joint(lambda x, r: np.exp(-x - r))
    for fraction in (0.3, 0.7, 1.0):
        value = mg1.corrected(model, fraction).mean_response_time(0.8)
        assert value == pytest.approx(5, rel=1e-7)


def test_joint_rule_reproduces_the_bessel_marginal_of_exponential_predictions() -> None:
    # int_0^inf exp(-x - r/x)/x dx = 2 K_0(2 sqrt r), and one more power of x: 2 sqrt r K_1.
    from scipy.special import k0, k1

    r = np.array([1e-4, 0.01, 0.5, 3.0, 40.0])
    zero = np.zeros_like(r)
    root = np.sqrt(r)
    assert mg1.EXPONENTIAL.excess(0, zero, r) == pytest.approx(2 * k0(2 * root), rel=1e-9)
    assert mg1.EXPONENTIAL.excess(1, zero, r) == pytest.approx(2 * root * k1(2 * root), rel=1e-9)


@pytest.mark.parametrize("fraction", [0, 0.3, 0.9, 1])
def test_stated_accuracy_survives_finer_rules(fraction: float) -> None:
    fine = mg1.Joint(mg1.exponential_density, nodes=200)
    for coarse_model, fine_model in ((mg1.PERFECT, mg1.PERFECT), (mg1.EXPONENTIAL, fine)):
        coarse = mg1.corrected(coarse_model, fraction)
        finer = mg1.corrected(fine_model, fraction, nodes=200)
        for rate in [*LOADS, 0.99]:
            expected = finer.mean_response_time(rate)
            assert coarse.mean_response_time(rate) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("model", [mg1.PERFECT, mg1.EXPONENTIAL])
@pytest.mark.parametrize("fraction", [0, 0.4, 1])
def test_vanishing_load_leaves_the_service_time(
    model: mg1.PredictionModel, fraction: float
) -> None:
    value = mg1.corrected(model, fraction).mean_response_time(1e-9)
    assert value == pytest.approx(1, abs=1e-7)


def test_perfect_predictions_agree_with_hand_derived_closed_forms() -> None:
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


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("fraction", [0, 0.5, 1])
def test_mean_over_jobs_is_the_mean_of_the_formula_for_one_job(
    fraction: float, printed: bool
) -> None:
    profile = (mg1.as_printed if printed else mg1.corrected)(mg1.PERFECT, fraction)
    x, w = half_line(100)
    one = [mg1.response_time(mg1.PERFECT, fraction, 0.7, t, t, printed=printed) for t in x]
    assert w * np.exp(-x) @ one == pytest.approx(profile.mean_response_time(0.7), rel=1e-8)


def test_jobs_shorter_than_their_threshold_leave_when_done() -> None:
    # x = 1 < C r = 8: the residence is at most x / (1 - rho), whatever the threshold.
    short = mg1.response_time(mg1.EXPONENTIAL, 0.8, 0.5, 1, 10)
    never = mg1.response_time(mg1.EXPONENTIAL, 0.8, 0.5, 1, 10, printed=True)
    waiting = mg1.response_time(mg1.EXPONENTIAL, 0.8, 0.5, 1e-9, 10)
    assert 1 < short - waiting < 2
    assert never - waiting > 2


@pytest.mark.parametrize("rate", LOADS)
def test_printed_lemma_beats_the_optimal_policy_and_is_therefore_false(rate: float) -> None:
    # SRPT minimises the mean response time of every M/G/1 queue; Lemma 1 claims less for
    # every C with perfect predictions, C = 1 (SRPT itself) included.
    optimum = mg1_classics.srpt(rate, exponential)
    for fraction in (0, 0.2, 0.5, 0.8, 1):
        printed = mg1.as_printed(mg1.PERFECT, fraction).mean_response_time(rate)
        exact = mg1.corrected(mg1.PERFECT, fraction).mean_response_time(rate)
        assert printed < optimum * 0.99
        assert exact > optimum * (1 - 1e-9)


def test_memory_without_preemption_is_the_mean_age_in_service() -> None:
    # One started job at a time: lambda E[X^2] / 2 = rate for exponential sizes.
    for model in (mg1.PERFECT, mg1.EXPONENTIAL):
        assert mg1.corrected(model, 0).mean_memory(0.6) == pytest.approx(0.6, rel=1e-8)


def test_more_preemption_costs_memory_and_saves_time_with_perfect_predictions() -> None:
    figure = appendix_d.curves(mg1.PERFECT, [0, 0.2, 0.5, 0.8, 1], [0.3, 0.6, 0.9])
    assert (np.diff(figure.response_time, axis=0) < 0).all()
    assert (np.diff(figure.memory, axis=0) > 0).all()
    assert (np.diff(figure.response_time, axis=1) > 0).all()


def test_near_saturation_poor_predictions_make_limited_preemption_the_faster_policy() -> None:
    little, full = (mg1.corrected(mg1.EXPONENTIAL, c) for c in (0.15, 1))
    assert little.mean_response_time(0.9) > full.mean_response_time(0.9)
    for rate in (0.97, 0.99):
        assert little.mean_response_time(rate) < full.mean_response_time(rate)


def test_neither_printed_density_has_the_size_as_marginal() -> None:
    import sympy

    x = sympy.symbols("x", positive=True)
    marginals = appendix_d.size_marginals()
    assert marginals["exponential, printed"] == x / sympy.E
    assert marginals["perfect, printed"] == sympy.oo
    assert marginals["exponential, corrected"] == sympy.exp(-x)
    assert marginals["perfect, corrected"] == sympy.exp(-x)


def test_overload_and_impossible_fractions_are_refused() -> None:
    for rate in (0, 1, 1.5):
        with pytest.raises(ValueError, match=f"rate {rate}"):
            mg1.corrected(mg1.PERFECT, 0.5).mean_response_time(rate)
    with pytest.raises(ValueError, match="rate 2"):
        mg1.response_time(mg1.PERFECT, 0.5, 2, 50, 50)
    for formula in (mg1.corrected, mg1.as_printed):
        with pytest.raises(ValueError, match=r"fraction 1\.5"):
            formula(mg1.PERFECT, 1.5)
