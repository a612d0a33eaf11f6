"""Survival curves of the lengths, learned during a run, and the memory that they forecast."""

from functools import cache, lru_cache
from math import exp, isqrt
from typing import Any

import numpy as np

from ratiolab.model.footprint import volume
from ratiolab.online.pacing.kernels import continued, ending_shares, oldest_news, running_sums

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
    """The share of requests that reach each age, learned from the requests that did or ended there.

    Parameters
    ----------
    memory : tokens; ages up to this are known of.
    log : where the curve is written, shape (memory + 2,); by default a new array.

    Attributes
    ----------
    log : logarithm of the share that outlives each age, shape (memory + 2,); right up to the
        oldest age that `reach` was asked for since it was learned.
    right : that age.
    seen : oldest age that a request was seen to reach.
    """

    def __init__(self, memory: int, log: Any = None) -> None:
        ages = memory + 2
        self._reached, self._ended = np.zeros(ages), np.zeros(ages)
        self.log = np.zeros(ages) if log is None else log
        self.seen = 0
        self._oldest, self._tail = 1, extension(None, ages)
        self.right, self._shift = ages, 0.0
        self._learned: tuple[int, int | None] = 0, None  # facts entered, and prompt
        self._facts = 0
        self._sums: Any = None

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

    def saw_running(self, table: Any, number: int, row: int, now: int) -> None:
        """Enter the ages of running requests of one kind; the table takes note of them.

        `kernels.oldest_news` has the parameters.
        """
        oldest = oldest_news(table, number, row, now, self._reached)
        if oldest:
            self._facts += 1
            self.seen = max(self.seen, oldest)

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
        known = self.log[: self.seen + 1]  # nobody was seen to end later
        ending_shares(self._reached, self._ended, known)
        np.log1p(known, known)
        self._oldest = max(self.seen, 1)
        self._tail = extension(prompt, len(self.log))
        self._shift = continued(self.log, self.seen, self._tail[0])
        self.right = self._oldest
        self._sums = None

    def reach(self, age: Any) -> Any:
        """Continue the curve up to an age, or the largest of some, and return it.

        Most runs never come near the age that fills the memory.
        """
        most = age if isinstance(age, int) else int(age.max())
        if most > self.right:
            further = slice(self.right + 1, most + 1)
            np.add(self._tail[0][further], self._shift, out=self.log[further])
            self.right = most
        return self.log

    def _known(self) -> tuple[Any, Any, Any]:
        """Return rounds and output tokens of runs to each age that was seen, and shares alive."""
        if self._sums is None:
            rounds, tokens = np.zeros((2, self._oldest + 1))
            alive = np.exp(self.log[: self._oldest])
            running_sums(alive, rounds, tokens)
            self._sums = rounds, tokens, alive
        return self._sums  # type: ignore[no-any-return]

    def sums(self, age: Any) -> tuple[Any, Any]:
        """Return the rounds and the output tokens that a run to an age has on average."""
        rounds, tokens, _ = self._known()
        falls, rounds_beyond, tokens_beyond = self._tail
        if isinstance(age, int):  # of one request, quicker without arrays
            near, far = min(age, self._oldest), max(age, self._oldest)
            rounds, tokens = rounds.item(near), tokens.item(near)
            if age <= self._oldest:
                return rounds, tokens
        else:
            near, far = np.minimum(age, self._oldest), np.maximum(age, self._oldest)
            rounds, tokens = rounds[near], tokens[near]
        scale = exp(self.log[self._oldest] - falls[self._oldest])
        return (
            rounds + scale * (rounds_beyond[far] - rounds_beyond[self._oldest]),
            tokens + scale * (tokens_beyond[far] - tokens_beyond[self._oldest]),
        )

    def expected_volume(self, prompt: Any, bound: Any, cap: Any) -> Any:
        """Return the volume of a run to a cap of a request known to outlive `bound`, below it.

        Takes integers or integer arrays.
        """
        rounds, tokens = self.sums(cap)
        rounds_before, tokens_before = self.sums(bound)
        beyond = prompt * (rounds - rounds_before) + tokens - tokens_before
        if isinstance(bound, int) and bound < self._oldest:
            return volume(prompt, bound) + beyond / max(self._known()[2].item(bound), 1e-300)
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
