"""A proof by passes within a limit of time: targets rise as long as walks stay small.

The first walk back remembers nobody, and serves all targets below the best schedule; what later
ones remember, and which targets, `ratiolab.hindsight.paths.targets` says. Where they take too many
states, multipliers rise, and they try again. With more than 28 requests multipliers rise first, as
far as they soon go, and with fewer once two turns have not met the schedule. They rise on where the
targets that follow do not meet it either, up to 36 requests.

Multipliers that prove most are not best: of one instance 8 steps, 24 and 79 prove 2604, 2612 and
2615, and remembering everybody takes 2.1, 1.0 and 2.8 million states to prove 2622.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from math import inf
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate, PathCertificate
from ratiolab.hindsight.paths import bundle
from ratiolab.hindsight.paths.bundle import Ascent
from ratiolab.hindsight.paths.climb import Climb
from ratiolab.hindsight.paths.orders import Order, by_fault, orders
from ratiolab.hindsight.paths.passes import Back, Passes
from ratiolab.hindsight.paths.potentials import MOST_REQUESTS, Potentials
from ratiolab.hindsight.paths.refit import Refit
from ratiolab.hindsight.paths.targets import Targets
from ratiolab.hindsight.paths.walk import MOST_STATES
from ratiolab.hindsight.paths.widths import Effort, Plan
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

FIRST_WIDTH = 2_000
"""Width of the walk that looks for a cheap path first."""

WIDTH = 100_000
"""Width of walks that remember nobody and are to be complete."""

MERGED = 200_000
"""Width to which a walk back merges that bounds those that remember requests, once multipliers have
risen. With 30 requests, seed 243 of `exact-ratios`, it would take more than 50 million states to
merge nothing; that seed and 271 are proven after two and a half and seven minutes of one thread,
and were not before.
"""

MOST_WIDTH = 400_000
"""Width at which walks end that are not complete: layers of half a gigabyte."""

FEW = 4
"""Requests more that each walk remembers, once some walk took too many states."""

BEAMS = 2_000, 8_000, 32_000, 8_000, 8_000
"""Widths of the walks that look for schedules, one each time before multipliers rise."""

FEW_REQUESTS = 28
"""With more, multipliers rise first, as far as they go, and walks that remember requests follow:
of ten draws of 30 requests a minute proves five so, and four if both take turns."""

MANY_REQUESTS = 36
"""With more, targets rise in small steps."""

TURNS = 2
"""Turns of both after which multipliers rise first with fewer requests, too. Processor seconds of
eight draws of 25 requests after one, two and three turns: 24, 20 and 24 in the mean, 21, 10 and 10
in the median; of the longest, seed 204, 57, 85 and 114, and 123 where turns do not end."""

STEPS = 8
"""Steps of the search for multipliers each time."""

PATIENCE, GAINED = 10, 0.03
"""The search for multipliers ends when so many steps close less than this part of the gap."""


Found: TypeAlias = Callable[[Schedule | None, PathCertificate | None], None]


def prove(
    instance: Instance,
    duals: DualCertificate,
    upper: Callable[[], int],
    stop: Callable[[], bool],
    found: Found,
    most: int = MOST_WIDTH,
    between: Callable[[], None] | None = None,
    starts: Callable[[], IntArray] | None = None,
    begin: PathCertificate | None = None,
    left: Callable[[], float] = lambda: inf,
    effort: Effort | None = None,
    room: float = 1.0,
) -> None:
    """Raise the bound of duals until it meets the best schedule, or time or memory is over.

    Parameters
    ----------
    upper : returns the latency of the best schedule known by now.
    found : called with each better schedule or proven bound.
    most : states that a layer may keep.
    between : called after each step of the search for multipliers, for a search for schedules that
        has no thread of its own.
    starts : returns those of the best schedule known by now.
    begin : a proof whose multipliers are the first. If its duals are others, those of many
        requests rise from them.
    left : returns the seconds until ``stop``; they say how wide the last walk of many requests is.
    effort : in place of that, how many steps the search for multipliers of many requests makes, one
        more where the last was by a narrow beam, and how wide the last walk is.
    room : as many times as many states as usual may be kept where there is time for them.

    Raises
    ------
    OverflowError
        when numbers or tables would be too large.
    """
    potentials = Potentials.of(instance, duals.duals)
    multipliers, first = potentials.least, None
    if begin is not None and begin.unit == potentials.unit:
        first = np.array(begin.multipliers, np.int64)
        if begin.duals == duals.duals:
            multipliers = np.minimum(first, multipliers)
    _Proof(
        *(potentials, multipliers, duals, upper, stop, found, most, between, starts),
        *(Plan(left, most, effort, room, many=len(instance) > MANY_REQUESTS), first),
    ).run()


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
        between: Callable[[], None] | None,
        starts: Callable[[], IntArray] | None,
        plan: Plan,
        first: IntArray | None,
    ) -> None:
        self.plan = plan
        self.first = multipliers if first is None else first
        self.potentials, self.multipliers, self.proven = potentials, multipliers, proven
        self.upper, self.stop, self.found = upper, stop, found
        self.climbs = len(potentials.instance) > FEW_REQUESTS
        self.most, self.starts, self.between = most, starts, between
        self.targets = self._targets()
        self.values: list[float] = []
        self.climb: Climb | None = None
        self.back: Back | None = None
        self.backed: Potentials | None = None
        self.bound = self.level = proven.bound

    @property
    def ended(self) -> bool:
        """Return whether the bound has met the schedule, or time is over."""
        return self.bound >= self.upper() or self.stop()

    def run(self) -> None:
        """Prove what paths cost that remember nobody; then raise multipliers and remember all."""
        remembers = len(self.potentials.instance) <= MOST_REQUESTS
        if not self.climbs:
            self._first()
        beams = list(BEAMS if self.climbs else BEAMS[:3]) if remembers else []
        self.search = self._steps()
        rising, first, turns = True, not self.climbs, 0
        while not self.ended:
            if beams and not (self.climbs and rising):
                self._beam(beams.pop(0))
            if rising and not first:
                rising = self._raise_multipliers()
            merged = self.plan.many and self.climb is not None and self.climb.width
            if not rising and (not remembers or merged):
                return  # where states of many were merged, complete walks are out of reach
            if not rising or not self.climbs:
                self._raise_targets(once=rising)
                turns += 1
                if self._climbs_on(turns):
                    rising, beams = True, list(BEAMS)
                if not (rising or beams or self.targets.more()):
                    return
            first = False

    def _climbs_on(self, turns: int) -> bool:
        """Return whether multipliers are to rise, or on, where targets have not met the schedule.

        That may make walks smaller than all walks before.
        """
        if self.ended or self.plan.effort is not None:
            return False
        if self.climbs:
            return self.plan.wait_longer()
        self.climbs = turns == TURNS
        if self.climbs:
            self.targets, self.first = self._targets(), self.multipliers
        return self.climbs

    def _targets(self) -> Targets:
        """Return targets that have proven nothing yet."""
        instance, plan = self.potentials.instance, self.plan
        known = orders(instance, self.starts)
        if self.climbs and not plan.many:
            known = known[:1]  # there is time for one walk of millions of states, not for two
        everybody, room = 2 ** len(instance) - 1, plan.room
        return Targets(
            *(self._passes, known, self.upper, self.stop, self._tell, everybody, plan.many),
            *(int(room * self.most), plan.left, self.climbs, int(room * MOST_STATES)),
        )

    def _first(self) -> None:
        """Prove what paths that remember nobody cost: a narrow walk says how far to look."""
        target, width = self.upper(), FIRST_WIDTH
        while not self.ended:
            passes = self._passes(target, (0,), by_fault)
            walked = passes.go(width, self.stop, whole=False)
            self._tell(passes)
            self.level = max(self.level, passes.bound)
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
            passes = self._passes(self.upper(), (0,), by_fault)
            passes.beam(min(width, self.most), self.stop)
            self._tell(passes)

    def _steps(self) -> Iterator[bundle.Step]:
        """Yield the steps of a search that begins with the multipliers of now, and a walk."""
        refit = Refit(self.potentials.instance, self.proven.duals)
        first = self.multipliers / self.potentials.unit
        yield from bundle.steps(refit, first, self.upper, min(WIDTH, self.most), lambda: self.ended)

    def _raise_multipliers(self) -> bool:
        """Make the cheapest path dearer by some steps; return whether more may gain."""
        if self.climbs:
            return self._climb()
        done = len(self.values)
        for value, passes in islice(self.search, STEPS):
            self.values.append(value)
            if passes is not None:
                self._take(passes)
        rising = len(self.values) == done + STEPS  # or else the search has ended
        return rising and self._gains(self.values)

    def _climb(self) -> bool:
        """Do the same for many requests, by steps most of which prove nothing."""
        if self.climb is None:
            refit = Refit(self.potentials.instance, self.proven.duals)
            ascent = Ascent(refit, self.first / self.potentials.unit, self.upper)
            self.climb = Climb(ascent, self.plan, lambda: self.ended, self._take, self._gains)
        return self.climb.run(STEPS, self.between)

    def _gains(self, values: list[float], steps: int = PATIENCE) -> bool:
        """Return whether so many last steps have gained enough to go on."""
        if len(values) <= steps:
            return True
        value, before = values[-1], values[-1 - steps]
        return value - before >= GAINED * (self.upper() - value)

    def _take(self, passes: Passes) -> None:
        """Go on from the potentials and multipliers of a walk, if it proves more.

        More than those of now do when nobody is remembered: targets may have proven more since.
        """
        if passes.bound > self.level:
            self.potentials, self.multipliers = passes.potentials, passes.multipliers
            self.proven, self.level = passes.proven, passes.bound
            if passes.back is not None and passes.target >= self.upper():
                self.back, self.backed = passes.back, self.potentials
        self._tell(passes)

    def _raise_targets(self, once: bool) -> None:
        """Prove more and more, as long as walks are complete, or ``once`` until one is not."""
        self._look_back()
        self.targets.rise(self.bound, once)

    def _look_back(self) -> None:
        """Walk back once for all targets, under multipliers that are new."""
        if self.backed is not self.potentials:
            self.back, self.backed = None, self.potentials
            proven = self.potentials, self.multipliers, self.proven
            merges = self.climbs and not self.plan.many
            passes = Passes(*proven, self.upper(), merged=merges * min(MERGED, self.most))
            most = int((self.plan.room if merges else 1.0) * MOST_STATES)
            walked = passes.go(min(WIDTH, self.most), self.stop, most=most)
            self._tell(passes)
            if walked.table is not None:
                self.back = Back(passes.sides, walked)

    def _passes(self, target: int, ladder: tuple[int, ...], order: Order) -> Passes:
        back = self.back if self.backed is self.potentials else None
        proven = self.potentials, self.multipliers, self.proven
        return Passes(*proven, target, ladder, back, FEW, order)

    def _tell(self, passes: Passes) -> None:
        better = passes.bound > self.bound
        self.bound = max(self.bound, passes.bound)
        if better or passes.schedule is not None:
            self.found(passes.schedule, passes.certificate() if better else None)
