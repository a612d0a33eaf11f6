"""The quotient of Lemma 2 and its matrices, by routes that share no code with them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pencil import inverse_denominator

from ratiolab.theory.rayleigh import amin

RANGES = [(1, 1, 0), (1, 2, 0), (1, 7, 0), (3, 8, 0), (1, 6, 1), (2, 7, 5), (4, 9, 40)]


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


def rational_inverse(matrix: np.ndarray) -> np.ndarray:
    """Gauss-Jordan elimination on Fractions."""
    n = len(matrix)
    work = np.concatenate([matrix, np.vectorize(Fraction)(np.eye(n, dtype=int))], axis=1)
    for row in range(n):
        work[row] = work[row] / work[row, row]
        for other in range(n):
            if other != row:
                work[other] = work[other] - work[other, row] * work[row]
    return work[:, n:]


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


def test_matrices_without_prompt_are_those_of_corollary_1():
    A, B = amin.matrices(1, 6, exact=True)
    for i in range(1, 7):
        for j in range(1, 7):
            least = min(i, j) ** 2
            assert B[i - 1, j - 1] == least
            assert A[i - 1, j - 1] == Fraction(least, i * j) * (Fraction((i + j) ** 2, 2) - least)


def test_a_narrower_interval_takes_a_principal_submatrix():
    wide, _ = amin.matrices(1, 9, 3, exact=True)
    narrow, _ = amin.matrices(4, 7, 3, exact=True)
    assert (wide[3:7, 3:7] == narrow).all()


@pytest.mark.parametrize(("lower", "upper", "prompt"), RANGES)
def test_the_inverse_is_tridiagonal(lower, upper, prompt):
    _, B = amin.matrices(lower, upper, prompt, exact=True)
    diagonal, off = inverse_denominator(lower, upper, prompt)
    expected = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
    assert (rational_inverse(B) == expected).all()


def test_the_trace_without_prompt_is_harmonic():
    for upper in range(1, 21):
        harmonic = sum(Fraction(1, k) for k in range(1, upper + 1))
        A, B = amin.matrices(1, upper, exact=True)
        assert amin.trace(1, upper) == harmonic == np.trace(rational_inverse(B) @ A)


@pytest.mark.parametrize(("lower", "upper", "prompt"), RANGES)
def test_the_trace_is_that_of_the_product(lower, upper, prompt):
    A, B = amin.matrices(lower, upper, prompt, exact=True)
    assert np.trace(rational_inverse(B) @ A) == amin.trace(lower, upper, prompt)


def test_a_long_prompt_breaks_positive_definiteness_and_the_trace_bound():
    # Lemma 3 and the trace bound of Theorem 5 need s = 0: here det A < 0 on two lengths.
    A, _ = amin.matrices(1, 16, 1000, exact=True)
    assert A[0, 0] * A[15, 15] - A[0, 15] ** 2 < 0
    shares = [0] * 16
    shares[0], shares[15] = 4, 1
    assert amin.quotient(shares, 1, 1000) > 2 > amin.trace(1, 16, 1000)


def test_float_quotients_are_evaluated_along_leading_axes():
    table = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 1.0]])
    values = amin.quotient(table, 2, 5)
    exact = [float(amin.quotient([int(x) for x in row], 2, 5)) for row in table]
    np.testing.assert_allclose(values, exact, rtol=1e-14)


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 4, 0), (1, 9, 3), (5, 8, 100)])
def test_the_two_point_supremum_is_attained_and_not_exceeded(lower, upper, prompt):
    best = amin.two_point_supremum(lower, upper, prompt)

    def value(ratio: float) -> float:
        pmf = np.zeros(upper - lower + 1)
        pmf[0], pmf[-1] = ratio, 1.0
        return float(amin.quotient(pmf, lower, prompt))

    top = np.sqrt(upper * (prompt + upper) / (lower * (prompt + lower)))
    assert value(top) == pytest.approx(best, rel=1e-13)
    assert max(value(ratio) for ratio in np.geomspace(top / 100, top * 100, 801)) < best + 1e-12


def test_without_prompt_the_two_point_supremum_is_theorem_6():
    for upper in range(2, 12):
        assert amin.two_point_supremum(1, upper) == pytest.approx((3 - 1 / upper) / 2, rel=1e-14)


def test_with_a_long_prompt_two_lengths_beat_theorem_6():
    # alpha = 1/16: the limit is (1 + 4) / 2 = 5/2, against (3 - 1/16) / 2 < 3/2.
    assert amin.two_point_supremum(1, 16, 10**9) == pytest.approx(2.5, rel=1e-7)


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
