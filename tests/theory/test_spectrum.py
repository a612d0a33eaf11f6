"""The structured spectral radius against dense, exact and high-precision routes."""

from fractions import Fraction

import numpy as np
import pytest
from pencil import secular
from scipy.linalg import eigh

from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.spectrum import TailOperator, spectral_radius

CASES = [(1, 2, 0), (1, 3, 0), (1, 50, 0), (7, 60, 0), (2, 60, 3), (5, 40, 100), (9, 10, 1)]


def dense_eigenvalues(lower: int, upper: int, prompt: int) -> np.ndarray:
    return eigh(*amin.matrices(lower, upper, prompt), eigvals_only=True)


@pytest.mark.parametrize(("lower", "upper", "prompt"), CASES)
def test_structured_and_dense_radius_agree(lower, upper, prompt):
    result = spectral_radius(upper, lower, prompt)
    assert result.error <= 1e-10
    assert result.rho == pytest.approx(dense_eigenvalues(lower, upper, prompt)[-1], abs=1e-9)


@pytest.mark.long
def test_components_keep_their_relative_accuracy():
    # Against 40 digits, row by row, within the bound the operator states.
    lower, upper, prompt = 1, 300, 1000
    operator = TailOperator(lower, upper, prompt)
    tails = 1 / np.arange(1.0, upper + 1.0) ** 2
    A, _ = amin.matrices(lower, upper, prompt, exact=True)
    exact = [Fraction(x) for x in tails]
    shares = [x - y for x, y in zip(exact, [*exact[1:], Fraction(0)], strict=True)]
    rows = [sum(a * x for a, x in zip(row, shares, strict=True)) for row in A]
    for k, value in enumerate(operator.product(tails)):
        step = lower * (prompt + lower) if k == 0 else prompt + 2 * (lower + k) - 1
        true = (rows[k] - (rows[k - 1] if k else 0)) / step
        assert abs(Fraction(value) / true - 1) <= Fraction(operator.rounding)


@pytest.mark.parametrize(("lower", "upper", "prompt"), CASES)
def test_the_vector_attains_the_radius(lower, upper, prompt):
    result = spectral_radius(upper, lower, prompt, tolerance=1e-14, vector=True)
    assert result.vector is not None
    assert result.vector.sum() == pytest.approx(1)
    assert amin.quotient(result.vector, lower, prompt) == pytest.approx(result.rho, abs=1e-12)


def test_too_few_iterations_are_an_error():
    with pytest.raises(RuntimeError, match="after 1 iterations"):
        spectral_radius(100, max_iterations=1)


def test_what_leaves_the_model_is_refused():
    with pytest.raises(ValueError, match="upper"):
        spectral_radius(2, 3)
    with pytest.raises(ValueError, match="excess"):
        secular(0.0, 1, 2)
