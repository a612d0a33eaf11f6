"""Simulated annealing over priority lists.

A priority list is a schedule: each request starts as early as it fits, but not before the requests
earlier in the list. A move shifts one request or swaps two, a few places apart. Only what comes
after the first of both places is scheduled again: up to where both schedules coincide, or where the
new one has lost too much to be accepted.

Source: Kirkpatrick, Gelatt, Vecchi (1983), Science 220.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.schedules.annealing_kernels import STRIDE, Decoded, anneal, decode
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

PARAMS = SearchParams()

CALLS = 100
"""Calls of compiled code in an annealing; between two the temperature falls."""

MOST_MOVES, PACE = 2_000, 0.004
"""Most moves in a call, and the part of the time that it may take, where time ends the search."""

TOLD = 0.02
"""Part of the time between two schedules that are reported."""

Part: TypeAlias = Callable[[], float]
"""The part of the time that is used, between 0 and 1; 1 ends a search."""


class Cooling(NamedTuple):
    """Temperatures of an annealing, in rounds of total latency, and the size of its moves.

    Parameters
    ----------
    begin, end : first and last temperature; it falls geometrically.
    reach : most places between the two requests of half of the moves; three times as many for the
        other half.
    give : temperatures that an unfinished schedule may have lost, beyond what is accepted, before
        it is given up.
    """

    begin: float
    end: float
    reach: int = PARAMS.reach
    give: float = PARAMS.give


def most_running(instance: Instance) -> int:
    """Return how many requests at most the list of running requests holds.

    These are the requests that run at one time, by their prompts alone, the one placed last, for
    which some of them may have ended, and the next.
    """
    fits = np.cumsum(np.sort(instance.prompt) + 1) <= instance.memory
    return int(fits.sum()) + 2


def largest(instance: Instance) -> IntArray:
    """Return the requests that a far move may take, by falling volume."""
    count = math.ceil(PARAMS.large_part * len(instance))
    return np.argsort(-instance.volume, kind="stable")[:count]


def decoded(instance: Instance, order: IntArray) -> tuple[Requests, Decoded]:
    """Return the columns of an instance, times from the first arrival on, and a scheduled list."""
    arrival = instance.arrival - instance.arrival.min()
    columns = Requests(arrival, instance.prompt, instance.output, instance.memory)
    rows, running = (len(order) - 1) // STRIDE + 2, most_running(instance)
    new = Decoded(
        order.copy(),
        np.zeros(len(order), np.int64),
        arrival.copy(),
        *np.zeros((2, rows), np.int64),
        *np.zeros((2, rows + 1, running), np.int64),
    )
    far = np.int64(2**61)
    new.total[-1], _ = decode(columns, new, new, 0, len(order), far, far)
    return columns, new


def schedule_of(instance: Instance, order: IntArray) -> Schedule:
    """Return the schedule of a priority list, whose starts are in the order of the list."""
    _, known = decoded(instance, order)
    return Schedule.from_starts(instance, _starts(known) + instance.arrival.min())


def _starts(known: Decoded) -> IntArray:
    """Return the start of each request."""
    starts = np.empty(len(known.order), np.int64)
    starts[known.order] = known.start
    return starts


def annealed(
    instance: Instance,
    order: IntArray,
    temperatures: tuple[float, float],
    part: Part,
    found: Callable[[Schedule], None] = lambda _: None,
    seed: int = 0,
    moves: int | None = None,
) -> Schedule:
    """Return the best schedule that an annealing from a priority list meets.

    Parameters
    ----------
    temperatures : the first and the last, as parts of the mean latency of the first schedule.
    part, seed, moves : see `cooled`.
    found : called with better schedules on the way.
    """
    columns, known = decoded(instance, order)
    latency = int(known.total[-1] + (instance.output - columns.arrival).sum()) / len(order)
    hot, cold = temperatures
    cooling = Cooling(max(PARAMS.least_hot, hot * latency), cold * latency)
    large, origin = largest(instance), instance.arrival.min()
    best = _starts(known)
    tell = lambda starts: found(Schedule.from_starts(instance, starts + origin))  # noqa: E731
    cooled(anneal, columns, known, best, large, cooling, part, tell, seed, moves)
    return Schedule.from_starts(instance, best + origin)


def cooled(
    anneal: Callable[..., float],
    columns: tuple[Any, ...],
    known: Any,
    best: IntArray,
    large: IntArray,
    cooling: Cooling,
    part: Part,
    tell: Callable[[IntArray], None] = lambda _: None,
    seed: int = 0,
    moves: int | None = None,
) -> None:
    """Anneal until the moves or the time are used; the best that is met is written to ``best``.

    Parameters
    ----------
    anneal : tries moves at a temperature, as
        `ratiolab.hindsight.schedules.annealing_kernels.anneal` does.
    columns, known, large : what it reads, the list to begin with, and the requests of far moves.
    part : asked after each call; with ``moves`` only for whether it is 1.
    tell : called with better results.
    moves : of the whole search, whose result then does not depend on time; None for as many as time
        allows.
    """
    new = type(known)(*(column.copy() for column in known))
    least = known.total[-1]
    bits = stream(seed, "search").integers(1, 2**63, 1).astype(np.uint64)
    first = done = part() if moves is None else 0.0
    size = MOST_MOVES // 40 if moves is None else -(-moves // CALLS)
    again, better, made = done + TOLD, False, 0
    settings = cooling.reach, cooling.give, PARAMS.far_moves
    while done < 1:
        heat = cooling.begin * (cooling.end / cooling.begin) ** ((done - first) / (1 - first))
        total = anneal(columns, known, new, best, least, bits, large, size, heat, settings)
        if total < least:
            least, better = total, True
        began, used, made = done, part(), made + size
        if moves is None:
            done = used
            size = int(np.clip(size * PACE / max(done - began, 1e-9), 1, min(MOST_MOVES, 4 * size)))
        else:
            done = 1.0 if used >= 1 else made / moves
        if better and (done >= 1 or done > again):
            tell(best)
            told = done if moves is not None else part()
            again, better = told + max(TOLD, 10 * (told - done)), False
            done = told
