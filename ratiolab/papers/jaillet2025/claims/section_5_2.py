"""Jaillet et al., Section 5.2 and Appendix C: what Table 1 and the printed slopes say together.

The experiments behind the figures are repeated in the pages of this paper; here are the statements
that the printed figures alone decide, or leave open.
"""

from fractions import Fraction
from typing import NamedTuple

from ratiolab.papers.claim import ARITHMETIC, CONSISTENT, UNDECIDED, ClaimResult, decided, possible
from ratiolab.papers.jaillet2025 import PAPER


class Row(NamedTuple):
    """A row of Table 1, in seconds."""

    average: str
    deviation: str
    largest: str
    least: str


TABLE_1 = {
    "MC-SF": Row("32.112", "0.354", "33.097", "31.505"),
    "MC-Benchmark": Row("46.472", "0.310", "47.135", "45.838"),
    "alpha 0.3": Row("51.933", "0.324", "52.532", "51.204"),
    "alpha 0.25": Row("51.046", "0.351", "51.757", "50.279"),
    "alpha 0.2, beta 0.2": Row("50.401", "0.343", "51.035", "49.700"),
    "alpha 0.2, beta 0.1": Row("50.395", "0.360", "51.083", "49.586"),
    "alpha 0.1, beta 0.2": Row("53.393", "1.457", "56.357", "49.488"),
    "alpha 0.1, beta 0.1": Row("50.862", "0.946", "53.978", "49.086"),
}
RUNS = 50


@PAPER.claim(claimed="MC-SF", control="MC-Benchmark")
def table_1(best: str) -> ClaimResult:
    """MC-SF has the least average latency in Table 1, and its worst run is better than any run of
    another algorithm.

    Source: Table 1, p. 36
    Verdict: consistent
    Assumes: the printed figures are right
    Evidence: the ranges are possible for 50 runs with the printed standard deviations. The
        experiment jaillet2025-section-5-2 finds deviations as small as these only when all runs
        have the same requests
    """
    own = Fraction(TABLE_1[best].largest)
    others = {name: Fraction(row.least) for name, row in TABLE_1.items() if name != best}
    behind = [name for name, least in others.items() if least <= own]
    # n values of standard deviation d have a range of at most d sqrt(2 (n - 1))
    spread = all(
        (Fraction(row.largest) - Fraction(row.least)) ** 2
        <= 2 * (RUNS - 1) * Fraction(row.deviation) ** 2
        for row in TABLE_1.values()
    )
    return decided(
        not behind and spread,
        ARITHMETIC,
        f"its largest {float(own)} s; least of the others {float(min(others.values()))} s",
        witness=f"{behind[0]} is not" if behind else None,
    )


Slopes = tuple[Fraction, Fraction]
"""Of MC-SF and of the best benchmark, seconds a request."""


@PAPER.claim(
    claimed=(Fraction(1, 6), Fraction(1, 2)),
    control=(Fraction(1, 31), Fraction(1, 21)),
    control_verdict=CONSISTENT,
)
def slopes_high_demand(slopes: Slopes) -> ClaimResult:
    """The average latency of MC-SF grows with a slope of about 1/6, that of the best benchmark with
    1/2.

    Source: Section 5.2.1, p. 17, with Table 1
    Verdict: undecided
    Assumes: high demand, 50 requests a second; latency grows linearly with the number of requests
    Assumes: agreement: the line through 0 meets Table 1, at 1000 requests, within a factor of 2
    Evidence: a line that has the printed slope and meets Table 1 would be below 0 at 800 requests:
        the slopes belong to other units, or the growth is not linear; the paper does not say which.
        The experiment jaillet2025-section-5-2-growth tests their quotient, 3
    """
    names = ("MC-SF", "MC-Benchmark")
    at_thousand = [1000 * slope for slope in slopes]
    printed = [Fraction(TABLE_1[name].average) for name in names]
    agrees = all(p / 2 <= a <= 2 * p for a, p in zip(at_thousand, printed, strict=True))
    return ClaimResult(
        CONSISTENT if agrees else UNDECIDED,
        ARITHMETIC,
        "at 1000 requests "
        + ", ".join(
            f"{float(a):.0f} s by the slope and {float(p):.1f} s by Table 1 ({name})"
            for a, p, name in zip(at_thousand, printed, names, strict=True)
        ),
    )


@PAPER.claim(claimed=Fraction(8), control=Fraction(10))
def slopes_low_demand(factor: Fraction) -> ClaimResult:
    """With low demand the slope of MC-SF, about 1/800, is eight times smaller than that of the best
    benchmark, about 1/100.

    Source: Section 5.2.1, p. 17
    Verdict: consistent
    Assumes: the slopes of the text, 1/800 and 1/100, which are rounded
    Evidence: the text says over eight, which rounded slopes allow. Whether they can be repeated
        depends on the clock: see the experiment jaillet2025-section-5-2-growth
    """
    quotient = Fraction(1, 100) / Fraction(1, 800)
    return decided(
        quotient >= factor,
        ARITHMETIC,
        f"(1/100)/(1/800) = {quotient}",
        witness=f"{quotient} is less",
    )


@PAPER.claim(
    claimed=((Fraction("40.62"), 11), (Fraction("85.32"), 45)),
    control=((Fraction("40.62"), 11), (Fraction("85.32574"), 45)),
)
def figure_7(figures: tuple[tuple[Fraction, int], ...]) -> ClaimResult:
    """Prompts have a mean length of 40.62 and a median of 11, outputs of 85.32 and 45.

    Source: Section 5.2 and Figure 7, pp. 16 and 34
    Verdict: undecided
    Assumes: a random subset of 10,000 conversations; lengths are whole numbers
    Evidence: which 10,000 conversations were drawn is not published. A mean is at least half of the
        median, and a multiple of 1/10,000
    """
    impossible = [
        float(mean)
        for mean, median in figures
        if (mean * 10_000).denominator != 1 or mean < Fraction(median, 2)
    ]
    return possible("possible", impossible, "no mean of 10,000 whole numbers: {}")
