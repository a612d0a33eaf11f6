"""Simulated annealing over lists with delays, for the few requests of the dynamic program.

A list is served in its order, each request as early as it fits and not before its release. The
optimum of few requests often lets one wait until another has ended, although it would fit before,
and no list without such delays is that schedule. A move shifts or swaps two requests that stand
close, or delays one until about the start or the end of another, or ends its delay.

Source: Kirkpatrick, Gelatt, Vecchi (1983), Science 220.
"""

import numpy as np

from ratiolab.hindsight.arrays import overwrite
from ratiolab.hindsight.cells.kernels import Problem, serial
from ratiolab.hindsight.schedules.annealing_kernels import draw, moved, near_move
from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

MOVES = 30_000
"""Moves of an annealing, about a tenth of a second; another one begins where it ended."""

HOT, COLD = 0.01, 0.0003
"""First and last temperature, as parts of the waiting. The second is a round or two at the waiting
of a dozen requests."""

LEAST_HOT, LEAST_COLD = 3.0, 0.1
"""Least temperatures, rounds: latencies are integers."""

REACH = 4
"""Most places between the two requests of half of the moves of a list."""

NEAR = 8
"""Most rounds between a delay and the event that it waits for."""


@inner
def _waited(problem, starts):  # type: ignore[no-untyped-def]
    """Return the rounds that all requests wait."""
    total = np.int64(0)
    for i in range(len(starts)):
        total += starts[i] - problem.arrival[i]
    return total


@compiled
def _anneal(problem, order, release, bits, hot, cold):  # type: ignore[no-untyped-def]
    """Return the best starts found. Changes ``order`` and ``release``."""
    n = len(order)
    start = serial(problem, order, release)
    waiting = _waited(problem, start)
    best, least = start.copy(), waiting
    new, delayed = order.copy(), release.copy()
    for k in range(MOVES):
        overwrite(new, 0, order, 0, n)
        overwrite(delayed, 0, release, 0, n)
        i = np.int64(draw(bits) % np.uint64(n))
        what = draw(bits) % np.uint64(4)
        if what == 0:
            delayed[i] = problem.arrival[i]
        elif what == 1:
            other = np.int64(draw(bits) % np.uint64(n))
            event = start[other] + problem.output[other] * np.int64(draw(bits) % np.uint64(2))
            near = np.int64(draw(bits) % np.uint64(2 * NEAR + 1)) - NEAR
            delayed[i] = max(problem.arrival[i], event + near)
        else:
            one, two, kind = near_move(bits, n, REACH)
            if one < two:
                moved(new, one, two, kind)
        starts = serial(problem, new, delayed)
        now = _waited(problem, starts)
        heat = hot * (cold / hot) ** (k / MOVES)
        luck = (np.float64(draw(bits) >> np.uint64(11)) + 1) / 2.0**53
        if now - waiting <= -heat * np.log(luck):
            waiting = now
            overwrite(order, 0, new, 0, n)
            overwrite(release, 0, delayed, 0, n)
            overwrite(start, 0, starts, 0, n)
            if now < least:
                least = now
                overwrite(best, 0, starts, 0, n)
    return best


class Delays:
    """Annealings, each from the best schedule so far.

    Parameters
    ----------
    starts : starts of a first schedule. Shape (n,).
    """

    def __init__(self, problem: Problem, starts: IntArray, rng: np.random.Generator) -> None:
        self.problem, self.starts = problem, starts
        self.bits = rng.integers(1, 2**63, 1).astype(np.uint64)

    @property
    def waiting(self) -> int:
        """Return the rounds of waiting of the best schedule."""
        return int((self.starts - self.problem.arrival).sum())

    def step(self) -> None:
        """Anneal once."""
        order = np.argsort(self.starts, kind="stable")
        hot, cold = max(LEAST_HOT, HOT * self.waiting), max(LEAST_COLD, COLD * self.waiting)
        found = _anneal(self.problem, order, self.starts.copy(), self.bits, hot, cold)
        if int((found - self.problem.arrival).sum()) < self.waiting:
            self.starts = found
