"""The compiled search over orders: annealing, then requests taken out and put back, in cycles."""

from collections.abc import Iterator

import numpy as np

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.schedules import search_kernels as kernels
from ratiolab.hindsight.schedules.small_search import Stop, Tell, never, unheard
from ratiolab.model import IntArray, Schedule

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
    first: Schedule, rng: np.random.Generator, steps: int, stop: Stop = never, found: Tell = unheard
) -> Schedule:
    """Return the best schedule that annealing from this one and some plain orders finds.

    ``found`` is called with better ones after each annealing; ``stop`` ends the search between
    parts.
    Cost of an order: O(rounds of output), and of looking for starts about as much.
    """
    state = OrderAnnealing(first)
    for order in _orders(first):
        if not stop():
            state.begin(order)
    rounds, mean_output = max(state.tokens, first.makespan), state.tokens // state.n
    orders = max(1, steps * FULL_ROUNDS // max(rounds, FULL_ROUNDS))
    reinsertions = steps * REINSERTIONS * FULL_OUTPUT // max(mean_output, FULL_OUTPUT)
    cycles = -(-orders // CYCLE)
    for _ in range(cycles):
        state.begin(np.lexsort((first.instance.volume, state.best)))
        known = state.value
        state.anneal(-(-orders // cycles), rng, stop)
        state.reinsert(reinsertions // cycles, rng, stop)
        if state.value < known:
            found(Schedule.from_starts(first.instance, state.best))
        if stop():
            break
    return Schedule.from_starts(first.instance, state.best)


class Annealing:
    """The best starts so far, with requests and a memory profile for the compiled moves."""

    def __init__(self, first: Schedule, rounds: int) -> None:
        self.requests = Requests.of(first.instance)
        self.profile = kernels.Profile(np.zeros(rounds, np.int64), np.zeros(1, np.int64))
        self.best = np.array(first.starts)


class OrderAnnealing(Annealing):
    """An annealing of orders."""

    def __init__(self, first: Schedule) -> None:
        instance = first.instance
        self.n, self.tokens = len(instance), int(instance.output.sum())
        # each is placed at the latest where the profile has become empty, or as many rounds later
        # as it lets starts pass
        last = int(instance.arrival.max()) + self.tokens + kernels.MOST_SKIPS * self.n
        super().__init__(first, max(last, first.makespan) + int(instance.output.max()) + 1)
        self.value = int(self.best.sum())

    def forget(self) -> None:
        """Forget the best schedule, so that what follows need not be better."""
        self.value = FAR

    def begin(self, order: IntArray) -> None:
        """Place requests in this order."""
        self.order, self.skip, self.starts = order, *np.zeros((2, self.n), np.int64)
        self.now = kernels.place(self.profile, self.requests, order, self.skip, 0, FAR, self.starts)
        if self.now < self.value:
            self.value, self.best = self.now, self.starts.copy()

    def anneal(
        self, orders: int, rng: np.random.Generator, stop: Stop, warmth: float = WARMTH
    ) -> None:
        """Try as many orders; warmth is the first temperature, a part of the mean latency."""
        values = np.array([self.now, self.value])
        state = kernels.Orders(self.order, self.skip, self.starts, self.best, values)
        arrivals = int(self.requests.arrival.sum())
        for part in _parts(orders):
            if stop():
                break
            mean_latency = (int(values[1]) + self.tokens - arrivals) / self.n
            heats = warmth * mean_latency * (1 - part / orders)
            draws = rng.random((len(part), 5))
            kernels.anneal_orders(self.profile, self.requests, state, heats, draws)
            self.now, self.value = values.tolist()

    def reinsert(self, steps: int, rng: np.random.Generator, stop: Stop) -> None:
        """Improve the best starts one by one, beside the others."""
        kernels.fill(self.profile, self.requests, self.best)
        for part in _parts(steps):
            if stop():
                break
            by_start = np.argsort(self.best, kind="stable")
            draws = rng.random((len(part), 2 + MOST_OUT))
            kernels.reinsert(
                self.profile, self.requests, by_start, self.best, REACH, MOST_OUT, draws
            )
        self.value = int(self.best.sum())


def _orders(first: Schedule) -> Iterator[IntArray]:
    """Yield plain orders: by volume, its rising part weighted."""
    instance = first.instance
    prompt, output = instance.prompt.astype(float), instance.output.astype(float)
    for rising in RISING:
        key = prompt * output + rising * output * (output + 1) / 2
        yield np.argsort(key, kind="stable")


def _parts(steps: int) -> list[IntArray]:
    """Return the numbers of the steps, in about `PARTS` parts."""
    parts: list[IntArray] = np.array_split(np.arange(steps), max(1, min(steps, PARTS)))
    return parts
