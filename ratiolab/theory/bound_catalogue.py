"""The catalogue behind `ratiolab.theory.bounds`: each formula with its source and its scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from ratiolab.theory.limits import (
    independent_offsets,
    kill_restart,
    printed_a_min,
    suprema,
    volume_restart,
)
from ratiolab.theory.rayleigh import geometric
from ratiolab.theory.worst_case import equal_prompts

if TYPE_CHECKING:
    from sympy import Expr

Domain: TypeAlias = Literal["any interval", "lower 1, prompt 0", "constant"]


@dataclass(frozen=True)
class Bound:
    """A named formula in l, u, s (``lower``, ``upper``, ``prompt``); alpha = l/u.

    ``domain`` says for which arguments it is stated by its source or derived here; outside it
    there is no value. ``assumptions`` says what it is a bound on, and what is known of it.
    """

    name: str
    formula: str
    source: str
    assumptions: str
    expression: Callable[[int, int, int], Expr | Fraction | int] = field(repr=False, compare=False)
    domain: Domain = "any interval"


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


def _kill_restart(refill: bool, random_offset: bool) -> Callable[[int, int, int], Expr]:
    return lambda *_: kill_restart.best(refill=refill, random_offset=random_offset)[1]


def _chen(place: str) -> str:
    return f"Chen, Ye, Zhou (2025), {place}, arXiv 2508.14544v2"


def _jaillet(place: str) -> str:
    return f"Jaillet et al. (2025), {place}, arXiv 2502.07115v5"


_SERVERS = "A_max against H-SF, n and M to infinity, A_max read as M/(s+u) parallel servers"
_LEMMA_2 = "the quotient of Lemma 2, which the printed A_min need not follow"
_OWN = "own derivation, after "
_THEOREM = "own proof, ratiolab/papers/ours/proofs/"
_KILL = "own derivation; see ratiolab.theory.limits.kill_restart"
_VOLUME = "own; see ratiolab.theory.limits.volume_restart and papers/ours/proofs"
_STAGGERED = "against the true optimum, fluid limit, all requests at round 0, every law and prompt"

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
        "kill-restart/batches",
        "min_b b**3/(b-1) = 27/4 at b = 3/2",
        _KILL,
        "synchronous batches against H-SF, exact supremum over all lengths >= l, every s",
        _kill_restart(refill=False, random_offset=False),
        "constant",
    ),
    Bound(
        "kill-restart/refill",
        "min_b b(2b-1)/(b-1) = 3 + 2 sqrt(2) at b = 1 + sqrt(2)/2",
        _KILL,
        "immediate refill against H-SF, exact supremum over all lengths >= l, every s",
        _kill_restart(refill=True, random_offset=False),
        "constant",
    ),
    Bound(
        "kill-restart/batches-random-offset",
        "min_b b(b+1) / (2 ln b)",
        _KILL,
        "synchronous batches, random offset, against H-SF, exact supremum, every s",
        _kill_restart(refill=False, random_offset=True),
        "constant",
    ),
    Bound(
        "kill-restart/refill-random-offset",
        "min_b (b+1)(1 + ln b) / (2 ln b)",
        _KILL,
        "immediate refill, random offset, against H-SF, exact supremum at s = 0",
        _kill_restart(refill=True, random_offset=True),
        "constant",
    ),
    Bound(
        "kill-restart/refill-independent-offsets",
        "min_b (b-1)(1 + ln b) / ln(b)**2",
        _THEOREM + "independent_offsets.md",
        "immediate refill, an offset for each request, against H-SF, exact supremum at s = 0; the "
        "least of all rules that reserve their caps",
        lambda *_: independent_offsets.best()[1],
        "constant",
    ),
    Bound(
        "volume-restart",
        "min_r (r-1)(2-1/r) / ln(r)**2 at base r**2 = 13.807",
        _VOLUME,
        f"caps in volume, an offset for each request, {_STAGGERED}; exact supremum, and no policy "
        "that does not know the lengths has a smaller constant",
        lambda *_: volume_restart.best("request")[1],
        "constant",
    ),
    Bound(
        "volume-restart/one-offset",
        "min_r (2 r + 1 - 1/r) / (2 ln r) at base r**2 = 8.157",
        _VOLUME,
        f"caps in volume, one offset for all requests, {_STAGGERED}; exact supremum",
        lambda *_: volume_restart.best("run")[1],
        "constant",
    ),
    Bound(
        "volume-restart/no-offset",
        "min_r (r**2 + r - 1) / (r - 1) = 5 at base 4",
        _VOLUME,
        f"caps in volume, no offset, requests in random order, {_STAGGERED}; exact supremum",
        lambda *_: volume_restart.best("none")[1],
        "constant",
    ),
    Bound(
        "volume-restart/deterministic",
        "min_b 1 + 2 b**(3/2) / (b - 1) = 1 + 3 sqrt(3) at b = 3",
        _VOLUME,
        f"caps in volume, no offset, the adversary orders the requests, {_STAGGERED}",
        lambda *_: volume_restart.adversarial_order(3),
        "constant",
    ),
    Bound(
        "volume-restart/finite-range",
        "min(V, (1 + sqrt(R)) / 2), R = u (2s+u+1) / (l (2s+l+1))",
        _VOLUME,
        "upper bound on the best constant for lengths in [l, u], fluid limit, all requests at "
        "round 0; the second is optimal for R <= 2.618",
        volume_restart.finite_range,
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
    Bound(
        "ours/mc-sf",
        "2 + 1/(3 (1 + 2 s/u)), 7/3 at s = 0",
        _THEOREM + "mc_sf_constant.md",
        "MC-SF/OPT; equal prompts, arrivals at 0, exact predictions, u the longest output, any M",
        lambda lower, upper, prompt: equal_prompts.ratio_bound_at(prompt, upper),
    ),
    Bound(
        "ours/mc-sf-predictions",
        "max(2 a**2, 1 + 4 a**2/3), a = u/l",
        _THEOREM + "mc_sf_constant.md",
        "MC-SF/OPT; as ours/mc-sf, with predictions from o to a o",
        lambda lower, upper, prompt: equal_prompts.ratio_bound(Fraction(upper, lower)),
    ),
    Bound(
        "ours/mc-sf-arrivals",
        "(n L + (n-1)(n-2)/2) / (L + n (n+1)/2) = 803/210 at n = 4, L = 200; tends to n",
        _THEOREM + "mc_sf_arrivals.md",
        "lower bound on MC-SF/OPT with arrivals over time; n requests, prompts L, M = 2L",
        lambda *_: Fraction(*equal_prompts.long_first(4, 200)[-2:]),
        "constant",
    ),
    Bound(
        "ours/a-min-square-root",
        "(256/337) / (8/(3 sqrt(u)) + 2/u + 32/(9 (u+1))), about 0.2849 sqrt(u)",
        _THEOREM + "a_min_square_root.md",
        "lower bound on Algorithm 2 (A_min) against the optimum, lengths 1 and u, n and M large",
        lambda lower, upper, prompt: printed_a_min.square_root_bound(upper),
        "lower 1, prompt 0",
    ),
)
