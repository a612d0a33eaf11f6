"""Survival curves of the lengths, learned during a run, and the memory that they forecast."""

from functools import cache, lru_cache
from math import exp, isqrt
from typing import Any

import numpy as np

from ratiolab.model.footprint import volume

HORIZONS = 14
"""Rounds ahead, in geometric progression, at which expected memory is looked at."""

MANY = 16
"""Requests from which on sums over all ages are quicker than one after the other."""


def longest_within(prompt: int, area: float) -> int:
    """Return the largest number of tokens whose volume is at most `area`; at least 1.

    >>> [longest_within(0, 6), longest_within(0, 5.9), longest_within(2, 7), longest_within(5, 1)]
    [3, 2, 2, 1]
    """
    twice = 2 * prompt + 1
    tokens = (isqrt(twice * twice + 8 * int(area)) - twice) // 2
    return max(1, tokens)


class Survival:
    """The share of requests that reach each age, learned from the requests that did or ended there.

    Parameters
    ----------
    memory : tokens; ages up to this are known of.
    log : where the curve is written, shape (memory + 2,); by default a new array.

    Attributes
    ----------
    log : logarithm of the share that outlives each age, shape (memory + 2,); right up to the
        oldest age that `reach` was asked for since it was learned.
    seen : oldest age that a request was seen to reach.
    """

    def __init__(self, memory: int, log: Any = None) -> None:
        ages = memory + 2
        self._reached, self._ended = np.zeros(ages), np.zeros(ages)
        self.log = np.zeros(ages) if log is None else log
        self.seen = 0
        self._oldest, self._tail = 1, extension(None, ages)
        self._right, self._shift = ages, 0.0
        self._learned: tuple[int, int | None] = 0, None  # facts entered, and prompt
        self._facts = 0
        self._sums: Any = None
        self._age = np.arange(1, ages)

    def saw(self, above: int, age: int, ended: bool) -> None:
        """Enter a request that was known to outlive ``above`` and has now reached an age.

        Parameters
        ----------
        ended : whether the request completed at this age.
        """
        if age > above:
            self._reached[above + 1 : age + 1] += 1
            self._ended[age] += ended
            self._facts += 1
            self.seen = max(self.seen, age)

    def saw_all(self, above: Any, age: Any) -> None:
        """Enter many requests that still run.

        Parameters
        ----------
        above, age : arrays; each pair is a call of `saw` with ``ended`` false.
        """
        if len(age) < MANY:
            for known, reached in zip(above.tolist(), age.tolist(), strict=True):
                self.saw(known, reached, False)
        elif (age > above).any():
            self._facts += 1
            self.seen = max(self.seen, int(age[age > above].max()))
            known = max(self.seen, int(above.max()))
            change = np.bincount(above + 1, minlength=known + 2)
            change -= np.bincount(np.maximum(above, age) + 1, minlength=known + 2)
            self._reached[: known + 1] += change[:-1].cumsum()

    def learn(self, prompt: int | None = None) -> None:
        """Bring the curve up to date.

        Parameters
        ----------
        prompt : tokens. Beyond the oldest age that was seen, the share that survives falls like one
            over the root of the volume with this prompt, as in the hardest distribution. With None,
            no request ends beyond that age.
        """
        if self._learned == (self._facts, prompt):
            return
        self._learned = self._facts, prompt
        known = slice(0, self.seen + 1)  # nobody was seen to end later
        share = self._ended[known] / (self._reached[known] + 0.5)
        np.minimum(share, 0.999, out=share)
        np.log1p(np.negative(share, out=share), out=share).cumsum(out=self.log[known])
        self._oldest = max(self.seen, 1)
        self._tail = extension(prompt, len(self.log))
        self._shift = self.log[self.seen] - self._tail[0][self._oldest]
        self._right = self._oldest - 1
        self.reach(self._oldest)
        self._sums = None

    def reach(self, age: Any) -> Any:
        """Continue the curve up to an age, or the largest of some, and return it.

        Most runs never come near the age that fills the memory.
        """
        most = age if isinstance(age, int) else int(age.max())
        if most > self._right:
            further = slice(self._right + 1, most + 1)
            np.add(self._tail[0][further], self._shift, out=self.log[further])
            self._right = most
        return self.log

    def sums(self, age: Any) -> tuple[Any, Any]:
        """Return the rounds and the output tokens that a run to an age has on average."""
        if self._sums is None:
            self._sums = np.zeros((2, self._oldest + 1))
            alive = np.exp(self.log[: self._oldest])
            alive.cumsum(out=self._sums[0, 1:])
            (alive * self._age[: self._oldest]).cumsum(out=self._sums[1, 1:])
        rounds, tokens = self._sums
        if isinstance(age, int) and age <= self._oldest:
            return rounds[age], tokens[age]
        near, far = np.minimum(age, self._oldest), np.maximum(age, self._oldest)
        falls, rounds_beyond, tokens_beyond = self._tail
        scale = exp(self.log[self._oldest] - falls[self._oldest])
        return (
            rounds[near] + scale * (rounds_beyond[far] - rounds_beyond[self._oldest]),
            tokens[near] + scale * (tokens_beyond[far] - tokens_beyond[self._oldest]),
        )

    def expected_volume(self, prompt: Any, bound: Any, cap: Any) -> Any:
        """Return the volume of a run to a cap of a request known to outlive `bound`, below it.

        Takes integers or integer arrays.
        """
        rounds, tokens = self.sums(cap)
        rounds_before, tokens_before = self.sums(bound)
        beyond = prompt * (rounds - rounds_before) + tokens - tokens_before
        return volume(prompt, bound) + beyond / np.maximum(np.exp(self.reach(bound)[bound]), 1e-300)


@lru_cache(maxsize=32)
def extension(prompt: int | None, ages: int) -> tuple[Any, Any, Any]:
    """Return a curve to continue a survival curve with, as `Survival.learn` describes it.

    Returns logarithm of the share that outlives each age, up to a constant, and sums of the shares
    and of shares times the next age, over all smaller ages. Age 0 counts for prompt None only.
    """
    if prompt is None:
        log = np.zeros(ages)
    else:
        tokens = volume(np.full(ages, prompt), np.arange(ages))
        log = np.append(0.0, np.log(tokens[1:]) / -2)
    alive = np.exp(log)
    later = np.arange(1, ages) * alive[:-1]
    return log, np.append(0.0, np.cumsum(alive[:-1])), np.append(0.0, np.cumsum(later))


@cache
def horizons(cap: int) -> Any:
    """Return the rounds ahead at which expected memory is looked at: 1, 2, 3, then sparser.

    >>> horizons(6).tolist()
    [1, 2, 3, 4, 5, 6]
    """
    far = np.geomspace(4, max(5, cap), HORIZONS).round().astype(np.int64)
    ahead = np.unique(np.append([1, 2, 3], far))
    return ahead[ahead <= max(1, cap)]
