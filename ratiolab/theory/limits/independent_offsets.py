"""Kill-and-restart with an independent offset for each request, in the model of reserved caps.

The caps of a request are l b**(k + U), U uniform on [0, 1) and its own; runs are served in the
order of their caps and reserve their caps for as long as they last. No prompts; n and M large. The
ratio to H-SF is at most (b - 1)(1 + ln b)/ln(b)**2 over all lengths, and no rule with reserved caps
has a smaller supremum than the least of these. The proof is a text of its own,
`ratiolab/papers/ours/proofs/independent_offsets.md`.

Source: own derivation; one offset for all requests is in `ratiolab.theory.limits.kill_restart`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.theory.laws.distributions import LengthDistribution
from ratiolab.theory.limits.fluid import shortest_first_latency

if TYPE_CHECKING:
    from sympy import Expr


def constant(base: Any) -> Expr:
    """Return (b - 1)(1 + ln b)/ln(b)**2, the supremum of the ratio for a base b > 1.

    >>> constant(2)
    (log(2) + 1)/log(2)**2
    """
    import sympy as sp

    b = sp.sympify(base)
    if b.is_number and not b > 1:
        raise ValueError(f"base {base} is not above 1")
    return (b - 1) * (1 + sp.log(b)) / sp.log(b) ** 2


@cache
def best() -> tuple[Expr, Expr]:
    """Return the base 2.4856... and its `constant` 3.4235..., the smallest, to 30 digits."""
    import sympy as sp

    b = sp.Symbol("b", positive=True)
    stationary = 1 / (b - 1) + 1 / (b * (1 + sp.log(b))) - 2 / (b * sp.log(b))
    base = sp.nsolve(stationary, b, 2.5, prec=30)
    return base, constant(base)


def ratio(distribution: LengthDistribution, base: float, steps: int = 4000) -> float:
    """Return the fluid ratio to H-SF on a distribution, by the midpoint rule in ln C.

    The cost is (2/beta) int N(C) T(C) dC/C, beta = ln b, with the work T(C) of the runs of cap C
    and the unfinished share N(C) meanwhile; the error is of order 1/steps.
    """
    beta = log(base)
    low, high = log(distribution.lower), log(distribution.upper) + beta
    width = (high - low) / steps
    caps = np.exp(low + (np.arange(steps) + 0.5) * width)
    lengths = distribution.lengths.astype(np.float64)
    shares = distribution.array
    cost = 0.0
    for cap in caps:
        before = cap / base
        alive = shares * (lengths > before)
        work = cap * float((alive * np.minimum(lengths, cap)).sum())
        # int_{C/b}^C Y(a) da/a: a request of length o counts where a < o
        covered = np.clip(np.log(np.minimum(lengths, cap) / before), 0, beta)
        cost += float((shares * covered).sum()) / beta * work * width
    return 2 * cost / beta / float(shortest_first_latency(distribution))


def path_cost(caps: Sequence[float], times: Sequence[float], start: float, end: float) -> float:
    """Return holding and charges of a path of caps under P(o > t) = 1/t, in the proof's units.

    `caps` increase from 1 to `end`. `times` are when the path jumps to each cap, nondecreasing from
    `start` to `end`; these are the proof's tau_0 and R.
    """
    price = 2 * float(best()[1])
    total, bound, now = 0.0, 1.0, start
    for cap, time in zip(caps, times, strict=True):
        total += 2 * (time - now) / bound
        total += price / time * cap * (1 + log(cap / bound))
        bound, now = cap, time
    return total + (0 if bound >= end else 2 * (end - now) / bound)


def path_bound(start: float, end: float) -> float:
    """Return the proof's lower bound on `path_cost`, 4 W ln(R/tau_0) - 2W (2 + d)/tau_0."""
    base, value = (float(found) for found in best())
    return 4 * value * log(end / start) - 2 * value * (2 + log(base)) / start


def lower_bound(upper: float) -> float:
    """Return a lower bound on the ratio of every rule with reserved caps on lengths in [1, u].

    It is 2W (ln u - ln(2 + d) - 2)/(1 + 2 ln u), which tends to W = 3.4235...; vacuous for small u.
    """
    base, value = (float(found) for found in best())
    return 2 * value * (log(upper) - log(2 + log(base)) - 2) / (1 + 2 * log(upper))


def gap(period: float) -> float:
    """Return h(D) of the proof, which is never negative and 0 at D = 0 and D = ln b."""
    base, value = (float(found) for found in best())
    return (exp(period) - 1) * (2 + log(base) - base * exp(-period)) - value * period**2
