"""When walks that merge states are made, and how wide.

What a walk proves depends on its width as much as on its multipliers, which beams find in little
time. Where time is limited, one walk that takes a part of it is therefore the last.
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

NARROWER, NARROW = 4_000, 16_000
"""Widths of walks that say early what is proven, and whether walks merge at all."""

WIDEST = 256_000
"""Width of the last walk without a limit of time, as far as a checker follows."""

PART, LAST = 0.45, 25
"""Part of the time for the last walk; as many times what a beam takes if that is less, as walks of
that width take 14 to 20."""

SAFE, SLOWER = 1.3, 2.5
"""Once a walk has merged nothing, the next is expected to take at most so many times as long; the
last has so many times as long, as at better multipliers it takes up to 1.8 times, and where time is
short it merges states. With 40 requests, seed 5, and a minute, 5239 is proven so, and 5229 where it
has 1.3 times as long."""

LONGER, LONG_NARROW = 1.5, 3.2
"""The narrower of these takes so many times as long as a beam, as does any walk at least; and the
other. With 60 requests, seed 5, they prove 8742 and 8871 in 3.1 and 7.5 seconds, of 8955."""

PROBE, LITTLE = 0.15, 0.1
"""A walk that is to merge nothing is tried, and a narrow one is made, when the least it takes is at
most such a part of the time that is left."""

CROWDED = 1.4
"""The former is not tried where a beam had so many states for each that it kept. Of 20 draws of 50
and 60 requests five are such, and none of their walks is small; of the others three are not, and
seven have a use for it. To see that takes 4 to 7 seconds."""

EACH, MINUTE, MOST_PATIENCE = 100.0, 60.0, 6.0
"""With a limit of more seconds than the first, walks may keep as many times as many states; than
the second, and many requests, as many times as many steps must gain little, up to the third, before
walks that remember requests go on. Without a limit three draws of 30 requests, seeds 100 to 102,
take 105, 66 and 61 processor seconds where they wait for six times as many, and 47, 36 and 34 where
they do so only if walks after the usual number do not meet the schedule."""

CLIMBING = 0.35
"""Part of the time after which no more steps are walks, so that those that remember requests have
the rest: with 40 requests, seed 0, and a minute, .3, .45 and all of it prove 7420, 7419 and 7415.
"""

REMEMBERING = 18.0
"""They go on to the end if less time is left by then than so many of them take. Walks that remember
requests begin with what completing the states of one costs, which takes 4 to 30 times as long: with
60 requests, seed 3, and a minute, 3 seconds, and the 34 that were left were too few.
"""

LONG, EARLY, EARLY_PART = 240.0, 0.65, 0.3
"""With a limit of so many seconds, the first wide walk is made once so much of the time is left,
within such a part of it. If it merges nothing, walks that remember requests have the rest; if it
does, steps go on until the last walk, which may be wider. With 60 requests, seed 4, walks of
256,000 and 1,024,000 states a layer prove 12313 and 12324 after 46 and 173 seconds, and their
multipliers no more than 12342; 16,000 prove 12231.
"""

SPARE = 0.06
"""Part of the time of the last walk that it is not to use."""

SHARE = 2.0
"""A layer may take so many times its share of the time that is left: seldom do all of them need
theirs, least of all those at the end. Each of them keeps the least width."""

LEAST_WIDTH, COUNTED = 2_000, 1_000
"""A layer may keep so many states, however little time is left; and with fewer, its time says
nothing of what a state takes."""

LATELY = 0.8
"""Weight of the layers before in what a state has taken lately."""


class Pace:
    """Widths of the layers of a walk that is to take so many seconds.

    The seconds that are left are shared by the layers to come: those of few states leave more to
    the others.

    Parameters
    ----------
    left : returns the seconds until a limit. seconds : of the walk. most : width of a layer.
    expected : states of each layer, if a walk like it was complete: a layer may then take what the
        layers to come are not expected to need.
    """

    def __init__(
        self, left: Callable[[], float], seconds: float, most: int, expected: tuple[int, ...] = ()
    ) -> None:
        self.left, self.most = left, most
        self.expected = expected
        self.before = left()
        self.end = self.before - seconds
        self.each = 0.0

    def __call__(self, layers: int, states: int) -> int:
        """Return the width of the next of so many layers, after one of so many states."""
        now = self.left()
        if states >= COUNTED:
            each = (self.before - now) / states
            self.each = LATELY * self.each + (1 - LATELY) * each if self.each else each
        self.before = now
        if not self.each:
            return self.most
        time = (now - self.end) / self.each  # in states
        fits = min(SHARE * time / layers, time - LEAST_WIDTH * (layers - 1))
        if self.expected:
            fits = max(fits, time - sum(self.expected[len(self.expected) - layers + 1 :]))
        return int(min(self.most, max(LEAST_WIDTH, fits)))


class Effort(NamedTuple):
    """Effort of a search for multipliers that is counted, not timed.

    Parameters
    ----------
    least, most : steps before the last walk; between the two it comes once the best schedule is
        this ``near``, as a part of what the steps have reached.
    width : of the last walk.
    """

    least: int
    most: int
    near: float
    width: int

    def enough(self, steps: int, gap: float) -> bool:
        """Return whether so many steps do, when the schedule is such a part above them."""
        return steps >= self.most or (steps >= self.least and gap <= self.near)


class Plan:
    """The choice of when walks follow steps by beams, and how wide they are.

    Parameters
    ----------
    left : returns the seconds that are left, infinity without a limit.
    most : states that a layer may keep.
    effort : in place of a clock.
    roomiest : as many times as many states as usual fit into memory.
    many : whether walks that remember requests hardly ever meet the best schedule. With few they
        mostly do so after as many steps as in a minute, and more follow if they do not.

    Attributes
    ----------
    patience : how many times as many steps as in a minute may gain little; with few requests, how
        many times less a step may save than it takes.
    """

    def __init__(
        self,
        left: Callable[[], float],
        most: int,
        effort: Effort | None = None,
        roomiest: float = 1.0,
        *,
        many: bool = True,
    ) -> None:
        self.left, self.most, self.effort, self.roomiest = left, most, effort, roomiest
        self.total = self.before = left()
        self.step = self.takes = 0.0
        self.expected: tuple[int, ...] = ()
        self.early = self.effort is None and LONG <= self.total < inf
        self.many = many
        self.patience = min(MOST_PATIENCE, max(1.0, self.total / MINUTE)) if many else 1.0

    @property
    def limited(self) -> bool:
        """Return whether time is limited, and says how wide walks are."""
        return self.effort is None and self.total < inf

    @property
    def room(self) -> float:
        """Return how many times as many states as usual walks may keep that are complete."""
        return min(self.roomiest, max(1.0, self.total / EACH)) if self.effort is None else 1.0

    @property
    def spent(self) -> bool:
        """Return whether steps that are walks have had their part of the time."""
        left = self.left()
        return self.limited and REMEMBERING * self.step <= left < (1 - CLIMBING) * self.total

    def wait_longer(self) -> bool:
        """Let more steps gain little from now on; return whether that is possible."""
        if self.many or self.patience == MOST_PATIENCE:
            return False
        self.patience = min(2 * self.patience, MOST_PATIENCE)
        return True

    def begin(self) -> None:
        """Note that a step begins."""
        self.before = self.left()

    def stepped(self) -> None:
        """Note that it has ended."""
        self.step = self._since()

    def walked(self, within: tuple[int, ...] = ()) -> None:
        """Note that a walk of so many states in each layer has ended that merged nothing."""
        self.takes, self.expected = self._since(), within

    def tried(self) -> None:
        """Note that the early walk has ended."""
        self.early = False

    def probes(self, crowd: float) -> bool:
        """Return whether there is time to see if a walk that merges nothing is small.

        Parameters
        ----------
        crowd : how many states the step had for each that it kept.
        """
        little = LONGER * self.step <= PROBE * self.left()
        return self.effort is None and little and crowd < CROWDED

    def narrow(self) -> int:
        """Return the width of a walk that says what is proven so far; 0 for none.

        Where a walk has merged nothing, a narrow one would prove no more than it.
        """
        if self.effort is not None:
            return 0
        time = LITTLE * self.left()
        if self.takes:
            return min(WIDEST, self.most) if SAFE * self.takes <= time else 0
        if LONG_NARROW * self.step <= time:
            return min(NARROW, self.most)
        return min(NARROWER, self.most) if LONGER * self.step <= time else 0

    def due(self, steps: int, gap: float, *, stalled: bool) -> int:
        """Return the width of the last walk if it is time for it after so many steps, else 0.

        Parameters
        ----------
        gap : part that the best schedule is above what the steps have reached.
        stalled : whether steps gain no more, so that there is nothing to wait for.
        """
        if self.effort is not None:
            ends = stalled or self.effort.enough(steps, gap)
            return min(self.effort.width, self.most) if ends else 0
        part = min(PART * self.total, LAST * self.room * self.step or inf)
        if self.takes:
            part = SLOWER * self.takes
        if self.early:
            part = max(part, EARLY * self.total)
        waits = not self.limited or self.left() - self.step > part
        wider = 1.0 if self.early else self.room
        return 0 if waits and not stalled else int(wider * min(WIDEST, self.most))

    def _since(self) -> float:
        """Return the seconds since a step or walk began, 0 without a limit."""
        return self.before - self.left() if self.total < inf else 0.0

    def pace(self, width: int) -> Pace | None:
        """Return the widths of the layers of the last or early walk, so wide; None if all are."""
        time = EARLY_PART * self.total if self.early else (1 - SPARE) * self.left()
        return Pace(self.left, time, width, self.expected) if self.limited else None
