"""The stages of a solve: each improves the schedule, the bound, or both.

`ratiolab.hindsight.state.Work` defines a stage. It works within its part of the time and memory
that are left, and its note says why it did nothing, or where it stopped.
"""

from dataclasses import dataclass, replace

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.cells.engine import CellProgram, Proof, declined
from ratiolab.hindsight.certificates.certificate import CellCertificate, PathCertificate
from ratiolab.hindsight.cuts import cut_bound as cuts
from ratiolab.hindsight.labelling.loop import Loop, Surroundings
from ratiolab.hindsight.labelling.weights import MOST_MEMORY
from ratiolab.hindsight.relaxation.growth import dual_bound, growth_bounds
from ratiolab.hindsight.schedules.heuristics import FEW, improved_schedule
from ratiolab.hindsight.search import Turns, delay_search
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.main_memory import half_of_memory
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

MOST_REQUESTS = 400
"""Most requests for which a program is considered: last starts cost O(n^2 log n)."""

LEAST_HORIZON = 0.4
"""Least part of the makespan within the horizon of cuts: with less, growth rows prove more."""

MOST_REMEMBERED = 64
"""Most requests of sweeps that find schedules."""

LEAST_SEARCH = 0.001
"""A search that takes fewer seconds has nothing to search for, and does not go on."""


@dataclass(frozen=True)
class OrderSearch:
    """Search for a good schedule by annealing over priority lists.

    Parameters
    ----------
    part : share of the time left that the search may take.
    rest : whether searches repeat until the time limit, each from the best schedule so far.
        Without a time limit, such a stage does nothing.
    few : most steps with few requests, for which labelling finds better schedules.
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
        if len(state.instance) <= FEW:
            return Found()
        proof = dual_bound(state.instance, state.upper, stop=state.deadline(self.part))
        return Found(bound=LowerBound(proof.bound, "lagrangian"), certificate=proof)


@dataclass(frozen=True)
class GrowthRows:
    """The bound by duals of memory and growth rows.

    Cuts and cells prove more. The stage does nothing where cuts reach or cells proved a bound.
    """

    part: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        few = len(state.instance) <= FEW  # these compile nothing
        celled = isinstance(state.certificate, CellCertificate)
        if not (few or celled or cut_horizon(state)[0]):
            find_growth_bounds(state.instance, state.share(self.part), call)
        return Found()


def find_growth_bounds(instance: Instance, seconds: float | None, call: Callbacks) -> None:
    """Tell of each bound by growth rows that these seconds allow."""
    for proof in growth_bounds(instance, seconds):
        call.found(Found(bound=LowerBound(proof.bound, "growth rows"), certificate=proof))


@dataclass(frozen=True)
class Cuts:
    """The bound by configuration cuts, whose duals guide what follows.

    ``rounds`` and ``part`` are those of `ratiolab.hindsight.params.CutParams` if they are not
    given: few where the labelling loop follows, as labels prove more in the time.
    """

    rounds: int | None = None
    part: float | None = None

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        instance, (horizon, why) = state.instance, cut_horizon(state)
        if why:
            return Found(note=why)
        if state.walked is not None:
            return Found(note="no cuts: the labelling loop goes on from a proof of its own")

        def bound(value: int) -> LowerBound:
            return LowerBound(value, "configuration cuts")

        rounds, part = self.rounds, self.part
        if rounds is None:
            rounds = state.params.cuts.rounds_before(instance, followed=labels_follow(state))
        result = cuts.cut_bound(
            instance,
            horizon=horizon,
            rounds=rounds,
            time_limit=self._seconds(state) if part is None else state.share(part),
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
        left, params = state.time_left, state.params.cuts
        if left is None:
            return None
        if not labels_follow(state):
            return (1 - params.part) * left
        enough = (len(state.instance) / params.a_second) ** 3  # of the first linear programs
        return max(params.part * left, min((1 - params.part) * left, enough))


def labels_follow(state: SolveState) -> bool:
    """Return whether the labelling loop takes the instance of a solve."""
    few = len(state.instance) <= state.params.labelling.most_requests
    return few and state.instance.memory <= MOST_MEMORY


def cut_horizon(state: SolveState) -> tuple[int, str]:
    """Return the last time with rows of cuts, and why it is 0 where cuts are out of reach.

    That is the makespan, or what memory and the checker of the proof allow of it: any horizon gives
    a valid bound, as requests pay nothing for the memory that they hold beyond.
    """
    instance, makespan = state.instance, state.schedule.makespan
    least = int(LEAST_HORIZON * makespan)
    horizon = cuts.longest_horizon(instance, makespan) if len(instance) <= MOST_REQUESTS else 0
    if horizon <= least:
        return 0, "no cuts: requests, memory or horizon are too many for configurations"
    budget = state.memory_budget
    room = memory.cut_horizon(instance, half_of_memory() if budget is None else budget)
    if room > least:
        return int(min(horizon, room)), ""
    if budget is None:
        return 0, "no cuts: they take more than half of the memory of this machine"
    return 0, f"no cuts: {memory.needs(memory.cut_bytes(instance, horizon))}"


@dataclass(frozen=True)
class Labelling:
    """The labelling loop under the duals of cuts, in a part of the time that is left."""

    part: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        instance, duals, params = state.instance, state.duals, state.params
        if len(instance) > params.labelling.most_requests:
            return Found(note=f"no labelling: more than {params.labelling.most_requests} requests")
        if instance.memory > MOST_MEMORY:
            return Found(note=f"no labelling: memory {instance.memory} > {MOST_MEMORY}")
        if duals is None or not (any(duals.duals.memory) or duals.duals.cuts):
            return Found(note="no labelling: there are no duals of cuts to guide it")
        if state.memory_budget is not None:
            width = memory.walk_width(instance, state.memory_budget)
            if width < params.labelling.first_width // 8:
                return Found(note="no labelling: the memory limit leaves no room for labels")
            width = min(width, params.labelling.most_width)
            params = replace(params, labelling=replace(params.labelling, most_width=width))

        def found(schedule: Schedule | None, proven: PathCertificate | None) -> None:
            bound = None if proven is None else LowerBound(proven.bound, "paths")
            call.found(Found(schedule, bound, proven))

        stop = state.deadline(self.part)
        around = Surroundings(lambda: state.upper, stop, found, state.countdown(self.part))
        # a search has no part of the memory, and none is asked for with no steps
        if not state.helped and state.options.steps and state.memory_budget is None:
            around = around._replace(search=Turns(state, stop))
        known = state.certificate  # of an earlier stage, or what the solve began with
        begin = known if isinstance(known, PathCertificate) else state.walked
        try:
            Loop(instance, duals, around, params, begin).run()
        except OverflowError as error:
            return Found(note=f"no labelling: {error}")
        limit = "time limit" if stop() else "largest width of a layer"
        return Found(note="" if state.closed else f"labelling stopped by the {limit}")


LABEL_BYTES, RUNNING_BYTES = 178, 8
"""Bytes that a label takes with its two edges and its places in a hash table; and what each request
that may run with others adds."""


def reason_against(state: SolveState) -> str:
    """Return why the dynamic program over cells does not run; nothing where it does."""
    if state.instance.memory <= MOST_MEMORY:
        return f"labels take a memory of {state.instance.memory}"
    return declined(state.instance, state.schedule.makespan)


@dataclass(frozen=True)
class Cells:
    """The dynamic program over cells, in a part of the time that is left."""

    part: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        instance, params = state.instance, state.params.cells
        reason = reason_against(state)
        if reason:
            return Found(note=f"no dynamic program over cells: {reason}")
        size = LABEL_BYTES + RUNNING_BYTES * len(instance)
        budget = half_of_memory() if state.memory_budget is None else state.memory_budget
        most = params.room if state.time_left is not None else params.room // 4
        room = int(min(most * size, budget)) // size
        if room < params.width:
            return Found(note="no dynamic program over cells: no room for its labels")
        params = replace(params, room=room)

        def found(schedule: Schedule | None, proof: Proof | None) -> None:
            if proof is None:
                call.found(Found(schedule))
                return
            bound = LowerBound(proof.bound, "cells")
            call.found(Found(schedule, bound, proof.certificate(instance)))

        rng = stream(state.options.seed, "search", 4)
        alone = not state.helped and state.options.steps  # else another thread does it

        def improve() -> None:
            ended = lambda: state.closed or stop()  # noqa: E731
            delay_search(state, rng, ended, params.annealings if alone else 0)

        stop, priced = state.deadline(self.part), state.deadline(self.part * params.share)
        program = CellProgram(instance, lambda: state.upper, stop, found, params)
        begun = state.deadline(self.part * params.share / 4)
        program.run(state.schedule.starts, priced, improve, begun)
        limit = "time limit" if stop() else "room for labels"
        return Found(note="" if state.closed else f"cells stopped by the {limit}")
