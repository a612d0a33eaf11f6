"""The three figures of Chen, Ye, Zhou (2025), arXiv 2508.14544v2, redrawn, and one on prompts.

Printed curves come from theory and claims; `evidence.simulated` says what simulated points are.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log
from typing import TypeAlias

import numpy as np

from ratiolab.online import make
from ratiolab.papers.chen2025.claims.theorem_5 import PRINTED as PRINTED_CURVE
from ratiolab.papers.evidence import ALPHA, LONGEST, RATIO, bound_values, half_octaves, simulated
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import (
    EXACT,
    FAINT,
    OTHER,
    PRINTED,
    RIVAL,
    THIRD,
    Curve,
    Look,
    Panel,
    chart,
)
from ratiolab.theory.bounds import evaluate
from ratiolab.theory.laws.distributions import (
    LengthDistribution,
    geometric,
    linearly_weighted_geometric,
    two_point,
)
from ratiolab.theory.rayleigh import geometric as lemma_2
from ratiolab.theory.rayleigh.amin import two_point_supremum
from ratiolab.theory.rayleigh.asymptotics import expansion
from ratiolab.theory.rayleigh.spectrum import spectral_radius

Form: TypeAlias = Callable[[float, int], LengthDistribution]

DOTTED = PRINTED | {"ls": ":"}


def figure_1(most: int = 2**16) -> Chart:
    """Redraw Figure 1: A_min's quotient against u at s = 0, l = 1, and what misses it by how much.

    Left the exact maximum of Lemma 2's quotient (a spectral radius, good to 1e-10) with the printed
    fit and the trace bound of Theorem 5; right the distances of logarithms from the exact values:
    the printed fit, the same read with u - 1 in the place of u, and the expansion for large u.
    Cost O(most).
    """
    uppers = half_octaves(most)
    exact = [spectral_radius(u).rho for u in uppers]
    scale, shift, offset = PRINTED_CURVE

    def fit(u: float) -> float:
        return scale * log(u + shift) + offset

    def missed(label: str, values: Sequence[float], look: Look) -> Curve:
        distance = np.abs(np.subtract(values, exact))
        return Curve(label, uppers, distance, look | {"marker": ".", "ms": 4})

    printed = [fit(u) for u in uppers]
    trace = bound_values("theorem-5-trace", uppers)
    values = [
        Curve("exact maximum of Lemma 2's quotient", uppers, exact),
        Curve(f"printed fit {scale} log(u + {shift}) + {offset}", uppers, printed, PRINTED),
        Curve("trace H_u: the bound behind Theorem 5", uppers, trace, FAINT),
    ]
    expanded = [expansion(log(u)) for u in uppers]
    errors = [
        missed("printed fit", printed, PRINTED),
        missed("printed fit with u - 1 for u", [fit(u - 1) for u in uppers], THIRD),
        missed("expansion (ln u)/4 + 3/4 + (ln 2)/2 + γ/4 - π²/(24 ln u)", expanded, EXACT),
    ]
    left, right = "Figure 1, printed and exact", "Distance from the exact maximum"
    distance = "absolute difference (no unit)"
    return chart(
        [
            Panel(left, LONGEST, RATIO, values, log_x=True, y_range=(1, 5)),
            Panel(right, LONGEST, distance, errors, log_x=True, log_y=True),
        ]
    )


def prompts(most: int = 2**12) -> Chart:
    """Draw A_min's quotient with prompts: Theorem 5 takes s = 0 without loss of generality.

    Lengths in 1..u; prompts s = 0, u and 16 u; the limit of long prompts is (1 + sqrt(u))/2.
    """
    uppers = half_octaves(most)

    def radii(factor: int) -> list[float]:
        return [spectral_radius(u, prompt=factor * u).rho for u in uppers]

    curves = [
        Curve(
            "printed bound H_u of Theorem 5",
            uppers,
            bound_values("theorem-5-trace", uppers),
            PRINTED,
        ),
        Curve("exact maximum, s = 0", uppers, radii(0)),
        Curve("exact maximum, s = u", uppers, radii(1), OTHER),
        Curve("exact maximum, s = 16 u", uppers, radii(16), THIRD),
        Curve(
            "two lengths, s without limit",
            uppers,
            [two_point_supremum(1, u, 10**6 * u) for u in uppers],
            FAINT | {"ls": ":"},
        ),
    ]
    title = "Lemma 2's quotient with prompts"
    return chart([Panel(title, LONGEST, RATIO, curves, log_x=True, log_y=True)])


def figure_2(upper: int = 60) -> Chart:
    """Redraw Figure 2: two lengths, A_min and A_ell against alpha, without and with prompts.

    Left s = 0, where the printed curves are the exact maxima of the fluid model, and simulations on
    the worst shares: A_ell follows its curve, the printed A_min does not. Right s = u, where the
    printed curves are exceeded and the crossing moves.
    """
    lowers = list(range(1, upper))
    alphas = [lower / upper for lower in lowers]

    def exact(name: str, prompt: int) -> list[float]:
        return [evaluate(f"chen2025/{name}", lower, upper, prompt).value for lower in lowers]

    few, chosen = 16, [1, 2, 3, 4, 6, 8, 11]
    narrow = [low / few for low in chosen]
    # The shares of the long requests that maximise the fluid ratios of A_min and of A_ell.
    mixed = [two_point(low, few, Fraction(low, low + few)) for low in chosen]
    scarce = [two_point(low, few, Fraction(low, max(few - low, low))) for low in chosen]
    left = [
        Curve("A_min, printed Theorem 6", alphas, exact("theorem-6-printed", 0), PRINTED),
        Curve("A_ℓ, printed Theorem 7", alphas, exact("theorem-7-printed", 0), DOTTED),
        simulated("A_min as printed, simulated", make("a-min"), narrow, mixed),
        simulated("A_ℓ, simulated", make("a-ell"), narrow, scarce, RIVAL),
    ]
    right = [
        Curve("A_min, printed Theorem 6", alphas, exact("theorem-6-printed", upper), PRINTED),
        Curve("A_ℓ, printed Theorem 7", alphas, exact("theorem-7-printed", upper), DOTTED),
        Curve("A_min, exact maximum of Lemma 2's quotient", alphas, exact("theorem-6", upper)),
        Curve("A_ℓ, exact maximum", alphas, exact("theorem-7", upper), OTHER),
    ]
    stars = [evaluate("chen2025/alpha-star", 1, upper, s).value for s in (0, upper)]
    panels = [
        Panel(title, ALPHA, RATIO, curves, marks=[(star, f"α* = {star:.3f}")])
        for title, curves, star in zip(
            ("Figure 2: s = 0", "Figure 2: s = u"), (left, right), stars, strict=True
        )
    ]
    return chart(panels, height=4.8)


def figure_3(points: int = 60, cut: int = 20) -> Chart:
    """Redraw Figure 3: geometric and linearly weighted geometric lengths, s = 0, against q.

    Lemma 2's quotient in closed form for all lengths, and for lengths up to `cut` and ten times
    that; the printed A_min simulated on lengths up to `cut`.
    """
    forms = (geometric, linearly_weighted_geometric)
    closed = (lemma_2.geometric_quotient(), lemma_2.linearly_weighted_quotient())
    printed = ((1.7, "printed bound 1.7"), (evaluate("chen2025/theorem-8").value, "printed: 14/9"))
    titles = ("Figure 3, left: geometric", "Figure 3, right: linearly weighted geometric")
    q, tried = np.linspace(0.01, 0.999, points).tolist(), (0.3, 0.5, 0.7, 0.85)
    panels = []
    for form, quotient, (bound, label), title in zip(forms, closed, printed, titles, strict=True):

        def lengths_up_to(upper: int, look: Look, form: Form = form) -> Curve:
            values = [float(lemma_2.quotient(form(value, upper))) for value in q]
            return Curve(f"Lemma 2, lengths up to {upper}", q, values, look)

        uncut = [float(quotient.subs(lemma_2.symbol(), value)) for value in q]
        cases = [form(value, cut) for value in tried]
        curves = [
            Curve("Lemma 2, all lengths", q, uncut),
            lengths_up_to(10 * cut, THIRD),
            lengths_up_to(cut, OTHER),
            Curve(label, [0, 1], [bound, bound], PRINTED),
            simulated(f"A_min as printed, lengths up to {cut}", make("a-min"), tried, cases),
        ]
        panels.append(Panel(title, "q (the smaller, the shorter)", RATIO, curves))
    return chart(panels, height=5.0)
