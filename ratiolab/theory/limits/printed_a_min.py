"""A_min as printed, on the lengths 1 and u without prompt, when memory grows.

Let M grow with u and the share p of long requests fixed, and measure requests in units of M. As
long as requests with bound 1 wait, only they start (smallest bound first), each for one token:

- a running long request of age a holds a + 1 tokens in the next round; what this leaves of the
  memory is filled with new requests, a share p of them long;
- when the running requests alone would overflow, equals in bound 1 are evicted at random until
  they fit, and nothing starts.

That is a recursion for the masses of long requests by age. Short requests finish at once, so
memory comes to be filled with growing long ones, and hardly any of them has room to finish:
the throughput theta of first starts, per round, falls as ``u**-0.5`` when p is of order 1/u. All
requests start for the first time at that rate and none completes before, so the latency is at
least ``n**2 / (2 M theta)``; H-SF needs ``n**2 / (2 M) (1 + (u**2 - 1) p**2)``.

That theta is at most (2/u)(1 + p**-0.5) + 2/(u (u+1) p), and the ratio therefore of order sqrt(u),
is proved in a text of its own, `ratiolab/papers/ours/proofs/a_min_square_root.md`.

Source: derived here for Chen, Ye, Zhou (2025), Algorithm 2, arXiv 2508.14544v2, read with the bound
a + 1 after an eviction at age a. Theorem 5 asserts O(log u).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sympy import Expr


def first_start_throughput(upper: int, share_upper: float, rounds: int) -> float:
    """Return the mean number of first starts per round, in units of M, over the first `rounds`
    rounds.

    The long output is u >= 2 and its share p in (0, 1). The limit needs rounds long against u, and
    every request must still be waiting or started once.

    Cost O(rounds u).

    >>> first_start_throughput(2, 0.5, 1)
    1.0
    """
    if upper < 2:
        raise ValueError(f"upper: {upper} is below 2")
    if not 0 < share_upper < 1:
        raise ValueError(f"share_upper: {share_upper} is outside (0, 1)")
    if rounds < 1:
        raise ValueError(f"rounds: {rounds} is below 1")
    running = np.zeros(upper)  # mass of long requests of age 0, 1, ..., u - 1
    held_next = np.arange(1.0, upper + 1)
    total = 0.0
    for _ in range(rounds):
        tokens = float(running @ held_next)
        if tokens > 1:
            running /= tokens
        new = 1 - min(tokens, 1.0)
        total += new
        running[0] = share_upper * new
        running[1:] = running[:-1].copy()  # age u completes
        running[0] = 0
    return total / rounds


def ratio_lower_bound(upper: int, share_upper: float, rounds: int | None = None) -> float:
    """Return a lower bound on printed A_min over H-SF as memory, and n / M, grow.

    Parameters as in `first_start_throughput`; by default 40 u rounds.

    >>> ratio_lower_bound(100, 0.006) > 6
    True
    """
    theta = first_start_throughput(upper, share_upper, rounds or 40 * upper)
    return 1 / (theta * (1 + (upper**2 - 1) * share_upper**2))


def first_starts_bound(upper: int, share_upper: float, rounds: int) -> float:
    """Return an upper bound on the first starts in the first `rounds` rounds, in units of M.

    1 + 1/sqrt(p) + K ((u+1)(1 + 1/sqrt(p)) + 1/p) with K = 2 T/(u (u+1)) long completions.

    >>> first_starts_bound(4, 0.25, 10)
    22.0
    """
    completions = 2 * rounds / (upper * (upper + 1))
    each = 1 + 1 / sqrt(share_upper)
    return each + completions * ((upper + 1) * each + 1 / share_upper)


def square_root_bound(upper: int) -> Expr:
    """Return a proved lower bound on the ratio of printed A_min, at a share 9/(16 u) of long ones.

    (256/337) / (8/(3 sqrt(u)) + 2/u + 32/(9 (u+1))), about 0.2849 sqrt(u); n and then M grow.

    >>> square_root_bound(1024) > 8
    True
    """
    import sympy as sp

    u = sp.Integer(upper)
    theta = 8 / (3 * sp.sqrt(u)) + 2 / u + sp.Rational(32) / (9 * (u + 1))
    return sp.Rational(256, 337) / theta
