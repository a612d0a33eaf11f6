"""Do printed gains follow from the printed figures? Exact arithmetic on decimals.

A printed number stands for all numbers that round to it. A gain is `rounded` if it is the
quotient of the printed figures, rounded; it is `possible` if some figures behind the
printed ones give it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Gain:
    """A printed quotient and the two printed figures it comes from, all as decimals.

    Examples
    --------
    >>> Gain("one third", "0.33", "1", "3").rounded
    True
    >>> low, high = Gain("one third", "0.33", "1", "3").range
    >>> print(low, high)
    1/7 3/5
    """

    what: str
    printed: str
    numerator: str
    denominator: str

    @property
    def exact(self) -> Fraction:
        """The quotient of the printed figures."""
        return Fraction(self.numerator) / Fraction(self.denominator)

    @property
    def rounded(self) -> bool:
        """Whether the printed gain is that quotient, rounded to its decimals."""
        return abs(self.exact - Fraction(self.printed)) <= _half_unit(self.printed)

    @property
    def range(self) -> tuple[Fraction, Fraction]:
        """Least and greatest quotient of figures that round to the printed ones."""
        top, bottom = Fraction(self.numerator), Fraction(self.denominator)
        up, down = _half_unit(self.numerator), _half_unit(self.denominator)
        return (top - up) / (bottom + down), (top + up) / (bottom - down)

    @property
    def possible(self) -> bool:
        """Whether figures that round to the printed ones give the printed gain."""
        low, high = self.range
        value, half = Fraction(self.printed), _half_unit(self.printed)
        return low <= value + half and value - half <= high


TIE_GAINS = (
    Gain("latency, TIE over FCFS", "4.73", "3.17", "0.67"),
    Gain("latency, TIE over LTR", "2.31", "1.55", "0.67"),
    Gain("latency, SSJF over FCFS", "1.62", "3.17", "1.95"),
    Gain("latency, LTR over FCFS", "2.05", "3.17", "1.55"),
    Gain("time for 3000 samples, TIE over LTR", "1.42", "139.5", "98.1"),
    Gain("samples in three minutes, TIE over LTR", "1.42", "4762", "3672"),
    Gain("mean latency without CVaR", "1.12", "0.75", "0.67"),
    Gain("P90 latency without CVaR", "1.26", "1.21", "0.96"),
)
"""Zheng et al. (2026), arXiv 2604.00499: tables and text of the results, 8B, LMSYS-Chat-1M."""


def _half_unit(decimal: str) -> Fraction:
    return Fraction(1, 2 * 10 ** len(decimal.partition(".")[2]))
