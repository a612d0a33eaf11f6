r"""Spectral radius of A_min's quotient, by products that never subtract.

In tail coordinates ``X_k = sum_{i>=k} x_i`` the form ``B`` is the diagonal ``D`` and ``A`` is a
positive matrix ``M`` (``a_ij``, differenced once in each index), with ``e = s + k``:

    D_k  = l (s+l) at k = l,             2k + s - 1         afterwards
    M_kk = D_k     at k = l,             D_k / e            afterwards
    M_jk = (c_j c_k + q_j h_k) / 2       for j < k

    c = s+l, then 1;    q = l (s+l)^2, then e^2 + (k-1)(2e-1);    h_k = 1 / (e (e-1)).

A product with ``D^-1 M`` is two running sums, and all its terms are positive: components keep their
relative accuracy, for any ``u``. Exactly one eigenvalue exceeds one (`amin`), so Kato and Temple
bound the error of a Ritz value by its squared residual over its distance to one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ratiolab.theory.rayleigh.amin import check_range

Vector = NDArray[np.float64]

_BLOCK = 1 << 15  # a block and its temporaries stay in cache


@dataclass(frozen=True)
class SpectralResult:
    """Spectral radius, and how it was reached.

    Attributes
    ----------
    rho : the largest eigenvalue of ``B^-1 A``
    residual : norm of ``B^-1 A x - rho x`` in the metric of ``B``, for a unit vector
    error : bound on ``|rho - exact|``, rounding excluded
    iterations : products with the operator
    vector : the maximising distribution of the lengths ``l..u`` (sum 1), if it was asked for
    """

    rho: float
    residual: float
    error: float
    iterations: int
    method: str
    seconds: float
    vector: Vector | None = None


@dataclass(frozen=True)
class TailOperator:
    """The operator ``D^-1 M`` for the lengths ``lower..upper`` and a common prompt."""

    lower: int
    upper: int
    prompt: int = 0

    def __post_init__(self) -> None:
        check_range(self.lower, self.upper, self.prompt)

    @property
    def rounding(self) -> float:
        """Bound on the relative error of a component of `product` at non-increasing tails.

        Every sum is of non-negative terms, inside a block or over the blocks' totals, and a few
        operations frame it. The one difference, of the sum of the other tails, is at least half
        restored by the first tail, which no other exceeds.
        """
        count = self.upper - self.lower + 1
        return (min(count, _BLOCK) + count // _BLOCK + 40) * 2.0**-52

    def blocks(self) -> Iterator[tuple[slice, Vector, Vector, Vector, Vector]]:
        """Yield slices with their ``D, M_kk, q, h``; coefficients are recomputed, never stored."""
        first, s = self.lower, self.prompt
        count = self.upper - first + 1
        for start in range(0, count, _BLOCK):
            stop = min(start + _BLOCK, count)
            k = np.arange(first + start, first + stop, dtype=float)
            e = k + s
            weight = e + (k - 1)
            diagonal = weight / e
            growth = e * e + (k - 1) * (2 * e - 1)
            decay = np.zeros_like(k)
            after_first = slice(int(start == 0), None)  # no length is below the first
            decay[after_first] = 1 / (e * (e - 1))[after_first]
            if start == 0:
                weight[0] = diagonal[0] = first * (s + first)
                growth[0] = first * (s + first) ** 2
            yield slice(start, stop), weight, diagonal, growth, decay

    def product(self, tails: Vector) -> Vector:
        """Return ``D^-1 M X`` in O(u - l) time and memory; the terms of a positive ``X`` are
        positive.
        """
        totals = np.array([(tails[b].sum(), h @ tails[b]) for b, _, _, _, h in self.blocks()])
        totals[0, 0] = tails[1:_BLOCK].sum()
        others = totals[:, 0].sum()
        head = (self.prompt + self.lower) * tails[0]
        above = np.append(np.cumsum(totals[::-1, 1])[::-1], 0.0)  # sum of h X from a block on
        below = 0.0  # sum of q X before a block
        image = np.empty_like(tails)
        for n, (block, weight, diagonal, q, h) in enumerate(self.blocks()):
            part = tails[block]
            before = np.cumsum(q * part)
            after = np.cumsum((h * part)[::-1])[::-1]
            row = others - part + head
            if n == 0:
                row[0] = (self.prompt + self.lower) * others
            row += h * below
            row[1:] += h[1:] * before[:-1]
            row += q * above[n + 1]
            row[:-1] += q[:-1] * after[1:]
            row *= 0.5
            row += diagonal * part
            image[block] = row / weight
            below += before[-1]
        return image

    def inner(self, left: Vector, right: Vector) -> float:
        """Return ``X^T D Y``, the metric in which the operator is self-adjoint."""
        return float(sum((w * left[b]) @ right[b] for b, w, *_ in self.blocks()))

    def start(self) -> Vector:
        """Return ``D^-1 c``, the maximiser to first order when the radius is large."""
        tails = np.concatenate([1 / w for _, w, *_ in self.blocks()])
        tails[0] = 1 / self.lower
        return tails


def spectral_radius(
    upper: int,
    lower: int = 1,
    prompt: int = 0,
    tolerance: float = 1e-10,
    *,
    vector: bool = False,
    max_iterations: int = 200,
) -> SpectralResult:
    """Return the largest eigenvalue of ``B^-1 A``, which is the maximum of A_min's quotient.

    Lanczos in the metric of ``B``, until the Kato-Temple bound on the error is within `tolerance`.

    The error stays within an absolute `tolerance`, or RuntimeError says that `max_iterations` do
    not suffice; `vector` asks for the maximising distribution too (keeps one array per iteration).

    Cost O(u - l) time per iteration, a handful of iterations, four arrays of ``u - l + 1`` floats.

    Source: Chen, Ye, Zhou (2025), Corollary 1 and Theorem 5, arXiv 2508.14544v2, for the pencil;
    Kato (1949) for the bound.

    >>> round(4 * spectral_radius(2).rho, 9)
    5.0
    """
    began = perf_counter()
    operator = TailOperator(lower, upper, prompt)
    if lower == upper:
        ones = np.ones(1) if vector else None
        return SpectralResult(1.0, 0.0, 0.0, 0, "closed form", perf_counter() - began, ones)
    current = operator.start()
    current /= sqrt(operator.inner(current, current))
    previous = np.zeros_like(current)
    basis = []
    alphas: list[float] = []
    betas: list[float] = []
    while len(alphas) < max_iterations:
        if vector:
            basis.append(current)
        image = operator.product(current)
        alphas.append(operator.inner(image, current))
        image -= alphas[-1] * current
        if betas:
            image -= betas[-1] * previous
        beta = sqrt(operator.inner(image, image))
        values, vectors = np.linalg.eigh(np.diag(alphas) + np.diag(betas, 1) + np.diag(betas, -1))
        rho, ritz = float(values[-1]), vectors[:, -1]
        residual = beta * abs(float(ritz[-1]))
        error = residual**2 / (rho - 1) if rho > 1 else np.inf
        if error <= tolerance:
            break
        betas.append(beta)
        image /= beta
        previous, current = current, image
    else:
        raise RuntimeError(f"error bound {error:.1e} after {max_iterations} iterations")
    maximiser = None
    if vector:
        tails = abs(sum(weight * column for weight, column in zip(ritz, basis, strict=True)))
        maximiser = -np.diff(tails, append=0.0) / tails[0]
    seconds = perf_counter() - began
    return SpectralResult(rho, residual, float(error), len(alphas), "lanczos", seconds, maximiser)
