"""Chen et al., Section 5.1 and Figure 2: where A_ell and A_min change places."""

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.theory.limits.suprema import (
    lower_bound_two_point_supremum,
    promote_short_supremum,
    switch_alpha,
)

if TYPE_CHECKING:
    from sympy import Expr


def gap(lower: int, upper: int, prompt: int) -> "Expr":
    """Return the supremum of Lemma 2 minus that of A_ell over two-point distributions, exact."""
    return lower_bound_two_point_supremum(lower, upper, prompt) - promote_short_supremum(
        lower, upper, prompt
    )


def check(claimed: Fraction) -> ClaimResult:
    """Decide alpha* = (3 - sqrt 5)/2 for a prompt of `claimed` times u by signs of the gap around
    it.
    """
    import sympy as sp

    star = (3 - sp.sqrt(5)) / 2
    root = switch_alpha(claimed)
    agrees = sp.simplify(root - star) == 0
    scale = 1000 * claimed.denominator
    cut = int(sp.floor(star * scale))
    prompt = int(claimed * scale)
    signs = [bool(gap(low, scale, prompt) > 0) for low in (cut, cut + 1)]
    return decided(
        agrees and signs == [True, False],
        PROVED,
        f"the suprema are equal at {float(root):.6f}",
        evidence=f"exact signs at alpha = {cut}/{scale} and {cut + 1}/{scale}: "
        f"{' and '.join('A_ell smaller' if sign else 'A_min smaller' for sign in signs)}",
        witness=f"s = {claimed} u: threshold {float(root):.6f}",
    )


@PAPER.claim(claimed=Fraction(0), control=Fraction(1, 10))
def alpha_star(claimed: Fraction) -> ClaimResult:
    """The bounds of A_ell and A_min are equal at alpha* = (3 - sqrt 5)/2 = 0.382; below it A_ell is
    better.

    Source: Section 5.1, p. 20
    Assumes: suprema over two-point distributions in the fluid model
    Assumes: s = 0
    Proof: two_lengths
    """
    return check(claimed)


def recheck() -> str:
    """Verify that at s = u, alpha = 1/3 A_min's bound is the smaller one, though 1/3 < alpha*."""
    value = gap(1, 3, 3)
    assert value < 0, value
    assert Fraction(1, 3) ** 2 - 3 * Fraction(1, 3) + 1 > 0  # 1/3 is below alpha*
    return f"l = 1, u = s = 3: Lemma 2 minus A_ell is {float(value):.4f}"


@PAPER.claim(claimed=Fraction(1), control=Fraction(0), recheck=recheck)
def alpha_star_any_prompt(claimed: Fraction) -> ClaimResult:
    """The bounds of A_ell and A_min are equal at alpha* = 0.382 for every prompt, such as s = u.

    Source: Section 5.1, p. 20
    Verdict: false
    Assumes: suprema over two-point distributions in the fluid model
    Proof: two_lengths
    """
    return check(claimed)


@PAPER.claim(claimed="below", control="above")
def figure_2(claimed: Literal["below", "above"]) -> ClaimResult:
    """The bound of A_ell lies below that of A_min for alpha < alpha* = 0.38 and above it for alpha
    > alpha*.

    Source: Figure 2, p. 21
    Assumes: the bounds of Theorems 6 and 7
    Assumes: s = 0
    Proof: two_lengths
    Evidence: both bounds are attained at s = 0, so the picture compares the policies there. The
        text's 1 + 2 alpha^2 for all alpha > alpha* starts at 1/2 only; the printed A_min is above
        its curve (theorem-6-printed)
    """
    import sympy as sp

    a = sp.symbols("alpha", positive=True)
    first = (3 - a) / 2
    narrow, wide = 1 + a / (2 * (1 - a)), 1 + 2 * a**2
    star = (3 - sp.sqrt(5)) / 2
    half = sp.Rational(1, 2)
    low = sp.numer(sp.together(first - narrow))
    low_roots = [r for r in sp.roots(sp.Poly(low, a)) if 0 < r <= half]
    high_roots = [r for r in sp.roots(sp.Poly(first - wide, a)) if half <= r < 1]
    left = (first - narrow).subs(a, sp.Rational(1, 4)) > 0
    right = (first - narrow).subs(a, half) < 0 and (first - wide).subs(a, 1) < 0
    meets = sp.simplify(narrow.subs(a, half) - wide.subs(a, half)) == 0
    crossing = len(low_roots) == 1 and sp.simplify(low_roots[0] - star) == 0 and not high_roots
    a_ell_wins = "below" if left and right else "above"
    return decided(
        crossing and meets and a_ell_wins == claimed,
        PROVED,
        f"one crossing, at {star} = {float(star):.4f}; A_ell smaller {a_ell_wins} it",
        witness=f"at alpha = 1/4: A_min {first.subs(a, 0.25)}, A_ell 7/6",
    )
