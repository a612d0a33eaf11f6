"""One long request, then many short ones just before it ends: no start of the long one is good.

**A better constant.** Take h >= 2, i >= 1, M = 2 h**3 i**2, s = h**2 - 1, d = 2 h**2 i rounds of
delay and N = 4 h**2 i**2 short requests, and let the long request start in round b. At a
rounds after the release, a = 1, ..., d, it leaves d - a tokens, so at most (d - a)/h**2 short ones
complete then, each saving d - a against a latency of d: any algorithm pays at least
N d - d**3/(3 h**2) = 2 N d/3 = 16 h**4 i**3/3. For the optimum, M/h**2 = 2 h i**2 short ones fit at
once, all of them in 2h rounds, with total latency 2 h**2 i**2 (2h + 1) = M (2 + 1/h). If b >= d the
long request can end before they arrive, at M - s <= 2 M; if b < d it can start after them and ends
by 2 (M - s) - 1 + 2h <= 2 M. Hence OPT <= M (4 + 1/h), and the ratio is at least

    16 h**4 i**3 / (3 M (4 + 1/h)) = 4h/(3 (4h + 1)) sqrt(n - 1),   n = N + 1:

every constant below **1/3** is reached, where the printed one, sqrt(M)/28, is sqrt(2)/28 = 0.0505.
This is for algorithms that do not evict, as the paper's model has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ratiolab.model import Instance


@dataclass(frozen=True)
class LateRush:
    """An adversary: it sees the long request start in round b, then releases the short ones.

    Every prompt is s. The long request has output M - s, the most that fits, and arrives at 0; if
    it starts in round b it ends at b + M - s. The short ones, output 1, arrive at
    r = b + M - s - ``delay``, while the long one fills memory.

    Once the start of the long request is known the short ones are alike and last one round, so
    filling every round is optimal for them: `latency` is the least total latency of any schedule
    with this start, without evictions, and the optimum is its minimum over starts, exactly.

    Parameters
    ----------
    memory, prompt : M and s, tokens, s + 1 <= M.
    short : number of short requests.
    delay : rounds between their arrival and the end of the long request, 1 to M - s.

    Source: Jaillet et al. (2025), proof of Theorem 4.1, arXiv 2502.07115v5.
    """

    memory: int
    prompt: int
    short: int
    delay: int

    def __post_init__(self) -> None:
        if not 1 <= self.delay <= self.memory - self.prompt:
            raise ValueError(f"delay {self.delay} must be 1 to {self.memory - self.prompt}")

    @property
    def requests(self) -> int:
        """Long and short ones."""
        return self.short + 1

    def release(self, start: int) -> int:
        """Return the round in which the short ones arrive when the long one has started in this
        round.
        """
        return start + self.memory - self.prompt - self.delay

    def latency(self, start: int, release: int) -> int:
        """Return the least total latency for a start and a release. O(delay + rounds)."""
        length = self.memory - self.prompt
        total, left, age = start + length, self.short, 0
        while left:
            age += 1
            grown = release + age - start  # age of the long request
            held = self.prompt + grown if 1 <= grown <= length else 0
            served = min(left, (self.memory - held) // (self.prompt + 1))
            total += served * age
            left -= served
        return total

    def optimum(self, release: int) -> int:
        """Return the least latency over all starts of the long request, for short ones of this
        release.

        Starts worth trying: 0, and those in (release - length, release + rounds]: an earlier start
        than release - length is as good as 0, a later one than all short ones only adds.
        """
        rounds = -(-self.short * (self.prompt + 1) // self.memory) + 1
        least = max(1, release - (self.memory - self.prompt))
        starts = [0, *range(least, release + rounds + 1)]
        return min(self.latency(start, release) for start in starts)

    def ratio(self, start: int) -> Fraction:
        """Return the best that an algorithm can reach after this start, over the optimum."""
        release = self.release(start)
        return Fraction(self.latency(start, release), self.optimum(release))

    def forced(self) -> Fraction:
        """Return the least ratio over all starts: what the family forces on every algorithm.

        From start ``delay`` on the optimum stays the same, so later starts are no better. Cost
        O(M delay**2).
        """
        return min(self.ratio(start) for start in range(self.delay + 1))

    def instance(self, start: int) -> Instance:
        """Return the requests that arrive when the long one, request 0, starts in this round."""
        outputs = [self.memory - self.prompt] + [1] * self.short
        arrival = [0] + [self.release(start)] * self.short
        return Instance("late rush", self.memory, arrival, [self.prompt] * self.requests, outputs)


def printed(root: int) -> LateRush:
    """Return the paper's family, M = 4 root**2: prompt 1, M/2 short ones, at b + M - sqrt(M)/2.

    >>> printed(2)
    LateRush(memory=16, prompt=1, short=8, delay=1)
    """
    memory = 4 * root * root
    return LateRush(memory, 1, memory // 2, root - 1)


def sharper(h: int, i: int) -> LateRush:
    """Return the family with ratio at least 4h/(3 (4h + 1)) sqrt(n - 1); proof above.

    >>> sharper(2, 1)
    LateRush(memory=16, prompt=3, short=16, delay=8)
    """
    if h < 2 or i < 1:
        raise ValueError(f"h {h} must be at least 2 and i {i} at least 1")
    return LateRush(2 * h**3 * i * i, h * h - 1, 4 * h * h * i * i, 2 * h * h * i)
