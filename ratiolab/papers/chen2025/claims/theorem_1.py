"""Chen et al., Theorem 1: an upper bound on the ratio of A_max. It survives its proof, loosely.

Two steps of the proof fail (`lemma-ec1`, `equation-ec7`, which rests on `proposition-ec1`) and so
does their product at n = 3: with s = 2, [l, u] = [4, 5], M = 10 and three requests of length 4,
A_max costs 24 and A_random 18, more than a factor 5/4. All are matters of rounding, and the theorem
has a term O(1/M). Two other routes reach it: the server model of the proof of Theorem 2, exactly,
and for the printed algorithm a bound by volumes (both in `_a_max`).
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from ratiolab.online import make
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._a_max import (
    equal_requests_ratio,
    printed_bound,
    root_above,
    server_supremum,
)
from ratiolab.papers.claim import FALSE, HOLDS, PROVED, TIGHTENED, UNDECIDED, ClaimResult
from ratiolab.papers.limits import fluid_ratio
from ratiolab.theory.limits.suprema import max_length_maximiser

PROMPTS = (0, 1, 7, 100)


def tightened(x: Fraction) -> Fraction:
    """Return x (1 + sqrt(x)) / 2 for x = 1/alpha, rounded up: Theorem 2's printed lower bound."""
    return x * (1 + root_above(x)) / 2


SIMULATED = ((1, 2, 0), (1, 4, 0), (1, 4, 2), (3, 4, 0))


def paper(x: Fraction) -> Fraction:
    """Return the paper's bound for x = 1/alpha."""
    return x * (1 + x) / 2


@PAPER.claim(
    "Theorem 1, p. 10",
    expected=TIGHTENED,
    claimed=paper,
    control=lambda x: (1 + x) / 2,
    assumes=(
        "fluid limit; A_max as M/(s+u) parallel servers, as in the proof of Theorem 2; batch "
        "accounting of H-SF"
    ),
    proof="a_max_printed",
)
def theorem_1(claimed: Callable[[Fraction], Fraction], slow: bool) -> ClaimResult:
    """The ratio of A_max is at most (1/alpha) (1 + 1/alpha) / 2 + O(1/M)."""
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


@PAPER.claim(
    "Theorem 1, p. 10",
    claimed=paper,
    control=lambda x: (1 + x) / 2,
    assumes="A_max as printed with Eq. (3), H-SF as printed; s + u divides M; 1/alpha >= 7",
    proof="a_max_printed",
)
def theorem_1_printed(claimed: Callable[[Fraction], Fraction]) -> ClaimResult:
    """The ratio of A_max is at most (1/alpha) (1 + 1/alpha) / 2 + O(1/M)."""
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


@PAPER.claim(
    "Theorem 1, p. 10",
    expected=UNDECIDED,
    claimed=paper,
    control=lambda x: (1 + x) / 4,
    assumes="A_max as printed with Eq. (3), H-SF as printed; s + u divides M; 1/alpha < 7",
)
def theorem_1_printed_narrow(claimed: Callable[[Fraction], Fraction]) -> ClaimResult:
    """The ratio of A_max is at most (1/alpha) (1 + 1/alpha) / 2 + O(1/M)."""
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
        evidence="simulated at the lengths that are worst for the server model: nothing speaks "
        "against it, but the bound by volumes exceeds the stated one below 1/alpha = 7, and the "
        "paper's proof has gaps (lemma-ec1, equation-ec7)",
        witness=above[0] if above else None,
    )
