"""Chen et al., Figure 3 and Theorem 8: the ratio of A_min for geometric lengths.

Plain and linearly weighted, both in the Lemma 2 model, which the printed A_min does not follow (see
``lemma-2-printed``).
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import FALSE, PROVED, TIGHTENED, WITNESSED, ClaimResult, decided
from ratiolab.theory.rayleigh import amin, geometric

if TYPE_CHECKING:
    from sympy import Expr


LIMIT = ("Lemma 2 as the ratio of A_min", "s = 0, l = 1, u -> infinity")


class Side(NamedTuple):
    """One half of the figure: a closed form, whether it increases, and the weights it is of."""

    quotient: "Callable[[], Expr]"
    limit: "Callable[[], Expr]"
    increases: Callable[[], bool]
    weight: Callable[[int], int]

    def check(self, claimed: Fraction, evidence: str = "") -> ClaimResult:
        """Compare the supremum with a bound; the closed form with Lemma 2 cut far out."""
        import sympy as sp

        closed, supremum, grows = self.quotient(), self.limit(), self.increases()
        half = Fraction(1, 2)
        cut = amin.quotient([self.weight(k) * half ** (k - 1) for k in range(1, 60)])
        at_half = closed.subs(geometric.symbol(), sp.Rational(1, 2))
        agrees = abs(float(cut) - float(at_half)) < 1e-12
        holds = grows and agrees and bool(supremum < sp.Rational(claimed))
        return ClaimResult(
            TIGHTENED if holds else FALSE,
            PROVED,
            f"{'increasing' if grows else 'not increasing'}, supremum {supremum} = "
            f"{float(supremum):.5f}, at q -> 1",
            evidence=evidence,
            witness=None if holds else f"q -> 1: {float(supremum):.5f}",
        )


def left_increases() -> bool:
    """Return whether the left closed form's derivative is positive on (0, 1), by counting roots.

    The derivative is (1-q^2) F / (q^2 (1+q^2)^2) with F = A ln(1+q) - q C and polynomials A, C. As
    2q/(2+q) <= ln(1+q) <= q (2+q) / (2 (1+q)), F / q is at least 2 A/(2+q) - C where A >= 0, and
    A (2+q) / (2 (1+q)) - C where A <= 0.
    """
    import sympy as sp

    q = geometric.symbol()
    log = sp.Symbol("log")
    slope = sp.diff(geometric.geometric_quotient(), q) * q**2 * (1 + q**2) ** 2 / (1 - q**2)
    form = sp.Poly(sp.expand(slope.subs(sp.log(q + 1), log)), log)
    factor, rest = (sp.cancel(c) for c in form.all_coeffs())
    over_q = sp.cancel(rest / q)
    if not (factor.is_polynomial(q) and over_q.is_polynomial(q) and form.degree() == 1):
        return False
    change = sp.sqrt(2) - 1  # the only root of A in (0, 1): 1 - 2q - q^2 = 0
    if sp.expand(factor - (1 - 2 * q - q**2) * (1 + 2 * q - q**2)) != 0:
        return False
    below = sp.Poly(sp.expand(2 * factor + (2 + q) * over_q), q)
    above = sp.Poly(sp.expand((2 + q) * factor + 2 * (1 + q) * over_q), q)
    return bool(
        _positive(below, 0, sp.Rational(5, 12))
        and _positive(above, sp.Rational(2, 5), 1)
        and sp.Rational(2, 5) < change < sp.Rational(5, 12)
    )


def _positive(polynomial: "Expr", low: "Expr", high: "Expr") -> bool:
    """Return whether a polynomial has no root inside an interval and is positive in its middle."""
    ends = sum(polynomial.eval(end) == 0 for end in {low, high})
    inside = polynomial.count_roots(low, high) - ends
    return bool(inside == 0 and polynomial.eval((low + high) / 2) > 0)


def right_increases() -> bool:
    """Return whether the derivative of the right closed form, which is rational, has no root in
    (0, 1) and is positive there.
    """
    import sympy as sp

    q = geometric.symbol()
    slope = sp.diff(geometric.linearly_weighted_quotient(), q)
    return _positive(sp.Poly(sp.numer(sp.together(slope)), q), 0, 1)


LEFT = Side(geometric.geometric_quotient, geometric.geometric_limit, left_increases, lambda k: 1)
RIGHT = Side(
    geometric.linearly_weighted_quotient,
    lambda: geometric.linearly_weighted_quotient().subs(geometric.symbol(), 1),
    right_increases,
    lambda k: k,
)


@PAPER.claim(claimed=Fraction(17, 10), control=Fraction(5, 3), assumes=LIMIT)
def figure_3_left(claimed: Fraction) -> ClaimResult:
    """For P(o = k) = (1-q) q^(k-1) the ratio of A_min increases in q, below 1.7.

    Source: Section 5.2 and Figure 3, left, pp. 21-22
    Verdict: tightened
    Proof: geometric_lengths
    """
    return LEFT.check(claimed)


@PAPER.claim(claimed=Fraction(8, 5), control=Fraction(3, 2), assumes=LIMIT)
def figure_3_right(claimed: Fraction) -> ClaimResult:
    """For P(o = k) = k (1-q)^2 q^(k-1) the ratio of A_min increases in q, below 1.6.

    Source: Section 5.3 and Figure 3, right, pp. 21-22
    Verdict: tightened
    Proof: geometric_lengths
    """
    peak, flat = amin.quotient([2, 1]), amin.quotient([1, 2])  # u = 2 at q = 1/4 and at q = 1
    return RIGHT.check(
        claimed,
        f"cut at u it is not monotone: for u = 2 it is {peak} at q = 1/4 and {flat} at q = 1. The "
        "mass peaks near 1/ln(1/q), not log(1/q) as the text has it",
    )


def cut_ratio(q: Fraction, upper: int) -> Fraction:
    """Return Lemma 2 for geometric lengths conditioned on 1..u."""
    return Fraction(amin.quotient([q ** (k - 1) for k in range(1, upper + 1)]))


def recheck() -> str:
    """Verify 5/4 at q = 1/2 and 17/14 at q = 1 for u = 2, by hand from Theorem 6's formula."""
    values = {}
    for q in (Fraction(1, 2), Fraction(1)):
        t, a = 1 / q, Fraction(1, 2)
        values[q] = 1 + a * (1 - a * a) * t / (a * a * t * t + 2 * a * a * t + 1)
        assert values[q] == cut_ratio(q, 2), values
    assert list(values.values()) == [Fraction(5, 4), Fraction(17, 14)], values
    return "u = 2: the ratio is 5/4 at q = 1/2 and falls to 17/14 at q = 1"


@PAPER.claim(claimed="to q = 1", control="to q = 1/5", recheck=recheck)
def figure_3_left_cut(claimed: str) -> ClaimResult:
    """For P(o = k) = (1-q) q^(k-1), conditioned on 1..u, the ratio of A_min increases in q, below
    1.7.

    Source: Section 5.2, p. 21: 'on the discrete space [1, u]'
    Verdict: false
    Assumes: Lemma 2 as the ratio of A_min
    Assumes: s = 0, l = 1, finite u
    Evidence: near q = 1 the cut lengths become uniform, which costs less
    """
    grid = [Fraction(k, 40) for k in range(1, 41)]
    cases = {u: [cut_ratio(q, u) for q in grid] for u in (2, 3, 8, 20)}
    whole = claimed == "to q = 1"
    falls = [
        f"u = {u}: {float(max(v)):.4f} at q = {grid[v.index(max(v))]}, {float(v[-1]):.4f} at q = 1"
        for u, v in cases.items()
        if max(v) > v[-1]
    ]
    rising = [u for u, v in cases.items() if all(a < b for a, b in pairwise(v[:8]))]
    broken = bool(falls) if whole else len(rising) < len(cases)
    return decided(
        not broken,
        WITNESSED if broken else "4 cases",
        "; ".join(falls) if whole else f"it rises up to q = 1/5 for u = {rising}",
        witness=falls[0] if broken and falls else None,
    )


NUMERATOR = "(1 + q)**2 * (1 + 3*q + 6*q**2 + 3*q**3 + q**4)"
DENOMINATOR = "1 + 2*q + 11*q**2 + 8*q**3 + 11*q**4 + 2*q**5 + q**6"
PRINTED_SUM = f"({DENOMINATOR}) / ((1 - q)**6 * (1 + q)**4)"


def _parse(text: str) -> "Expr":
    import sympy as sp

    return sp.sympify(text, locals={"q": geometric.symbol()})


@PAPER.claim(
    claimed=(f"{NUMERATOR} / ({DENOMINATOR})", Fraction(14, 9)),
    control=(f"{NUMERATOR} / ({DENOMINATOR})", Fraction(3, 2)),
)
def theorem_8(claimed: tuple[str, Fraction]) -> ClaimResult:
    """For P(o = k) = k (1-q)^2 q^(k-1) the ratio of A_min is (1+q)^2 (1+3q+6q^2+3q^3+q^4) /
    (1+2q+11q^2+8q^3+11q^4+2q^5+q^6), at most 14/9.

    Source: Theorem 8, p. 22, proof p. ec16
    Assumes: Lemma 2 as the ratio of A_min
    Assumes: s = 0, l = 1, u -> infinity
    Proof: geometric_lengths
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


def recheck_sum() -> str:
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


@PAPER.claim(claimed="printed", control="corrected", recheck=recheck_sum)
def theorem_8_printed_sum(claimed: Literal["printed", "corrected"]) -> ClaimResult:
    """In the proof, sum k^3 q^(k-1) (2 k q^(k-1) + sum_{i>k} i q^(i-1)) has the closed form printed
    beside it.

    Source: Theorem 8, p. 22, proof p. ec16
    Verdict: false
    Assumes: read as printed
    Evidence: summed in closed form; the 2 belongs to the inner sum, as in Lemma 2
    """
    import sympy as sp

    half = {geometric.symbol(): sp.Rational(1, 2)}
    value, closed = printed_sum(claimed), _parse(PRINTED_SUM)
    at_half = value.subs(half)
    return decided(
        sp.simplify(value - closed) == 0,
        WITNESSED,
        f"it is {at_half} there",
        witness=f"q = 1/2: {at_half}",
    )
