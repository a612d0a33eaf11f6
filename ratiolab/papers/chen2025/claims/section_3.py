"""Chen et al., Section 3: A_max on an example, a bound on its ratio, and how fast that grows.

Theorem 1 survives its proof, loosely. Two steps of the proof fail (`lemma-ec1`, `equation-ec7`,
which rests on `proposition-ec1`) and so does their product at n = 3: with s = 2, [l, u] = [4, 5],
M = 10 and three requests of length 4, A_max costs 24 and A_random 18, more than a factor 5/4. All
are matters of rounding, and the theorem has a term O(1/M). Two other routes reach it: the server
model of the proof of Theorem 2, exactly, and for the printed algorithm a bound by volumes (both in
`_a_max`).
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._a_max import (
    equal_requests_ratio,
    printed_bound,
    root_above,
    server_supremum,
)
from ratiolab.papers.claim import (
    EXACT,
    FALSE,
    HOLDS,
    PROVED,
    TIGHTENED,
    UNDECIDED,
    ClaimResult,
    decided,
)
from ratiolab.papers.limits import fluid_ratio
from ratiolab.theory.limits.suprema import max_length_maximiser

ONE = [1] * 5
INSTANCE = Instance("Example 1", 10, [0] * 5, ONE, ONE, lower=ONE, upper=[4] * 5)


@PAPER.claim(claimed=(5, 9), control=(5, 8))
def example_1(claimed: tuple[int, int]) -> ClaimResult:
    """Five requests with s = 1, o = 1, interval [1, 4] and M = 10: the optimum, reached by H-SF,
    has total latency 5; A_max has 9.

    Source: Example 1, p. 9
    Assumes: all requests arrive at round 0
    """
    h_sf = simulate(INSTANCE, make("h-sf")).schedule.total_latency
    a_max = {simulate(INSTANCE, make("a-max"), seed=s).schedule.total_latency for s in range(20)}
    optimum = solve(INSTANCE).uninterrupted()
    return decided(
        a_max == {claimed[1]} and h_sf == claimed[0] == optimum.upper == optimum.lower,
        EXACT,
        f"H-SF {h_sf}; optimum in [{optimum.lower}, {optimum.upper}]; A_max {sorted(a_max)}",
        evidence="A_max simulated with 20 orders; the optimum meets the bound "
        f"'{optimum.lower_source}'",
    )


PROMPTS = (0, 1, 7, 100)


def tightened(x: Fraction) -> Fraction:
    """Return x (1 + sqrt(x)) / 2 for x = 1/alpha, rounded up: Theorem 2's printed lower bound."""
    return x * (1 + root_above(x)) / 2


SIMULATED = ((1, 2, 0), (1, 4, 0), (1, 4, 2), (3, 4, 0))


def paper(x: Fraction) -> Fraction:
    """Return the paper's bound for x = 1/alpha."""
    return x * (1 + x) / 2


@PAPER.claim(claimed=paper, control=lambda x: (1 + x) / 2)
def theorem_1(claimed: Callable[[Fraction], Fraction], slow: bool) -> ClaimResult:
    """In the fluid limit of parallel servers the ratio of A_max is at most (1/alpha) (1 + 1/alpha)
    / 2 + O(1/M).

    Source: Theorem 1, p. 10
    Verdict: tightened
    Assumes: fluid limit; A_max as M/(s+u) parallel servers, as in the proof of Theorem 2; batch
        accounting of H-SF
    Proof: a_max_printed
    """
    highest = 60 if slow else 30
    broken, loosest, tested, at = [], Fraction(0), 0, ""
    for upper in range(2, highest + 1):
        for lower, prompt in product(range(1, upper), PROMPTS):
            x = Fraction(upper, lower)
            low, high = server_supremum(lower, upper, prompt)
            assert high <= tightened(x)
            tested += 1
            if claimed(x) < low:
                broken.append(f"l, u, s = {lower}, {upper}, {prompt}")
            if claimed(x) / high > loosest:
                loosest, at = claimed(x) / high, f"l, u, s = {lower}, {upper}, {prompt}"
    verdict = FALSE if broken else TIGHTENED
    return ClaimResult(
        verdict,
        f"{PROVED} in the server model",
        f"the exact supremum exceeds it in {len(broken)} of {tested} cases; better: (1/alpha) "
        f"(1 + alpha**-0.5) / 2 for every s, at s = 0 (1/alpha) (1 + sqrt(1 + L/2)) / 2; the "
        f"stated bound is up to {float(loosest):.2f} times the supremum, at {at}",
        witness=broken[0] if broken else None,
    )


@PAPER.claim(claimed=paper, control=lambda x: (1 + x) / 2)
def theorem_1_printed(claimed: Callable[[Fraction], Fraction]) -> ClaimResult:
    """With 1/alpha >= 7 the ratio of A_max, Algorithm 1 as printed, is at most (1/alpha) (1 +
    1/alpha) / 2 + O(1/M).

    Source: Theorem 1, p. 10
    Assumes: A_max as printed with Eq. (3), H-SF as printed; s + u divides M; 1/alpha >= 7
    Proof: a_max_printed
    """
    equal = equal_requests_ratio(7, 99)
    # 1 + x (1 + sqrt(x)) <= x (1 + x) / 2 for real x >= 7; the grid shows where it begins.
    proven = all(printed_bound(1, x) <= claimed(Fraction(x)) for x in range(7, 60))
    broken = claimed(Fraction(7)) < equal
    return ClaimResult(
        FALSE if broken else HOLDS if proven else UNDECIDED,
        PROVED if proven else "1 case",
        f"at most 1 + (1/alpha) (1 + alpha**-0.5); equal requests: {equal} for 1/alpha = 7",
        witness="equal requests of length 1, [l, u] = [1, 7], M = 7" if broken else None,
    )


@PAPER.claim(claimed=paper, control=lambda x: (1 + x) / 4)
def theorem_1_printed_narrow(claimed: Callable[[Fraction], Fraction]) -> ClaimResult:
    """With 1/alpha < 7 the ratio of A_max, Algorithm 1 as printed, is at most (1/alpha) (1 +
    1/alpha) / 2 + O(1/M).

    Source: Theorem 1, p. 10
    Verdict: undecided
    Assumes: A_max as printed with Eq. (3), H-SF as printed; s + u divides M; 1/alpha < 7
    Evidence: simulated at the lengths that are worst for the server model: nothing speaks against
        it, but the bound by volumes exceeds the stated one below 1/alpha = 7, and the paper's proof
        has gaps (lemma-ec1, equation-ec7)
    """
    figures, above = [], []
    for lower, upper, prompt in SIMULATED:
        memory = 16 * (prompt + upper)
        worst = max_length_maximiser(lower, upper, prompt)
        ratio = fluid_ratio(make("a-max"), worst, prompt, memory, 20 * memory, range(5))
        figures.append(f"{ratio} at l, u, s = {lower}, {upper}, {prompt}")
        if ratio.low > claimed(Fraction(upper, lower)):
            above.append(figures[-1])
    return ClaimResult(
        FALSE if above else UNDECIDED,
        f"{len(SIMULATED)} cases simulated",
        "; ".join(figures),
        witness=above[0] if above else None,
    )


@PAPER.claim(claimed=lambda x: x / 2, control=lambda x: 2 * x, control_verdict=UNDECIDED)
def a_max_unbounded_within_d2(needed: Callable[[int], Fraction]) -> ClaimResult:
    """The ratio of A_max is unbounded in the worst case, within the two-point distributions.

    Source: Section 5.1, p. 20
    Assumes: A_max as printed with Eq. (3), M = u
    Assumes: the control asks for more than these requests show
    Proof: a_max_printed
    Evidence: all requests of the shorter length: u q of them cost (u q + 1)/(q + 1) times as much
        as under H-SF, which tends to u = 1/alpha as q grows
    """
    uppers = (4, 10, 40)
    ratios = {u: equal_requests_ratio(u, 4 * u) for u in uppers}
    enough = all(ratios[u] >= needed(u) for u in uppers)
    return ClaimResult(
        HOLDS if enough else UNDECIDED,
        PROVED if enough else f"{len(uppers)} cases",
        ", ".join(f"{float(r):.3f} at 1/alpha = {u}" for u, r in ratios.items()),
    )


def recheck_rate() -> str:
    """Bound the suprema at 1/alpha = 1024 and 10^4 by x (1 + sqrt(1 + ln(x)/2))/2, in fractions."""
    # ln(1024) < 6.94 and ln(10^4) < 9.22; 1024^1.5 is 2^15 and 10^4 to the power 1.5 is 10^6
    assert Fraction("2.12") ** 2 > 1 + Fraction("6.94") / 2
    assert 1024 * (1 + Fraction("2.12")) / 2 < 1600 < 2**15 / 20
    assert Fraction("2.37") ** 2 > 1 + Fraction("9.22") / 2
    assert 10_000 * (1 + Fraction("2.37")) / 2 < 17_000 < 10**6 / 50
    return (
        "1/alpha = 1024: below 1600, while alpha^-1.5 is 32768; 1/alpha = 10^4: below 17 000, "
        "while alpha^-1.5 is 10^6"
    )


@PAPER.claim(claimed=Fraction(3, 2), control=Fraction(1), recheck=recheck_rate)
def a_max_growth_rate(power: Fraction) -> ClaimResult:
    """As alpha falls the ratio of A_max grows at a rate between alpha^-1.5 and alpha^-2.

    Source: Section 4, p. 11
    Verdict: false
    Assumes: fluid limit, s = 0; A_max as M/u parallel servers, as in the proof of Theorem 2
    Assumes: at least the stated rate, up to a constant; the control is the rate 1/alpha
    Proof: a_max_servers
    """
    uppers = [4**k for k in range(2, 6)]
    scaled = [float(server_supremum(1, u)[0]) / u ** float(power) for u in uppers]
    falls = scaled[-1] < scaled[0] / 2
    return decided(
        not falls,
        PROVED,
        ", ".join(f"{v:.4f} at 1/alpha = {u}" for u, v in zip(uppers, scaled, strict=True)),
        witness=f"1/alpha = {uppers[-1]}: {scaled[-1]:.4f} times alpha^-{float(power):g}",
    )
