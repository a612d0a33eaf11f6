"""Algorithm 2 of Chen, Ye, Zhou (2025) on the lengths 1 and u: its ratio grows like sqrt(u)."""

from fractions import Fraction

from ratiolab.online import make, simulate
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.limits import scaled_instance
from ratiolab.papers.ours import PAPER
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits.printed_a_min import (
    first_start_throughput,
    first_starts_bound,
    ratio_lower_bound,
    square_root_bound,
)

MEMORY = 128


def recheck() -> str:
    """Compare the proved bound at u = 1024 with H_u and with the recursion, at the same share."""
    bound, computed = float(square_root_bound(1024)), ratio_lower_bound(1024, 9 / (16 * 1024), 9000)
    harmonic = float(sum(Fraction(1, k) for k in range(1, 1025)))
    assert harmonic < bound < computed, (harmonic, bound, computed)
    return f"u = 1024: proved {bound:.3f}, computed {computed:.3f}, H_u = {harmonic:.3f}"


def started(upper: int, share: Fraction, bound: str) -> tuple[int, int]:
    """Simulate Algorithm 2 and return the rounds until half of the requests have started, and how
    many have by then.
    """
    requests = 20 * MEMORY
    instance = scaled_instance(two_point(1, upper, share), 0, MEMORY, requests)
    schedule = simulate(instance, make("a-min", {"bound": bound}), seed=1).schedule
    first: dict[int, int] = {}
    for run in schedule.runs:
        first[run.request] = min(first.get(run.request, run.start), run.start)
    half = sorted(first.values())[len(instance) // 2]
    return half, sum(start < half for start in first.values())


@PAPER.claim(claimed=Fraction(1), control=Fraction(1, 4), recheck=recheck)
def a_min_square_root(factor: Fraction) -> ClaimResult:
    """The ratio of Algorithm 2 on lengths 1 and u is at least 0.2849 sqrt(u) (1 - o(1)), because in
    T rounds at most T ((2/u)(1 + p^(-1/2)) + 2/(u (u+1) p)) + O(1) times M requests start for the
    first time.

    Source: Algorithm 2 of Chen, Ye, Zhou (2025)
    Assumes: A_min, random ties, with the bound a or a + 1 after an eviction at age a
    Assumes: lengths 1 and u, no prompts, share c/u long; n and then M to infinity
    Proof: a_min_square_root
    Evidence: started long requests fill the memory, so that sqrt(N^2 + p N nu + p nu^2) - N falls
        by p nu in a round with nu starts; only completions raise it, and few can complete
    """
    worst, broken, cases = 0.0, None, 0
    for upper in (2, 5, 16, 64, 256):
        for scale in (0.1, 9 / 16, 0.9):
            share = scale / upper
            for rounds in (upper // 2 or 1, 3 * upper, 20 * upper):
                found = first_start_throughput(upper, share, rounds) * rounds
                quotient = found / first_starts_bound(upper, share, rounds)
                worst, cases = max(worst, quotient), cases + 1
                if quotient > factor and broken is None:
                    broken = f"u = {upper}, p = {share:.4f}, T = {rounds}"
    real = []
    for bound in ("certified", "printed"):
        rounds, first = started(16, Fraction(9, 256), bound)
        real.append(first / MEMORY / first_starts_bound(16, 9 / 256, rounds))
        cases += 1
        if real[-1] > factor and broken is None:
            broken = f"simulated, bound {bound}"
    return decided(
        broken is None,
        PROVED,
        f"up to {worst:.3f} of the bound in the recursion, {max(real):.3f} simulated with "
        f"M = {MEMORY}; ratio at least {float(square_root_bound(1024)):.2f} at u = 1024, "
        f"{float(square_root_bound(10**6)):.0f} at u = 10^6",
        witness=broken,
    )
