"""Good schedules of a fleet: lists of requests that share the replicas, and a search over them."""

from collections.abc import Callable

import numpy as np

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.fleets.list_kernels import ANY, anneal, decode
from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.schedules.heuristics import MOST_LISTED, admitted
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.footprint import IntArray
from ratiolab.model.streams import stream

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
    first: FleetSchedule,
    seed: int = 0,
    moves: int | None = None,
    *,
    stop: Callable[[], bool] = lambda: False,
) -> FleetSchedule:
    """Improve a schedule by simulated annealing over lists; return the first at worst.

    Parameters
    ----------
    seed : seed of the moves.
    moves : in all; by default as many as for one replica, fewer when runs are long.
    stop : asked between parts of the search; True ends it.
    """
    fleet = first.fleet
    n, tokens = len(fleet), int(fleet.instance.output.sum())
    if n == 1:
        return first
    if moves is None:
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
        self.memories = np.array(fleet.memories)
        n = len(fleet)
        self.replica, self.release = np.full(n, ANY), np.zeros(n, np.int64)
        self.start, self.place = np.zeros((2, n), np.int64)
        # one replica alone is done by then; several are sooner
        end = int(self.columns.arrival.max() + self.columns.output.sum()) + 2
        end = min(end, MOST_CELLS // fleet.replicas)
        self.use = np.zeros((fleet.replicas, end), np.int64)
        far = np.int64(2**61)
        lists = self.replica, self.release
        now = self.use, self.start, self.place
        if decode(self.columns, self.memories, self.order, *lists, 0, *now, far) < 0:
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
            now = self.use, self.start, self.place
            size = -(-moves // CALLS)
            total = anneal(
                self.columns, self.memories, *lists, *now, found, bits, size, heat, heat * cool
            )
            if total < least:
                least, best = int(total), found
            if stop():
                break
        return self.schedule(best)

    def schedule(self, found: IntArray) -> FleetSchedule:
        """Return the schedule of these starts and places."""
        return FleetSchedule.from_starts(self.fleet, found[1], found[0] + self.origin)
