"""Widths of walks that merge states, and of the last of them.

What a walk proves depends on its width more than on its multipliers, and good multipliers of a
narrow one are good for a wide one, too. Where time is limited, one walk, as wide as a part of it
allows, is therefore the last: with 60 requests one of 16,000 states, eleven seconds, proves 13577,
and one of 32,000 under the same multipliers 13603.
"""

from collections.abc import Callable
from math import inf

MERGED = 16_000, 64_000
"""Widths of walks for many requests, one after the other as less is gained."""

WIDER = 64_000, 200_000
"""Widths of walks that go on from those of a proof: their multipliers are good already. With 45
requests and the same multipliers 16,000, 64,000 and 200,000 states prove 5265, 5287 and 5297."""

LAST = 16_000, 32_000, 64_000, 128_000, 256_000
"""Widths of the last walk, as far as a checker follows, which takes twice as many states."""

PART = 0.6
"""Part of the time for the last walk."""

LEAST = 1e-3
"""Seconds of a step of the search for multipliers at least."""

MANY, LITTLE_DEARER, DEARER = 64_000, 0.6, 0.9
"""Seconds of a walk grow as its width to the power of 0.6, and beyond so many states 0.9: then more
and more layers have as many."""


def wider(width: int) -> tuple[int, ...]:
    """Return the widths of walks that go on from one so wide, or from a complete one, 0."""
    return tuple(each for each in WIDER if each > width) or WIDER[-1:]


class LastWalk:
    """The choice of when to walk for the last time, and how wide.

    Parameters
    ----------
    left : returns the seconds that are left, infinity without a limit.
    most : states that a layer may keep.
    after : without a clock, the number of steps of the search for multipliers after which it comes,
        and its width.
    """

    def __init__(
        self, left: Callable[[], float], most: int, after: tuple[int, int] | None = None
    ) -> None:
        self.left, self.most, self.after = left, most, after
        self.total = self.before = left()
        self.seconds = 0.0

    @property
    def limited(self) -> bool:
        """Return whether time is limited."""
        return self.total < inf

    def begin(self) -> None:
        """Note that a step begins only now."""
        self.before = self.left()

    def due(self, steps: int, width: int, *, stalled: bool = False) -> int:
        """Return its width if it is time for it after so many steps, the last so wide, else 0.

        Parameters
        ----------
        width : 0 where that walk merged nothing: a wider one proves no more.
        stalled : whether narrow walks gain no more, so that there is nothing to wait for.
        """
        left = self.left()
        if not stalled:  # after a step, that is
            self.seconds, self.before = self.before - left, left
        if not width:
            return 0
        if self.after is not None:
            number, last = self.after
            return min(last, self.most) if stalled or steps >= number else 0
        if left == inf:
            return self._widest(width, inf, inf) if stalled else 0
        step = max(self.seconds, LEAST)
        widest = self._widest(width, left / step, inf if stalled else PART * self.total / step)
        waits = left - step >= step * _longer(width, widest)
        return 0 if waits and not stalled else widest

    def _widest(self, width: int, *most: float) -> int:
        """Return the widest walk that takes so many times as long as one of this width, or 0."""
        fits = (w for w in LAST if width < w <= self.most and _longer(width, w) <= min(most))
        return max(fits, default=0)


def _longer(width: int, other: int) -> float:
    """Return how many times as long a walk takes that is so wide, and wider."""
    few = min(other, MANY) / min(width, MANY)
    many = max(other, MANY) / max(width, MANY)
    return float(few**LITTLE_DEARER * many**DEARER)
