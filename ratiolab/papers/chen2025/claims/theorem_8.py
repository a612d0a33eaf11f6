"""Chen et al., Theorem 8: the ratio of A_min for linearly weighted geometric lengths.

In the Lemma 2 model, which the printed A_min does not follow (see ``lemma-2-printed``).
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import FALSE, PROVED, WITNESSED, ClaimResult, decided
from ratiolab.theory.rayleigh import amin, geometric

if TYPE_CHECKING:
    from sympy import Expr

NUMERATOR = "(1 + q)**2 * (1 + 3*q + 6*q**2 + 3*q**3 + q**4)"
DENOMINATOR = "1 + 2*q + 11*q**2 + 8*q**3 + 11*q**4 + 2*q**5 + q**6"
PRINTED_SUM = f"({DENOMINATOR}) / ((1 - q)**6 * (1 + q)**4)"


def _parse(text: str) -> "Expr":
    import sympy as sp

    return sp.sympify(text, locals={"q": geometric.symbol()})


@PAPER.claim(
    "Theorem 8, p. 22, proof p. ec16",
    claimed=(f"{NUMERATOR} / ({DENOMINATOR})", Fraction(14, 9)),
    control=(f"{NUMERATOR} / ({DENOMINATOR})", Fraction(3, 2)),
    assumes=("Lemma 2 as the ratio of A_min", "s = 0, l = 1, u -> infinity"),
    proof="geometric_lengths",
)
def theorem_8(claimed: tuple[str, Fraction]) -> ClaimResult:
    """For P(o = k) = k (1-q)^2 q^(k-1) the ratio of A_min is (1+q)^2 (1+3q+6q^2+3q^3+q^4) /
    (1+2q+11q^2+8q^3+11q^4+2q^5+q^6), at most 14/9.
    """
    import sympy as sp

    formula, bound = claimed
    q = geometric.symbol()
    derived = geometric.linearly_weighted_quotient()
    is_equal = sp.simplify(_parse(formula) - derived) == 0
    gap = sp.Poly(sp.numer(sp.together(sp.Rational(bound) - derived)), q)
    slope = sp.Poly(sp.numer(sp.together(sp.diff(derived, q))), q)
    half = Fraction(1, 2)
    # No root inside (0, 1) and one positive value: positive throughout.
    inside = [
        poly.count_roots(0, 1) - (poly.eval(0) == 0) - (poly.eval(1) == 0) for poly in (gap, slope)
    ]
    is_bound = inside[0] == 0 and gap.eval(half) > 0
    increases = inside[1] == 0 and slope.eval(half) > 0
    x = [k * half ** (k - 1) for k in range(1, 60)]
    cut = float(amin.quotient(x)) - float(derived.subs(q, half))
    return decided(
        is_equal and is_bound and abs(cut) < 1e-12,
        PROVED,
        f"the formula {'agrees' if is_equal else 'differs'}; supremum "
        f"{sp.limit(derived, q, 1)}, {'increasing' if increases else 'not increasing'} in q",
        witness=f"at q -> 1 the ratio is {sp.limit(derived, q, 1)}",
    )


def printed_sum(which: Literal["printed", "corrected"]) -> "Expr":
    """Return the denominator of Theorem 8: as its integrand is printed, or with the 2 at the inner
    sum.
    """
    printed = geometric.printed_denominator()
    if which == "printed":
        return printed
    # 2 (2 a + b) - 3 a = a + 2 b, with the Eulerian sum of k^4 z^(k-1) for a.
    z = geometric.symbol() ** 2
    return 2 * printed - 3 * (1 + 11 * z + 11 * z**2 + z**3) / (1 - z) ** 5


def recheck() -> str:
    """Compute both sums at q = 1/2 in fractions, cut where the rest is below 1e-20."""
    half = Fraction(1, 2)
    x = [k * half ** (k - 1) for k in range(1, 121)]
    tails = [sum(x[k:], Fraction()) for k in range(1, 121)]
    printed = sum(k * k * x[k - 1] * (2 * x[k - 1] + tails[k - 1]) for k in range(1, 121))
    needed = sum(k * k * x[k - 1] * (x[k - 1] + 2 * tails[k - 1]) for k in range(1, 121))
    closed = Fraction(*_parse(PRINTED_SUM).subs(geometric.symbol(), half).as_numer_denom())
    assert abs(needed - closed) < Fraction(1, 10**20), float(needed)
    assert abs(printed - closed) > 1, float(printed)
    return f"q = 1/2: closed form {float(closed):.6f}, printed integrand {float(printed):.6f}"


@PAPER.claim(
    "Theorem 8, p. 22, proof p. ec16",
    expected=FALSE,
    claimed="printed",
    control="corrected",
    recheck=recheck,
    assumes="read as printed",
)
def theorem_8_printed_sum(claimed: Literal["printed", "corrected"]) -> ClaimResult:
    """In the proof, sum k^3 q^(k-1) (2 k q^(k-1) + sum_{i>k} i q^(i-1)) has the closed form printed
    beside it.
    """
    import sympy as sp

    half = {geometric.symbol(): sp.Rational(1, 2)}
    value, closed = printed_sum(claimed), _parse(PRINTED_SUM)
    at_half = value.subs(half)
    return decided(
        sp.simplify(value - closed) == 0,
        WITNESSED,
        f"it is {at_half} there",
        evidence="summed in closed form; the 2 belongs to the inner sum, as in Lemma 2",
        witness=f"q = 1/2: {at_half}",
    )
