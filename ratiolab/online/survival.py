"""What is learned of the lengths while requests run, and what it says of the memory to come."""

from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from ratiolab.model.footprint import volume

HORIZONS = 14
"""Rounds ahead, in geometric progression, at which expected memory is looked at."""


def longest_within(prompt: int, area: float) -> int:
    """Return the largest number of tokens whose volume is at most `area`; at least 1.

    >>> [longest_within(0, 6), longest_within(0, 5.9), longest_within(2, 7), longest_within(5, 1)]
    [3, 2, 2, 1]
    """
    twice = 2 * prompt + 1
    tokens = (isqrt(twice * twice + 8 * int(area)) - twice) // 2
    return max(1, tokens)


class Survival:
    """The share of requests that reach each age, learned from those that did or ended there.

    Attributes
    ----------
    log : logarithm of the share that outlives each age, shape (memory + 2,).
    alive : that share.
    rounds, tokens : ages and output tokens that a run to each age has on average, shape as `log`.
    seen : oldest age that a request was seen to reach.
    """

    def __init__(self, memory: int) -> None:
        ages = memory + 2
        self._reached, self._ended = np.zeros(ages), np.zeros(ages)
        self.log = np.zeros(ages)
        self.seen = 0
        self._age = np.arange(1, ages)
        self._sum()

    def saw(self, above: int, age: int, ended: bool) -> None:
        """Enter a request known to outlive `above` that went on to an age, and whether it ended."""
        self._reached[above + 1 : age + 1] += 1
        self._ended[age] += ended
        self.seen = max(self.seen, age)

    def learn(self, prompt: int | None = None) -> None:
        """Bring the curve up to date.

        Parameters
        ----------
        prompt : beyond the oldest age that was seen, the share that survives falls like one over
            the root of the volume with this prompt, the hardest law; None: nobody ends there.
        """
        known = slice(0, self.seen + 1)  # nobody was seen to end later
        share = self._ended[known] / (self._reached[known] + 0.5)
        self.log[known] = np.cumsum(np.log1p(-np.minimum(share, 0.999)))
        self.log[self.seen + 1 :] = self.log[self.seen]
        if prompt is not None:
            oldest = max(self.seen, 1)
            ages = np.arange(oldest, len(self.log))
            tokens = np.log(volume(np.full_like(ages, prompt), ages))
            self.log[oldest:] -= (tokens - tokens[0]) / 2
        self._sum()

    def _sum(self) -> None:
        self.alive = np.exp(self.log)
        self._alive = np.maximum(self.alive, 1e-300)
        self.rounds = np.append(0.0, np.cumsum(self.alive[:-1]))
        self.tokens = np.append(0.0, np.cumsum(self._age * self.alive[:-1]))

    def expected_volume(self, prompt: int, bound: int, cap: int) -> float:
        """Return the volume of a run to a cap of a request known to outlive `bound`."""
        sure = min(bound, cap)
        beyond = prompt * (self.rounds[cap] - self.rounds[sure])
        beyond += self.tokens[cap] - self.tokens[sure]
        return volume(prompt, sure) + float(beyond / self._alive[sure])

    def expected_memory(self, age: Any, prompt: Any, bound: Any, cap: Any, ahead: Any) -> Any:
        """Return the tokens expected to be held in rounds ahead, shape (requests, rounds)."""
        then = age[:, None] + ahead[None, :]
        known = np.maximum(bound, age)[:, None]
        before = np.minimum(then - 1, len(self.log) - 1)
        alive = np.exp(self.log[np.maximum(before, known)] - self.log[known])
        return np.where(then <= cap[:, None], alive * (prompt[:, None] + then), 0.0)


@cache
def horizons(cap: int) -> Any:
    """Return the rounds ahead at which expected memory is looked at: 1, 2, 3, then sparser.

    >>> horizons(6).tolist()
    [1, 2, 3, 4, 5, 6]
    """
    far = np.geomspace(4, max(5, cap), HORIZONS).round().astype(np.int64)
    ahead = np.unique(np.append([1, 2, 3], far))
    return ahead[ahead <= max(1, cap)]
