"""The best constant V(R) when all volumes lie within a factor R: what encloses it.

Fluid limit and units of `ratiolab.theory.limits.volume_restart`. V(R) is the largest, over laws on
[1, R], of the least cost of a policy that knows the law, over the optimum: it can be learned from
few requests at no cost. V(R) does not fall as R grows, is (1 + sqrt(R))/2 up to R = 2.618 and tends
to V = 2.728. Between these it is enclosed:

- from below by a law and a price of work (`dual_value`): every policy pays at least the cheapest
  path of bounds with its work at that price, less what all work costs; a dynamic program finds it;
- from above by a policy that knows nothing but R (`offset_value`): requests have lists of caps with
  offsets j/J, and in some runs nobody is ever killed; the cost is at most a quadratic form of the
  law, and the optimum its length, so that an eigenvalue bounds the ratio.

Both are floats, right but for rounding; proofs in ratiolab/papers/ours/proofs/volume_restart.md.
Laws, prices and lists were found by a search, whose quality matters for nothing but the gap.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log
from typing import Any

import numpy as np

from ratiolab.theory.limits.volume_restart import best

NEVER_KILL = ((1 + 5**0.5) / 2) ** 2
"""Up to this R it is best never to kill, and (1 + sqrt(R))/2 is exact."""

STEPS = 4000
"""Steps of time of the stored laws' prices."""

OFFSETS = 64
"""Offsets of the stored lists."""


@dataclass(frozen=True)
class Enclosure:
    """What encloses the best constant for volumes within a factor.

    Parameters
    ----------
    ratio : R, the largest volume over the least.
    lower, upper : of V(R).
    never_kill : the constant of one run for each request, in random order: (1 + sqrt(R))/2.
    """

    ratio: float
    lower: float
    upper: float
    never_kill: float

    @property
    def gap(self) -> float:
        """Return how much larger the upper end is, relatively."""
        return self.upper / self.lower - 1


def enclosure(ratio: float) -> Enclosure:
    """Return the proved bounds on V(R); floats, right but for rounding.

    >>> round(enclosure(2.0).lower, 4), enclosure(2.0).gap
    (1.2071, 0.0)
    """
    if not 1 <= ratio < float("inf"):
        raise ValueError(f"ratio of volumes {ratio} is not a number of at least 1")
    never, most = (1 + ratio**0.5) / 2, float(best()[1])
    if ratio <= NEVER_KILL:
        return Enclosure(ratio, never, never, never)
    # V(R) does not fall: a law for a smaller range is one for this, a policy for a larger serves it
    below = [stored_lower(at) for at in _stored()["laws"] if at <= ratio]
    proved = most * (log(ratio) - 4.22) / (1 + log(ratio))  # Theorem 3
    lower = max((1 + NEVER_KILL**0.5) / 2, proved, *below)
    above = [stored_upper(at) for at in _stored()["lists"] if at >= ratio]
    return Enclosure(ratio, lower, min([never, most, *above]), never)


@cache
def stored_lower(ratio: float) -> float:
    """Return the dual value of the stored law for a range."""
    law = _stored()["laws"][ratio]
    shares = [1.0, *law["shares"], 0.0]
    volumes = np.append(0.0, np.geomspace(1, ratio, len(shares) - 1))
    ends = np.geomspace(0.05, 2 * ratio**0.5, STEPS)
    begins = np.append(0.0, ends[:-1])
    knots = np.linspace(law["first"], law["last"], len(law["prices"]))
    price = np.interp(np.log(np.maximum(begins, 0.1)), knots, law["prices"])
    return dual_value(volumes.tolist(), shares, ends.tolist(), price.tolist())


def dual_value(
    volumes: Sequence[float],
    shares: Sequence[float],
    ends: Sequence[float],
    prices: Sequence[float],
) -> float:
    """Return a lower bound on the cost of every policy over the optimum, for one law.

    The least of 2 int Y dtau plus the price of work over all paths of bounds, less the integral of
    the price: weak duality. With a price that is constant within steps and 0 after them, jumps at
    the begin of a step, to volumes of the law, are best. O(volumes steps).

    Parameters
    ----------
    volumes : of the law, ascending, the first 0.
    shares : of requests whose volume exceeds each, from 1 to 0.
    ends : of the steps of time, ascending.
    prices : of a unit of work in each step; they must not increase.
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


@cache
def stored_upper(ratio: float) -> float:
    """Return the value of the stored list of caps for a range."""
    found = _stored()["lists"][ratio]
    levels = np.arange(40 * OFFSETS) / OFFSETS
    steps = np.interp(levels, np.arange(len(found["steps"])) * found["spacing"], found["steps"])
    growth = np.append(0.0, np.cumsum((steps[1:] + steps[:-1]) / 2)) / OFFSETS
    caps = np.exp(np.minimum(found["start"] + growth, log(ratio) + 1))
    return offset_value(ratio, caps.tolist(), OFFSETS, found["never"])


def offset_value(ratio: float, caps: Sequence[float], offsets: int, never: float = 0.0) -> float:
    """Return an upper bound on cost over optimum of a list of caps, for all laws on [1, ratio].

    A request with offset j has the caps number j, j + offsets, j + 2 offsets, ...; requests run in
    the order of these numbers, offsets are equally frequent. The last caps are the whole range.
    With probability `never` nobody is killed at all.

    Between neighbouring caps Y is replaced by its mean; Y at a cap is at most the mean before it,
    and the integral of Y**2 at least that of the mean's. The bound is then the largest eigenvalue
    of the cost, a quadratic form with nonnegative entries.
    """
    inside = [cap for cap in caps if 1 < cap < ratio]
    if list(caps) != sorted(caps) or len(inside) == len(caps):
        raise ValueError("caps must ascend and end with the whole range")
    edges = np.array([0.0, 1.0, *sorted(set(inside)), ratio])
    count = len(edges) - 1
    levels = [max(1, int(np.searchsorted(edges, min(cap, ratio)))) for cap in caps]
    first_whole = levels.index(count) if count in levels else len(levels)
    levels = levels[:first_whole] + [count] * offsets

    def above(node: int) -> Any:
        """Return Y at a node, at most, as a form of the means."""
        share = np.zeros(count)
        if node < count:
            share[max(node - 1, 0)] = 1.0
        return share

    widths = np.diff(edges)
    unfinished, form = above(0), np.zeros((count, count))
    for k, cap in enumerate(levels):
        bound = levels[k - offsets] if k >= offsets else 0
        if bound == cap:
            continue
        before, after = above(bound), above(cap)
        work = edges[bound] * before
        work[bound:cap] += widths[bound:cap]
        ended = (before - after) / offsets
        form += np.outer(work / offsets, 2 * unfinished - ended)
        unfinished = unfinished - ended
    whole = np.outer(widths, above(0))
    form = (1 - never) * form + never * whole
    scale = 1 / np.sqrt(widths)
    return float(np.linalg.eigvalsh((form + form.T) / 2 * np.outer(scale, scale))[-1])


@cache
def _stored() -> dict[str, dict[float, dict[str, Any]]]:
    text = files(__package__).joinpath("finite_range.json").read_text(encoding="utf-8")
    return {
        kind: {float(ratio): entry for ratio, entry in entries.items()}
        for kind, entries in json.loads(text).items()
    }
