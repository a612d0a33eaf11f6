"""Output-length distributions on the integers ``lower..upper``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Number: TypeAlias = int | Fraction | float
Tail: TypeAlias = Literal["condition", "move"]

#: How far floating-point probabilities may sum from one.
SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class LengthDistribution:
    """A probability mass function on consecutive integer output lengths.

    Exact when every probability is an integer or a Fraction: then the moments, the cdf and every
    fluid quantity built on them are Fractions. Otherwise they are floats.

    ``probabilities[i]`` is P(o = lower + i): nonnegative, summing to one, ``lower`` at least 1.

    >>> LengthDistribution(1, (Fraction(1, 3), Fraction(2, 3))).mean
    Fraction(5, 3)
    """

    lower: int
    probabilities: tuple[Number, ...]
    name: str = "custom"

    def __post_init__(self) -> None:
        values = tuple(
            Fraction(p) if isinstance(p, int | Fraction) else float(p) for p in self.probabilities
        )
        if not (values and all(isinstance(p, Fraction) for p in values)):
            values = tuple(float(p) for p in values)
        object.__setattr__(self, "probabilities", values)
        if self.lower < 1:
            raise ValueError(f"lower {self.lower} is below 1 token")
        if not values:
            raise ValueError("probabilities are empty: at least one length is needed")
        for length, p in enumerate(values, self.lower):
            if not 0 <= p < float("inf"):
                raise ValueError(f"length {length}: probability {p} is not in [0, 1]")
        total = sum(values)
        if total != 1 if self.is_exact else abs(float(total) - 1) > SUM_TOLERANCE:
            raise ValueError(f"probabilities sum to {total}, not 1")

    @property
    def upper(self) -> int:
        """Largest length of the table, in tokens."""
        return self.lower + len(self.probabilities) - 1

    @property
    def is_exact(self) -> bool:
        """Whether every probability is a Fraction."""
        return isinstance(self.probabilities[0], Fraction)

    @cached_property
    def array(self) -> NDArray[np.float64]:
        """The probabilities as a read-only float array, shape (upper - lower + 1,)."""
        values = np.array([float(p) for p in self.probabilities])
        values.flags.writeable = False
        return values

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The lengths ``lower..upper``, shape (upper - lower + 1,)."""
        return np.arange(self.lower, self.upper + 1, dtype=np.int64)

    def expectation(self, values: Sequence[int]) -> Number:
        """Return the mean of ``values[i]`` at length ``lower + i``; O(upper - lower)."""
        if self.is_exact:
            return sum((p * v for p, v in zip(self.probabilities, values, strict=True)), Fraction())
        return float(self.array @ np.asarray(values, dtype=np.float64))

    @cached_property
    def mean(self) -> Number:
        """E[o], in tokens."""
        return self.expectation(range(self.lower, self.upper + 1))

    @cached_property
    def second_moment(self) -> Number:
        """E[o**2], in tokens squared."""
        return self.expectation([k * k for k in range(self.lower, self.upper + 1)])

    @cached_property
    def tail(self) -> tuple[Number, ...]:
        """P(o >= lower + i) for each i; the first entry is the total mass."""
        return tuple(accumulate(reversed(self.probabilities)))[::-1]

    def probability(self, length: int) -> Number:
        """Return P(o = length)."""
        inside = self.lower <= length <= self.upper
        return self.probabilities[length - self.lower] if inside else 0

    def survival(self, length: Number) -> Number:
        """Return P(o > length), for any real ``length``."""
        index = int(length // 1) + 1 - self.lower
        if index <= 0:
            return self.tail[0]
        return self.tail[index] if index < len(self.tail) else 0

    def cdf(self, length: Number) -> Number:
        """Return P(o <= length), for any real ``length``."""
        return self.tail[0] - self.survival(length)

    def sample(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Draw independent lengths."""
        weights = self.array / self.array.sum()
        return rng.choice(self.lengths, size=size, p=weights).astype(np.int64)


def from_weights(lower: int, weights: Sequence[Number], name: str = "custom") -> LengthDistribution:
    """Return the distribution proportional to nonnegative ``weights`` on ``lower, lower+1, ...``.

    >>> from_weights(2, (1, 0, 3)).mean
    Fraction(7, 2)
    """
    exact = all(isinstance(w, int | Fraction) for w in weights)
    total = sum((Fraction(w) if exact else float(w) for w in weights), Fraction(0))
    if not total > 0:
        raise ValueError(f"weights sum to {total}, which is not positive")
    return LengthDistribution(lower, tuple(w / total for w in weights), name)


def two_point(lower: int, upper: int, share_upper: Number) -> LengthDistribution:
    """Return lengths ``lower`` and ``upper``, the second with probability ``share_upper``.

    >>> two_point(1, 4, Fraction(1, 3)).mean
    Fraction(2, 1)
    """
    check_range(lower, upper)
    if not 0 <= share_upper <= 1:
        raise ValueError(f"share_upper {share_upper} is not in [0, 1]")
    if lower == upper:
        return LengthDistribution(lower, (1,), "two-point")
    between = (0,) * (upper - lower - 1)
    return LengthDistribution(lower, (1 - share_upper, *between, share_upper), "two-point")


def uniform(lower: int, upper: int) -> LengthDistribution:
    """Return the uniform distribution on ``lower..upper``.

    >>> uniform(1, 6).second_moment
    Fraction(91, 6)
    """
    check_range(lower, upper)
    return from_weights(lower, (1,) * (upper - lower + 1), "uniform")


def geometric(
    q: Number, upper: int, *, lower: int = 1, tail: Tail = "condition"
) -> LengthDistribution:
    """Return P(o = k) proportional to q**(k-lower), cut at ``upper``.

    q in [0, 1) is the probability of a further token; a Fraction gives exact probabilities.
    ``tail`` says what becomes of P(o > upper): ``condition`` rescales the rest, as if longer draws
    were thrown away; ``move`` puts the mass on ``upper``, as a serving system does that stops
    generation at its token limit.

    Source: Chen, Ye, Zhou (2025), Section 5.2, arXiv 2508.14544v2.

    >>> geometric(Fraction(1, 2), 3, tail="move").probabilities
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    """
    check_range(lower, upper)
    _check_q(q)
    p = 1 - q
    mass = [p * q**i for i in range(upper - lower + 1)]
    beyond = q ** (upper - lower + 1)
    return _cut(lower, mass, beyond, tail, "geometric")


def linearly_weighted_geometric(
    q: Number, upper: int, *, tail: Tail = "condition"
) -> LengthDistribution:
    """Return P(o = k) proportional to k q**(k-1) on 1..upper.

    Parameters and ``tail`` as in `geometric`; uncut, P(o = k) = k (1-q)**2 q**(k-1).

    Source: Chen, Ye, Zhou (2025), Section 5.3, arXiv 2508.14544v2.

    >>> linearly_weighted_geometric(Fraction(1, 2), 2).probabilities
    (Fraction(1, 2), Fraction(1, 2))
    """
    check_range(1, upper)
    _check_q(q)
    p = 1 - q
    mass = [k * p * p * q ** (k - 1) for k in range(1, upper + 1)]
    # P(o > u) = q**u (1 + u p): the sum of two geometric variables exceeds u + 1.
    return _cut(1, mass, q**upper * (1 + upper * p), tail, "linearly weighted geometric")


def power(lower: int, upper: int, exponent: Number = 1) -> LengthDistribution:
    """Return P(o >= k) = (lower/k)**exponent on lower..upper, with the rest at ``upper``.

    Without prompts and with exponent 1 this is the distribution for which no policy that does not
    know the lengths comes near the optimum: ratiolab/papers/ours/proofs/volume_restart.md, section
    3.

    >>> power(1, 3).probabilities
    (Fraction(1, 2), Fraction(1, 6), Fraction(1, 3))
    """
    check_range(lower, upper)
    if not exponent > 0:
        raise ValueError(f"exponent {exponent} is not above 0")
    reach = [Fraction(lower, k) ** exponent for k in range(lower, upper + 1)]
    mass = [a - b for a, b in zip(reach, (*reach[1:], 0), strict=True)]
    return LengthDistribution(lower, tuple(mass), "power law")


def _cut(
    lower: int, mass: list[Number], beyond: Number, tail: Tail, name: str
) -> LengthDistribution:
    if tail == "move":
        return LengthDistribution(lower, (*mass[:-1], mass[-1] + beyond), name)
    if tail == "condition":
        return from_weights(lower, mass, name)
    raise ValueError(f"tail {tail!r} is neither 'condition' nor 'move'")


def check_range(lower: int, upper: int, prompt: int = 0) -> None:
    """Raise ValueError unless 1 <= lower <= upper and the prompt is not negative."""
    if not 1 <= lower <= upper:
        raise ValueError(f"lengths {lower}..{upper}: 1 <= lower <= upper is needed")
    if prompt < 0:
        raise ValueError(f"prompt {prompt} is negative")


def _check_q(q: Number) -> None:
    if not 0 <= q < 1:
        raise ValueError(f"q {q} is not in [0, 1)")
