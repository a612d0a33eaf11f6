"""Fluid latencies: what a policy costs when n and M grow with fixed shares of output lengths.

With shares x_k of length k, prompt s and n requests, all present at time 0, every policy below has
total end-to-end latency n**2 / (2 M) times a quadratic form in x, up to a factor 1 + O(1/M). The
functions return that form, so quotients of them are limits of latency ratios. They are Fractions
when the distribution is exact. ``upper`` is the predicted bound, by default the largest length.

Each form counts a batch of length k as holding its peak s + k for k rounds, area k (s + k), as
Chen, Ye, Zhou (2025) do. A schedule that staggers its starts can do with less: its requests hold
only s k + k (k + 1) / 2 in all. Hence H-SF is the benchmark here, not a lower bound on every
schedule; no schedule improves on it by more than a factor 2 in this limit.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from ratiolab.theory.laws.distributions import LengthDistribution, Number


def batch_area(length: int, prompt: int) -> int:
    """Return k (s + k), the memory-time a batch reserves per request of length k."""
    return length * (prompt + length)


def shortest_first_latency(distribution: LengthDistribution, prompt: int = 0) -> Number:
    """Return the fluid latency of H-SF, shortest output first with lengths known.

    Lengths leave in increasing order; those of length k take time n x_k k (s + k) / M, which the
    longer ones wait for in full and they themselves on average for a half. Summing by parts, with
    Y_k = P(o >= k), gives sum_k (g(k) - g(k-1)) Y_k**2 for g(k) = k (s + k) and g(lower-1) = 0.

    O(upper - lower).

    Source: Chen, Ye, Zhou (2025), denominator of Lemma 2, arXiv 2508.14544v2.

    >>> from ratiolab.theory.laws.distributions import uniform
    >>> shortest_first_latency(uniform(1, 2))
    Fraction(7, 4)
    """
    lengths = range(distribution.lower, distribution.upper + 1)
    areas = [0, *(batch_area(k, prompt) for k in lengths)]
    steps = (after - before for before, after in pairwise(areas))
    return sum(
        (step * tail * tail for step, tail in zip(steps, distribution.tail, strict=True)),
        Fraction() if distribution.is_exact else 0.0,
    )


def predicted_bound(distribution: LengthDistribution, upper: int | None) -> int:
    """Return u: ``upper``, at least the largest length, or that length without one."""
    bound = distribution.upper if upper is None else upper
    if bound < distribution.upper:
        raise ValueError(f"upper {bound} is below the longest output {distribution.upper}")
    return bound


def max_length_latency(
    distribution: LengthDistribution, prompt: int = 0, upper: int | None = None
) -> Number:
    """Return the fluid latency of A_max as M / (s + u) parallel servers.

    Each server takes requests in random order and keeps one until it ends. This is the reading of
    the proof of Theorem 2; the printed policy, which checks Eq. (3) with every output taken as u,
    may stagger starts after an early completion and then keeps more than M / (s + u) running.

    Source: Chen, Ye, Zhou (2025), proof of Theorem 2, arXiv 2508.14544v2.
    """
    return (prompt + predicted_bound(distribution, upper)) * distribution.mean


def random_order_latency(distribution: LengthDistribution, prompt: int = 0) -> Number:
    """Return the fluid latency of A_random, random order with lengths known.

    Every request waits on average for half of the whole work E[o (s + o)], the accounting of the
    proof of Theorem EC.1, part 2.

    Source: Chen, Ye, Zhou (2025), Theorem EC.1, arXiv 2508.14544v2.
    """
    lengths = range(distribution.lower, distribution.upper + 1)
    return distribution.expectation([batch_area(k, prompt) for k in lengths])


def promote_short_latency(distribution: LengthDistribution, prompt: int = 0) -> Number:
    """Return the fluid latency of A_ell, which evicts at exactly ``lower`` tokens.

    Every request first runs for l rounds in batches of M / (s + l): the short ones finish. The
    long ones start again afterwards in batches of M / (s + u).

    Raise ValueError if a length strictly between ``lower`` and ``upper`` has positive probability.

    Source: Chen, Ye, Zhou (2025), Algorithm 6 and proof of Theorem 7, arXiv 2508.14544v2.
    """
    lower, upper = distribution.lower, distribution.upper
    for length in range(lower + 1, upper):
        if distribution.probability(length) > 0:
            raise ValueError(f"length {length}: A_ell knows only the lengths {lower} and {upper}")
    long = distribution.probability(upper) if upper > lower else 0
    first, second = batch_area(lower, prompt), batch_area(upper, prompt)
    return first * (1 + long) + second * long * long


def max_length_ratio(
    distribution: LengthDistribution, prompt: int = 0, upper: int | None = None
) -> Number:
    """Return the fluid ratio of A_max to H-SF; see `max_length_latency`."""
    hindsight = shortest_first_latency(distribution, prompt)
    return max_length_latency(distribution, prompt, upper) / hindsight


def random_order_ratio(distribution: LengthDistribution, prompt: int = 0) -> Number:
    """Return the fluid ratio of A_random to H-SF; see `random_order_latency`."""
    return random_order_latency(distribution, prompt) / shortest_first_latency(distribution, prompt)


def promote_short_ratio(distribution: LengthDistribution, prompt: int = 0) -> Number:
    """Return the fluid ratio of A_ell to H-SF; see `promote_short_latency`."""
    hindsight = shortest_first_latency(distribution, prompt)
    return promote_short_latency(distribution, prompt) / hindsight
