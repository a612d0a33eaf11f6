"""Answers of a classifier of remaining lengths: a matrix of confusion over bins of equal width.

Row i holds the probabilities of the answers 0, ..., k - 1 when the true bin is i.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]


def spreading(bins: int, spread: float) -> FloatArray:
    """Return errors that fall off geometrically: answer j in bin i with weight spread**|i - j|.

    A spread of 0 is never wrong, one of 1 says nothing.

    >>> spreading(3, 0.5).round(3).tolist()
    [[0.571, 0.286, 0.143], [0.25, 0.5, 0.25], [0.143, 0.286, 0.571]]
    """
    if bins < 1:
        raise ValueError(f"bins {bins} must be at least 1")
    if not 0 <= spread <= 1:
        raise ValueError(f"spread {spread} must be between 0 and 1")
    places = np.arange(bins)
    weights = np.float64(spread) ** np.abs(places[:, None] - places)
    shares: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return shares


def require_confusion(matrix: FloatArray) -> None:
    """Raise ValueError unless this is a square matrix whose rows are probabilities."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"confusion of shape {matrix.shape} must be square")
    if not (matrix >= 0).all() or not np.allclose(matrix.sum(axis=1), 1):
        raise ValueError("confusion must have rows of probabilities that sum to 1")


def bin_of(length: NDArray[np.int64], bins: int, width: float) -> NDArray[np.int64]:
    """Return the bin [b i, b (i + 1)) of each length; what is beyond the last bin belongs to it.

    >>> bin_of(np.array([1, 51, 52, 512, 9000]), 10, 51.2).tolist()
    [0, 0, 1, 9, 9]
    """
    place: NDArray[np.int64] = np.minimum((length / width).astype(np.int64), bins - 1)
    return place
