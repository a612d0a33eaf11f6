"""A ratio to an optimum that is known only between two bounds."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class RatioInterval:
    """Cost over optimum, for every optimum in [opt_lower, opt_upper].

    Parameters
    ----------
    cost : total latency of an algorithm, or its mean over seeds; exact.
    opt_lower, opt_upper : proven bounds on the optimal total latency, positive integers.

    Examples
    --------
    >>> RatioInterval(Fraction(18), 12, 15).low, RatioInterval(Fraction(18), 12, 15).high
    (Fraction(6, 5), Fraction(3, 2))
    """

    cost: Fraction
    opt_lower: int
    opt_upper: int

    def __post_init__(self) -> None:
        if not 1 <= self.opt_lower <= self.opt_upper:
            raise ValueError(
                f"opt_lower {self.opt_lower} and opt_upper {self.opt_upper} must satisfy "
                "1 <= opt_lower <= opt_upper"
            )

    @property
    def low(self) -> Fraction:
        """The least ratio that the bounds allow."""
        return self.cost / self.opt_upper

    @property
    def high(self) -> Fraction:
        """The largest ratio that the bounds allow: what may be claimed."""
        return self.cost / self.opt_lower

    @property
    def is_exact(self) -> bool:
        """Whether the optimum, and so the ratio, is known."""
        return self.opt_lower == self.opt_upper

    def __str__(self) -> str:
        # rounded outwards, so that what is printed is still proved
        if self.is_exact:
            return f"{float(self.low):.4f}"
        low = Fraction(self.low * 10**4 // 1, 10**4)
        high = Fraction(-(-self.high * 10**4 // 1), 10**4)
        return f"[{float(low):.4f}, {float(high):.4f}]"
