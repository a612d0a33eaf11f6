"""The stages of a solve: each improves the schedule, the bound, or both.

`ratiolab.hindsight.state.Work` defines a stage. It works within its part of the time and memory
that are left, and its note says why it did nothing, or where it stopped.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.certificates.certificate import (
    DualCertificate,
    DynamicProgrammingCertificate,
)
from ratiolab.hindsight.schedules.heuristics import FEW, improved_schedule
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model.instance import Instance
from ratiolab.model.streams import stream

if TYPE_CHECKING:
    from ratiolab.hindsight.dynamic_programming.beam_search import BeamResult

MOST_REQUESTS = 400
"""Most requests for which a program is considered: last starts cost O(n^2 log n)."""

SOON_CUT = 36
"""Most requests whose first rounds of cuts take less than a second."""

BEFORE_CUTS = 0.6
"""Most seconds of growth rows before cuts."""

A_SECOND, MOST_PART = 40, 0.8
"""The first rounds of cuts take about a second with so many requests, and that grows with the cube;
they may have so much of a short time limit. Two seconds leave 50 requests open by 9 % instead of
53, where a fifth of them ends before the first linear program is solved."""

LEAST_HORIZON = 0.4
"""Part of the makespan of which more has to be within the horizon of cuts. For 200 requests with
long outputs, cuts up to .3, .4, .6 and .8 of it prove 52,174, 59,708, 70,801 and 76,425 in a
minute; growth rows prove 56,630."""

MOST_WALKED = 120
"""Most requests of walks over paths."""

MOST_REMEMBERED = 64
"""Most requests of the dynamic program, and of walks that find schedules."""

FEW_CUT = 16
"""Requests up to which fewer rounds of cuts are enough. Mean seconds to proof after 14 rounds and
after 8, of ten or twenty instances: .85 and .65 with 12 requests, 1.7 and 1.25 with 15, 3.7 and 5.4
with 20."""

LEAST_SEARCH = 0.001
"""A search that takes fewer seconds has nothing to search for, and does not go on."""

MOST_CERTIFIED = 10**7
"""States of a search that its certificate asks a checker to repeat, in about 10 seconds."""


@dataclass(frozen=True)
class OrderSearch:
    """A good schedule by the search over orders.

    ``rest`` goes on for what a time limit leaves, each search from the best schedule so far;
    ``few`` are the most steps for so few requests that walks find the better schedules.
    """

    part: float
    rest: bool = False
    few: int | None = None

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        options, budget = state.options, state.memory_budget
        if not options.steps or (self.rest and state.time_left is None):
            return Found()
        if budget is not None and memory.order_bytes(state.instance) > budget:
            needed = memory.needs(memory.order_bytes(state.instance))
            return Found(note=f"no search over orders: {needed}")
        rng, steps = stream(options.seed, "search", int(self.rest)), options.steps
        if self.few is not None and len(state.instance) <= MOST_REMEMBERED:
            steps = min(steps, self.few)
        stop, again = state.deadline(self.part), True
        while again:
            before = state.seconds
            improved_schedule(
                *(state.schedule, rng, steps),
                stop=stop,
                found=lambda schedule: call.found(Found(schedule)),
            )
            again = self.rest and not stop() and state.seconds > before + LEAST_SEARCH
        return Found()


@dataclass(frozen=True)
class DualAscent:
    """The bound by duals of memory."""

    part: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.relaxation.growth import dual_bound

        if len(state.instance) <= FEW:
            return Found()
        proof = dual_bound(state.instance, state.upper, stop=state.deadline(self.part))
        return Found(bound=LowerBound(proof.bound, "lagrangian"), certificate=proof)


@dataclass(frozen=True)
class GrowthRows:
    """The bound by duals of memory and growth rows, in a tenth of a second.

    ``before`` is its part of a short time limit where cuts are to come, which prove more but take
    longer; few requests do without it then.
    """

    part: float
    before: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        few = len(state.instance) <= FEW  # which need nothing that has to be compiled
        alone = not few and not _cut_horizon(state)[0]
        if few or (len(state.instance) <= SOON_CUT and not alone):
            return Found()
        seconds = state.share(self.part if alone else self.before)
        if seconds is not None and not alone:
            seconds = min(seconds, BEFORE_CUTS)
        find_growth_bounds(state.instance, seconds, call)
        return Found()


def find_growth_bounds(instance: Instance, seconds: float | None, call: Callbacks) -> None:
    """Tell of each bound by growth rows that these seconds allow."""
    from ratiolab.hindsight.relaxation.growth import growth_bounds

    for proof in growth_bounds(instance, seconds):
        call.found(Found(bound=LowerBound(proof.bound, "growth rows"), certificate=proof))


@dataclass(frozen=True)
class Cuts:
    """The bound by configuration cuts, whose duals guide what follows.

    ``few`` are the rounds for at most `FEW_CUT` requests, where walks prove the rest sooner. With
    ``first`` they are the first, and get more than their part of a short time limit.
    """

    rounds: int
    part: float
    few: int | None = None
    first: bool = False

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.cuts.cut_bound import cut_bound

        instance, (horizon, why) = state.instance, _cut_horizon(state)
        if why:
            return Found(note=why)
        if state.walked is not None:
            return Found(note="no cuts: walks go on from a proof by walks")

        def bound(value: int) -> LowerBound:
            return LowerBound(value, "configuration cuts")

        few = self.few if len(instance) <= FEW_CUT else None
        result = cut_bound(
            instance,
            horizon=horizon,
            rounds=self.rounds if few is None else few,
            time_limit=self._seconds(state),
            target=state.upper,
            progress=lambda now: call.found(Found(bound=bound(now.lower))),
        )
        best = state.duals is None or result.lower >= state.duals.bound
        makespan = state.schedule.makespan
        shorter = f"; they end at time {horizon} of {makespan}" * (horizon < makespan)
        return Found(
            bound=bound(result.lower),
            certificate=result.certificate,
            duals=result.certificate if best else None,
            note=f"cuts ended: {result.stopped}{shorter}",
            interrupted=result.stopped == "interrupted",
        )

    def _seconds(self, state: SolveState) -> float | None:
        """Return the time of this stage, seconds; None without a time limit."""
        left = state.time_left
        if left is None:
            return None
        enough = (len(state.instance) / A_SECOND) ** 3 if self.first else 0.0
        return max(self.part * left, min(MOST_PART * left, enough))


def _cut_horizon(state: SolveState) -> tuple[int, str]:
    """Return the last time with rows of cuts, and why it is 0 where cuts are out of reach.

    That is the makespan, or what memory and the checker of the proof allow of it: any horizon gives
    a valid bound, as requests pay nothing for the memory that they hold beyond.
    """
    from ratiolab.hindsight.cuts.cut_bound import longest_horizon

    instance, makespan = state.instance, state.schedule.makespan
    least = int(LEAST_HORIZON * makespan)
    horizon = longest_horizon(instance, makespan) if len(instance) <= MOST_REQUESTS else 0
    if horizon <= least:
        return 0, "no cuts: requests, memory or horizon are too many for configurations"
    budget = state.memory_budget
    room = memory.cut_horizon(instance, memory.half() if budget is None else budget)
    if room > least:
        return int(min(horizon, room)), ""
    if budget is None:
        return 0, "no cuts: they take more than half of the memory of this machine"
    return 0, f"no cuts: {memory.needs(memory.cut_bytes(instance, horizon))}"


@dataclass(frozen=True)
class DynamicProgramming:
    """The dynamic program over rounds, guided by the duals of the cuts; exact when all states fit.

    ``most`` is the number of requests up to which it is worth its time.
    """

    width: int
    part: float
    most: int = MOST_REMEMBERED

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        from ratiolab.hindsight.dynamic_programming import beam, beam_search

        instance, duals, width = state.instance, state.duals, self.width
        most = min(self.most, beam_search.MOST_REQUESTS)
        if len(instance) > most:
            note = f"no dynamic programming: {len(instance)} requests, more than {most}"
            return Found(note=note)
        if duals is None:
            return Found(note="no dynamic programming: there are no duals of cuts to guide it")
        if state.memory_budget is not None:
            makespan, budget = state.schedule.makespan, state.memory_budget
            width = min(width, memory.layer_width(instance, makespan, budget))
        if width < 1:
            return Found(note="no dynamic programming: the memory limit leaves no room for a layer")
        stop = state.deadline(self.part)
        result = beam.widening_beam(
            *(instance, duals.duals, state.schedule),
            width=width,
            stop=stop,
            found=lambda schedule: call.found(Found(schedule)),
            proved=lambda result: call.found(_proven(duals, result)),
        )
        bound = LowerBound(result.lower, "dynamic programming")
        if result.exhausted:
            return Found(bound=bound)
        narrowed = f", narrowed from {self.width} by the memory limit" * (width < self.width)
        stopped = "stopped by the time limit" if stop() else "not exact"
        note = f"dynamic programming {stopped}: at most {width} states a layer{narrowed}"
        return Found(bound=bound, note=note)


def _proven(duals: DualCertificate, result: "BeamResult") -> Found:
    """Return a bound, with a certificate where a checker can repeat the search."""
    bound, certificate = LowerBound(result.lower, "dynamic programming"), None
    if result.lower > duals.bound and result.states <= MOST_CERTIFIED:
        named = duals.instance, duals.digest
        certificate = DynamicProgrammingCertificate(*named, result.lower, duals.value, duals.duals)
    return Found(bound=bound, certificate=certificate)
