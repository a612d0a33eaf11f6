"""TIE, tables of the results: gains that should follow from the figures printed beside them.

A printed number stands for all numbers that round to it. A gain is rounded if it is the quotient
of the printed figures, rounded; it is possible if some figures behind the printed ones give it.
"""

from fractions import Fraction
from typing import NamedTuple

from ratiolab.papers.claim import FALSE, HOLDS, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER

ONLINE = "online service, 8B, LMSYS-Chat-1M, 100 requests per second"


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


def _half_unit(decimal: str) -> Fraction:
    return Fraction(1, 2 * 10 ** len(decimal.partition(".")[2]))


def rounded(gain: Gain) -> ClaimResult:
    """Divide the printed figures and round."""
    return _result(gain, gain.is_rounded, "the quotient of the printed figures, rounded")


def possible(gain: Gain) -> ClaimResult:
    """Divide all figures that round to the printed ones."""
    return _result(gain, gain.is_possible, "the quotient of figures that round to the printed ones")


def _result(gain: Gain, agrees: bool, reading: str) -> ClaimResult:
    low, high = gain.range
    quotient = f"{gain.numerator}/{gain.denominator} = {float(gain.exact):.4f}"
    return decided(
        agrees,
        "proved",
        f"{gain.printed}, as {reading}",
        f"{quotient}; unrounded figures allow {float(low):.4f} to {float(high):.4f}",
        "exact arithmetic on the printed decimals",
        quotient,
    )


def recheck_throughput() -> str:
    """Divide the samples of the two policies."""
    assert Fraction(4762, 3672) == Fraction(2381, 1836) < Fraction("1.297")
    assert round(Fraction("139.5") / Fraction("98.1"), 2) == Fraction("1.42")
    return "4762/3672 < 1.297; the ratio that rounds to 1.42 is one of times, 139.5/98.1"


def recheck_ssjf() -> str:
    """Divide the latencies of FCFS and SSJF."""
    assert Fraction("1.625") < Fraction(317, 195) < Fraction("1.626")
    return "3.17/1.95 = 1.6256 rounds to 1.63"


@PAPER.claim("main results", expected=HOLDS, claimed="4.73", control="4.74", assumes=ONLINE)
def gain_over_fcfs(printed: str) -> ClaimResult:
    """TIE's mean latency per token is 4.73 times less than that of FCFS."""
    return rounded(Gain(printed, "3.17", "0.67"))


@PAPER.claim(
    "abstract and main results", expected=HOLDS, claimed="2.31", control="2.32", assumes=ONLINE
)
def gain_over_ltr(printed: str) -> ClaimResult:
    """TIE's mean latency per token is 2.31 times less than that of LTR."""
    return rounded(Gain(printed, "1.55", "0.67"))


@PAPER.claim("main results", expected=HOLDS, claimed="2.05", control="2.04", assumes=ONLINE)
def gain_ltr(printed: str) -> ClaimResult:
    """LTR's mean latency per token is 2.05 times less than that of FCFS."""
    return rounded(Gain(printed, "3.17", "1.55"))


@PAPER.claim(
    "main results",
    expected=HOLDS,
    claimed="1.62",
    control="1.61",
    assumes=(ONLINE, "the gain comes from figures before rounding"),
)
def gain_ssjf(printed: str) -> ClaimResult:
    """SSJF's mean latency per token is 1.62 times less than that of FCFS."""
    return possible(Gain(printed, "3.17", "1.95"))


@PAPER.claim(
    "main results",
    expected=FALSE,
    claimed="1.62",
    control="1.63",
    recheck=recheck_ssjf,
    assumes=(ONLINE, "the gain comes from the printed figures, as the others do"),
)
def gain_ssjf_rounded(printed: str) -> ClaimResult:
    """The gain of SSJF over FCFS, 1.62, is the quotient of the printed 3.17 and 1.95."""
    return rounded(Gain(printed, "3.17", "1.95"))


@PAPER.claim(
    "offline results",
    expected=HOLDS,
    claimed="1.42",
    control="1.43",
    assumes="offline generation, Alpaca, 8B",
)
def sdg_time(printed: str) -> ClaimResult:
    """TIE takes 1.42 times less time than LTR for 3000 synthetic samples."""
    return rounded(Gain(printed, "139.5", "98.1"))


@PAPER.claim(
    "abstract and offline results",
    expected=FALSE,
    claimed="1.42",
    control="1.30",
    recheck=recheck_throughput,
    assumes=(
        "offline generation, Alpaca, 8B",
        "throughput is what the results call so, samples in three minutes; the rate over the "
        "first 3000 samples does rise 1.42 times (sdg-time)",
    ),
)
def sdg_throughput(printed: str) -> ClaimResult:
    """TIE increases the throughput of synthetic data generation 1.42 times over LTR."""
    return possible(Gain(printed, "4762", "3672"))


@PAPER.claim("ablation", expected=HOLDS, claimed="1.12", control="1.11", assumes=ONLINE)
def cvar_gain_mean(printed: str) -> ClaimResult:
    """Without CVaR the mean latency per token rises by 12%."""
    return rounded(Gain(printed, "0.75", "0.67"))


@PAPER.claim("ablation", expected=HOLDS, claimed="1.26", control="1.27", assumes=ONLINE)
def cvar_gain_p90(printed: str) -> ClaimResult:
    """Without CVaR the 90th percentile of the latency per token rises by 26%."""
    return rounded(Gain(printed, "1.21", "0.96"))


@PAPER.claim("training", expected=HOLDS, claimed="20", control="19", assumes="thousands are exact")
def training_samples(printed: str) -> ClaimResult:
    """45 thousand prompts with 20 generations each make 900 thousand samples."""
    return rounded(Gain(printed, "900", "45"))
