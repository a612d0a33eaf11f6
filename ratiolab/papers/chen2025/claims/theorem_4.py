"""Chen et al., Theorem 4: no policy has a smaller competitive ratio than A_min.

Kill-and-restart with geometric caps has a ratio below a constant for every interval
(`ratiolab.theory.limits.kill_restart`), and A_min has not, neither in its fluid model nor as
printed.
"""

from fractions import Fraction

from ratiolab.online.policies.kill_restart import KillRestart
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import ALGORITHM_2
from ratiolab.papers.claim import FALSE, PROVED, UNDECIDED, ClaimResult
from ratiolab.papers.limits import fluid_ratio
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits import kill_restart
from ratiolab.theory.limits.printed_a_min import ratio_lower_bound
from ratiolab.theory.rayleigh import amin

UPPER = 30_000
"""Long enough for A_min's worst case to exceed the constant with a random offset."""


def bad_shares(upper: int) -> list[int]:
    """Return shares with P(o >= k) about 1/(2k - 1) for k up to u, in integers: nearly the worst.

    Multiples of the length, so that Lemma 2 divides without remainder.
    """
    scale = 2**60
    tails = [scale // (2 * k - 1) for k in range(1, upper + 1)] + [0]
    return [(tails[k - 1] - tails[k]) // k * k for k in range(1, upper + 1)]


def constants() -> dict[str, float]:
    """Return the proved suprema of every kill-and-restart with its best base."""
    return {
        f"{'refill' if refill else 'batches'}, {'random' if offset else 'no'} offset": float(
            kill_restart.best(refill=refill, random_offset=offset)[1]
        )
        for refill in (True, False)
        for offset in (True, False)
    }


def recheck() -> str:
    """Verify both readings of A_min, Lemma 2 in exact arithmetic at the default base."""
    from math import log

    base = KillRestart().base
    constant = (base + 1) * (1 + log(base)) / (2 * log(base))
    ratio = amin.quotient(bad_shares(UPPER))
    assert ratio > Fraction(constant) + Fraction(1, 50), float(ratio)
    return (
        f"{recheck_printed()}; by Lemma 2, lengths 1..{UPPER}: {float(ratio):.4f} > "
        f"{constant:.4f}, base {base}"
    )


def recheck_printed() -> str:
    """Verify the proved ratio, and the recursion's on lengths 1 and 100, three in 500 long."""
    bound = ratio_lower_bound(100, 3 / 500)
    assert bound > 6.5 > 3 + 2 * 2**0.5, bound
    proved = _printed.proved_above(constants()["refill, random offset"])
    return (
        f"{proved}; by the recursion lengths 1 and 100: {bound:.3f} or more, kill-restart without "
        "randomness 5.828 at most"
    )


@PAPER.claim(
    claimed=UPPER, control=100, control_verdict=UNDECIDED, recheck=recheck, proof=_printed.PROOF
)
def theorem_4(claimed: int) -> ClaimResult:
    """As M grows, CR(pi) >= CR(A_min) for every policy pi that does not know the outputs.

    Source: Theorem 4, p. 13, proof p. ec11
    Verdict: false
    Assumes: CR relative to H-SF, supremum over the outputs in [l, u], s = 0, l = 1
    Assumes: false under both readings of A_min: Algorithm 2 as printed (theorem-4-printed), and a
        policy with the ratio of Lemma 2, which Algorithm 2 has not (lemma-2-printed)
    Assumes: kill-restart in its own fluid model, where a run reserves the memory of its cap for as
        long as it lasts; its constants are proved in ratiolab.theory.limits.kill_restart
    """
    found = constants()
    least = min(found.values())
    printed = _printed.proved_ratio()
    ratio = Fraction(amin.quotient(bad_shares(claimed)))
    beaten = ratio > Fraction(least) and printed > least
    return ClaimResult(
        FALSE if beaten else UNDECIDED,
        PROVED if beaten else "1 case",
        f"Algorithm 2 has {printed:.2f} or more, by Lemma 2 {float(ratio):.4f} or more; "
        f"kill-restart has at most {least:.4f}",
        evidence="The proof for Algorithm 2 does not use Lemma 2. A_min's ratio by Lemma 2 at "
        "P(o >= k) = 1/(2k-1) is exact; it grows like ln(u)/4. "
        "Constants: " + ", ".join(f"{name} {value:.4f}" for name, value in found.items()) + ". The "
        "paper's proof exchanges decisions as if the order of residual means were that of the "
        "bounds, for which there is no distribution to take a mean over, and compares one round at "
        "a time",
        witness=f"Algorithm 2, lengths 1 and {_printed.PROVEN_AT}: {printed:.2f}; Lemma 2, lengths "
        f"1..{claimed}, shares of bad_shares: {float(ratio):.4f}"
        if beaten
        else None,
    )


@PAPER.claim(
    claimed=(100, Fraction(3, 500)),
    control=(4, Fraction(1, 5)),
    control_verdict=UNDECIDED,
    recheck=recheck_printed,
    assumes=ALGORITHM_2,
    proof=_printed.PROOF,
)
def theorem_4_printed(claimed: tuple[int, Fraction]) -> ClaimResult:
    """As M grows, CR(pi) >= CR(Algorithm 2 as printed) for every policy pi that does not know the
    outputs.

    Source: Theorem 4, p. 13, for Algorithm 2
    Verdict: false
    Assumes: kill-restart in its own fluid model, where a run reserves the memory of its cap for as
        long as it lasts; its constants are proved in ratiolab.theory.limits.kill_restart
    """
    upper, share = claimed
    bound = ratio_lower_bound(upper, float(share))
    least = constants()["refill, random offset"]
    seen = fluid_ratio(KillRestart(), two_point(1, 8, Fraction(3, 40)), 0, 64, 2000, range(9))
    beaten = bound > least
    result = ClaimResult(
        FALSE if beaten else UNDECIDED,
        "1 case",
        f"A_min has {bound:.3f} or more; kill-restart at most {least:.3f} on every distribution",
        evidence="the recursion of theory.limits.printed_a_min for n, M -> infinity, compared with "
        f"simulation in its test; kill-restart simulated on lengths 1 and 8: {seen}",
        witness=f"lengths 1 and {upper}, share {share} long: {bound:.3f}" if beaten else None,
    )
    return _printed.against(result, least)
