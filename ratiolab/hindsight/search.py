"""The search for schedules beside the stages of a solve, in a thread of its own or by turns."""

import os
import threading
from collections.abc import Callable, Sequence
from itertools import cycle
from math import inf
from types import TracebackType
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.cells.delays import Delays
from ratiolab.hindsight.cells.master import problem_of
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.labelling.corridors import Corridors
from ratiolab.hindsight.schedules.heuristics import improved_schedule
from ratiolab.hindsight.schedules.population import Cross, Population
from ratiolab.hindsight.state import Found, SolveState
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

Stop: TypeAlias = Callable[[], bool]

MEDIUM = 200
"""Most requests."""

LEAST_REQUESTS, LEAST_BESIDE_CELLS = 17, 10
"""With fewer, the first search leaves little to find: for labels, and for cells."""


class SearchBeside:
    """A population that begins with a solve's best schedule, and tells the solve of better ones.

    Once the solve has the duals of cuts, all members are crossed at once.
    """

    def __init__(self, state: SolveState, rng: np.random.Generator, stop: Stop) -> None:
        self.state, self.stop = state, stop
        self.guided = False
        self.population = Population(
            state.schedule, rng, stop, lambda schedule: state.keep(Found(schedule))
        )

    def step(self) -> None:
        """Add a member to the population, or cross all of them."""
        state, population = self.state, self.population
        if not self.guided and state.duals is not None:
            self.guided, duals = True, state.duals.duals
            population.cross = crossing(state.instance, duals, population.best, self.stop)
        if state.upper < population.best:  # a stage has found it
            population.add(state.schedule)
        population.step()


def crossing(instance: Instance, duals: Duals, latency: int, stop: Stop) -> Cross | None:
    """Return a crossing of all members of a population, by beams backward and forward in turns.

    There is none where the memory or numbers are larger than a beam takes.
    """
    try:
        corridors = Corridors(instance, duals, latency)
    except OverflowError:
        return None
    forward = cycle((False, True))

    def cross(known: Sequence[Schedule], reach: int, target: int) -> Schedule | None:
        return corridors.search(known, reach, target, stop, forward=next(forward))

    return cross


def delay_search(
    state: SolveState, rng: np.random.Generator, stop: Callable[[], bool], steps: float = inf
) -> None:
    """Anneal lists until that finds nothing better, then lists with delays until that does.

    For dozens of requests lists find more, for few requests delays find the rest. Better schedules
    are kept. The search ends when told to stop, or after some annealings with delays.
    """
    search = Delays(problem_of(state.instance), state.schedule.starts, rng)

    def found(schedule: Schedule) -> None:
        state.keep(Found(schedule))

    listed = None
    while steps > 0 and not stop():
        if state.schedule is not listed:
            listed = state.schedule
            improved_schedule(listed, rng, stop=stop, found=found)
            continue
        search.starts = listed.starts
        search.step()
        found(Schedule.from_starts(state.instance, search.starts))
        steps -= 1


class Turns:
    """Turns of the search for schedules, in one thread with the loop.

    With a time limit the search goes on, whenever it is asked to, until it has had its share of all
    time. Without one it makes a number of steps each time, so that results depend on no clock.
    """

    def __init__(self, state: SolveState, stop: Callable[[], bool]) -> None:
        self.state, self.stop, self.params = state, stop, state.params.turns
        self.search = SearchBeside(state, stream(state.options.seed, "search", 3), stop)
        self.spent, self.made, self.last = 0.0, 0, 0

    def __call__(self) -> None:
        """Let the search take its turn."""
        state, begun, made = self.state, self.state.seconds, self.made
        while not (state.closed or self.stop()):
            part = 3 if self.made > 2 * self.last + self.params.patience else 1
            if state.time_left is None:
                over = self.made - made >= self.params.turn // part
            else:
                share = self.params.share / part
                over = self.spent + state.seconds - begun >= share * state.seconds
            if over:
                break
            best = self.search.population.best
            self.search.step()
            self.made += 1
            self.last = self.made if self.search.population.best < best else self.last
        self.spent += state.seconds - begun


class BackgroundHeuristic:
    """A context in which a thread looks for better schedules while the stages work.

    Most of a solve is compiled code and HiGHS, which leave Python's lock to others. Each half of
    the work gains by the other: stages need a good schedule to leave things out; the search for
    schedules needs the duals of cuts, with which it crosses a whole population at once. With no
    time limit there is no such thread, so that results are the same on every machine, and with a
    memory limit there is none, as it would need its own share. The thread ends within a few hundred
    steps.

    Parameters
    ----------
    cells : whether the dynamic program over cells runs: it gains by lists with delays.
    """

    def __init__(self, state: SolveState, *, cells: bool) -> None:
        self.state, self.cells = state, cells
        least = LEAST_BESIDE_CELLS if cells else LEAST_REQUESTS
        self.over = threading.Event()
        self.thread: threading.Thread | None = None
        options, size = state.options, len(state.instance)
        if (
            options.threads > 1
            and options.time_limit is not None
            and options.steps
            and options.memory_limit is None
            and least <= size <= MEDIUM
        ):
            self.thread = threading.Thread(target=self._improve, daemon=True)

    def __enter__(self) -> None:
        if self.thread is not None:
            self.state.helped = True
            self.thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over.set()
        if self.thread is not None:
            self.thread.join()

    def _improve(self) -> None:
        state = self.state
        rng = stream(state.options.seed, "search", 2)
        if self.cells:
            delay_search(state, rng, self._ended)
            return
        improved_schedule(state.schedule, rng, stop=self._ended, found=self._found)
        search = SearchBeside(state, rng, self._ended)
        while not self._ended():
            search.step()

    def _found(self, schedule: Schedule) -> None:
        self.state.keep(Found(schedule))

    def _ended(self) -> bool:
        return self.over.is_set() or self.state.closed or self.state.time_left == 0


def threads_here() -> int:
    """Return the number of threads of a solve: two where there are two cores."""
    return min(2, os.cpu_count() or 1)
