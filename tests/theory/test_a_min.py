"""The quotient of Lemma 2: its matrices, suprema, growth and certificates, by other routes."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.asymptotics import LogFit, expansion, log_fit
from ratiolab.theory.rayleigh.copositive import nonnegative_maximum, tail_bound
from ratiolab.theory.rayleigh.spectrum import spectral_radius


def literal_lemma_2(shares: list[int], lower: int, prompt: int) -> Fraction:
    """The double sums exactly as printed."""
    x = dict(enumerate(shares, start=lower))
    upper = lower + len(shares) - 1
    top = bottom = Fraction(0)
    for k in range(lower, upper + 1):
        delta = prompt + lower if k == lower else 1
        duration = delta * sum(i * x[i] for i in range(k, upper + 1))
        finish = sum(Fraction(delta, prompt + i) * x[i] for i in range(k, upper + 1))
        stay = sum(Fraction(i - k, prompt + i) * x[i] for i in range(k + 1, upper + 1))
        top += duration * (finish + 2 * stay)
        later = sum(x[i] for i in range(k + 1, upper + 1))
        bottom += k * (prompt + k) * x[k] * (x[k] + 2 * later)
    return top / bottom


shares = st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any)


@given(shares, st.integers(1, 6), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_quotient_is_the_printed_double_sum(x, lower, prompt):
    value = amin.quotient(x, lower, prompt)
    assert isinstance(value, Fraction)
    assert value == literal_lemma_2(x, lower, prompt)


@given(shares, st.integers(1, 6), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_the_matrices_carry_the_two_forms(x, lower, prompt):
    A, B = amin.matrices(lower, lower + len(x) - 1, prompt, exact=True)
    vector = np.array([Fraction(share) for share in x], dtype=object)
    assert vector @ A @ vector == amin.numerator(x, lower, prompt)
    assert vector @ B @ vector == amin.denominator(x, lower, prompt)


@pytest.mark.parametrize("upper", [5, 8, 16, 64])
def test_the_envelope_dominates_every_prompt(upper):
    # Lengths 4 and u: alpha in (1/2, 1), = 1/2, = 1/4 and = 1/16.
    values = [amin.two_point_supremum(4, upper, s) for s in [*range(200), 10**4, 10**8]]
    alpha = 4 / upper
    # r = (s + l) / (s + u): short intervals prefer no prompt, wide ones an endless one
    r = min(1.0, max(alpha, 1 / (4 * alpha)))
    envelope = 1 + (np.sqrt(r / alpha) - r) / 2
    assert max(values) <= envelope + 1e-12
    assert max(values) == pytest.approx(envelope, rel=1e-5)


def test_what_leaves_the_model_is_refused():
    for bad in [(0, 3, 0), (3, 2, 0), (1, 2, -1)]:
        with pytest.raises(ValueError):
            amin.matrices(*bad)
    for pmf in ([], [1, -1], [0, 0]):
        with pytest.raises(ValueError, match="pmf"):
            amin.quotient(pmf)


def test_a_logarithmic_curve_is_recovered():
    wanted = LogFit(0.3, 0.5, 1.0, 1.0)
    fit = log_fit(range(1, 60), [wanted(u) for u in range(1, 60)])
    assert (fit.scale, fit.shift, fit.offset) == pytest.approx((0.3, 0.5, 1.0), abs=1e-6)
    assert fit.r_squared == pytest.approx(1.0, abs=1e-12)


def test_arguments_out_of_reach_are_refused():
    with pytest.raises(ValueError, match="log_upper"):
        expansion(0.0)
    with pytest.raises(ValueError, match="uppers"):
        log_fit([1, 2, 3], [1.0, 2.0, 3.0])


CASES = [(1, 1, 0), (1, 2, 0), (1, 40, 0), (6, 30, 0), (3, 30, 7), (1, 30, 10**6)]


@pytest.mark.parametrize(("lower", "upper", "prompt"), CASES)
def test_the_maximiser_is_a_distribution(lower, upper, prompt):
    vector = spectral_radius(upper, lower, prompt, tolerance=1e-16, vector=True).vector
    assert vector.min() > 0


@pytest.mark.parametrize(("lower", "upper", "prompt"), CASES)
def test_exact_certificates_enclose_the_radius_tightly(lower, upper, prompt):
    proof = nonnegative_maximum(upper, lower, prompt)
    rho = spectral_radius(upper, lower, prompt, tolerance=1e-13).rho
    assert proof.arithmetic == "exact"
    assert 0 <= proof.above - proof.below < Fraction(1, 10**11)
    assert float(proof.below) - 1e-12 <= rho <= float(proof.above) + 1e-12


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 300, 0), (4, 300, 50), (1, 2, 0)])
def test_rounded_enclosures_hold_the_exact_ones(lower, upper, prompt):
    exact = nonnegative_maximum(upper, lower, prompt)
    rounded = nonnegative_maximum(upper, lower, prompt, exact=False)
    assert rounded.below <= exact.below <= exact.above <= rounded.above
    assert rounded.above - rounded.below < Fraction(1, 10**11)


def test_tails_must_be_positive():
    with pytest.raises(ValueError, match="tails"):
        tail_bound([1, 0])


RANGES_OF_LENGTHS = [
    (1, 2, 0),
    (1, 3, 0),
    (1, 50, 0),
    (7, 60, 0),
    (2, 60, 3),
    (5, 40, 100),
    (9, 10, 1),
]


def dense_eigenvalues(lower: int, upper: int, prompt: int) -> np.ndarray:
    return eigh(*amin.matrices(lower, upper, prompt), eigvals_only=True)


@pytest.mark.parametrize(("lower", "upper", "prompt"), RANGES_OF_LENGTHS)
def test_structured_and_dense_radius_agree(lower, upper, prompt):
    result = spectral_radius(upper, lower, prompt)
    assert result.error <= 1e-10
    assert result.rho == pytest.approx(dense_eigenvalues(lower, upper, prompt)[-1], abs=1e-9)


@pytest.mark.parametrize(("lower", "upper", "prompt"), RANGES_OF_LENGTHS)
def test_the_vector_attains_the_radius(lower, upper, prompt):
    result = spectral_radius(upper, lower, prompt, tolerance=1e-14, vector=True)
    assert result.vector.sum() == pytest.approx(1)
    assert amin.quotient(result.vector, lower, prompt) == pytest.approx(result.rho, abs=1e-12)


def test_too_few_iterations_are_an_error():
    with pytest.raises(RuntimeError, match="after 1 iterations"):
        spectral_radius(100, max_iterations=1)


def test_a_range_without_lengths_is_refused():
    with pytest.raises(ValueError, match="upper"):
        spectral_radius(2, 3)


def test_the_expansion_is_wrong_by_order_one_over_log_squared():
    for upper in (10**3, 10**4, 10**5):
        gap = spectral_radius(upper).rho - expansion(log(upper))
        assert 0.4 < gap * log(upper) ** 2 < 1.2
