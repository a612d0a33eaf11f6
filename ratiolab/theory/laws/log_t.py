"""The log-t distribution of output lengths and TIE's score, without sampling.

ln X = mu + sigma Z, Z Student t with nu degrees of freedom. Served lengths are capped,
X~ = min(X, x_max). With z = sqrt(nu) tan(theta) the density of Z becomes
c cos(theta)^(nu-1) on (-pi/2, pi/2), c = Gamma((nu+1)/2) / (sqrt(pi) Gamma(nu/2)), so
partial moments of X are smooth integrals over finite intervals: Gauss-Legendre.

Two facts about the tail. P(X > x) falls like (ln x)^(-nu), slower than every power of x:
this is not the power law of the paper's Theorem 3.2. And E[X] is infinite for every
sigma > 0, because m P(X > m), a lower bound of E[min(X, m)], grows without bound.

Source: Zheng et al. (2026), arXiv 2604.00499.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LogT:
    """The distribution of X = exp(mu + sigma Z), Z Student t.

    ``mu`` and ``sigma`` > 0 are location and scale of ln X, ``nu`` > 0 the degrees of freedom,
    which the paper fixes at 3.5.
    """

    mu: float
    sigma: float
    nu: float = 3.5

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise ValueError(f"sigma {self.sigma}: must be positive")
        if not self.nu > 0:
            raise ValueError(f"nu {self.nu}: must be positive")

    def cdf(self, x: float) -> float:
        """Return P(X <= x)."""
        from scipy.special import stdtr

        return float(stdtr(self.nu, self._standard(x)))

    def survival(self, x: float) -> float:
        """Return P(X > x), without cancellation."""
        from scipy.special import stdtr

        return float(stdtr(self.nu, -self._standard(x)))

    def quantile(self, level: float) -> float:
        """Return the x with P(X <= x) = level, 0 < level < 1."""
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise ValueError(f"level {level}: must lie strictly between 0 and 1")
        # for smaller levels scipy gives the other end
        return math.exp(self.mu + self.sigma * float(stdtrit(self.nu, max(level, 1e-100))))

    @property
    def mean(self) -> float:
        """E[X] without a cap: infinite (module docstring)."""
        return math.inf

    def partial_moment(self, power: int, low: float, high: float) -> float:
        """Return E[X^power; low < X <= high], 0 <= low < high.

        Relative error below 1e-10 for power 1 and 2, nu >= 1 and sigma between 0.02 and 5.
        """
        root = math.sqrt(self.nu)
        top = math.atan(self._standard(high) / root)
        bottom = math.atan(self._standard(low) / root) if low > 0 else -math.pi / 2
        x, w = _gauss_legendre()
        edges = bottom + (top - bottom) * _panels()
        half = np.diff(edges)[:, None] / 2
        theta = (edges[:-1, None] + half) + half * x
        # Relative to high^power, so that the exponent stays below zero.
        exponent = power * (self.mu + self.sigma * root * np.tan(theta) - math.log(high))
        log_density = self._log_constant() + (self.nu - 1) * np.log(np.cos(theta))
        return float(np.sum(half * w * np.exp(exponent + log_density))) * high**power

    def capped_mean(self, cap: float) -> float:
        """Return E[min(X, cap)], with the accuracy of `partial_moment`."""
        _check_cap(cap)
        return self.partial_moment(1, 0, cap) + cap * self.survival(cap)

    def cvar(self, alpha: float, cap: float) -> float:
        """Return CVaR_alpha of min(X, cap), the mean of its worst share 1 - alpha.

        It is the cap itself whenever P(X > cap) >= 1 - alpha.
        """
        _check_cap(cap)
        if self.survival(cap) >= 1 - alpha:
            return float(cap)
        value = self.quantile(alpha)
        tail = self.partial_moment(1, value, cap) + cap * self.survival(cap)
        return tail / (1 - alpha)

    def score(self, beta: float, cap: float, alpha: float = 0.9) -> float:
        """Return TIE's priority, E[X~] + beta CVaR_alpha[X~]; the least is served first."""
        return self.capped_mean(cap) + beta * self.cvar(alpha, cap)

    def sampling_error(
        self, beta: float, cap: float, alpha: float = 0.9, samples: int = 10_000
    ) -> float:
        """Return the standard error of the score when it is estimated from samples.

        The empirical CVaR is the minimum over q of q + mean (X~ - q)_+ / (1 - alpha); by
        the envelope theorem only the mean fluctuates to first order, so the error is the
        standard deviation of X~ + beta (X~ - q)_+ / (1 - alpha) over sqrt(samples), with
        q the alpha-quantile of X~.
        """
        _check_cap(cap)
        over, slope = self.survival(cap), beta / (1 - alpha)
        if over >= 1 - alpha:  # the quantile is the cap: the second term vanishes
            first, second = self.capped_mean(cap), self.partial_moment(2, 0, cap) + cap**2 * over
        else:
            q = self.quantile(alpha)
            low_1, low_2 = (self.partial_moment(k, 0, q) for k in (1, 2))
            up_0 = 1 - alpha - over
            up_1, up_2 = (self.partial_moment(k, q, cap) for k in (1, 2))
            a, b = 1 + slope, slope * q  # above q the variable is a X~ - b
            top = a * cap - b
            first = low_1 + a * up_1 - b * up_0 + top * over
            second = low_2 + a * a * up_2 - 2 * a * b * up_1 + b * b * up_0 + top**2 * over
        return math.sqrt(max(second - first * first, 0.0) / samples)

    def _standard(self, x: float) -> float:
        if x < 0:
            raise ValueError(f"x {x}: a length cannot be negative")
        return (math.log(x) - self.mu) / self.sigma if x > 0 else -math.inf

    def _log_constant(self) -> float:
        half = (self.nu + 1) / 2
        return math.lgamma(half) - math.lgamma(self.nu / 2) - math.log(math.pi) / 2


def adaptive_beta(waiting: int, batch: int) -> Fraction:
    """Return beta = min(1/2, max(1/10, L_q / (10 B))), exactly.

    It is never 0, so SEPT (score E[X~] alone) is never reached: 1/10 up to L_q = B, then
    linear, 1/2 from L_q = 5 B on.

    L_q = ``waiting`` is the length of the queue, B = ``batch`` the maximum batch size.

    >>> print(*(adaptive_beta(n, 8) for n in (0, 8, 20, 40, 400)))
    1/10 1/10 1/4 1/2 1/2
    """
    if waiting < 0 or batch < 1:
        raise ValueError(f"waiting {waiting}, batch {batch}: need waiting >= 0 and batch >= 1")
    return min(Fraction(1, 2), max(Fraction(1, 10), Fraction(waiting, 10 * batch)))


def head_start(ratio: float, gamma: float = 0.9, tau: float = 30.0) -> float:
    """Return the wait after which a request overtakes a fresh one of smaller score.

    Score gamma^(t_w / tau) decays alike for all who wait, so two waiting requests never
    change order: the order is that of the fixed key ln(score) + arrival ln(1/gamma) / tau.
    A request is passed only by requests that arrive within this time after it.

    ``ratio`` >= 1 is its score over that of the fresh request; the wait is in seconds, as ``tau``.
    """
    if ratio < 1 or not 0 < gamma < 1 or tau <= 0:
        raise ValueError(f"ratio {ratio}: must be at least 1, with 0 < gamma < 1 and tau > 0")
    return tau * math.log(ratio) / -math.log(gamma)


@cache
def _gauss_legendre() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(40)


@cache
def _panels() -> NDArray[np.float64]:
    """Return panel edges in [0, 1], dyadic towards both ends, where the integrand may be steep."""
    steps = 0.5 ** np.arange(12.0, 0.0, -1.0)
    return np.concatenate([[0.0], steps, 1 - steps[-2::-1], [1.0]])


def _check_cap(cap: float) -> None:
    if not cap > 0:
        raise ValueError(f"cap {cap}: must be positive")
