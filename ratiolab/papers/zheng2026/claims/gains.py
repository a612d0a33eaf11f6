"""TIE, tables of the results: gains that should follow from the figures printed beside them.

A printed number stands for all numbers that round to it. The summary marks the latencies of FCFS,
SSJF and LTR in its first table as estimates. They are what TIE's 0.67 times the printed gains
gives, so gains cannot be checked against them.
"""

from fractions import Fraction
from typing import NamedTuple

from ratiolab.papers.claim import ARITHMETIC, CONSISTENT, FALSE, UNDECIDED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER

ONLINE = "online service, 8B, LMSYS-Chat-1M, 100 requests per second"
OFFLINE = "offline generation, Alpaca, 8B"


class Gain(NamedTuple):
    """A printed quotient and the two printed figures it comes from, all as decimals.

    >>> Gain("0.33", "1", "3").is_rounded
    True
    >>> low, high = Gain("0.33", "1", "3").range
    >>> print(low, high)
    1/7 3/5
    """

    printed: str
    numerator: str
    denominator: str

    @property
    def exact(self) -> Fraction:
        """The quotient of the printed figures."""
        return Fraction(self.numerator) / Fraction(self.denominator)

    @property
    def is_rounded(self) -> bool:
        """Whether the printed gain is that quotient, rounded to its decimals."""
        return abs(self.exact - Fraction(self.printed)) <= _half_unit(self.printed)

    @property
    def range(self) -> tuple[Fraction, Fraction]:
        """Least and greatest quotient of figures that round to the printed ones."""
        top, bottom = Fraction(self.numerator), Fraction(self.denominator)
        up, down = _half_unit(self.numerator), _half_unit(self.denominator)
        return (top - up) / (bottom + down), (top + up) / (bottom - down)

    @property
    def is_possible(self) -> bool:
        """Whether figures that round to the printed ones give the printed gain."""
        low, high = self.range
        value, half = Fraction(self.printed), _half_unit(self.printed)
        return low <= value + half and value - half <= high

    @property
    def text(self) -> str:
        """The quotient of the printed figures, and what rounding leaves open."""
        low, high = self.range
        return (
            f"{self.numerator}/{self.denominator} = {float(self.exact):.4f}; unrounded figures "
            f"allow {float(low):.4f} to {float(high):.4f}"
        )


def _half_unit(decimal: str) -> Fraction:
    return Fraction(1, 2 * 10 ** len(decimal.partition(".")[2]))


def measured(gain: Gain) -> ClaimResult:
    """Divide two figures that were both measured, and round."""
    return decided(
        gain.is_rounded,
        ARITHMETIC,
        gain.text,
        evidence="exact arithmetic on the printed decimals, which are taken as they are. What the "
        "experiment zheng2026 finds on stand-ins, where it repeats the comparison, is on its page",
        witness=f"{gain.numerator}/{gain.denominator}",
    )


def estimated(gain: Gain) -> ClaimResult:
    """Divide by a figure that the source marks as an estimate: agreement shows nothing."""
    return ClaimResult(
        UNDECIDED if gain.is_possible else FALSE,
        ARITHMETIC,
        gain.text,
        evidence="the source marks the rivals' latencies as estimates, and they are what TIE's "
        "0.67 s times the printed gains gives: their quotient repeats the gain and cannot support "
        "it. What is missing is the measured latency of the rival",
        witness=None if gain.is_possible else f"{gain.numerator}/{gain.denominator}",
    )


Row = tuple[str, str, str, str, str, str, str]

MEASURED: tuple[Row, ...] = (
    (
        "gain-ltr",
        "LTR's mean latency per token is 2.05 times less than that of FCFS: the quotient of the "
        "gains of TIE over both.",
        "main results",
        ONLINE,
        "2.05 2.04",
        "4.73",
        "2.31",
    ),
    (
        "sdg-throughput",
        "TIE increases the throughput of synthetic data generation 1.42 times over LTR: the rate "
        "of the first 3000 samples, which take 98.1 s against 139.5 s. (In three minutes 4762 "
        "samples against 3672 are 1.30 times as many.)",
        "abstract and offline results",
        OFFLINE,
        "1.42 1.43",
        "139.5",
        "98.1",
    ),
    (
        "cvar-gain-mean",
        "Without CVaR the mean latency per token rises by 12%.",
        "ablation",
        ONLINE,
        "1.12 1.11",
        "0.75",
        "0.67",
    ),
    (
        "cvar-gain-p90",
        "Without CVaR the 90th percentile of the latency per token rises by 26%.",
        "ablation",
        ONLINE,
        "1.26 1.27",
        "1.21",
        "0.96",
    ),
    (
        "training-samples",
        "45 thousand prompts with 20 generations each make 900 thousand samples.",
        "training",
        "thousands are exact",
        "20 19",
        "900",
        "45",
    ),
)
"""Id, statement, place, assumption, the printed quotient and a wrong one, two printed figures."""

ESTIMATED: tuple[Row, ...] = tuple(
    (
        name,
        f"{policy}'s mean latency per token is {gains.split()[0]} times less than that of {rival}.",
        "main results",
        ONLINE,
        gains,
        top,
        bottom,
    )
    for name, policy, rival, gains, top, bottom in (
        ("gain-over-fcfs", "TIE", "FCFS", "4.73 4.80", "3.17", "0.67"),
        ("gain-over-ltr", "TIE", "LTR", "2.31 2.36", "1.55", "0.67"),
        ("gain-ssjf", "SSJF", "FCFS", "1.62 1.60", "3.17", "1.95"),
    )
)


CLAIMS = tuple(
    PAPER.claim(
        place,
        expected=CONSISTENT if check is measured else UNDECIDED,
        claimed=Gain(gains.split()[0], top, bottom),
        control=Gain(gains.split()[1], top, bottom),
        assumes=assumes,
        name=name,
        statement=statement,
    )(check)
    for check, rows in ((measured, MEASURED), (estimated, ESTIMATED))
    for name, statement, place, assumes, gains, top, bottom in rows
)
