"""Means of independent values, with confidence intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev


@dataclass(frozen=True)
class Estimate:
    """A mean over independent values with the half width of a Student confidence interval.

    >>> Estimate.of([1.0, 2.0, 3.0]).mean
    2.0
    """

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: Sequence[float], confidence: float = 0.99) -> "Estimate":
        """Estimate the expectation from at least two independent values."""
        from scipy.special import stdtrit  # scipy.stats takes a second to import

        quantile = float(stdtrit(len(values) - 1, (1 + confidence) / 2))
        return cls(mean(values), quantile * stdev(values) / sqrt(len(values)))

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width

    def covers(self, value: float) -> bool:
        """Return whether the interval contains the value."""
        return abs(value - self.mean) <= self.half_width

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"
