"""A search for schedules of thousands of requests by ejection chains.

Orders are a poor description of good schedules when requests arrive over time: a long request has
to start while others run that the best order would have kept out of its way, hundreds of places
off. So a move works on the starts themselves: a request that waits is started earlier, requests
that exceed memory there are taken out, and each gets its earliest start beside all others. Its
cost does not grow with the number of requests. Moves that make the sum of starts larger are
accepted as in simulated annealing.

Source: ejection chains: Glover (1996), Discrete Applied Mathematics 65; annealing: Kirkpatrick,
Gelatt, Vecchi (1983), Science 220.
"""

import numpy as np

from ratiolab.hindsight.schedules import ejection_kernels as kernels
from ratiolab.hindsight.schedules.order_search import Annealing
from ratiolab.hindsight.schedules.search_kernels import fill
from ratiolab.hindsight.schedules.small_search import Stop, Tell, never, unheard
from ratiolab.model.schedule import Schedule

WARMTHS = (0.2, 0.01)
"""First temperatures, as parts of the mean latency: high ones help where requests arrive over time
and memory is short, low ones where all are there from the start."""

MOVES = 2
"""Moves for each step that a caller asks for, and one more for each `REQUESTS`."""

REQUESTS = 250

FULL_OUTPUT = 100
"""Mean output up to which there are as many moves; above, fewer in proportion."""

PARTS = 100
"""Calls of compiled code in an annealing; between them the best is kept and Ctrl-C is heard."""


def eject(
    first: Schedule, rng: np.random.Generator, steps: int, stop: Stop = never, found: Tell = unheard
) -> Schedule:
    """Return the best schedule of annealings, each from the best before it; the first at worst.

    Parameters
    ----------
    steps : moves are in proportion to it; each costs O(output of the requests that it moves).
    stop : ends the search between parts.
    found : called with a better schedule after each annealing, also when Ctrl-C ends it.
    """
    state = StartAnnealing(first)
    n, output = len(first.instance), int(first.instance.output.mean())
    moves = steps * (MOVES + n // REQUESTS) * FULL_OUTPUT // max(output, FULL_OUTPUT)
    for warmth in WARMTHS:
        known = state.value
        try:
            state.anneal(warmth, moves // len(WARMTHS), rng, stop)
        finally:
            if state.value < known:
                found(Schedule.from_starts(first.instance, state.best))
    return Schedule.from_starts(first.instance, state.best)


class StartAnnealing(Annealing):
    """An annealing of starts."""

    def __init__(self, first: Schedule) -> None:
        output = first.instance.output
        # nothing ends later than by two of the longest after the first schedule
        super().__init__(first, first.makespan + 2 * int(output.max()) + 1)
        self.value, self.latency = int(self.best.sum()), first.total_latency / len(output)
        weights = output / output.sum()
        self.reach = int((weights * output).sum())  # length of what runs at a time

    def anneal(self, warmth: float, moves: int, rng: np.random.Generator, stop: Stop) -> None:
        """Make so many moves from the best starts."""
        starts, usage = self.best.copy(), self.profile.usage
        self.profile.used[0] = len(usage) - 1
        fill(self.profile, self.requests, starts)
        heats = warmth * self.latency * np.linspace(1, 0, moves)
        for part in np.array_split(heats, PARTS):
            waiting = np.flatnonzero(starts > self.requests.arrival)
            if len(waiting) == 0 or stop():
                break
            by_start = np.argsort(starts, kind="stable")
            guide = kernels.Guide(by_start, starts[by_start], waiting, self.reach)
            kernels.anneal_starts(usage, self.requests, starts, guide, part, rng)
            if starts.sum() < self.value:
                self.best, self.value = starts.copy(), int(starts.sum())
