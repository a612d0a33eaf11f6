"""The search for schedules beside the stages of a solve, in a thread of its own or by turns."""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.labelling.corridors import Corridors
from ratiolab.hindsight.schedules.population import Cross, Population
from ratiolab.hindsight.state import Found, SolveState
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

Stop: TypeAlias = Callable[[], bool]


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

    Parameters
    ----------
    latency : of a schedule; those of less are looked for.

    Returns
    -------
    None where the memory or numbers are larger than a beam takes.
    """
    try:
        corridors = Corridors(instance, duals, latency)
    except OverflowError:
        return None
    forward = cycle((False, True))

    def cross(known: Sequence[Schedule], reach: int, target: int) -> Schedule | None:
        return corridors.search(known, reach, target, stop, forward=next(forward))

    return cross
