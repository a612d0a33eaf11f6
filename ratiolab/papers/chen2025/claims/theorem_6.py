"""Chen et al., Theorem 6: A_min on two lengths."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ratiolab.online import simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import ALGORITHM_2
from ratiolab.papers.claim import PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.limits import fluid_ratio, scaled_instance
from ratiolab.theory.limits.printed_a_min import ratio_lower_bound
from ratiolab.theory.limits.suprema import lower_bound_two_point_supremum
from ratiolab.theory.rayleigh import amin

Bound = Callable[[Any], Any]


@PAPER.claim(claimed=lambda a: (3 - a) / 2, control=lambda a: (3 - 2 * a) / 2)
def theorem_6(claimed: Bound) -> ClaimResult:
    """With outputs in {l, u} the ratio of A_min is at most (3 - alpha) / 2.

    Source: Theorem 6, p. 20, proof p. ec14
    Assumes: Lemma 2 as the ratio of A_min
    Assumes: s = 0, which the proof sets
    Proof: two_lengths
    """
    import sympy as sp

    a, t = sp.symbols("alpha t", positive=True)
    base = a**2 * t**2 + 2 * a**2 * t + 1
    excess = a * (1 - a**2) * t / base
    # The formula itself, from Lemma 2 at lengths 2 and 5, and 1 and 4, in fractions.
    formula = all(
        amin.quotient([x] + [0] * (u - low - 1) + [1], low)
        == 1 + Fraction(excess.subs({a: sp.Rational(low, u), t: x}))
        for low, u, x in [(1, 4, 1), (1, 4, 3), (2, 5, 2), (3, 4, 5)]
    )
    square = sp.expand(base - 2 * a * (1 + a) * t - (a * t - 1) ** 2) == 0
    largest = sp.simplify(1 + excess.subs(t, 1 / a))
    gap = sp.factor(sp.simplify(claimed(a) - largest))
    values = [gap.subs(a, sp.Rational(k, 20)) for k in range(1, 20)]
    holds = formula and square and min(values) >= 0
    return decided(
        holds,
        PROVED if holds and gap == 0 else "19 cases",
        f"supremum {sp.factor(largest)}, reached at x_l / x_u = 1/alpha",
        witness=f"bound minus supremum at alpha = 1/20, 2/20, ...: {min(values)}",
    )


def recheck_prompt() -> str:
    """Verify that shares 3 : 1 give more than 4/3 at l = 1, u = 3, s = 1."""
    ratio = amin.quotient([3, 0, 1], 1, 1)
    x, y = Fraction(3, 4), Fraction(1, 4)
    # Lemma 2 written out for these two lengths, periods 1, 2, 3.
    work = [x + 3 * y, 3 * y, 3 * y]
    done = [2 * (x / 2 + y / 4), y / 4, y / 4]
    left = [2 * y / 4, y / 4, Fraction(0)]
    first = [Fraction(2), Fraction(1), Fraction(1)]
    numerator = sum(d * w * (f + 2 * r) for d, w, f, r in zip(first, work, done, left, strict=True))
    by_hand = numerator / (1 * 2 * x * (x + 2 * y) + 3 * 4 * y * y)
    assert ratio == by_hand, (ratio, by_hand)
    assert ratio > Fraction(4, 3), ratio
    return f"l = 1, u = 3, s = 1: {ratio} > 4/3, at shares 3 : 1"


@PAPER.claim(claimed="printed", control="with prompt", recheck=recheck_prompt)
def theorem_6_any_prompt(claimed: str) -> ClaimResult:
    """With outputs in {l, u} and any prompt s the ratio of A_min is at most (3 - alpha) / 2.

    Source: Theorem 6, p. 20
    Verdict: false
    Assumes: Lemma 2 as the ratio of A_min
    Evidence: exact; with r = (s+l)/(s+u) the supremum is 1 + (sqrt(r/alpha) - r)/2, which is the
        printed bound only at s = 0 and tends to (1 + alpha^(-1/2))/2 as s grows
    """
    broken, cases = [], 0
    for low, u in [(1, 2), (1, 3), (1, 8), (2, 5), (3, 4)]:
        for prompt in (0, 1, 3, 10, 100):
            bound: Any = Fraction(3 * u - low, 2 * u)
            if claimed == "with prompt":
                bound = lower_bound_two_point_supremum(low, u, prompt)
            shares = range(1, 4 * u)
            ratio = max(
                Fraction(amin.quotient([x] + [0] * (u - low - 1) + [1], low, prompt))
                for x in shares
            )
            cases += 1
            if ratio > bound:
                broken.append(f"l = {low}, u = {u}, s = {prompt}: {ratio}")
    return decided(
        not broken,
        WITNESSED if broken else f"{cases} cases",
        f"exceeded in {len(broken)} of {cases} cases",
        witness=broken[0] if broken else None,
    )


def recheck_printed() -> str:
    """Verify the proved ratio; simulate one run with M = 60 and 1200 requests."""
    instance = scaled_instance(_printed.TWO_POINT, 0, 60, 1200)
    names = (*_printed.PRINTED, "h-sf")
    cost = [simulate(instance, _printed.policy(n)).schedule.total_latency for n in names]
    assert 2 * min(cost[:2]) > 3 * cost[2], cost
    return (
        f"{_printed.proved_above(3 / 2)}; lengths 1 and 4, M = 60, n = 1200: A_min {cost[0]} and "
        f"{cost[1]}, H-SF {cost[2]}, ratios above 3/2"
    )


@PAPER.claim(
    claimed=_printed.PRINTED,
    control=_printed.FLUID,
    recheck=recheck_printed,
    assumes=ALGORITHM_2,
    proof=_printed.PROOF,
)
def theorem_6_printed(policies: tuple[str, ...], slow: bool) -> ClaimResult:
    """With outputs in {l, u} the ratio of Algorithm 2 as printed is at most (3 - alpha) / 2.

    Source: Theorem 6, p. 20, for Algorithm 2
    Verdict: false
    Assumes: large n and M stand for the limit
    """
    size = (240, 48_000) if slow else (_printed.MEMORY, _printed.REQUESTS)
    found = {
        name: fluid_ratio(_printed.policy(name), _printed.TWO_POINT, 0, *size, _printed.SEEDS)
        for name in policies
    }
    bound = Fraction(11, 8)
    limit = ratio_lower_bound(4, 0.2)
    exceeds = all(r.low > float(bound) * (1 + _printed.TOLERANCE) for r in found.values())
    words = ", ".join(f"{name}: {ratio}" for name, ratio in found.items())
    result = decided(
        not exceeds,
        f"{len(found)} cases",
        words,
        evidence=f"lengths 1 and 4, share 1/5, M = {size[0]}, n = {size[1]}, {len(_printed.SEEDS)} "
        f"seeds, 99% Student interval; the limit of the printed one is {limit:.2f} or more by "
        "theory.limits.printed_a_min, and grows like sqrt(u) with l = 1 (ours/a-min-square-root): "
        "the uniform bound 3/2 fails too",
        witness=f"lengths 1 and 4, share 1/5: {words}",
    )
    return _printed.against(result, 3 / 2)
