r"""The fluid quotient of A_min, and its matrices.

With ``n`` requests of prompt ``s`` and a share ``x_i`` of outputs ``i`` in ``l..u``, Lemma 2 of
Chen, Ye and Zhou writes the ratio of A_min to H-SF, as ``n`` and ``M`` grow, as a quotient of two
quadratic forms. In closed form, for every ``s >= 0`` and ``1 <= l <= u`` and with ``i <= j``,

    b_ij = i (s+i)
    a_ij = b_ij + (s+i) (j (s+j) - i (s+i)) / (2 (s+j)).

Neither entry depends on ``l``: a narrower interval takes a principal submatrix. Three consequences
carry this layer (``w_i = s+i``; both kernels below are Green's functions, hence positive definite):

* ``A - B = w w^T / 2 - K / 2``, where ``K_ij = s (s+i) + i (s+i)^2 / (s+j)`` for ``i <= j`` is
  positive definite, so exactly one eigenvalue of ``B^-1 A`` exceeds one (none when ``l = u``).
* ``B^-1`` is tridiagonal, and every entry of ``B^-1 A`` is positive (`copositive` has the proof):
  the maximiser of the quotient is a distribution, for every ``s`` and ``l``.
* ``trace B^-1 A = 1 + H_{s+u} - H_{s+l}``; it bounds the spectral radius only while ``A`` is
  positive definite, which ``s = 0`` ensures and a large ``s`` breaks.

Source: Chen, Ye, Zhou (2025), Lemma 2, Corollary 1 and Lemma 3, arXiv 2508.14544v2, for ``s = 0``
and ``l = 1``; the general forms are derived here.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def check_range(lower: int, upper: int, prompt: int) -> None:
    """Refuse a length interval or a prompt outside the model."""
    if lower < 1:
        raise ValueError(f"lower: {lower} is below 1")
    if upper < lower:
        raise ValueError(f"upper: {upper} is below lower {lower}")
    if prompt < 0:
        raise ValueError(f"prompt: {prompt} is negative")


def _weights(pmf: Sequence[Any] | Array) -> Array:
    """Return the shares as floats, or as Fractions when every one of them is rational."""
    shares = np.asarray(pmf)
    if shares.ndim == 0 or shares.shape[-1] == 0:
        raise ValueError("pmf: holds no share")
    if shares.dtype.kind in "iuO":
        shares = np.vectorize(Fraction, otypes=[object])(shares)
    if not np.all(shares >= 0) or not np.all(shares.sum(axis=-1) > 0):
        raise ValueError("pmf: shares must be non-negative and not all zero")
    return shares


def _tails(values: Array) -> Array:
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]


def numerator(pmf: Sequence[Any] | Array, lower: int = 1, prompt: int = 0) -> Any:
    """Return the latency of A_min, in units of ``n^2 / (2 M)``: the form ``x^T A x``.

    Summed phase by phase as in Lemma 2: in phase ``k`` the completed requests wait for half of it
    on average, the remaining ones for all of it. See `quotient` for the parameters. Cost O(u - l).

    Source: Chen, Ye, Zhou (2025), Lemma 2, arXiv 2508.14544v2.
    """
    shares = _weights(pmf)
    length = np.arange(lower, lower + shares.shape[-1], dtype=object)
    if shares.dtype != object:
        length = length.astype(float)
    finished = np.ones_like(length)
    finished[0] = prompt + lower
    per_token = shares / (prompt + length)
    done = _tails(per_token)
    # sum_{i>k} (i-k) y_i is a tail of tails: nothing is subtracted.
    left = _tails(done) - done
    return (finished * _tails(length * shares) * (finished * done + 2 * left)).sum(axis=-1)


def denominator(pmf: Sequence[Any] | Array, lower: int = 1, prompt: int = 0) -> Any:
    """Return the latency of H-SF, in units of ``n^2 / (2 M)``: the form ``x^T B x``.

    See `quotient` for the parameters. Cost O(u - l).

    Source: Chen, Ye, Zhou (2025), Lemma 2, arXiv 2508.14544v2.
    """
    shares = _weights(pmf)
    length = np.arange(lower, lower + shares.shape[-1], dtype=object)
    if shares.dtype != object:
        length = length.astype(float)
    behind = _tails(shares)
    return (length * (prompt + length) * shares * (2 * behind - shares)).sum(axis=-1)


def quotient(pmf: Sequence[Any] | Array, lower: int = 1, prompt: int = 0) -> Any:
    """Return the ratio of A_min to H-SF in the fluid limit, for one distribution of output lengths.

    The shares of the lengths ``lower, lower + 1, ...`` stand along the last axis, on any positive
    scale. Integers and Fractions give an exact Fraction; a float array is evaluated along its
    leading axes.

    Cost O(u - l) per distribution.

    Source: Chen, Ye, Zhou (2025), Lemma 2, arXiv 2508.14544v2.

    >>> quotient([2, 1])
    Fraction(5, 4)
    """
    check_range(lower, lower, prompt)
    return numerator(pmf, lower, prompt) / denominator(pmf, lower, prompt)


def matrices(
    lower: int, upper: int, prompt: int = 0, *, exact: bool = False
) -> tuple[Array, Array]:
    """Return symmetric ``A`` and ``B`` of the two forms; Fractions if `exact`, else floats. O(u^2).

    Source: Chen, Ye, Zhou (2025), Corollary 1, arXiv 2508.14544v2, at ``s = 0, l = 1``.

    >>> A, B = matrices(1, 2, exact=True)
    >>> [[str(a) for a in row] for row in A]
    [['1', '7/4'], ['7/4', '4']]
    """
    check_range(lower, upper, prompt)
    length = np.arange(lower, upper + 1, dtype=object if exact else float)
    if exact:
        length = np.vectorize(Fraction, otypes=[object])(length)
    small = np.minimum.outer(length, length)
    large = np.maximum.outer(length, length)
    B = small * (prompt + small)
    excess = (prompt + small) * (large * (prompt + large) - B) / (2 * (prompt + large))
    return B + excess, B


def trace(lower: int, upper: int, prompt: int = 0) -> Fraction:
    """Return the exact trace of ``B^-1 A``: ``1 + 1/(s+l+1) + ... + 1/(s+u)``.

    In tail coordinates ``X_k = sum_{i>=k} x_i`` the form ``B`` is diagonal and the quotient of the
    two diagonals is 1, then ``1/(s+k)``. Cost O(u - l) rational additions.

    Source: Chen, Ye, Zhou (2025), proof of Theorem 5, arXiv 2508.14544v2, at ``s = 0, l = 1``.

    >>> trace(1, 4)
    Fraction(25, 12)
    """
    check_range(lower, upper, prompt)
    return sum((Fraction(1, prompt + k) for k in range(lower + 1, upper + 1)), Fraction(1))


def two_point_supremum(lower: int, upper: int, prompt: int = 0) -> float:
    r"""Return the largest quotient of a distribution on the two lengths `lower` and `upper`.

    Only ``alpha = l/u`` and ``r = (s+l)/(s+u)`` enter:

        1 + (sqrt(r / alpha) - r) / 2,    at    x_l / x_u = sqrt(u (s+u) / (l (s+l))).

    At ``s = 0`` this is ``(3 - alpha) / 2``. As ``s / u`` grows it tends to
    ``(1 + alpha^(-1/2)) / 2``: not logarithmic in ``1 / alpha``, and the supremum over *all*
    distributions in that limit, where ``A`` becomes ``(i + j) s / 2``, of rank two.

    Source: derived from Lemma 2 of Chen, Ye, Zhou (2025), arXiv 2508.14544v2; Theorem 6 at
    ``s = 0``.

    >>> two_point_supremum(1, 4) == 11 / 8
    True
    """
    check_range(lower, upper, prompt)
    r = (prompt + lower) / (prompt + upper)
    return 1 + (sqrt(r * upper / lower) - r) / 2
