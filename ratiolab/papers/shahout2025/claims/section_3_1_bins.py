"""TRAIL, Section 3.1: ten equal bins of output lengths, their middles and the name of the last."""

from collections.abc import Callable
from fractions import Fraction

from ratiolab.papers.claim import EXACT, FALSE, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.theory.laws.bin_filter import middles

BINS, WIDTH = 10, Fraction(512, 10)
ASSUMPTIONS = ("k = 10 bins of equal width over 0 to 512 tokens; bin i starts at 512 i / 10",)


@PAPER.claim(
    "Section 3.1",
    claimed=lambda i: Fraction(128 * (2 * i + 1), 5),
    control=lambda i: Fraction(128 * (2 * i - 1), 5),
    assumes=(*ASSUMPTIONS, "lengths uniform within a bin; i counts from 0"),
)
def section_3_1_middles(formula: Callable[[int], Fraction]) -> ClaimResult:
    """The mean length in bin i is m_i = 128 (2 i + 1) / 5."""
    wrong = [i for i, middle in enumerate(middles(BINS, WIDTH)) if formula(i) != middle]
    return decided(
        not wrong,
        EXACT,
        f"{len(wrong)} of {BINS} bins have another middle",
        evidence="all ten bins in exact arithmetic",
    )


def recheck() -> str:
    """Evaluate the formula of the bins at 9 and 10."""
    assert (Fraction("460.8"), Fraction(512)) == (9 * WIDTH, 10 * WIDTH)
    return "b_9 covers 460.8 to 512; b_10 would start at 512"


@PAPER.claim(
    "Section 3.1", expected=FALSE, claimed=10, control=9, recheck=recheck, assumes=ASSUMPTIONS
)
def section_3_1_final_bin(index: int) -> ClaimResult:
    """The final bin, b_10, covers [460.8, 512]."""
    low, high = index * WIDTH, (index + 1) * WIDTH
    return decided(
        (low, high) == (Fraction("460.8"), Fraction(512)),
        EXACT,
        f"b_{index} covers {float(low)} to {float(high)}",
        evidence="the paper's own formula for bin i; counting from 0, as its formula for m_i needs",
        witness=f"bin {index} starts at {low}",
    )
