"""The best constant V(R) when all volumes lie within a factor R: bounds from both sides.

Fluid limit and units of `ratiolab.theory.limits.volume_restart`. V(R) is the largest, over
distributions on [1, R], of the least cost of a policy over the optimum; whether the policy knows
the distribution or not makes no difference. V(R) does not fall as R grows, is (1 + sqrt(R))/2 up to
R = 2.618 and tends to
V = 2.728. Between these values two bounds hold:

- from below by a distribution and a price of work (`dual_value`): every policy pays at least the
  cheapest path of bounds with its work at that price, less what all work costs; a dynamic program
  finds it;
- from above by a mixture of policies that know nothing but R, and a guess of the worst distribution
  (`ratiolab.game.ranges.orders`).

The bounds are floats, right but for rounding; proofs in
ratiolab/papers/ours/proofs/volume_restart.md. Distributions, prices and policies are found by
`ratiolab.game.ranges`, whose quality matters for nothing but the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from ratiolab.theory.limits.volume_restart import best

NEVER_KILL = ((1 + 5**0.5) / 2) ** 2
"""Up to this R it is best never to kill, and (1 + sqrt(R))/2 is exact."""


@dataclass(frozen=True)
class Enclosure:
    """An interval of the best constant for volumes within a factor.

    V(R) is between `lower` and `upper`, for volumes within the factor `ratio`. `never_kill` is the
    constant of one run for each request, in random order: (1 + sqrt(R))/2.
    """

    ratio: float
    lower: float
    upper: float
    never_kill: float

    @property
    def gap(self) -> float:
        """Return how much larger the upper end is, relatively."""
        return self.upper / self.lower - 1


def closed_form(ratio: float) -> Enclosure:
    """Return the interval that formulas prove for V(R); the ends are equal up to R = 2.618.

    >>> round(closed_form(2.0).lower, 4), closed_form(2.0).gap
    (1.2071, 0.0)
    """
    if not 1 <= ratio < float("inf"):
        raise ValueError(f"ratio of volumes {ratio} is not a number of at least 1")
    never, most = (1 + ratio**0.5) / 2, float(best()[1])
    if ratio <= NEVER_KILL:
        return Enclosure(ratio, never, never, never)
    # V(R) does not fall: a distribution for a smaller range is one for this
    proved = most * (log(ratio) - 4.22) / (1 + log(ratio))  # Theorem 3
    return Enclosure(ratio, max((1 + NEVER_KILL**0.5) / 2, proved), min(never, most), never)


def dual_value(
    volumes: Sequence[float],
    shares: Sequence[float],
    ends: Sequence[float],
    prices: Sequence[float],
) -> float:
    """Return a lower bound on the cost of every policy over the optimum, for one distribution.

    The least of 2 int Y dtau plus the price of work over all paths of bounds, less the integral of
    the price: weak duality. With a price that is constant within steps and 0 after them, jumps at
    the begin of a step, to volumes of the distribution, are best. O(volumes steps). `volumes`
    ascend from 0, and `shares` of requests exceed each, from 1 to 0. `ends` of the steps of time
    ascend; `prices` of a unit of work in each step must not increase.
    """
    volume, above, price = (np.asarray(part, float) for part in (volumes, shares, prices))
    if (
        above[0] != 1
        or above[-1] != 0
        or (np.diff(above) > 0).any()
        or (np.diff(volume) <= 0).any()
    ):
        raise ValueError("shares must fall from 1 to 0, and volumes ascend")
    if (price < 0).any() or (np.diff(price) > 1e-12).any():
        raise ValueError("prices must be at least 0 and must not increase")
    widths = np.diff(np.append(0.0, np.asarray(ends, float)))
    filled = np.append(0.0, np.cumsum(np.diff(volume) * above[:-1]))
    again = volume * above - filled
    least = np.zeros(len(volume))
    for k in range(len(price) - 1, -1, -1):
        stay = 2 * above * widths[k] + least
        reach = price[k] * filled + stay
        later = np.append(np.minimum.accumulate(reach[::-1])[::-1][1:], np.inf)
        least = np.minimum(stay, price[k] * again + later)
    optimum = float(np.diff(volume) @ above[:-1] ** 2)
    return float(least[0] - price @ widths) / optimum
