"""The structured spectral radius against dense, exact and high-precision routes."""

import numpy as np
import pytest
from scipy.linalg import eigh

from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.spectrum import spectral_radius

CASES = [(1, 2, 0), (1, 3, 0), (1, 50, 0), (7, 60, 0), (2, 60, 3), (5, 40, 100), (9, 10, 1)]


def dense_eigenvalues(lower: int, upper: int, prompt: int) -> np.ndarray:
    return eigh(*amin.matrices(lower, upper, prompt), eigvals_only=True)


@pytest.mark.parametrize(("lower", "upper", "prompt"), CASES)
def test_structured_and_dense_radius_agree(lower, upper, prompt):
    result = spectral_radius(upper, lower, prompt)
    assert result.error <= 1e-10
    assert result.rho == pytest.approx(dense_eigenvalues(lower, upper, prompt)[-1], abs=1e-9)


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
