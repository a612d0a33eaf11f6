"""The compiled search over orders: annealing, then requests taken out and put back, in cycles."""

from collections.abc import Callable, Iterator

import numpy as np

from ratiolab.hindsight.schedules import search_kernels as kernels
from ratiolab.model.footprint import IntArray
from ratiolab.model.schedule import Schedule

WARMTH = 0.04
"""First temperature of each annealing, as a part of the mean latency."""

CYCLE = 20_000
"""Orders of one annealing; each begins with the best schedule of those before."""

FULL_ROUNDS = 5_000
"""Rounds of output, or of all time, up to which a step is an order; above, fewer in proportion."""

REINSERTIONS = 4
"""Reinsertions for each step, after the annealings."""

FULL_OUTPUT = 100
"""Mean output up to which there are as many; above, fewer in proportion."""

MOST_OUT = 3
"""Most requests that a reinsertion takes out."""

REACH = 20
"""How far apart they are at most, in places by start, from the middle."""

PARTS = 40
"""Calls of compiled code in a cycle, between which Ctrl-C and a time limit are heard."""

FAR = 2**62
"""No limit to the sum of starts."""

RISING = tuple(c / 10 for c in range(1, 11))
"""Weights of the rising part of the volume, s o + c o (o + 1) / 2, in the first orders."""


def search(
    first: Schedule,
    rng: np.random.Generator,
    steps: int,
    stop: Callable[[], bool] = lambda: False,
    found: Callable[[Schedule], None] = lambda schedule: None,
) -> Schedule:
    """The best schedule that annealing from this one and some plain orders finds.

    ``found`` is told of better ones after each annealing; ``stop`` ends the search between parts.
    Cost of an order: O(rounds of output), and of looking for starts about as much.
    """
    state = _State(first)
    for order in _orders(first):
        if not stop():
            state.begin(order)
    rounds, mean_output = max(state.tokens, first.makespan), state.tokens // state.n
    orders = max(1, steps * FULL_ROUNDS // max(rounds, FULL_ROUNDS))
    reinsertions = steps * REINSERTIONS * FULL_OUTPUT // max(mean_output, FULL_OUTPUT)
    cycles = -(-orders // CYCLE)
    for _ in range(cycles):
        state.begin(np.lexsort((first.instance.volume, state.best)))
        known = int(state.value[1])
        state.anneal(-(-orders // cycles), rng, stop)
        state.reinsert(reinsertions // cycles, rng, stop)
        if state.value[1] < known:
            found(Schedule.from_starts(first.instance, state.best))
        if stop():
            break
    return Schedule.from_starts(first.instance, state.best)


class _State:
    """The order and starts that are annealed, and the best starts so far."""

    def __init__(self, first: Schedule) -> None:
        instance = first.instance
        self.n, self.tokens = len(instance), int(instance.output.sum())
        columns = (instance.prompt, instance.output, instance.arrival)
        self.prompt, self.output, self.arrival = map(np.array, columns)  # kernels want writeable
        self.fixed = (instance.memory, self.prompt, self.output, self.arrival)
        # each is placed at the latest where the profile has become empty, or as many rounds later
        # as it lets starts pass
        last = int(self.arrival.max()) + self.tokens + kernels.MOST_SKIPS * self.n
        room = int(self.output.max()) + 1
        self.usage = np.zeros(max(last, first.makespan) + room, np.int64)
        self.used = np.zeros(1, np.int64)
        self.best = np.array(first.starts)
        self.value = np.full(2, self.best.sum())

    def begin(self, order: IntArray) -> None:
        """Place requests in this order."""
        self.order, self.skip = order, np.zeros(self.n, np.int64)
        self.starts = np.zeros(self.n, np.int64)
        self.value[0] = kernels.place(
            self.usage, self.used, *self.fixed, order, self.skip, 0, FAR, self.starts
        )
        if self.value[0] < self.value[1]:
            self.value[1], self.best = self.value[0], self.starts.copy()

    def anneal(self, orders: int, rng: np.random.Generator, stop: Callable[[], bool]) -> None:
        """Try as many orders."""
        for part in _parts(orders):
            if stop():
                break
            mean_latency = (int(self.value[1]) + self.tokens - int(self.arrival.sum())) / self.n
            heats = WARMTH * mean_latency * (1 - part / orders)
            kernels.anneal(
                self.usage, self.used, *self.fixed, self.order, self.skip, self.starts, self.best,
                self.value, heats, rng.random((len(part), 5)),
            )  # fmt: skip

    def reinsert(self, steps: int, rng: np.random.Generator, stop: Callable[[], bool]) -> None:
        """Improve the best starts one by one, beside the others."""
        kernels.fill(self.usage, self.used, self.prompt, self.output, self.best)
        for part in _parts(steps):
            if stop():
                break
            by_start = np.argsort(self.best, kind="stable")
            draws = rng.random((len(part), 2 + MOST_OUT))
            kernels.reinsert(
                self.usage, self.used, *self.fixed, by_start, self.best, REACH, MOST_OUT, draws
            )
        self.value[1] = self.best.sum()


def _orders(first: Schedule) -> Iterator[IntArray]:
    """Plain orders: by volume, its rising part weighted."""
    instance = first.instance
    prompt, output = instance.prompt.astype(float), instance.output.astype(float)
    for rising in RISING:
        key = prompt * output + rising * output * (output + 1) / 2
        yield np.argsort(key, kind="stable")


def _parts(steps: int) -> list[IntArray]:
    """The numbers of the steps, in about `PARTS` parts."""
    parts: list[IntArray] = np.array_split(np.arange(steps), max(1, min(steps, PARTS)))
    return parts
