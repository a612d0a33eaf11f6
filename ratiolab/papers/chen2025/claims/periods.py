"""Chen et al., Lemma 1 and Proposition 1: completions in every period, in the model and as printed.

The lemma gives the share of the requests with bound i and length j that complete in period i. Its
proof takes the memory of a batch as the only constraint: of requests that started together with
s + i tokens granted to each, the share (s+i)/(s+j) still fits when all hold s + j. Algorithm 2
mixes ages, and fills with new starts what completions free: see `lemma_1_printed`.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import ALGORITHM_2, completions
from ratiolab.papers.claim import FALSE, PROVED, ClaimResult, decided
from ratiolab.papers.witness import read_witness

Law = Callable[[Any, Any, Any], Any]


@PAPER.claim(
    claimed=lambda s, i, j: (s + i) / (s + j),
    control=lambda s, i, j: (s + i) / (s + i + 2 * (j - i)),
)
def lemma_1(claimed: Law) -> ClaimResult:
    """Of b_ij requests of length j served in period i, (s+i)/(s+j) b_ij are completed and the
    others deleted, in expectation.

    Source: Lemma 1, p. 14, proof p. ec12
    Assumes: fluid model: requests that start together keep the memory granted to them, s + i each,
        and evictions are chosen regardless of length (a-min-fluid)
    Proof: periods
    """
    import sympy as sp

    s, i, a = sp.symbols("s i a", positive=True)
    starts_full = sp.simplify(claimed(s, i, i) - 1) == 0
    stays_full = sp.simplify((s + a) * claimed(s, i, a) - (s + i)) == 0
    step = sp.simplify(claimed(s, i, a + 1) / claimed(s, i, a) - (1 - 1 / (s + a + 1))) == 0
    return decided(
        starts_full and stays_full and step,
        PROVED,
        f"memory {'stays' if stays_full else 'does not stay'} full at every age; thinning with "
        f"probability 1/(s+a+1) {'gives' if step else 'does not give'} this distribution",
        witness="the tokens of a batch change with its age",
    )


Share = Callable[[Any, Any, Any], Any]
"""Completed share of the requests of length j in a period after the first: (s, i, j)."""


@PAPER.claim(claimed=lambda s, i, j: 1 / (s + j), control=lambda s, i, j: 1 / (s + i))
def proposition_1(claimed: Share) -> ClaimResult:
    """Of x_j n requests of length j, (s+l)/(s+j) x_j n complete in period l and x_j n / (s+j) in
    each period i = l+1..j, in expectation.

    Source: Proposition 1, p. 15, proof p. ec12
    Assumes: the fluid model of Lemma 1 (a-min-fluid)
    Proof: periods
    """
    import sympy as sp

    s, low, i, j, k = sp.symbols("s l i j k", positive=True)

    def evicted(b: Any) -> Any:
        """Return the share that a run with bound b ends with bound k: at age k - 1."""
        return (s + b) / (s + k - 1) / (s + k)

    # Before period i > l the bound k has (s+i-1)/((s+k-1)(s+k)) x_j: true for i = l + 1, and period
    # i, which serves b_i = 1/(s+i) x_j, adds its evictions.
    waits = (s + i - 1) / (s + k - 1) / (s + k)
    served = waits.subs(k, i)
    first = sp.simplify(waits.subs(i, low + 1) - evicted(low)) == 0
    step = sp.simplify(waits.subs(i, i + 1) - waits - served * evicted(i)) == 0
    value = sp.simplify(served * (s + i) / (s + j) - claimed(s, i, j)) == 0
    cells = wrong = 0
    for lower, width, prompt in [(1, 6, 0), (2, 5, 3), (3, 7, 1)]:
        shares = [Fraction(1 + n % 3) for n in range(width)]
        _, done = completions(shares, lower, prompt)
        for (period, length), share in done.items():
            if lower < period <= length:
                cells += 1
                expected = Fraction(claimed(Fraction(prompt), period, length))
                wrong += share != expected * shares[length - lower]
    holds = first and step and value and wrong == 0
    return decided(
        holds,
        PROVED if holds else f"{cells} cases",
        f"induction {'closes' if first and step and value else 'fails'}; "
        f"{cells - wrong} of {cells} cells of the recursion agree",
        witness=f"{wrong} of {cells} cells differ",
    )


Table = _printed.Table
Measure = Callable[[Table, Table], float]
"""From the runs served and completed, by bound and length."""


def of_served(length: int) -> Measure:
    """Return the share that completes of the runs with bound 1 and a length."""
    return lambda served, done: done[1, length] / served[1, length]


def of_all(period: int, length: int) -> Measure:
    """Return the share of the requests of a length that complete in a period; each does once."""
    return lambda _, done: (
        done[period, length] / sum(n for (_, o), n in done.items() if o == length)
    )


LEMMA = {f"c_1{j}/b_1{j}": (Fraction(1, j), of_served(j)) for j in range(2, 6)}
PROPOSITION = {
    "c_15/(x_5 n)": (Fraction(1, 5), of_all(1, 5)),
    "c_22/(x_2 n)": (Fraction(1, 2), of_all(2, 2)),
    "c_25/(x_5 n)": (Fraction(1, 5), of_all(2, 5)),
}


def recheck(name: str, figure: str, cell: tuple[int, int], served: int, share: Share) -> str:
    """Verify on two requests that Algorithm 2 completes otherwise, whatever the ties."""
    found = read_witness(name)
    figures = {key: Fraction(value) for key, value in found.figures.items()}
    prompt = Fraction(int(found.instance.prompt[0]))
    assert prompt > 0
    for runs, done in _printed.witness_tables(name):
        assert runs[1, 2] == 1 or not served, runs
        assert done[cell] == figures[figure], done
    claimed = share(prompt, *cell)
    assert figures["claimed"] == claimed != figures[figure], figures
    return (
        f"s = {prompt}, M = {found.instance.memory}, outputs 1 and 2: c_{cell[0]}{cell[1]} = "
        f"{figures[figure]} in every order, not {claimed}"
    )


def judge(
    place: str, shares: dict[str, tuple[Fraction, Measure]], policies: tuple[str, ...], witness: str
) -> ClaimResult:
    """Compare shares measured under policies with the shares of a statement."""
    found = {
        policy: {key: _printed.measured(policy, share) for key, (_, share) in shares.items()}
        for policy in policies
    }
    claimed = {key: value for key, (value, _) in shares.items()}
    return _printed.compare(claimed, found, f"{place}, uniform lengths 1..5", witness)


declare = partial(
    PAPER.claim,
    expected=FALSE,
    claimed=_printed.PRINTED,
    control=_printed.FLUID,
    assumes=(
        ALGORITHM_2,
        "the witness has two requests and s = 1; the simulation has large n and M and s = 0, which "
        "Section 2 excludes",
    ),
)


WITNESS = "s = 1, M = 4, outputs 1 and 2: in every order "


@declare(
    recheck=partial(recheck, "chen2025-lemma-1-printed", "completed", (1, 2), 1, lemma_1.claimed)
)
def lemma_1_printed(policies: tuple[str, ...]) -> ClaimResult:
    """Algorithm 2 completes (s+i)/(s+j) b_ij of b_ij requests, in expectation.

    Source: Lemma 1, p. 14, for Algorithm 2
    """
    witness = f"{WITNESS}the run with bound 1 of length 2 completes; claimed are 2/3"
    return judge("Lemma 1", LEMMA, policies, witness)


@declare(
    recheck=partial(
        recheck, "chen2025-proposition-1-printed", "second_period", (2, 2), 0, proposition_1.claimed
    )
)
def proposition_1_printed(policies: tuple[str, ...]) -> ClaimResult:
    """Algorithm 2 has the completions of Proposition 1 in every period, in expectation.

    Source: Proposition 1, p. 15, for Algorithm 2
    """
    witness = f"{WITNESS}nothing completes in period 2; claimed is 1/3"
    return judge("Prop. 1", PROPOSITION, policies, witness)
