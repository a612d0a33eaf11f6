"""Chen et al., Lemmas 2 and 3, Corollary 1: the ratio of A_min as a quotient of two forms."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ratiolab.model.streams import stream
from ratiolab.online import make
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import ALGORITHM_2, latency
from ratiolab.papers.claim import FALSE, HOLDS, PROVED, UNDECIDED, WITNESSED, ClaimResult, decided
from ratiolab.papers.limits import fluid_ratio
from ratiolab.theory.laws.distributions import LengthDistribution
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


@PAPER.claim(claimed=amin.numerator, control=_delta_of_one)
def lemma_2(claimed: Form, slow: bool) -> ClaimResult:
    """As n and M grow with shares x of the lengths, A_min / H-SF tends to sum_k d_k (sum_{i>=k} i
    x_i)(sum_{i>=k} d_k x_i/(s+i) + 2 sum_{i>k} (i-k) x_i/(s+i)) over sum_k k (s+k) x_k (x_k + 2
    sum_{i>k} x_i), with d_l = s + l and d_k = 1 after it.

    Source: Lemma 2, p. 15
    Assumes: the fluid model of Lemma 1 and Prop. 1, whose policy is a-min-fluid
    Assumes: all requests arrive at round 0, equal prompts, one interval
    Proof: periods
    Evidence: Lemma 2 is the value at one x: the supremum over x is missing in its display
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
        witness=f"{wrong} of {cases} distributions differ",
    )


@PAPER.claim(
    claimed=_printed.PRINTED,
    control=_printed.FLUID,
    recheck=_printed.recheck_quotient,
    assumes=ALGORITHM_2,
    proof=_printed.PROOF,
)
def lemma_2_printed(policies: tuple[str, ...], slow: bool) -> ClaimResult:
    """Algorithm 2 has the ratio of Lemma 2 as n and M grow.

    Source: Lemma 2, p. 15, for Algorithm 2
    Verdict: false
    Assumes: large n and M stand for the limit
    """
    return _printed.against(_printed.check_quotients(policies, slow), _printed.LEMMA_2_LIMIT)


Entry = Callable[[Any, Any], Any]
"""Entries (i, j) with i <= j."""


def _a(i: Any, j: Any) -> Any:
    return (Fraction(i) if isinstance(i, int) else i) / j * ((i + j) ** 2 - 2 * i**2) / 2


def _a_without_half(i: Any, j: Any) -> Any:
    return (Fraction(i) if isinstance(i, int) else i) / j * ((i + j) ** 2 - i**2) / 3


@PAPER.claim(claimed=(_a, lambda i, j: i**2), control=(_a_without_half, lambda i, j: i**2))
def corollary_1(claimed: tuple[Entry, Entry]) -> ClaimResult:
    """At s = 0, l = 1 the ratio is the maximum of x'A x / x'B x with a_ij = min^2/(ij) ((i+j)^2/2 -
    min^2) and b_ij = min^2.

    Source: Corollary 1, p. 16, proof p. ec13
    Assumes: Lemma 2 as the ratio of A_min
    Proof: periods
    Evidence: setting s = 0, l = 1 does lose generality: see theorem-5-any-prompt
    """
    import sympy as sp

    entry_a, entry_b = claimed
    i, j, k = sp.symbols("i j k", positive=True, integer=True)
    # x_i x_j, i < j, in the numerator: period k <= i has work and remainder of both.
    terms = i * (1 / j + 2 * (j - k) / j) + j * (1 / i + 2 * (i - k) / i)
    cross = sp.summation(terms, (k, 1, i))
    numerator = sp.simplify(cross - 2 * entry_a(i, j)) == 0
    square = sp.simplify(sp.summation(1 + 2 * (i - k), (k, 1, i)) - entry_a(i, i)) == 0
    denominator = sp.simplify(2 * i**2 - 2 * entry_b(i, j)) == 0
    wrong = cases = 0
    for large in range(1, 8):
        for small in range(1, large + 1):
            shares = [Fraction(0)] * large
            shares[large - 1] += Fraction(1, 2)
            shares[small - 1] += Fraction(1, 2)
            forms = [
                (f(small, small) + f(large, large) + 2 * f(small, large)) * Fraction(1, 4)
                for f in claimed
            ]
            hindsight = shortest_first_latency(LengthDistribution(1, tuple(shares)))
            cases += 1
            wrong += forms != [latency(shares, 1, 0), hindsight]
    holds = numerator and square and denominator and wrong == 0
    return decided(
        holds,
        PROVED if holds else f"{cases} cases",
        f"cross terms {numerator}, squares {square}, denominator {denominator}; "
        f"{cases - wrong} of {cases} pairs of lengths agree",
        witness=f"{wrong} of {cases} pairs differ",
    )


def pivots(matrix: Any) -> list[Fraction]:
    """Return the pivots of symmetric elimination up to the first that is not positive, in
    fractions.
    """
    rows = [list(row) for row in matrix]
    found = []
    for k in range(len(rows)):
        found.append(Fraction(rows[k][k]))
        if found[-1] <= 0:
            break
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            for j in range(k + 1, len(rows)):
                rows[i][j] -= factor * rows[k][j]
    return found


@PAPER.claim(claimed=0, control=3)
def lemma_3(claimed: int, slow: bool) -> ClaimResult:
    """For every u the matrices A_u and B_u are positive definite.

    Source: Lemma 3, p. 16, proof p. ec13
    Assumes: s = 0, l = 1, as in Corollary 1
    Proof: definite
    """
    import sympy as sp

    upper = 60 if slow else 24
    A, B = amin.matrices(1, upper, claimed, exact=True)
    signs = {name: pivots(matrix) for name, matrix in (("A", A), ("B", B))}
    definite = all(len(p) == upper and min(p) > 0 for p in signs.values())
    xi, d = sp.symbols("xi d", positive=True)
    # A = (ij/2)(A' + 1) with A' = 2r - r^2, r = min/max = exp(-|log i - log j|).
    small, large = sp.symbols("small large", positive=True)
    entry = small**2 / (small * large) * ((small + large) ** 2 / 2 - small**2)
    ratio = small / large
    identity = sp.simplify(entry - small * large / 2 * (2 * ratio - ratio**2 + 1)) == 0

    def transform(rate: int) -> Any:
        return 2 * sp.integrate(sp.exp(-rate * d) * sp.cos(xi * d), (d, 0, sp.oo))

    spectrum = sp.simplify(2 * transform(1) - transform(2) - 12 / ((1 + xi**2) * (4 + xi**2)))
    proved = definite and identity and spectrum == 0 and claimed == 0
    bad = {name: min(p) for name, p in signs.items() if min(p) <= 0}
    return ClaimResult(
        HOLDS if proved else FALSE if bad else UNDECIDED,
        PROVED if proved else WITNESSED if bad else f"u up to {upper}",
        f"pivots up to u = {upper} "
        + (f"include {bad}" if bad else "are positive; the kernel's transform is positive"),
        evidence="with a prompt A need not be definite: s = 3, u = 2",
        witness=f"s = {claimed}: {bad}" if bad else None,
    )
