"""Chen et al., Lemma 3: both matrices of the quotient are positive definite."""

from fractions import Fraction
from typing import Any

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import FALSE, HOLDS, PROVED, UNDECIDED, WITNESSED, ClaimResult
from ratiolab.theory.rayleigh import amin


def pivots(matrix: Any) -> list[Fraction]:
    """Return the pivots of symmetric elimination up to the first that is not positive, in
    fractions.
    """
    rows = [list(row) for row in matrix]
    found = []
    for k in range(len(rows)):
        found.append(Fraction(rows[k][k]))
        if found[-1] <= 0:
            break
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            for j in range(k + 1, len(rows)):
                rows[i][j] -= factor * rows[k][j]
    return found


@PAPER.claim(
    "Lemma 3, p. 16, proof p. ec13",
    claimed=0,
    control=3,
    assumes="s = 0, l = 1, as in Corollary 1",
    proof="definite",
)
def lemma_3(claimed: int, slow: bool) -> ClaimResult:
    """For every u the matrices A_u and B_u are positive definite."""
    import sympy as sp

    upper = 60 if slow else 24
    A, B = amin.matrices(1, upper, claimed, exact=True)
    signs = {name: pivots(matrix) for name, matrix in (("A", A), ("B", B))}
    definite = all(len(p) == upper and min(p) > 0 for p in signs.values())
    xi, d = sp.symbols("xi d", positive=True)
    # A = (ij/2)(A' + 1) with A' = 2r - r^2, r = min/max = exp(-|log i - log j|).
    small, large = sp.symbols("small large", positive=True)
    entry = small**2 / (small * large) * ((small + large) ** 2 / 2 - small**2)
    ratio = small / large
    identity = sp.simplify(entry - small * large / 2 * (2 * ratio - ratio**2 + 1)) == 0

    def transform(rate: int) -> Any:
        return 2 * sp.integrate(sp.exp(-rate * d) * sp.cos(xi * d), (d, 0, sp.oo))

    spectrum = sp.simplify(2 * transform(1) - transform(2) - 12 / ((1 + xi**2) * (4 + xi**2)))
    proved = definite and identity and spectrum == 0 and claimed == 0
    bad = {name: min(p) for name, p in signs.items() if min(p) <= 0}
    return ClaimResult(
        HOLDS if proved else FALSE if bad else UNDECIDED,
        PROVED if proved else WITNESSED if bad else f"u up to {upper}",
        f"pivots up to u = {upper} "
        + (f"include {bad}" if bad else "are positive; the kernel's transform is positive"),
        evidence="with a prompt A need not be definite: s = 3, u = 2",
        witness=f"s = {claimed}: {bad}" if bad else None,
    )
