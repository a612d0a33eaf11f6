"""Chen et al., Figure 2: the bounds of Theorems 6 and 7 against alpha."""

from typing import Literal

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import PROVED, ClaimResult, decided


@PAPER.claim(
    "Figure 2, p. 21",
    claimed="below",
    control="above",
    assumes=("the bounds of Theorems 6 and 7", "s = 0"),
    proof="two_lengths",
)
def figure_2(claimed: Literal["below", "above"]) -> ClaimResult:
    """The bound of A_ell lies below that of A_min for alpha < alpha* = 0.38 and above it for alpha
    > alpha*.
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
        evidence="both bounds are attained at s = 0, so the picture compares the policies there. "
        "The text's 1 + 2 alpha^2 for all alpha > alpha* starts at 1/2 only; the printed A_min is "
        "above its curve (theorem-6-printed)",
        witness=f"at alpha = 1/4: A_min {first.subs(a, 0.25)}, A_ell 7/6",
    )
