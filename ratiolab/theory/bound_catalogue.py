"""Bounds of the papers, part of `ratiolab.theory.bounds`: formulas with source and scope."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ratiolab.theory.bound import Bound
from ratiolab.theory.limits import suprema
from ratiolab.theory.rayleigh import geometric
from ratiolab.theory.worst_case import equal_prompts

if TYPE_CHECKING:
    from sympy import Expr


def _theorem_2_printed(lower: int, upper: int, prompt: int) -> Expr:
    import sympy as sp

    inverse = sp.Rational(upper, lower)
    return inverse * (1 + sp.sqrt(inverse)) / 2


def _harmonic(lower: int, upper: int, prompt: int) -> Expr:
    import sympy as sp

    return sp.harmonic(upper, evaluate=upper <= suprema.RATIONAL_TERMS)


def _theorem_7_printed(lower: int, upper: int, prompt: int) -> Fraction:
    alpha = Fraction(lower, upper)
    return 1 + alpha / (2 * (1 - alpha)) if 2 * alpha <= 1 else 1 + 2 * alpha**2


def _chen(place: str) -> str:
    return f"Chen, Ye, Zhou (2025), {place}, arXiv 2508.14544v2"


def _jaillet(place: str) -> str:
    return f"Jaillet et al. (2025), {place}, arXiv 2502.07115v5"


_SERVERS = "A_max against H-SF, n and M to infinity, A_max read as M/(s+u) parallel servers"
_LEMMA_2 = "the quotient of Lemma 2, which the printed A_min need not follow"
_OWN = "own derivation, after "

ENTRIES: tuple[Bound, ...] = (
    Bound(
        "chen2025/theorem-1",
        "(1 + 1/alpha) / (2 alpha)",
        _chen("Theorem 1"),
        f"upper bound; {_SERVERS}; holds and is loose, while its printed proof has gaps",
        lambda lower, upper, prompt: Fraction(upper, lower) * (1 + Fraction(upper, lower)) / 2,
    ),
    Bound(
        "chen2025/theorem-2-printed",
        "(1 + alpha**(-1/2)) / (2 alpha)",
        _chen("Theorem 2"),
        f"stated as a lower bound, in fact an upper one; {_SERVERS}",
        _theorem_2_printed,
    ),
    Bound(
        "chen2025/theorem-2-two-point",
        "(s+u)/(s+l) [1 + sqrt(1 + (s+l)(u-l)/(l(s+l+u)))] / 2",
        _OWN + _chen("Theorem 2"),
        f"exact supremum over lengths in {{l, u}}; {_SERVERS}",
        suprema.max_length_two_point_supremum,
    ),
    Bound(
        "chen2025/theorem-2",
        "(s+u)/(s+l) [1 + sqrt(1 + (s+l)/l sum_{k=l+1}^u 1/(s+2k-1))] / 2",
        _OWN + _chen("Theorem 2"),
        f"exact supremum over all distributions on the integers l..u; {_SERVERS}",
        suprema.max_length_supremum,
    ),
    Bound(
        "chen2025/theorem-2-continuum",
        "(s+u)/(s+l) [1 + sqrt(1 + (1+s/l) ln((s+2u)/(s+2l)) / 2)] / 2",
        _OWN + _chen("Theorem 2"),
        f"exact supremum over all distributions on the reals in [l, u]; {_SERVERS}",
        suprema.max_length_supremum_continuum,
    ),
    Bound(
        "chen2025/theorem-5-trace",
        "H_u = 1 + 1/2 + ... + 1/u",
        _chen("Theorem 5"),
        f"upper bound on {_LEMMA_2}",
        _harmonic,
        "lower 1, prompt 0",
    ),
    Bound(
        "chen2025/theorem-6-printed",
        "(3 - alpha) / 2",
        _chen("Theorem 6"),
        f"two lengths; at s = 0 exact for {_LEMMA_2}; small s > 0 exceed it if alpha < 1/2",
        lambda lower, upper, prompt: (3 - Fraction(lower, upper)) / 2,
    ),
    Bound(
        "chen2025/theorem-6",
        "1 + (s+l)/(s+u) (1/r - 1) / 2, r = sqrt(l(s+l)/(u(s+u)))",
        _OWN + _chen("Theorem 6"),
        f"two lengths; exact maximum of {_LEMMA_2}",
        suprema.lower_bound_two_point_supremum,
    ),
    Bound(
        "chen2025/theorem-7-printed",
        "1 + alpha/(2(1-alpha)) if alpha <= 1/2, else 1 + 2 alpha**2",
        _chen("Theorem 7"),
        "A_ell against H-SF on two lengths; exact at s = 0, exceeded for every s > 0",
        _theorem_7_printed,
    ),
    Bound(
        "chen2025/theorem-7",
        "1 + r/(2(1-r)) if r <= 1/2, else 1 + 2 r**2, r = sqrt(l(s+l)/(u(s+u)))",
        _OWN + _chen("Theorem 7"),
        "A_ell evicting at exactly l tokens, against H-SF on two lengths l < u; exact maximum",
        suprema.promote_short_supremum,
    ),
    Bound(
        "chen2025/ec1-part-2-printed",
        "(1 + 1/alpha) / 2",
        _chen("Theorem EC.1, part 2"),
        "upper bound; A_random against H-SF, work counted as o (s+o) per request",
        lambda lower, upper, prompt: (1 + Fraction(upper, lower)) / 2,
    ),
    Bound(
        "chen2025/ec1-part-2",
        "(1 + sqrt(u(s+u)/(l(s+l)))) / 2",
        _OWN + _chen("Theorem EC.1, part 2"),
        "exact supremum over all distributions; A_random against H-SF, work o (s+o) per request",
        suprema.random_order_supremum,
    ),
    Bound(
        "chen2025/alpha-star",
        "root z**2 of z**4 - z**2 + 2(1+s/u) z - (1+s/u) = 0; (3 - sqrt(5))/2 at s = 0",
        _OWN + _chen("Section 5.1"),
        f"alpha below which A_ell's two-point maximum is less than that of {_LEMMA_2}",
        lambda lower, upper, prompt: suprema.switch_alpha(Fraction(prompt, upper)),
    ),
    Bound(
        "chen2025/geometric",
        "10 - 12 ln 2",
        _OWN + _chen("Section 5.2"),
        f"geometric lengths, limit q to 1 at s = 0, l = 1, u infinite, of {_LEMMA_2}",
        lambda *_: geometric.geometric_limit(),
        "constant",
    ),
    Bound(
        "chen2025/theorem-8",
        "14/9",
        _chen("Theorem 8"),
        f"linearly weighted geometric lengths, supremum at s = 0, l = 1, of {_LEMMA_2}",
        lambda *_: geometric.linearly_weighted_quotient().subs(geometric.symbol(), 1),
        "constant",
    ),
    Bound(
        "jaillet2025/lemma-4.4-volume",
        "1536",
        _jaillet("Lemma 4.4"),
        "factor c of A/M in MC-SF <= c A/M + 24 C; equal prompts, arrivals at 0, M >= 2 max(s+o)",
        lambda *_: 1536,
        "constant",
    ),
    Bound(
        "jaillet2025/lemma-4.4-length",
        "24",
        _jaillet("Lemma 4.4"),
        "factor c of C in MC-SF <= 1536 A/M + c C; equal prompts, arrivals at 0, M >= 2 max(s+o)",
        lambda *_: 24,
        "constant",
    ),
    Bound(
        "jaillet2025/theorem-4.3",
        "max(1536 * 6, 24 * 6) = 9216",
        _jaillet("Lemmas 4.4 and 4.7"),
        "MC-SF/OPT; equal prompts, arrivals at 0, exact predictions, M >= 2 max(s+o)",
        lambda *_: max(1536 * 6, 24 * 6),
        "constant",
    ),
    Bound(
        "jaillet2025/theorem-4.3-improved",
        "max(1536 * 2, 24 * 3) = 3072",
        _OWN + _jaillet("Lemma 4.7"),
        "as theorem-4.3, with OPT >= A/(2M) + C/3 and Lemma 4.4 taken as given",
        lambda *_: max(1536 * 2, 24 * 3),
        "constant",
    ),
    Bound(
        "jaillet2025/theorem-4.3-sharp",
        "7/3",
        _OWN + _jaillet("Theorem 4.3"),
        "as theorem-4.3, for every memory; see ours/mc-sf; no constant below 2 is possible",
        lambda *_: equal_prompts.ratio_bound(),
        "constant",
    ),
)
