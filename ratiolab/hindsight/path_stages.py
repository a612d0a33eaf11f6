"""The stages of a solve that walk over paths, see `ratiolab.hindsight.paths`."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.certificates.certificate import PathCertificate, path_certificate
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

if TYPE_CHECKING:
    from ratiolab.hindsight.search import SearchBeside

FEW_ROUNDS = 6
"""Rounds of cuts before the walk of few requests: a tenth of a second."""

TURN, SHARE = 10, 0.3
"""Where one thread does all, so many steps of the search for schedules follow each step of the
search for multipliers. Where time is limited, as many as take as long, if more; and this part of
its time once a population has ended."""

SELDOM, LATER = 3, 40
"""So many, so many after twice the steps up to the last better schedule."""

NARROW = 1_500
"""Width of the walk of few requests that looks for a schedule first."""


@dataclass(frozen=True)
class SmallWalk:
    """The optimum of up to ``most`` requests by one walk, where nothing has to be compiled."""

    part: float
    most: int = 10

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.cuts.cut_bound import cut_bound, fits
        from ratiolab.hindsight.paths import potentials, small

        instance, horizon = state.instance, state.schedule.makespan
        if len(instance) > self.most or instance.memory > potentials.MOST_MEMORY:
            return Found()
        budget = state.memory_budget
        if not fits(instance, horizon) or (budget is not None and budget < small.MOST_BYTES):
            return Found()
        stop = state.deadline(self.part)
        cuts = cut_bound(
            instance,
            horizon=horizon,
            rounds=FEW_ROUNDS,
            time_limit=state.share(self.part),
            target=state.upper,
            counts=True,
        )
        proven = cuts.certificate
        bound = LowerBound(cuts.lower, "configuration cuts")
        call.found(Found(bound=bound, certificate=proven))
        if cuts.stopped == "interrupted" or state.closed:
            return Found(interrupted=cuts.stopped == "interrupted")
        try:
            costs = potentials.Potentials.of(instance, proven.duals)
            base = int(costs.least.sum() - costs.capacity.sum())
            limit = (state.upper - 1) * costs.unit - base
            sides = potentials.directions(costs, costs.least, limit)
        except OverflowError as error:
            return Found(note=f"no walk: {error}")
        beam = small.small_walk(instance, sides[:1], limit, stop, NARROW)
        if beam is not None and beam.least <= limit:
            call.found(Found(Schedule.from_starts(instance, np.array(beam.starts))))
            limit = (state.upper - 1) * costs.unit - base
        found = small.small_walk(instance, sides, limit, stop)
        if found is None:
            return Found(note="the walk of few requests stopped: time or states")
        best = state.schedule
        if found.least <= limit:
            best = Schedule.from_starts(instance, np.array(found.starts))
        everyone = 2 ** len(instance) - 1
        optimum, sets = best.total_latency, (0, everyone) if found.forward else (everyone,)
        certificate = path_certificate(proven, optimum, costs.unit, costs.least, sets)
        return Found(best, LowerBound(optimum, "paths"), certificate)


class Turns:
    """Turns of a search for schedules between steps of another, in one thread.

    Parameters
    ----------
    left : returns the seconds that are left, infinity without a limit.
    """

    def __init__(
        self, search: "SearchBeside", left: Callable[[], float], stop: Callable[[], bool]
    ) -> None:
        self.search, self.left, self.stop = search, left, stop
        self.before, self.made, self.last = left(), 0, 0

    def __call__(self) -> None:
        """Let the search take its turn."""
        begun, made = self.left(), self.made
        part = SHARE if self.search.population.elders else 1.0
        share = part * (self.before - begun) if begun < inf else 0.0
        end = made + (TURN if made <= 2 * self.last + LATER else SELDOM)
        while self.made < end or (begun - self.left() < share and not self.stop()):
            best = self.search.population.best
            self.search.step()
            self.made += 1
            if self.search.population.best < best:
                self.last = self.made
        self.before = self.left()


@dataclass(frozen=True)
class Paths:
    """Walks over paths under the duals of cuts; up to ``most`` requests."""

    part: float
    most: int

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.paths import potentials, proof
        from ratiolab.hindsight.search import SearchBeside

        instance, duals = state.instance, state.duals
        if len(instance) > self.most:
            return Found(note=f"no paths: {len(instance)} requests, more than {self.most}")
        if instance.memory > potentials.MOST_MEMORY:
            return Found(note=f"no paths: memory {instance.memory} > {potentials.MOST_MEMORY}")
        if duals is None or not (any(duals.duals.memory) or duals.duals.cuts):
            return Found(note="no paths: there are no duals of cuts to guide them")
        width = proof.MOST_WIDTH
        if state.memory_budget is not None:
            width = min(width, memory.walk_width(instance, state.memory_budget))
        room = memory.room() if state.memory_budget is None else 1.0
        if width < proof.FIRST_WIDTH:
            return Found(note="no paths: the memory limit leaves no room for walks")

        def found(schedule: Schedule | None, proven: PathCertificate | None) -> None:
            bound = None if proven is None else LowerBound(proven.bound, "paths")
            call.found(Found(schedule, bound, proven))

        left, stop, turns = state.countdown(self.part), state.deadline(self.part), None
        # a search has no part of the memory, and none is asked for with no steps
        if not state.helped and state.options.steps and state.memory_budget is None:
            search = SearchBeside(state, stream(state.options.seed, "search", 3), stop)
            turns = Turns(search, left, stop)
        known = state.certificate  # of an earlier stage, with other duals
        begin = known if isinstance(known, PathCertificate) else state.walked
        try:
            now = (lambda: state.upper), stop, found, width, turns, lambda: state.schedule.starts
            proof.prove(instance, duals, *now, begin=begin, left=left, room=room)
        except OverflowError as error:
            return Found(note=f"no paths: {error}")
        if state.closed:
            return Found()
        limit = "time limit" if stop() else f"most states of a layer, {width}"
        return Found(note=f"paths stopped by the {limit}")
