"""The log-normal distribution of output lengths, with the methods of `log_t`.

ln X = mu + sigma Z, Z standard normal; served lengths are capped, min(X, cap). Partial moments are
closed: E[X; X <= x] = exp(mu + sigma^2 / 2) Phi((ln x - mu) / sigma - sigma).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

_Z = NormalDist()


@dataclass(frozen=True)
class LogNormal:
    """The distribution of X = exp(mu + sigma Z), Z standard normal."""

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise ValueError(f"sigma {self.sigma}: must be positive")

    def capped_mean(self, cap: float) -> float:
        """Return E[min(X, cap)]; the cap may be infinite.

        >>> LogNormal(0, 1).capped_mean(math.inf) == math.exp(0.5)
        True
        """
        top = self._standard(cap)
        return self._below(top) + self._above(top, cap)

    def cvar(self, alpha: float, cap: float) -> float:
        """Return CVaR_alpha of min(X, cap), the mean of its worst share 1 - alpha."""
        top, value = self._standard(cap), _Z.inv_cdf(alpha)
        if value >= top:
            return float(cap)
        tail = self._below(top) - self._below(value) + self._above(top, cap)
        return tail / (1 - alpha)

    def _standard(self, cap: float) -> float:
        if not cap > 0:
            raise ValueError(f"cap {cap}: must be positive")
        return (math.log(cap) - self.mu) / self.sigma

    @staticmethod
    def _above(top: float, cap: float) -> float:
        """Return cap P(X > cap), 0 without a cap."""
        return 0.0 if top == math.inf else cap * _Z.cdf(-top)

    def _below(self, z: float) -> float:
        """Return E[X; ln X <= mu + sigma z]."""
        return math.exp(self.mu + self.sigma**2 / 2) * _Z.cdf(z - self.sigma)
