"""The compiled search over orders: annealing, then requests taken out and put back."""

from collections.abc import Iterator

import numpy as np

from ratiolab.hindsight import search_kernels as kernels
from ratiolab.model.footprint import IntArray
from ratiolab.model.schedule import Schedule

WARMTH = 0.05
"""First temperature, as a part of the mean latency."""

FULL_ROUNDS = 5_000
"""Rounds of output in all up to which every step is an order; above, in proportion fewer are."""

REINSERTIONS = 4
"""Reinsertions, after the annealing, for each step."""

MOST_OUT = 3
"""Most requests that a reinsertion takes out."""

REACH = 20
"""How far apart they are at most, in places by start, from the middle."""

PARTS = 50
"""Calls of compiled code, between which Ctrl-C is heard."""

RISING = tuple(c / 10 for c in range(1, 11))
"""Weights of the rising part of the volume, s o + c o (o + 1) / 2, in the first orders."""


def search(first: Schedule, rng: np.random.Generator, steps: int) -> Schedule:
    """The best schedule that annealing from the best of some plain orders finds.

    Cost of an order: O(rounds of output), and of looking for starts about as much.
    """
    instance = first.instance
    n, memory = len(instance), instance.memory
    columns = (instance.prompt, instance.output, instance.arrival)
    prompt, output, arrival = (np.array(column) for column in columns)  # writeable: one signature
    tokens = int(output.sum())
    # each is placed at the latest where the profile has become empty, or as many rounds later as
    # it lets starts pass
    usage = np.zeros(int(arrival.max()) + tokens + kernels.MOST_SKIPS * n + 1, np.int64)
    used, skip = np.zeros(1, np.int64), np.zeros(n, np.int64)
    order, best = np.arange(n), np.zeros(n, np.int64)
    least = np.iinfo(np.int64).max
    for candidate in _orders(first):
        starts = np.zeros(n, np.int64)
        total = kernels.place(
            usage, used, memory, prompt, output, arrival, candidate, skip, 0, least, starts
        )
        if 0 <= total < least:
            order, best, least = candidate, starts, total
    starts, value = best.copy(), np.array([least, least])
    orders = max(1, steps * FULL_ROUNDS // max(tokens, FULL_ROUNDS))
    for part in _parts(orders):
        mean_latency = (int(value[1]) + tokens - int(arrival.sum())) / n
        heats = WARMTH * mean_latency * (1 - part / orders)
        kernels.anneal(
            usage, used, memory, prompt, output, arrival, order, skip, starts, best, value,
            heats, rng.random((len(part), 5)),
        )  # fmt: skip
    if first.starts.sum() < value[1]:
        best = np.array(first.starts)
    usage = np.zeros(max(len(usage), int((best + output).max()) + 1), np.int64)
    for i in range(n):
        kernels.add(usage, prompt[i], output[i], best[i])
    for part in _parts(steps * REINSERTIONS):
        by_start = np.argsort(best, kind="stable")
        kernels.reinsert(
            usage, memory, prompt, output, arrival, by_start, best, REACH, MOST_OUT,
            rng.random((len(part), 2 + MOST_OUT)),
        )  # fmt: skip
    return Schedule.from_starts(instance, best)


def _orders(first: Schedule) -> Iterator[IntArray]:
    """Orders to begin with."""
    instance = first.instance
    prompt, output = instance.prompt.astype(float), instance.output.astype(float)
    yield np.lexsort((instance.volume, first.starts))
    for rising in RISING:
        key = prompt * output + rising * output * (output + 1) / 2
        yield np.argsort(key, kind="stable")


def _parts(steps: int) -> list[IntArray]:
    """The numbers of the steps, in about `PARTS` parts."""
    parts: list[IntArray] = np.array_split(np.arange(steps), min(steps, PARTS))
    return parts
