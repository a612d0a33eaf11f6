"""Chen et al., Lemma 1: the share of requests with bound i and length j that complete in period i.

The proof takes the memory of a batch as the only constraint: of requests that started together
with s + i tokens granted to each, the share (s+i)/(s+j) still fits when all hold s + j. Algorithm 2
mixes ages, and fills with new starts what completions free: see `printed_periods`.
"""

from collections.abc import Callable
from typing import Any

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import PROVED, ClaimResult, decided

Law = Callable[[Any, Any, Any], Any]


@PAPER.claim(
    "Lemma 1, p. 14, proof p. ec12",
    claimed=lambda s, i, j: (s + i) / (s + j),
    control=lambda s, i, j: (s + i) / (s + i + 2 * (j - i)),
    assumes=(
        "fluid model: requests that start together keep the memory granted to them, s + i "
        "each, and those that go are chosen regardless of length (a-min-fluid)"
    ),
    proof="periods",
)
def lemma_1(claimed: Law) -> ClaimResult:
    """Of b_ij requests of length j served in period i, (s+i)/(s+j) b_ij are completed and the
    others deleted, in expectation.
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
        f"probability 1/(s+a+1) {'gives' if step else 'does not give'} this law",
        witness="the tokens of a batch change with its age",
    )
