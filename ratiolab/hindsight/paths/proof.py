"""A proof by passes within a limit of time: targets rise as long as walks stay small.

The first walk back remembers nobody, and serves all targets below the best schedule; the next one
remembers everybody, bounded by what completing the states of the first costs, so that it finds only
schedules. That is what closes small gaps soonest. Where it takes too many states, multipliers rise,
and walks in between remember `FEW` more each, those that cheap paths repeat or miss, up to a low
target. What they have come to remember serves the target that is wanted: each walk is bounded by
the one before, and as soon as one remembers a quarter, a walk no larger may remember everybody. The
walks of a target end at a number of states, which doubles when it was too few.

States of the last walks with 25 requests and target 1034 of seed 3 (the walk that remembers nobody
proves 1010, all multipliers being the same), and the processor seconds of all walks of the target,
when what completing states costs still took longer than the walks:

| remembered by the walks | states | seconds |
|---|---|---|
| 0, 25 | more than 8 million | - |
| 0, 8, 25 | 1.3, more than 8 million | - |
| 0, 12 that a target of 1018 teaches, 25 | 1.6, .12 million | 10.8 |
| 0, 6, 12 that a target of 1024 teaches, 25 | .40, .94, .25 million | 10.3 |

With more than `MANY_REQUESTS` the schedule is out of reach, and targets rise in small steps, each
from walks that remember nobody on: with 50 requests, seed 3, the walk that remembers nobody proves
4749, and those that remember 4, 8, 12 and 17 prove 4758, 4779, 4781 and more than 4785.

Multipliers that prove most are not best: of one instance 8 steps, 24 and 79 prove 2604, 2612 and
2615, and remembering everybody takes 2.1, 1.0 and 2.8 million states to prove 2622.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate, PathCertificate
from ratiolab.hindsight.paths import bundle
from ratiolab.hindsight.paths.passes import Back, Passes, narrow
from ratiolab.hindsight.paths.potentials import MOST_REQUESTS, Potentials
from ratiolab.hindsight.paths.walk import MOST_STATES
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

FIRST_WIDTH = 2_000
"""Width of the walk that looks for a cheap path first."""

WIDTH = 100_000
"""Width of walks that remember nobody and are to be complete."""

FIRST_STATES, MORE = 1_000_000, 2
"""States at which the first walks that remember some end, and the factor of later ones."""

MERGED = 16_000, 64_000
"""Widths of walks for many requests, which merge what is more."""

MOST_WIDTH = 400_000
"""Width at which walks end that are not complete: layers of half a gigabyte."""

FEW = 4
"""Requests more that each walk remembers, once some walk took too many states."""

PART = 4
"""A walk that remembers this part of all requests is followed by a short one that remembers all."""

BEAMS = 2_000, 8_000, 32_000, 8_000, 8_000
"""Widths of the walks that look for schedules, one each time before multipliers rise."""

ABOVE, NARROW = 1.02, (500, 1_000, 2_000)
"""Schedules that searches begin from may be so many times as long as the best; they are those of
beams so wide, one each time multipliers have moved, where requests arrive over time. Where all are
there at once, the search finds better ones by itself in that time."""

FEW_REQUESTS = 30
"""With more, walks that remember all begin after multipliers have risen for the first time."""

MANY_REQUESTS = 36
"""With more, walks that remember all begin when multipliers rise no more."""

STEPS = 8
"""Steps of the search for multipliers each time."""

PATIENCE, GAINED = 10, 0.03
"""The search for multipliers ends when so many steps close less than this part of the gap."""

FIRST_STEPS, MANY_STEPS = 4, 16
"""The first target above what paths cost that remember nobody is so far of the way to go; with many
requests, a part as small as this."""


Found: TypeAlias = Callable[[Schedule | None, PathCertificate | None], None]
Look: TypeAlias = Callable[[Callable[[], bool]], Schedule | None]


def prove(
    instance: Instance,
    duals: DualCertificate,
    upper: Callable[[], int],
    stop: Callable[[], bool],
    found: Found,
    most: int = MOST_WIDTH,
    offer: Callable[[Look], None] | None = None,
) -> None:
    """Raise the bound of duals until it meets the best schedule, or time or memory is over.

    Parameters
    ----------
    upper : returns the latency of the best schedule known by now.
    found : called with each better schedule or proven bound.
    most : states that a layer may keep.
    offer : takes ways to schedules from which a search for better ones may begin, each a function
        of when to stop, for another thread, now or never. The best schedule is a worse beginning:
        with 50 requests the search from it ends at 8329, from a beam's 8327 at 8236.

    Raises
    ------
    OverflowError
        when numbers or tables would be too large.
    """
    potentials = Potentials.of(instance, duals.duals)
    _Proof(potentials, potentials.least, duals, upper, stop, found, most, offer).run()


class _Proof:
    def __init__(
        self,
        potentials: Potentials,
        multipliers: IntArray,
        proven: DualCertificate,
        upper: Callable[[], int],
        stop: Callable[[], bool],
        found: Found,
        most: int,
        offer: Callable[[Look], None] | None,
    ) -> None:
        self.potentials, self.multipliers, self.proven = potentials, multipliers, proven
        self.upper, self.stop, self.found = upper, stop, found
        instance = potentials.instance
        self.many = len(instance) > MANY_REQUESTS
        self.most = most
        self.states = MOST_STATES if self.many else min(FIRST_STATES, MOST_STATES)
        apart = FEW_REQUESTS <= len(instance) <= MOST_REQUESTS and np.ptp(instance.arrival) > 0
        self.offer = offer if apart else None
        self.offered = 0
        self.values: list[float] = []
        self.back: Back | None = None
        self.backed: Potentials | None = None
        self.everyone = 2 ** len(potentials.instance) - 1
        self.ladder: tuple[int, ...] = (0,) if self.many else (0, self.everyone)
        self.bound, self.largest = proven.bound, 0  # most states of a walk for the last target

    @property
    def ended(self) -> bool:
        """Return whether the bound has met the schedule, or time is over."""
        return self.bound >= self.upper() or self.stop()

    def run(self) -> None:
        """Prove what paths cost that remember nobody; then raise multipliers and remember all."""
        size, many = len(self.potentials.instance), self.many
        if not many:
            self._first()
        remembers = size <= MOST_REQUESTS
        beams = list(BEAMS if many else BEAMS[:3]) if remembers else []
        widths = sorted({min(width, self.most) for width in (MERGED if many else (WIDTH,))})
        search = bundle.steps(
            *(self.potentials.instance, self.proven, self.multipliers / self.potentials.unit),
            *(self.upper, widths, lambda: self.ended),
            merges=many,
        )
        rising, first = True, True
        while not self.ended:
            self._offer()
            if beams and not (many and rising):
                self._beam(beams.pop(0))
            if rising and not (first and size <= FEW_REQUESTS):
                rising = self._raise_multipliers(search)
            if not (rising or remembers):
                return
            if not rising or not many:
                self._raise_targets(once=rising)
                if not (rising or beams) and self.states == MOST_STATES:
                    return
                self.states = min(MORE * self.states, MOST_STATES)
            first = False

    def _first(self) -> None:
        """Prove what paths that remember nobody cost: a narrow walk says how far to look."""
        target, width = self.upper(), FIRST_WIDTH
        while not self.ended:
            passes = self._passes(target)
            walked = passes.go(width, self.stop, whole=False)
            self._tell(passes)
            if walked.table is not None and target >= self.upper():
                self.back, self.backed = Back(passes.sides, walked), self.potentials
            if walked.table is not None or width == self.most:
                return
            width = min(8 * width, self.most)
            target = min(target, passes.latency(walked.least))

    def _beam(self, width: int) -> None:
        """Look for a better schedule."""
        if not self.ended:
            self._look_back()
            passes = self._passes(self.upper())
            passes.beam(min(width, self.most), self.stop)
            self._tell(passes)

    def _offer(self) -> None:
        """Offer what a narrow beam finds under the multipliers of now."""
        if self.offer is not None:
            proven, upper = (self.potentials, self.multipliers, self.proven), self.upper
            width = min(NARROW[self.offered % len(NARROW)], self.most)
            self.offered += 1
            self.offer(lambda stop: narrow(*proven, int(ABOVE * upper()), width, stop))

    def _raise_multipliers(self, search: Iterator[tuple[float, Passes | None]]) -> bool:
        """Make the cheapest path dearer by some steps; return whether more may gain."""
        done = len(self.values)
        for value, passes in islice(search, STEPS):
            self.values.append(value)
            if passes is not None:
                self.potentials, self.multipliers = passes.potentials, passes.multipliers
                self.proven = passes.proven
                if passes.back is not None:
                    self.back, self.backed = passes.back, self.potentials
                self._tell(passes)
            self._offer()
        if len(self.values) < done + STEPS:  # the search has ended
            return False
        before = self.values[max(0, len(self.values) - 1 - PATIENCE)]
        left = self.upper() - self.values[-1]
        return len(self.values) <= PATIENCE or self.values[-1] - before >= GAINED * left

    def _raise_targets(self, once: bool) -> None:
        """Prove more and more, as long as walks are complete, or ``once`` until one is not.

        Walks that have learnt what to remember at a low target go for the schedule next.
        """
        if self.back is not None and self.back.walked.merged:
            self.backed = None
        self._look_back()
        step = (self.upper() - self.bound) // (MANY_STEPS if self.many else FIRST_STEPS)
        step, self.largest = max(1, step), 0
        while not self.ended:
            largest, self.largest = self.largest, 0
            before, target = self.bound, min(self.upper(), self.bound + step)
            if self._reach(target):
                learned = self.ladder != (0, self.everyone)
                if not learned:
                    step = max(1, 2 * (self.bound - before))
                elif not self.many:
                    step = self.upper()
                elif self.largest * max(2.0, self.largest / max(1, largest)) ** 2 < self.states:
                    step *= 2  # walks grow by a factor from step to step, and still have room
            elif target > before + 1 and not once:
                step = (target - before) // 2
            else:
                return

    def _reach(self, target: int) -> bool:
        """Return whether passes prove a target, or as much as the schedule that they find."""
        passes = self._passes(target)
        while not passes.closed:
            if target == self.upper() and self._all_at_once(passes):
                continue
            walked = passes.go(self.most, self.stop, most=self.states)
            self._tell(passes)
            self.largest = max(self.largest, walked.states)
            if walked.table is None:
                if not self.many:
                    self.ladder = (0,)  # others may be repeated under other multipliers
                return False
        if len(passes.sets) > 2 or self.ladder[-1] != self.everyone:
            self.ladder = tuple(chosen for chosen in passes.sets if chosen < self.everyone)
        return True

    def _all_at_once(self, passes: Passes) -> bool:
        """Return whether a walk that remembers everybody takes no more states than the last.

        It saves further walks, and it is the last: what completing its states costs is not asked.
        Low targets go without, as they are there to learn what to remember.
        """
        last, some = passes.last, passes.sets[-1] if passes.sets else 0
        if last is None or some == self.everyone or some.bit_count() < len(passes.kinds) // PART:
            return False
        most = min(self.states, last.states)
        walked = passes.go(self.most, self.stop, most=most, everybody=True)
        self._tell(passes)
        return walked.table is not None

    def _look_back(self) -> None:
        """Walk back once for all targets, under multipliers that are new."""
        if self.backed is not self.potentials:
            self.back, self.backed = None, self.potentials
            proven = self.potentials, self.multipliers, self.proven
            passes = Passes(*proven, self.upper())
            walked = passes.go(min(WIDTH, self.most), self.stop)
            self._tell(passes)
            if walked.table is not None:
                self.back = Back(passes.sides, walked)

    def _passes(self, target: int) -> Passes:
        back = self.back if self.backed is self.potentials else None
        proven = self.potentials, self.multipliers, self.proven
        return Passes(*proven, target, self.ladder, back, FEW)

    def _tell(self, passes: Passes) -> None:
        better = passes.bound > self.bound
        self.bound = max(self.bound, passes.bound)
        if better or passes.schedule is not None:
            self.found(passes.schedule, passes.certificate() if better else None)
