"""A plan of caps for the estimated distribution of volumes: the best path through it."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from ratiolab.model.caps import cap_costs
from ratiolab.model.footprint import volume
from ratiolab.online.pacing.survival import Survival, longest_within

PROMPTS = 32
"""Prompts that stand for all."""

NODES = 32
"""Volumes in geometric progression that may be caps, and as many of requests that ended."""


class CapPlan:
    """The best next cap, in volume, for a request known to exceed one.

    Lengths follow the survival curve, independently of the prompts. A cap may
    be a volume of a request that ended or one of a geometric progression; the last
    is no cap at all.

    Parameters
    ----------
    survival : of the lengths.
    prompts : prompts of the requests, ascending.
    ended : volumes of requests that ended, ascending.
    lower : the least length.
    memory : the most that a request holds.
    keeps : whether killed requests keep their tokens, so that no work is done again.
    """

    def __init__(
        self,
        survival: Survival,
        prompts: Sequence[int],
        ended: Sequence[int],
        lower: int,
        memory: int,
        *,
        keeps: bool,
    ) -> None:
        self._memory = memory
        few = np.array(spread(prompts, PROMPTS))
        least, most = volume(prompts[0], lower), max(volume(s, memory - s) for s in few.tolist())
        nodes = {*np.geomspace(least, most, NODES).astype(np.int64).tolist(), most}
        nodes |= {v for v in spread(ended, NODES) if least <= v < most}
        self._volumes = [0, *sorted(nodes)]
        ages = np.array([[longest_within(s, v) for v in self._volumes] for s in few.tolist()])
        ages = np.minimum(ages, (memory - few)[:, None])
        shortest = [[volume(s, lower)] for s in few.tolist()]
        ages[np.array(self._volumes)[None, :] < np.array(shortest)] = 0
        above = np.where(ages < (memory - few)[:, None], np.exp(survival.reach(ages)[ages]), 0.0)
        rounds, tokens = survival.sums(ages)
        filled = few[:, None] * rounds + tokens
        lost = (few[:, None] * ages + ages * (ages + 1) // 2) * above * (not keeps)
        costs = cap_costs(*(part.mean(axis=0) for part in (above, filled, lost)))
        self._following = costs.argmin(axis=1).tolist()
        self._caps: dict[tuple[int, int], int] = {}  # that were asked for

    def next_cap(self, prompt: int, bound: int) -> int:
        """Return the age at which a request known to outlive a bound is to be killed next."""
        cap = self._caps.get((prompt, bound))
        if cap is None:
            cap = self._caps[prompt, bound] = self._next_cap(prompt, bound)
        return cap

    def _next_cap(self, prompt: int, bound: int) -> int:
        most, node = self._memory - prompt, 0
        if bound:
            node = bisect_right(self._volumes, volume(prompt, bound)) - 1
        while node < len(self._volumes) - 1:
            node = self._following[node]
            cap = longest_within(prompt, self._volumes[node])
            if bound < cap and volume(prompt, cap) <= self._volumes[node]:
                return min(cap, most)
        return most


def spread(values: Sequence[int], most: int) -> list[int]:
    """Return at most ``most`` of some values, evenly by rank, with the first and the last.

    >>> spread([1, 2, 3, 5, 8, 13, 21], 3)
    [1, 5, 21]
    """
    if len(values) <= most:
        return list(values)
    return [values[k * (len(values) - 1) // (most - 1)] for k in range(most)]
