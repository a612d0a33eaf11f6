"""Chen et al., Theorem 7: A_ell on two lengths."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ratiolab.model import Instance, Schedule, violations
from ratiolab.online import make
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.limits import fluid_ratio
from ratiolab.papers.witness import read_witness
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits.fluid import promote_short_ratio
from ratiolab.theory.limits.suprema import promote_short_supremum

NAME = "chen2025-theorem-7-literal"
Bound = Callable[[Any], Any]


def narrow(alpha: Any) -> Any:
    """Return the bound for alpha up to 1/2."""
    return 1 + alpha / (2 * (1 - alpha))


def wide(alpha: Any) -> Any:
    """Return the bound from alpha = 1/2 on."""
    return 1 + 2 * alpha**2


@PAPER.claim(claimed=(narrow, wide), control=(narrow, narrow))
def theorem_7(claimed: tuple[Bound, Bound]) -> ClaimResult:
    """With outputs in {l, u} the ratio of A_ell is at most 1 + alpha / (2 (1-alpha)) for alpha <=
    1/2 and 1 + 2 alpha^2 for alpha >= 1/2.

    Source: Theorem 7, p. 20, proof p. ec15
    Assumes: fluid limit, s = 0
    Assumes: requests are evicted at exactly l tokens
    Proof: two_lengths
    """
    import sympy as sp

    a, t = sp.symbols("alpha t", positive=True)
    base = a**2 * t**2 + 2 * a**2 * t + 1
    excess = a**2 * (t + 2) / base
    formula = all(
        promote_short_ratio(two_point(low, u, Fraction(1, 1 + x)))
        == 1 + Fraction(excess.subs({a: sp.Rational(low, u), t: x}))
        for low, u, x in [(1, 4, 1), (1, 4, 2), (2, 5, 7), (3, 4, 0)]
    )
    low_gap = sp.factor((claimed[0](a) - 1 - excess) * base * 2 * (1 - a) / a)
    square = sp.expand(low_gap - (a * t + 2 * a - 1) ** 2) == 0
    # 2 a^2 base - a^2 (t + 2) = a^2 t (2 a^2 t + 4 a^2 - 1), not negative for a >= 1/2.
    high_gap = sp.simplify((claimed[1](a) - 1 - excess) * base)
    factors = sp.expand(high_gap - a**2 * t * (2 * a**2 * t + 4 * a**2 - 1)) == 0
    step = base - 2 * a * (1 + a) * t
    at_peak = sp.factor(sp.simplify((excess - a / (2 * (1 - a))).subs(t, 1 / a - 2)))
    rough = sp.simplify((a**2 * (t + 2) / (2 * a * (1 + a) * t)).subs({a: sp.Rational(1, 4), t: 1}))
    return decided(
        formula and square and factors and at_peak == 0,
        PROVED,
        f"first gap is a square: {square}, zero at t = 1/alpha - 2; second at t = 0: {factors}",
        evidence="tight in both branches. The proof's step does not give it: dividing by 2 alpha "
        f"(1+alpha) t, from {sp.factor(step)} >= 0, leaves {rough} at alpha = 1/4, t = 1, above "
        "1/6",
        witness="the gap between bound and ratio changes sign",
    )


def recheck_prompt() -> str:
    """Verify at l = 1, u = 3, s = 1, 17 requests of 24 long."""
    x, y = Fraction(7, 24), Fraction(17, 24)
    short, long = 1 * (1 + 1), 3 * (1 + 3)
    ratio = (short * (1 + y) + long * y * y) / (short * x * (x + 2 * y) + long * y * y)
    assert ratio == promote_short_ratio(two_point(1, 3, y), 1), ratio
    assert ratio > narrow(Fraction(1, 3)), ratio
    return f"l = 1, u = 3, s = 1: {ratio} > {narrow(Fraction(1, 3))}, at a share {y} of long ones"


@PAPER.claim(claimed="as printed", control="with prompt", recheck=recheck_prompt)
def theorem_7_any_prompt(claimed: str) -> ClaimResult:
    """With outputs in {l, u} and any prompt s the ratio of A_ell is at most 1 + alpha / (2
    (1-alpha)) for alpha <= 1/2 and 1 + 2 alpha^2 for alpha >= 1/2.

    Source: Theorem 7, p. 20
    Verdict: false
    Assumes: fluid limit
    Assumes: requests are evicted at exactly l tokens
    Evidence: with s > 0 the number sqrt(l (s+l) / (u (s+u))) > alpha takes the place of alpha
    """
    import sympy as sp

    broken, cases = [], 0
    for low, u in [(1, 3), (1, 8), (2, 5)]:
        alpha = Fraction(low, u)
        for prompt in (0, 1, 3, 10):
            bound: Any = narrow(alpha) if 2 * low <= u else wide(alpha)
            if claimed == "with prompt":
                bound = promote_short_supremum(low, u, prompt)
            ratio = max(
                promote_short_ratio(two_point(low, u, Fraction(x, 24)), prompt)
                for x in range(1, 25)
            )
            cases += 1
            if sp.Rational(Fraction(ratio)) > bound:
                broken.append(f"l = {low}, u = {u}, s = {prompt}: {ratio} > {bound}")
    return decided(
        not broken,
        WITNESSED if broken else f"{cases} cases",
        f"exceeded in {len(broken)} of {cases} cases",
        witness=broken[0] if broken else None,
    )


def literal_run(late: int) -> Schedule:
    """Remove four long requests (s = 1, l = 1, u = 2) in memory 8 at age 1 + late."""
    return _run(Instance("A_ell", 8, [0] * 4, [1] * 4, [2] * 4, lower=[1] * 4, upper=[2] * 4), late)


def _run(instance: Instance, late: int) -> Schedule:
    ends = [min(2, 1 + late)] * 4
    runs = [(i, 0, stop) for i, stop in enumerate(ends)]
    if ends[0] < 2:
        runs += [(i, ends[0] + 2 * (i // 2), ends[0] + 2 * (i // 2) + 2) for i in range(4)]
    return Schedule.from_runs(instance, runs)


def recheck_literal() -> str:
    """Verify that all four, unfinished with exactly l = 1 token, stay and then hold s + 2 each."""
    found = read_witness(NAME)
    instance = found.instance
    lower = instance.lower
    assert lower is not None
    assert int((instance.prompt + lower).sum()) <= instance.memory  # admitted together, with l
    tokens = int((instance.prompt + lower + 1).sum())  # not more than l tokens: nobody is removed
    assert tokens == found.figures["tokens"], tokens
    assert tokens > instance.memory
    assert violations(_run(instance, 1))
    assert instance.prompt.all()
    return f"round 2 needs {tokens} tokens, but the memory holds {instance.memory}"


@PAPER.claim(claimed=1, control=0, recheck=recheck_literal)
def theorem_7_printed(claimed: int) -> ClaimResult:
    """Removing requests with more than l tokens, Algorithm 6 keeps to the memory.

    Source: Algorithm 6, p. ec16
    Verdict: false
    Assumes: read literally: admission plans with l, removal waits for token l + 1
    """
    # evict long requests once they hold more than `claimed` tokens past l; planned with l
    found = literal_run(claimed)
    broken = violations(found)
    lengths = two_point(1, 4, Fraction(1, 3))
    large = fluid_ratio(make("a-ell"), lengths, 0, 24, 600, range(10), extrapolate=True)
    fluid = promote_short_ratio(lengths)
    agrees = abs(large.mean - fluid) < 0.02
    return decided(
        not broken and agrees,
        WITNESSED if broken else "2 cases",
        str(broken[0]) if broken else "no rule is broken",
        evidence="four requests that fill the memory with l tokens each. Evicting at exactly l, "
        f"as the text says, is feasible and simulated at large n and M: {large}, fluid "
        f"{float(fluid):.4f}",
        witness=f"M = 8, s = 1, four long requests: {broken[0]}" if broken else None,
    )
