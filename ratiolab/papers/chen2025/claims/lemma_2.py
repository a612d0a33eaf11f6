"""Chen et al., Lemma 2: the ratio of A_min as a quotient of two quadratic forms."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ratiolab.model.streams import stream
from ratiolab.online import make
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import ALGORITHM_2, latency
from ratiolab.papers.claim import FALSE, PROVED, ClaimResult, decided
from ratiolab.papers.limits import fluid_ratio
from ratiolab.theory.limits.fluid import shortest_first_latency
from ratiolab.theory.rayleigh import amin

Form = Callable[[Sequence[Fraction], int, int], Any]


def _delta_of_one(shares: Sequence[Fraction], lower: int, prompt: int) -> Any:
    """Return the numerator without delta: every period treated like the later ones."""
    lengths = range(lower, lower + len(shares))
    pairs = list(zip(lengths, shares, strict=True))
    total = Fraction(0)
    for k in lengths:
        done = sum((x / (prompt + i) for i, x in pairs if i >= k), Fraction(0))
        left = sum(((i - k) * x / (prompt + i) for i, x in pairs if i > k), Fraction(0))
        total += sum((i * x for i, x in pairs if i >= k), Fraction(0)) * (done + 2 * left)
    return total


@PAPER.claim(
    "Lemma 2, p. 15",
    claimed=amin.numerator,
    control=_delta_of_one,
    assumes=(
        "the fluid model of Lemma 1 and Prop. 1, whose policy is a-min-fluid",
        "all requests arrive at round 0, equal prompts, one interval",
    ),
    proof="periods",
)
def lemma_2(claimed: Form, slow: bool) -> ClaimResult:
    """As n and M grow with shares x of the lengths, A_min / H-SF tends to sum_k d_k (sum_{i>=k} i
    x_i)(sum_{i>=k} d_k x_i/(s+i) + 2 sum_{i>k} (i-k) x_i/(s+i)) over sum_k k (s+k) x_k (x_k + 2
    sum_{i>k} x_i), with d_l = s + l and d_k = 1 after it.
    """
    import sympy as sp

    s, x, i, k, low = sp.symbols("s x i k l", positive=True)
    # Proposition 1: what is left of length i after period k.
    left = x * (1 - (s + low) / (s + i) - (k - low) / (s + i))
    remains = sp.simplify(left - x * (i - k) / (s + i)) == 0
    draw = stream(5, "cases")
    cases, wrong = 0, 0
    for _ in range(200 if slow else 40):
        lower, prompt, width = (int(draw.integers(*ends)) for ends in ((1, 4), (0, 5), (1, 7)))
        shares = [Fraction(int(draw.integers(6)), 7) for _ in range(width)]
        shares[int(draw.integers(width))] += 1
        cases += 1
        wrong += claimed(shares, lower, prompt) != latency(shares, lower, prompt)
    simulated = fluid_ratio(
        *(make("a-min-fluid"), _printed.UNIFORM, 0),
        *(_printed.MEMORY, _printed.REQUESTS, _printed.SEEDS),
    )
    fifths = [Fraction(1, 5)] * 5
    value = claimed(fifths, 1, 0) / shortest_first_latency(_printed.UNIFORM)
    near = abs(simulated.mean - value) <= simulated.high - simulated.mean + Fraction(2, 100)
    holds = remains and wrong == 0 and near
    return decided(
        holds,
        PROVED if holds else f"{cases} cases",
        f"recursion: {cases - wrong} of {cases} agree; a-min-fluid simulated {simulated}",
        evidence="Lemma 2 is the value at one x: the supremum over x is missing in its display",
        witness=f"{wrong} of {cases} distributions differ",
    )


@PAPER.claim(
    "Lemma 2, p. 15, for Algorithm 2",
    expected=FALSE,
    claimed=_printed.PRINTED,
    control=_printed.FLUID,
    recheck=_printed.recheck_quotient,
    assumes=(ALGORITHM_2, "large n and M stand for the limit"),
    proof=_printed.PROOF,
)
def lemma_2_printed(policies: tuple[str, ...], slow: bool) -> ClaimResult:
    """Algorithm 2 has the ratio of Lemma 2 as n and M grow."""
    # by Theorem 6 the quotient is below 3/2 at every two lengths
    return _printed.against(_printed.check_quotients(policies, slow), 3 / 2)
