"""TRAIL, Section 3.1 and Appendix A: bins of output lengths, and the matrix that moves them."""

from collections.abc import Callable
from fractions import Fraction

from ratiolab.papers.claim import EXACT, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.theory.laws.bin_filter import (
    Matrix,
    apply,
    mean_length,
    middles,
    transition,
    transition_as_printed,
)

BINS, WIDTH = 10, Fraction(512, 10)
TEN_BINS = ("k = 10 bins of equal width over 0 to 512 tokens; bin i starts at 512 i / 10",)


@PAPER.claim(
    claimed=lambda i: Fraction(128 * (2 * i + 1), 5),
    control=lambda i: Fraction(128 * (2 * i - 1), 5),
    assumes=TEN_BINS,
)
def section_3_1_middles(formula: Callable[[int], Fraction]) -> ClaimResult:
    """The mean length in bin i is m_i = 128 (2 i + 1) / 5.

    Source: Section 3.1
    Assumes: lengths uniform within a bin; i counts from 0
    Evidence: all ten bins in exact arithmetic
    """
    wrong = [i for i, middle in enumerate(middles(BINS, WIDTH)) if formula(i) != middle]
    return decided(not wrong, EXACT, f"{len(wrong)} of {BINS} bins have another middle")


def recheck_bin() -> str:
    """Evaluate the formula of the bins at 9 and 10."""
    assert (Fraction("460.8"), Fraction(512)) == (9 * WIDTH, 10 * WIDTH)
    return "b_9 covers 460.8 to 512; b_10 would start at 512"


@PAPER.claim(claimed=10, control=9, recheck=recheck_bin, assumes=TEN_BINS)
def section_3_1_final_bin(index: int) -> ClaimResult:
    """The final bin, b_10, covers [460.8, 512].

    Source: Section 3.1
    Verdict: false
    Evidence: the paper's own formula for bin i; counting from 0, as its formula for m_i needs
    """
    low, high = index * WIDTH, (index + 1) * WIDTH
    return decided(
        (low, high) == (Fraction("460.8"), Fraction(512)),
        EXACT,
        f"b_{index} covers {float(low)} to {float(high)}",
        witness=f"bin {index} starts at {low}",
    )


Builder = Callable[[int, Fraction], Matrix]

SIZES = tuple((k, b) for k in (2, 3, 10, 25) for b in (Fraction(2), Fraction(7), Fraction(256, 5)))
ASSUMPTIONS = (
    "equal bins of b tokens, lengths uniform within a bin",
    "T[i][j] is the probability of going from bin j to bin i in one token, as the paper defines it",
)


def check(builder: Builder) -> ClaimResult:
    """Move one unit of mass from every bin by one token, exactly."""
    steps = {
        mean_length(apply(builder(k, b), unit), b) - mean_length(unit, b)
        for k, b in SIZES
        for j in range(1, k - 1)
        for unit in [_unit(j, k)]
    }
    # Only requests in bin 0 can end, a share 1/b of them per token.
    kept = all(
        [sum(column) for column in zip(*builder(k, b), strict=True)] == [1 - 1 / b] + [1] * (k - 1)
        for k, b in SIZES
    )
    return decided(
        steps == {Fraction(-1)} and kept,
        EXACT,
        f"a token changes it by {', '.join(map(str, sorted(steps)))}; "
        f"only bin 0 loses mass: {'yes' if kept else 'no'}",
        evidence=f"exact for {len(SIZES)} pairs of bins and widths; column j has 1/b one place "
        "above or below its diagonal, which moves the mean by b/b = 1 token down or up, whatever b",
        witness="bins of 256/5 tokens: from bin 4 the mean goes from 1152/5 up to 1157/5",
    )


@PAPER.claim(claimed=transition, control=transition_as_printed, assumes=ASSUMPTIONS)
def section_3_1_matrix(builder: Builder) -> ClaimResult:
    """The matrix of the running text, T[i][i] = 1 - 1/b and T[i][i+1] = 1/b, moves a remaining
    length to the adjacent lower bin with probability 1/b per token.

    Source: Section 3.1
    """
    return check(builder)


def recheck() -> str:
    """Multiply the printed matrix by one unit vector."""
    width, unit = Fraction(256, 5), _unit(4, 10)
    assert mean_length(unit, width) == Fraction(1152, 5)
    assert mean_length(apply(transition_as_printed(10, width), unit), width) == Fraction(1157, 5)
    last = [row[9] for row in transition_as_printed(10, width)]
    assert sum(last) == Fraction(251, 256)
    return "one token lengthens the mean by one; 5/256 of the longest bin vanishes"


@PAPER.claim(
    claimed=transition_as_printed, control=transition, recheck=recheck, assumes=ASSUMPTIONS
)
def appendix_a_matrix(builder: Builder) -> ClaimResult:
    """The displayed matrix, 1 - 1/b on the diagonal and 1/b below it, moves a remaining length to
    the adjacent lower bin with probability 1/b per token.

    Source: Appendix A (p. 14)
    Verdict: false
    """
    return check(builder)


def _unit(place: int, bins: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(i == place)) for i in range(bins))
