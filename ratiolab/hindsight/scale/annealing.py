"""Simulated annealing of the order in which requests start.

An order is a schedule: each request starts as early as it fits, but not before those earlier in
the order. A move puts one request elsewhere or exchanges two, a few places apart, and only what
comes after is placed again: up to where both schedules run the same, or the new one has lost too
much to be kept.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.scale.order_kernels import STRIDE, Decoded, anneal, decode
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

SLICE, PACE = 2_000, 0.004
"""Most moves between two looks at the clock, and the part of the time that they may take, about."""

LARGE, RARE = 0.03, 64
"""Part of the requests, the largest by volume, that one move in so many puts anywhere.

When the few that take much of memory run is decided far ahead: moves of a few places never do."""

TOLD = 0.02
"""Part of the time between two schedules that are told."""


class Cooling(NamedTuple):
    """How an annealing cools: from one temperature to another, in rounds of total latency.

    Parameters
    ----------
    reach : places between the two requests of most moves; three times as many for others.
    give : temperatures that a schedule may have lost, beyond what is accepted, until given up.
    """

    begin: float
    end: float
    reach: int = 6
    give: float = 4.0


def _empty(order: IntArray, running: int) -> Decoded:
    """Return an order with room for its snapshots."""
    snaps = (len(order) - 1) // STRIDE + 1
    return Decoded(
        order.copy(),
        np.zeros(len(order), np.int64),
        np.zeros(snaps + 1, np.int64),
        np.zeros(snaps + 1, np.int64),
        np.zeros((snaps + 1, running), np.int64),
        np.zeros((snaps + 1, running), np.int64),
    )


def most_running(instance: Instance) -> int:
    """Return how many runs at most are kept when the next is placed.

    Those that ran together at some time, by their prompts alone, the one placed last, for which
    some of them may have ended, and the next.
    """
    fits = np.cumsum(np.sort(instance.prompt) + 1) <= instance.memory
    return int(fits.sum()) + 2


def largest(instance: Instance) -> IntArray:
    """Return the requests that may be put anywhere, the largest first."""
    count = math.ceil(LARGE * len(instance))
    return np.argsort(-instance.volume, kind="stable")[:count]


def decoded(instance: Instance, order: IntArray) -> tuple[Requests, Decoded]:
    """Return the columns of an instance, times from the first arrival on, and a decoded order."""
    arrival = instance.arrival - instance.arrival.min()
    columns = Requests(arrival, instance.prompt, instance.output, instance.memory)
    new, far = _empty(order, most_running(instance)), np.int64(2**61)
    new.total[-1], _ = decode(columns, new, new, 0, len(order), far, far)
    return columns, new


def schedule_of(instance: Instance, order: IntArray) -> Schedule:
    """Return the schedule of an order: each as early as it fits, never before an earlier one."""
    _, known = decoded(instance, order)
    starts = np.empty(len(order), np.int64)
    starts[order] = known.start + instance.arrival.min()
    return Schedule.from_starts(instance, starts)


def annealed(
    instance: Instance,
    order: IntArray,
    cooling: Cooling,
    part: Callable[[], float],
    found: Callable[[Schedule], None],
    seed: int = 0,
    paced: bool = False,
) -> IntArray:
    """Return the best order met until all time is used, whose schedules are told as they come.

    Parameters are those of `cooled`.
    """
    tell = lambda order: found(schedule_of(instance, order))  # noqa: E731
    return cooled(
        anneal, *decoded(instance, order), largest(instance), cooling, part, tell, seed, paced
    )


def cooled(
    anneal: Callable[..., tuple[float, IntArray]],
    columns: tuple[Any, ...],
    known: Any,
    large: IntArray,
    cooling: Cooling,
    part: Callable[[], float],
    tell: Callable[[IntArray], None] = lambda _: None,
    seed: int = 0,
    paced: bool = True,
) -> IntArray:
    """Return the best order that an annealing meets until all time is used.

    Parameters
    ----------
    anneal : tries moves at a temperature, as `ratiolab.hindsight.scale.order_kernels.anneal` does.
    columns, known, large : what it reads, the order to begin with, and who may be put anywhere.
    part : tells which part of the time is used; 1 ends the search.
    tell : is told of better orders.
    paced : whether looks at the clock come as often as the speed of moves asks for; each of many
        requests may place thousands again.
    """
    new = type(known)(*(column.copy() for column in known))
    best: IntArray = known.order.copy()
    least = known.total[-1]
    bits = stream(seed, "search").integers(1, 2**63, 1).astype(np.uint64)
    first = done = part()
    again, better, moves = done + TOLD, False, SLICE // 40 if paced else SLICE
    while done < 1:
        heat = cooling.begin * (cooling.end / cooling.begin) ** ((done - first) / (1 - first))
        total, placed = anneal(
            *(columns, known, new, bits, large, moves, heat, cooling.reach, cooling.give, RARE)
        )
        if total < least:
            best, least, better = placed, total, True
        began, done = done, part()
        if paced:
            moves = int(np.clip(moves * PACE / max(done - began, 1e-9), 1, min(SLICE, 4 * moves)))
        if better and (done >= 1 or done > again):
            tell(best)
            done, told = part(), done
            again, better = done + max(TOLD, 10 * (done - told)), False
    return best
