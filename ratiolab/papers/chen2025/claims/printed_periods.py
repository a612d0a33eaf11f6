"""Chen et al., Lemma 1 and Proposition 1 for Algorithm 2: completions in every period."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import ALGORITHM_2
from ratiolab.papers.claim import FALSE, ClaimResult
from ratiolab.papers.witness import read_witness

Table = _printed.Table
Share = Callable[[Table, Table], float]
"""From the runs served and completed, by bound and length."""


def of_served(length: int) -> Share:
    """Return the share that completes of the runs with bound 1 and a length."""
    return lambda served, done: done[1, length] / served[1, length]


def of_all(period: int, length: int) -> Share:
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


def recheck(name: str, figure: str, cell: tuple[int, int], served: int) -> str:
    """Verify on two requests that Algorithm 2 completes otherwise, whatever the ties."""
    figures = {key: Fraction(value) for key, value in read_witness(name).figures.items()}
    for runs, done in _printed.witness_tables(name):
        assert runs[1, 2] == 1 or not served, runs
        assert done[cell] == figures[figure], done
    assert figures["claimed"] == Fraction(1, 2) != figures[figure], figures
    return (
        f"M = 2, outputs 1 and 2: c_{cell[0]}{cell[1]} = {figures[figure]} in every order, not 1/2"
    )


def judge(
    place: str, shares: dict[str, tuple[Fraction, Share]], policies: tuple[str, ...], witness: str
) -> ClaimResult:
    """Compare shares measured under policies with those that a statement gives."""
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
    assumes=(ALGORITHM_2, "the witness has two requests, the simulation large n and M"),
)


@declare(
    "Lemma 1, p. 14, for Algorithm 2",
    recheck=partial(recheck, "chen2025-lemma-1-printed", "completed", (1, 2), 1),
)
def lemma_1_printed(policies: tuple[str, ...]) -> ClaimResult:
    """Algorithm 2 completes (s+i)/(s+j) b_ij of b_ij requests, in expectation."""
    witness = "M = 2, outputs 1 and 2: in every order the run with bound 1 of length 2 completes"
    return judge("Lemma 1", LEMMA, policies, witness)


@declare(
    "Proposition 1, p. 15, for Algorithm 2",
    recheck=partial(recheck, "chen2025-proposition-1-printed", "second_period", (2, 2), 0),
)
def proposition_1_printed(policies: tuple[str, ...]) -> ClaimResult:
    """Algorithm 2 has the completions of Proposition 1 in every period, in expectation."""
    witness = "M = 2, outputs 1 and 2: in every order nothing completes in period 2"
    return judge("Prop. 1", PROPOSITION, policies, witness)
