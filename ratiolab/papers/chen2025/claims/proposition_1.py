"""Chen et al., Proposition 1: completions in every period."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._lemma2 import completions
from ratiolab.papers.claim import PROVED, ClaimResult, decided

Law = Callable[[Any, Any, Any], Any]
"""Completed share of the requests of length j in a period after the first: (s, i, j)."""


@PAPER.claim(
    "Proposition 1, p. 15, proof p. ec12",
    claimed=lambda s, i, j: 1 / (s + j),
    control=lambda s, i, j: 1 / (s + i),
    assumes="the fluid model of Lemma 1 (a-min-fluid)",
    proof="periods",
)
def proposition_1(claimed: Law) -> ClaimResult:
    """Of x_j n requests of length j, (s+l)/(s+j) x_j n complete in period l and x_j n / (s+j) in
    each period i = l+1..j, in expectation.
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
