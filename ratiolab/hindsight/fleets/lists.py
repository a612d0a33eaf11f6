"""Good schedules of a fleet: lists of requests that share the replicas, and a search over them.

A list is a schedule: in its order, each request starts as early as the memory of its replica still
allows, from its release on. The replica is the one with the earliest start, or the replica that
the list names. A release is the arrival, or a later round where a request is held back.
"""

from collections.abc import Callable

import numpy as np

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.schedules.annealing_kernels import draw
from ratiolab.hindsight.schedules.heuristics import MOST_LISTED, admitted
from ratiolab.hindsight.schedules.promised import earliest_fit, earliest_place, occupy
from ratiolab.machine_code import compiled
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.footprint import IntArray
from ratiolab.model.streams import stream

ANY = -1
"""A list that names no replica for a request takes the one of the earliest start."""


@compiled
def decode(columns, order, replica, release, first, room, start, place, limit):  # type: ignore[no-untyped-def]
    """Schedule a list from a place on; return the sum of all starts, or -1 above ``limit``.

    ``start`` and ``place`` are those of the requests before; with -1 nothing after ``first`` holds
    memory. ``room[r, t]`` is the memory of replica r that is free at time t.
    """
    total = np.int64(0)
    for k in range(first):
        total += start[order[k]]
    rest = np.int64(0)
    for k in range(first, len(order)):
        rest += columns.arrival[order[k]]
    last = room.shape[1] - 2
    for k in range(first, len(order)):
        i = order[k]
        s, o = columns.prompt[i], columns.output[i]
        rest -= columns.arrival[i]
        most = min(last - o, limit - total - rest)
        begin, at = max(columns.arrival[i], release[i]), replica[i]
        if at >= 0:
            best = earliest_fit(room[at], s, o, begin, most)
        else:
            best, at = earliest_place(room, s, o, begin, most)
        if best < 0:
            for q in range(first, k):
                j = order[q]
                occupy(room[place[j]], columns.prompt[j], columns.output[j], start[j], -1)
            return np.int64(-1)
        start[i], place[i] = best, at
        occupy(room[at], s, o, best, 1)
        total += best
    return total


@compiled
def anneal(  # type: ignore[no-untyped-def]
    columns, order, replica, release, room, start, place, best, bits, moves, hot, cold
):
    """Anneal a list of requests; write the starts and replicas of the best list to ``best``.

    A move shifts a request in the list, swaps two requests, fixes or frees the replica of a
    request, or releases a request one round later. ``order``, ``start``, ``place`` and ``room``
    describe the current list before the call and after it.

    Returns
    -------
    the least sum of starts.
    """
    n, replicas = len(order), room.shape[0]
    total = np.int64(0)
    for i in range(n):
        total += start[i]
    least = total
    old = np.zeros((3, n), np.int64)  # order, start and place before a move
    for move in range(moves):
        heat = hot * (cold / hot) ** (move / moves)
        kind = np.int64(draw(bits) % np.uint64(8))
        a = np.int64(draw(bits) % np.uint64(n))
        b = np.int64(draw(bits) % np.uint64(n))
        if draw(bits) % np.uint64(2):
            b = min(np.int64(n - 1), a + 1 + np.int64(draw(bits) % np.uint64(6)))
        i = order[a]
        first = a if kind >= 6 else min(a, b)
        named, held = replica[i], release[i]
        for k in range(first, n):
            j = order[k]
            old[0, k], old[1, j], old[2, j] = j, start[j], place[j]
            occupy(room[place[j]], columns.prompt[j], columns.output[j], start[j], -1)
        if kind < 3:
            order[a], order[b] = order[b], i
        elif kind < 6:
            step = 1 if b > a else -1
            for k in range(a, b, step):
                order[k] = order[k + step]
            order[b] = i
        elif kind == 6:
            replica[i] = ANY
            if named == ANY:
                replica[i] = np.int64(draw(bits) % np.uint64(replicas))
        else:
            release[i] = 0 if held > columns.arrival[i] else start[i] + 1
        luck = (np.float64(draw(bits) >> np.uint64(11)) + 1) / 2.0**53
        limit = total + np.int64(-heat * np.log(luck))
        found = decode(columns, order, replica, release, first, room, start, place, limit)
        if found < 0:
            replica[i], release[i] = named, held
            for k in range(first, n):
                order[k] = old[0, k]
            for k in range(first, n):
                j = order[k]
                start[j], place[j] = old[1, j], old[2, j]
                occupy(room[place[j]], columns.prompt[j], columns.output[j], start[j], 1)
            continue
        total = found
        if total < least:
            least = total
            for j in range(n):
                best[0, j], best[1, j] = start[j], place[j]
    return least


PARAMS = SearchParams()

CALLS = 40
"""Calls of compiled code in a search; between two it can be stopped."""

MOST_LOOKED = 10**9
"""Tokens of runs that a search looks at, about: some seconds."""

MOST_CELLS = 5 * 10**7
"""Most rounds of all replicas whose tokens are kept, 400 megabytes."""


def list_schedule(fleet: Fleet, order: IntArray) -> FleetSchedule:
    """Give each request in this order its earliest start on any replica.

    Raises
    ------
    ValueError
        when replicas and rounds are too many, see `MOST_CELLS`.

    >>> from ratiolab.model import Instance
    >>> three = Fleet(Instance("three", 3, [0] * 3, [1] * 3, [2] * 3), 2)
    >>> list_schedule(three, [2, 1, 0]).replica.tolist()
    [0, 1, 0]
    """
    search = _Search(fleet, np.array(order, np.int64))
    return search.schedule(np.stack([search.start, search.place]))


def admitted_list(fleet: Fleet, order: IntArray) -> FleetSchedule:
    """Admit waiting requests in this order, each on the replica that can start it first."""
    starts, places = admitted(fleet.instance, order, fleet.memories)
    return FleetSchedule.from_starts(fleet, places, starts)


def best_list(fleet: Fleet) -> FleetSchedule:
    """Return the best of the list schedules by volume, output, arrival plus each, and arrival.

    Up to `MOST_LISTED` requests it may also admit requests by volume or output as they arrive,
    which is better where many wait.
    """
    one = fleet.instance
    released = one.arrival + one.output, one.arrival + one.volume // one.memory
    keys = [one.volume, one.output, *released, one.arrival]
    listed = [list_schedule(fleet, np.lexsort((one.volume, key))) for key in keys]
    if len(fleet) <= MOST_LISTED:
        listed += [admitted_list(fleet, np.lexsort((one.volume, key))) for key in keys[:2]]
    return min(listed, key=lambda schedule: schedule.total_latency)


def improved(
    first: FleetSchedule, seed: int = 0, *, stop: Callable[[], bool] = lambda: False
) -> FleetSchedule:
    """Improve a schedule by simulated annealing over lists; return the first at worst.

    There are as many moves as for one replica, fewer when runs are long.
    """
    fleet = first.fleet
    n, tokens = len(fleet), int(fleet.instance.output.sum())
    if n == 1:
        return first
    most = min(PARAMS.moves, PARAMS.moves_each * n)
    moves = max(CALLS, min(most, MOST_LOOKED // (fleet.replicas * tokens)))
    search = _Search(fleet, np.lexsort((fleet.instance.volume, first.runs.starts)))
    found = search.run(seed, moves, stop)
    return min(first, found, key=lambda schedule: schedule.total_latency)


class _Search:
    """A list with its schedule; times are counted from the first arrival."""

    def __init__(self, fleet: Fleet, order: IntArray) -> None:
        one = fleet.instance
        self.fleet, self.order, self.origin = fleet, order, int(one.arrival.min())
        self.columns = Requests(
            np.array(one.arrival) - self.origin,
            np.array(one.prompt),
            np.array(one.output),
            one.memory,
        )
        n = len(fleet)
        self.replica, self.release = np.full(n, ANY), np.zeros(n, np.int64)
        self.start, self.place = np.zeros((2, n), np.int64)
        # one replica alone is done by then; several are sooner
        end = int(self.columns.arrival.max() + self.columns.output.sum()) + 2
        end = min(end, MOST_CELLS // fleet.replicas)
        self.room = np.repeat(np.array(fleet.memories, np.int64)[:, None], end, axis=1)
        far = np.int64(2**61)
        lists = self.replica, self.release
        now = self.room, self.start, self.place
        if decode(self.columns, self.order, *lists, 0, *now, far) < 0:
            raise ValueError(
                f"{fleet.name}: {fleet.replicas} replicas are served over more than {end} rounds, "
                "too many for a list schedule: take fewer requests, or longer ticks"
            )

    def run(self, seed: int, moves: int, stop: Callable[[], bool]) -> FleetSchedule:
        """Anneal; return the best schedule that is met."""
        best = np.stack([self.start, self.place])
        least = int(self.start.sum())
        own = self.columns.output - self.columns.arrival
        mean = float((self.start + own).mean())
        hot, cold = max(PARAMS.least_hot, PARAMS.hot * mean), PARAMS.cold * mean
        bits = stream(seed, "search").integers(1, 2**63, 1).astype(np.uint64)
        cool = (cold / hot) ** (1 / CALLS)
        for call in range(CALLS):
            heat, found = hot * cool**call, best.copy()
            lists = self.order, self.replica, self.release
            now = self.room, self.start, self.place
            size = -(-moves // CALLS)
            total = anneal(self.columns, *lists, *now, found, bits, size, heat, heat * cool)
            if total < least:
                least, best = int(total), found
            if stop():
                break
        return self.schedule(best)

    def schedule(self, found: IntArray) -> FleetSchedule:
        """Return the schedule of these starts and places."""
        return FleetSchedule.from_starts(self.fleet, found[1], found[0] + self.origin)
