"""Certificates for the maximum over distributions, rechecked by other means."""

from fractions import Fraction

import numpy as np
import pytest
from pencil import inverse_denominator, secular

from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.copositive import nonnegative_maximum, tail_bound
from ratiolab.theory.rayleigh.spectrum import spectral_radius

CASES = [(1, 1, 0), (1, 2, 0), (1, 40, 0), (6, 30, 0), (3, 30, 7), (1, 30, 10**6)]


@pytest.mark.parametrize("prompt", [0, 1, 2, 5, 40, 1000])
@pytest.mark.parametrize(("lower", "upper"), [(1, 12), (2, 9), (5, 12), (11, 12)])
def test_every_entry_of_the_product_is_positive(lower, upper, prompt):
    A, _ = amin.matrices(lower, upper, prompt, exact=True)
    diagonal, off = inverse_denominator(lower, upper, prompt)
    inverse = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
    assert (inverse @ A > 0).all()


@pytest.mark.parametrize(("lower", "upper", "prompt"), CASES)
def test_the_maximiser_is_a_distribution(lower, upper, prompt):
    vector = spectral_radius(upper, lower, prompt, tolerance=1e-16, vector=True).vector
    assert vector is not None
    assert vector.min() > 0


@pytest.mark.parametrize(("lower", "upper", "prompt"), CASES)
def test_exact_certificates_enclose_the_radius_tightly(lower, upper, prompt):
    proof = nonnegative_maximum(upper, lower, prompt)
    rho = spectral_radius(upper, lower, prompt, tolerance=1e-13).rho
    assert proof.arithmetic == "exact"
    assert 0 <= proof.above - proof.below < Fraction(1, 10**11)
    assert float(proof.below) - 1e-12 <= rho <= float(proof.above) + 1e-12


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 12, 0), (3, 12, 7)])
def test_the_lower_certificate_is_a_feasible_rational_point(lower, upper, prompt):
    proof = nonnegative_maximum(upper, lower, prompt)
    assert proof.weights is not None
    assert min(proof.weights) >= 0
    A, B = amin.matrices(lower, upper, prompt, exact=True)
    x = np.array([Fraction(weight) for weight in proof.weights], dtype=object)
    assert x @ A @ x == proof.below * (x @ B @ x)


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 12, 0), (3, 12, 7)])
def test_the_upper_certificate_leaves_a_definite_form(lower, upper, prompt):
    # Independently of tails: all pivots of above * B - A are non-negative, in rationals.
    above = nonnegative_maximum(upper, lower, prompt).above
    A, B = amin.matrices(lower, upper, prompt, exact=True)
    work = above * B - A
    for n in range(len(work)):
        assert work[n, n] > 0
        work[n + 1 :] = work[n + 1 :] - np.outer(work[n + 1 :, n] / work[n, n], work[n])
    assert secular(above - 1, lower, upper, prompt) <= 1


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 5, 0), (3, 8, 0), (2, 7, 5), (4, 4, 2)])
def test_the_tail_bound_is_the_largest_row_ratio(lower, upper, prompt):
    A, B = amin.matrices(lower, upper, prompt, exact=True)
    n = upper - lower + 1
    to_shares = np.eye(n, dtype=int) - np.eye(n, k=1, dtype=int)
    tails = np.array([Fraction(2 * n - k * k // n) for k in range(n)], dtype=object)
    top, bottom = (to_shares.T @ form @ to_shares @ tails for form in (A, B))
    assert tail_bound([int(x) for x in tails], lower, prompt) == max(top / bottom)


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 300, 0), (4, 300, 50), (1, 2, 0)])
def test_rounded_enclosures_hold_the_exact_ones(lower, upper, prompt):
    exact = nonnegative_maximum(upper, lower, prompt)
    rounded = nonnegative_maximum(upper, lower, prompt, exact=False)
    assert rounded.below <= exact.below <= exact.above <= rounded.above
    assert rounded.above - rounded.below < Fraction(1, 10**11)


def test_a_hundred_thousand_lengths_are_enclosed_to_ten_digits():
    proof = nonnegative_maximum(10**5, exact=False)
    assert proof.above - proof.below < Fraction(1, 10**9)


def test_the_supremum_grows_like_a_root_when_the_prompt_is_long():
    # As s grows A tends to the rank-two form (i+j) s / 2: the radius is (1 + sqrt(u/l)) / 2.
    for lower, upper in [(1, 16), (2, 50), (1, 400)]:
        limit = (1 + (upper / lower) ** 0.5) / 2
        assert spectral_radius(upper, lower, 10**9).rho == pytest.approx(limit, rel=1e-5)


def test_tails_must_be_positive():
    with pytest.raises(ValueError, match="tails"):
        tail_bound([1, 0])
