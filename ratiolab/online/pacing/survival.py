"""Survival curves of the lengths, learned during a run, and the work that they forecast."""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ratiolab.machine_code import Often
from ratiolab.model.footprint import volume


class Curves(NamedTuple):
    """For each kind of requests, the share that outlives each age, by Kaplan and Meier.

    The share is learned from how many requests reached each age and how many ended there. Beyond
    the oldest age that was seen, it falls like one over the root of the volume of a run with a
    given prompt, as in the hardest distribution; without such a prompt it stays as it is.

    Parameters
    ----------
    reached, ended : requests that reached each age, and that ended there, shape (kinds, ages).
    alive : share that outlives each age up to the oldest, shape (kinds, ages).
    rounds, tokens : rounds and output tokens of runs to each age up to the oldest, on average,
        shape (kinds, ages).
    falls : sums over smaller ages of the shares beyond, up to a factor, and of these shares times
        the next age, shape (2, kinds, ages).
    seen : oldest age that a request of each kind was seen to reach, shape (kinds,).
    oldest : oldest age that was seen when the curve was learned, at least 1.
    facts, learned : facts entered, and how many the curve was learned from.
    prompt : the prompt of the shares beyond, or -1.
    summed : ages up to which ``falls`` holds.
    """

    reached: Any
    ended: Any
    alive: Any
    rounds: Any
    tokens: Any
    falls: Any
    seen: Any
    oldest: Any
    facts: Any
    learned: Any
    prompt: Any
    summed: Any

    @classmethod
    def of(cls, kinds: int, memory: int) -> "Curves":
        """Return the curves before a request arrives, up to the age that fills a memory."""
        tables = [np.zeros((kinds, memory + 2)) for _ in range(5)]
        numbers = [np.full(kinds, value) for value in (0, 0, 0, -1, -1, 0)]
        return cls(*[*tables, np.zeros((2, kinds, memory + 2)), *numbers])


@Often
def saw(c: Curves, kind: int, above: int, age: int, ended: bool) -> None:
    """Enter a request that was known to outlive ``above`` and has now reached an age.

    Parameters
    ----------
    ended : whether the request completed at this age.
    """
    if age > above:
        for x in range(above + 1, age + 1):
            c.reached[kind, x] += 1.0
        c.ended[kind, age] += ended
        c.facts[kind] += 1
        c.seen[kind] = max(c.seen[kind], age)


@Often
def learn(c: Curves, kind: int, prompt: int) -> None:
    """Bring a curve up to date, for a prompt of the shares beyond the oldest age, or -1."""
    if c.learned[kind] == c.facts[kind] and c.prompt[kind] == prompt:
        return
    if c.prompt[kind] != prompt:
        c.summed[kind] = 0
    oldest, share = max(c.seen[kind], 1), 1.0
    c.learned[kind], c.prompt[kind], c.oldest[kind] = c.facts[kind], prompt, oldest
    c.alive[kind, 0] = 1.0
    for x in range(1, oldest + 1):
        c.rounds[kind, x] = c.rounds[kind, x - 1] + share
        c.tokens[kind, x] = c.tokens[kind, x - 1] + share * x
        share *= 1 - min(c.ended[kind, x] / (c.reached[kind, x] + 0.5), 0.999)
        c.alive[kind, x] = share


def outlives(shares: Any, kind: int, oldest: int, prompt: int, age: int) -> float:
    """Return the share that outlives an age."""
    share: float = shares[kind, min(age, oldest)]
    if age > oldest and prompt >= 0:
        share *= sqrt(volume(prompt, oldest) / volume(prompt, age))
    return share


def sums(c: Curves, kind: int, age: int) -> tuple[float, float]:
    """Return the rounds and the output tokens that a run to an age has on average."""
    oldest, prompt = c.oldest[kind], c.prompt[kind]
    near = min(age, oldest)
    rounds, tokens = c.rounds[kind, near], c.tokens[kind, near]
    if age > oldest and prompt < 0:
        rounds += c.alive[kind, oldest] * (age - oldest)
        tokens += c.alive[kind, oldest] * (volume(0, age) - volume(0, oldest))
    elif age > oldest:
        for x in range(c.summed[kind], age):
            fall = 1 / sqrt(volume(prompt, max(x, 1)))
            c.falls[0, kind, x + 1] = c.falls[0, kind, x] + fall
            c.falls[1, kind, x + 1] = c.falls[1, kind, x] + fall * (x + 1)
        c.summed[kind] = max(c.summed[kind], age)
        scale = c.alive[kind, oldest] * sqrt(volume(prompt, oldest))
        rounds += scale * (c.falls[0, kind, age] - c.falls[0, kind, oldest])
        tokens += scale * (c.falls[1, kind, age] - c.falls[1, kind, oldest])
    return rounds, tokens


def expected_volume(c: Curves, kind: int, prompt: int, bound: int, cap: int) -> float:
    """Return the volume of a run to a cap of a request known to outlive `bound`, below it."""
    rounds, tokens = sums(c, kind, cap)
    before, tokens_before = sums(c, kind, bound)
    beyond = prompt * (rounds - before) + tokens - tokens_before
    share: float = outlives(c.alive, kind, c.oldest[kind], c.prompt[kind], bound)
    return volume(prompt, bound) + beyond / max(share, 1e-300)


def longest_within(prompt: int, area: int) -> int:
    """Return the largest number of tokens whose volume is at most `area`; at least 1.

    >>> [longest_within(0, 6), longest_within(0, 5), longest_within(2, 7), longest_within(5, 1)]
    [3, 2, 2, 1]
    """
    twice = 2 * prompt + 1
    square = twice * twice + 8 * area
    root = int(sqrt(square))
    while root * root > square:
        root -= 1
    while (root + 1) * (root + 1) <= square:
        root += 1
    return max(1, (root - twice) // 2)
