"""Multipliers of many requests: beams find the way up, and walks prove where it leads.

A walk that merges states proves what the cheapest path costs at least, in whatever time there is; a
beam that leaves states out mostly finds the path, sooner, but proves nothing. The cheapest path
costs no more than the cheapest known, so that a walk need not look above that: it takes half the
time. Where a walk that merges nothing is small enough, steps are walks, and each proves its value;
they are chosen by levels, `ratiolab.hindsight.paths.bundle`.
"""

from collections.abc import Callable
from math import exp, inf

from ratiolab.hindsight.paths.bundle import LEAST_GAIN, Ascent
from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.walk import MOST_STATES
from ratiolab.hindsight.paths.walked import Walked
from ratiolab.hindsight.paths.widths import Pace, Plan
from ratiolab.hindsight.programs.highs import SolverError
from ratiolab.hindsight.programs.highs_lp import FloatArray

EXACT_WIDTH = 64_000
"""Width of walks that are to merge nothing."""

EXACT_STATES, PROBED = 2.5, 4.0
"""Such walks take the place of beams when they have at most so many times as many states; the first
ends when it has more than the latter."""

FEW = 4
"""Such a step takes seconds, and walks that remember requests wait: these go on once so many steps
in a row gain little; more where there is more time. With 50 requests, seed 3, 24 in place of 4
prove 4784 instead of 4759, in 60 seconds more, and walks that remember up to 17 then take 1.3
million states to prove 4806, where 20 million had not been enough.
"""

ABOVE = 1
"""Rounds above the cheapest path known to which walks look."""

WALKS, SLOPE, BESIDE = 8.0, 210.0, 230_000
"""Walks that remember requests are expected to take as long as so many that remember nobody, times
e to the power of so many times the gap: in eleven solves of 30 requests with gaps of .2 to 2 % it
was 5 to 9 times that power. Beside its walk, a step takes as long as so many states."""

STEEPEST = 50.0
"""Largest power."""

LATELY, BEAMS = 8, 24
"""So many last steps say what the next one gains, and there are so many steps of beams at least:
those after the narrow ones gain nothing for a while, as wider beams find cheaper paths."""


class Climb:
    """Steps to better multipliers, and walks that prove what these cost.

    Parameters
    ----------
    ascent : chooses multipliers. plan : when to walk, and how wide.
    stop : whether to end. take : called with each walk that has ended.
    gains : returns whether the values after each step still gain enough, given these and, where it
        is not the usual one, the number of last steps that count.

    Attributes
    ----------
    width : to which the last walk merged states, 0 if it merged none.
    """

    def __init__(
        self,
        ascent: Ascent,
        plan: Plan,
        stop: Callable[[], bool],
        take: Callable[[Passes], None],
        gains: Callable[..., bool],
    ) -> None:
        self.ascent, self.plan, self.stop = ascent, plan, stop
        self.take, self.gains = take, gains
        self.values: list[float] = []
        self.states, self.crowd, self.exact, self.width = 0, 1.0, False, 0
        self.wide = False
        self.whole = 0.0  # states of a walk that merges nothing

    def run(self, steps: int, between: Callable[[], None] | None) -> bool:
        """Make so many steps at most; return whether more may be gained.

        Parameters
        ----------
        between : called after each.
        """
        ascent, plan = self.ascent, self.plan
        for _ in range(steps):
            plan.begin()
            exact = self.exact
            rising = self._exact_step() if exact else self._step()
            if exact or not ascent.narrow:
                plan.stepped()
            self.values.append(ascent.best)
            if self.stop():
                return False
            if between is not None:
                between()
            if self.exact:
                if not (rising and self._waits()):
                    return False
            elif not self._proves(rising and self._gains(), steps):
                return False
        return True

    @property
    def gap(self) -> float:
        """Return the part that the best schedule is above what steps have reached."""
        return self.ascent.upper() / self.ascent.best - 1 if self.ascent.best > 0 else inf

    def _waits(self) -> bool:
        """Return whether walks that remember requests wait for more steps that are walks."""
        effort, plan = self.plan.effort, self.plan
        if effort is None:
            few = int(FEW * plan.patience)
            return not plan.spent and (self.gains(self.values, few) if plan.many else self._pays())
        return self.gains(self.values) and not effort.enough(len(self.values), self.gap)

    def _gains(self) -> bool:
        """Return whether steps by beams still gain enough, or may once they are by levels."""
        ascent = self.ascent
        if not ascent.levels and not self.gains(self.values):
            ascent.by_levels()
        return (not ascent.levels or ascent.promising) and (self.plan.many or self._pays())

    def _pays(self) -> bool:
        """Return whether a step more is expected to save the walks that follow more than it takes.

        All counted in states, so that it is the same on every machine.
        """
        values, plan = self.values, self.plan
        if plan.effort is not None or len(values) <= (LATELY if self.exact else BEAMS):
            return True
        gain = (values[-1] - values[-1 - LATELY]) / LATELY / self.ascent.upper()
        steep = SLOPE * exp(min(STEEPEST, SLOPE * self.gap))
        step = (self.whole if self.exact else self.states) + BESIDE
        return plan.patience * WALKS * steep * gain * max(self.whole, self.states) > step

    def _proves(self, rising: bool, turn: int) -> bool:
        """Prove, if it is time for it, what beams have gained; return whether to go on."""
        plan, number = self.plan, len(self.values)
        if number == 1 and plan.probes(self.crowd):
            self._prove(EXACT_WIDTH, probes=True)
        if self.exact:
            return True
        width = plan.due(number, self.gap, stalled=not rising)
        if width and self.ascent.narrow:  # a wider beam first: walks look no further than they must
            self.ascent.widen()
            return True
        if width:
            early, goes_on = plan.early, rising and plan.effort is None
            complete = self._prove(width, plan.pace(width))
            if early:
                plan.tried()
                return self.exact or not complete  # else requests are remembered from now on
            return complete and (goes_on or self.exact)
        if number % turn == 0 and (width := plan.narrow()):
            self._prove(width)
        return rising

    def _step(self) -> bool:
        """Take the paths of a beam; return whether more may be gained."""
        walked, more = self.ascent.step(self.stop)
        if walked is not None and not self.ascent.narrow:
            self.states = walked.states
            self.crowd = sum(walked.within) / walked.states
        return more

    def _exact_step(self) -> bool:
        """Take the paths of a walk that proves its value, unless it merges states."""
        ascent = self.ascent
        target, before = min(ascent.expected, ascent.upper()), ascent.best
        passes, walked = self._walk(ascent.trial, target, EXACT_WIDTH)
        if passes is None or walked is None:
            return False
        if walked.merged:  # wider walks may be small beside beams, but are no steps
            self.exact, self.wide = False, True
            return True
        self.whole = walked.states
        _, new = ascent.took(passes, walked)
        return new or ascent.best >= before + LEAST_GAIN

    def _prove(self, width: int, pace: Pace | None = None, *, probes: bool = False) -> bool:
        """Prove what the best multipliers cost, unless ``probes`` and the walk is not small.

        Returns
        -------
        whether the walk merged nothing.
        """
        ascent, plan = self.ascent, self.plan
        plan.begin()
        target = min(ascent.best + ABOVE, ascent.upper())
        passes, walked = self._walk(ascent.center, target, width, pace, probes=probes)
        if passes is None or walked is None or walked.merged:
            self.whole = max(self.whole, PROBED * self.states)
            return False
        self.whole = walked.states
        ascent.known(passes, walked)
        plan.walked(walked.within)
        self.exact = not self.wide and walked.states <= EXACT_STATES * self.states
        if self.exact and not ascent.levels:
            ascent.by_levels()
        return True

    def _walk(
        self,
        multipliers: FloatArray,
        target: float,
        width: int,
        pace: Pace | None = None,
        *,
        probes: bool = False,
    ) -> tuple[Passes | None, Walked | None]:
        try:
            passes = self.ascent.passes(multipliers, target)
        except SolverError:  # what is proven stays
            return None, None
        most = self.plan.most
        states = int(PROBED * self.states) if probes else 0
        room = int(self.plan.room * MOST_STATES)
        walked = passes.merge(min(width, int(self.plan.room * most)), self.stop, pace, states, room)
        if not walked.finished:
            return None, None
        self.width = passes.width
        self.take(passes)
        return passes, walked
