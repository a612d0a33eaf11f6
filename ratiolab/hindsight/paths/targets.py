"""Targets that rise at one choice of multipliers, as long as walks stay small.

The walks of a target remember more and more, each bounded by what completing the states of those
before costs. What they have come to remember serves the next target from the start.

With few requests a walk that remembers everybody follows at once, as it finds only schedules: that
is what closes small gaps soonest. Where it takes too many states, walks in between remember a few
more each, up to a low target, and then go for the schedule. States of the last walks with 25
requests and target 1034 of seed 3 (the walk that remembers nobody proves 1010, all multipliers
being the same), and the processor seconds of all walks of the target, when what completing states
costs still took longer than the walks:

| remembered by the walks | states | seconds |
|---|---|---|
| 0, 25 | more than 8 million | - |
| 0, 8, 25 | 1.3, more than 8 million | - |
| 0, 12 that a target of 1018 teaches, 25 | 1.6, .12 million | 10.8 |
| 0, 6, 12 that a target of 1024 teaches, 25 | .40, .94, .25 million | 10.3 |

Where multipliers rise no more, as with more than 28 requests, walks in between come first: with 30
requests, seed 0, the proof takes 22 seconds, and 34 when a walk remembers everybody first.

With many the schedule is far away, and targets rise in small steps, each from walks that
remember nobody on: with 50 requests, seed 3, the walk that remembers nobody proves 4749, and those
that remember 4, 8, 12 and 17 prove 4758, 4779, 4781 and more than 4785. As walks grow faster and
faster, one that is to take five times the states of the last can take fifty: with 40 requests, seed
3, walks for 2895 took .4 million at most, and those for 2919, the next target, more than 5 million;
in steps for which twice the states are expected, 2910 was proven by walks of 2.2 million.

Whom to remember next: `ratiolab.hindsight.paths.orders`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, log
from typing import NamedTuple, TypeAlias

from ratiolab.hindsight.paths.orders import Order
from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.walk import MOST_STATES

FIRST_STATES, MORE = 1_000_000, 2
"""States at which walks of few requests end that remember all at once, and the factor of later
ones."""

PART = 2
"""A walk that remembers this part of all requests is followed by a short one that remembers all."""

ENOUGH, LONGER = 500_000, 1.5
"""Once a target took so many states, another order of what to remember is tried at the next, for as
many times that."""

FIRST_STEPS, MANY_STEPS = 4, 16
"""The first target above what paths cost that remember nobody is so far of the way to go; with many
requests, a part as small as this."""

EXCEEDED = 1.3
"""A walk that remembers everybody is not tried if more than so many times the states that it may
take are expected, from how they have grown: towards the schedule they mostly grow less. With 30
requests and room for 5 million, seed 0 takes 5.0 where 5.9 are expected, and seed 7 more than 5
where 11.0 are.
"""

TIMES, LEAST_GROWTH, SEVERAL = 2.0, 1.1, 4
"""With many requests, the next target is to take so many times the states of the last, where these
grow as over the last of so many targets, at least by the second, as a factor; and it is at most
twice as far as the last was.
"""

USED, GROWTH = 0.8, 1.5
"""The next target is to take so much of the time that is left, where the time of a target grows
from one to the next by a factor, at least this."""

Make: TypeAlias = Callable[[int, tuple[int, ...], Order], Passes]


class Reached(NamedTuple):
    """A target that passes have proven: their bound, what time they took, and states at most."""

    bound: int
    seconds: float
    states: int


@dataclass
class Targets:
    """Targets of passes, what these have come to remember, and how many states they may take.

    Parameters
    ----------
    make : returns passes to a target, given their ladder and order.
    orders : of what to remember, the one to begin with first.
    upper : returns the latency of the best schedule.
    stop : says that time is over. tell : takes passes that have done something.
    everybody : set of all requests, a bit each.
    many : whether there are many requests, so that targets rise in small steps.
    width : states of a layer at most. left : returns the seconds that are left.
    final : whether multipliers rise no more, so that walks may take all states there is room for,
        and those that remember some requests come first.
    most : states there is room for.
    """

    make: Make
    orders: list[Order]
    upper: Callable[[], int]
    stop: Callable[[], bool]
    tell: Callable[[Passes], None]
    everybody: int
    many: bool
    width: int
    left: Callable[[], float] = lambda: inf
    final: bool = False
    most: int = MOST_STATES
    states: int = field(init=False)
    ladder: tuple[int, ...] = field(init=False)
    largest: int = field(default=0, init=False)
    spent: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.states = self.most if self.final else min(FIRST_STATES, self.most)
        self.ladder = (0,) if self.final else (0, self.everybody)

    def more(self) -> bool:
        """Let walks take more states from now on; return whether that is possible."""
        before, self.states = self.states, min(MORE * self.states, self.most)
        return self.states > before

    def rise(self, bound: int, once: bool) -> None:
        """Prove more than a bound, as long as walks are complete, or ``once`` until one is not.

        Walks that have learnt what to remember at a low target go for the schedule next.
        """
        step = (self.upper() - bound) // (MANY_STEPS if self.many else FIRST_STEPS)
        step, self.largest, before = max(1, step), 0, list[Reached]()
        while bound < self.upper() and not self.stop():
            self.largest, begin = 0, self.left()
            fits = min(step, self._fits(before, begin)) if self.many else step
            low, target = bound, min(self.upper(), bound + fits)
            if self.ladder == (0, self.everybody) and self._too_large(before, target):
                self.ladder = (0,)
            reached, bound = self._reach(target, bound)
            if reached:
                before.append(Reached(bound, begin - self.left(), self.largest))
                doubles = self.many or self.ladder == (0, self.everybody)
                step = max(1, 2 * (bound - low)) if doubles else self.upper()
            elif target > bound + 1 and not once:
                step = (target - bound) // 2  # what has not been reached has raised the bound, too
            else:
                return

    def _fits(self, before: list[Reached], left: float) -> int:
        """Return how far above the last target the next may be, if walks grow as they have.

        They are to have room, to end in time, and to be no more than some times those of the last.
        """
        if len(before) < 2:
            return 2**62
        (_, time, _), (bound, took, last) = before[-2:]
        first = before[max(0, len(before) - SEVERAL)]
        more = log(min(TIMES, max(1.0, self.states / max(1, last))))
        growth = log(max(LEAST_GROWTH, last / max(1, first.states)))
        steps = more / growth * max(1, bound - first.bound)
        if left < inf:
            more = log(max(1.0, USED * left / max(took, 1e-3)))
            growth = log(max(GROWTH, took / max(time, 1e-3)))
            steps = min(steps, more / growth * _last_step(before))
        return max(1, int(steps))

    def _too_large(self, before: list[Reached], target: int) -> bool:
        """Return whether a walk to a target takes too many states, if these grow as they have."""
        if len(before) < 2:
            return False
        states = max(1, before[-1].states)
        growth = log(states / max(1, before[-2].states))
        far = (target - before[-1].bound) / _last_step(before)
        return growth * far > log(EXCEEDED * self.states / states)

    def _reach(self, target: int, bound: int) -> tuple[bool, int]:
        """Return whether passes prove a target or find a schedule of what they prove; the bound.

        Once that takes many states, each other order is tried, for little more than the last target
        took, and replaces the order of now or is given up. Where that takes too many, all others
        are tried.
        """
        if self.spent >= ENOUGH and len(self.orders) > 1:
            before, ladder = self.orders.pop(0), self.ladder
            self.ladder = (0,)
            passes = self._prove(target, int(LONGER * self.spent))
            if passes.closed:
                return True, max(bound, passes.bound)
            self.orders[0], self.ladder = before, ladder
        while True:
            passes = self._prove(target)
            bound = max(bound, passes.bound)
            over = self.stop() or len(self.orders) == 1 or not self.many
            if passes.closed or over:
                return passes.closed, bound
            self.orders.pop(0)

    def _prove(self, target: int, spend: int = 2**62) -> Passes:
        """Return passes to a target that take so many states in all, or end there."""
        passes, spent = self.make(target, self.ladder, self.orders[0]), 0
        while not (passes.closed or (target == self.upper() and self._all_at_once(passes))):
            room = self.states if len(passes.sets) < 2 else self.most
            walked = passes.go(self.width, self.stop, most=min(room, spend - spent))
            self.tell(passes)
            self.largest, spent = max(self.largest, walked.states), spent + walked.states
            if walked.table is None:
                self.ladder = (0,)  # others may be repeated under other multipliers
                return passes
        if len(passes.sets) > 2 or self.ladder[-1] != self.everybody:
            self.ladder = tuple(some for some in passes.sets if some < self.everybody)
        self.spent = spent
        return passes

    def _all_at_once(self, passes: Passes) -> bool:
        """Return whether a walk that remembers everybody takes no more states than the last.

        It saves further walks, and it is the last: what completing its states costs is not asked.
        Low targets go without, as they are there to learn what to remember.
        """
        last, some = passes.last, passes.sets[-1] if passes.sets else 0
        if last is None or some == self.everybody or PART * some.bit_count() < len(passes.kinds):
            return False
        most = min(self.states, last.states)
        walked = passes.go(self.width, self.stop, most=most, everybody=True)
        self.tell(passes)
        return walked.table is not None


def _last_step(before: list[Reached]) -> int:
    """Return how far the last target is above the one before."""
    return max(1, before[-1].bound - before[-2].bound)
