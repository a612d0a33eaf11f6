"""Building blocks of policies: ordered queues, orders of eviction, and the prefix rule."""

from collections.abc import Callable
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import floor
from typing import Any, TypeAlias

from ratiolab.model.footprint import held
from ratiolab.online.forecast import Forecast
from ratiolab.online.policy import Setting
from ratiolab.online.view import NEVER, Decision, View

Key: TypeAlias = tuple[Any, ...]


def unreserved(memory: int, share: float) -> int:
    """Return the tokens left when a share of memory, read as a decimal, is reserved; rounded down.

    >>> [unreserved(10, 0.1), unreserved(10, 0.25)]
    [9, 7]
    """
    return floor((1 - Fraction(str(share))) * memory)  # in floats 10 * (1 - 0.9) is below 1


def made_now(view: View, request: int) -> int:
    """Return the tokens that a running request has made since it was last admitted."""
    return 0 if request in view.filling else view.now - view.running[request]


def held_next(view: View, request: int) -> int:
    """Return the tokens that a request holds in the next round if it runs, or is admitted now."""
    made = made_now(view, request) if request in view.running else 0
    return held(view.prompt[request] + view.generated[request] + made, 1)


class PrefixQueue:
    """Waiting requests in the order of a key; equal keys in the order of the file."""

    def __init__(self) -> None:
        self._heap: list[tuple[Key, int]] = []

    def push(self, request: int, key: Key) -> None:
        """Add a request."""
        heappush(self._heap, (key, request))

    def admit(
        self, view: View, forecast: Forecast, length: Callable[[int], int]
    ) -> tuple[list[int], int]:
        """Take the longest prefix that fits under the forecast, stopping at the first misfit.

        A request with g kept tokens is one with prompt s + g that lacks g tokens less, at least 1.
        A request that does not fit under the forecast's memory by itself, which may be less than
        there is, starts when no other runs.

        Returns the requests and the round in which to look at the first misfit again.
        """
        admitted: list[int] = []
        while self._heap:
            _, i = self._heap[0]
            kept = view.generated[i]
            tokens, left = view.prompt[i] + kept, max(1, length(i) - kept)
            again = forecast.earliest(tokens, left, view.now)
            if again > view.now and len(forecast):
                return admitted, again
            heappop(self._heap)
            forecast.add(i, tokens, view.now, left)
            admitted.append(i)
        return admitted, NEVER


class Victims:
    """Running requests in the order in which they are evicted when memory would overflow."""

    def __init__(self) -> None:
        self._heap: list[tuple[Key, int, int]] = []  # some entries are of runs that ended

    def push(self, request: int, key: Key, start: int) -> None:
        """Add a request that starts; the smallest key is evicted first."""
        heappush(self._heap, (key, request, start))

    def evict(self, view: View) -> list[int]:
        """Return the requests that must leave so that the others fit in the next round."""
        evicted, tokens, running = list[int](), view.tokens, view.running
        if len(self._heap) > 2 * len(running) + 64:  # most are of runs that ended
            self._heap = [entry for entry in self._heap if running.get(entry[1]) == entry[2]]
            heapify(self._heap)
        while tokens > view.memory:
            _, i, start = heappop(self._heap)
            if running.get(i) == start:
                tokens -= held_next(view, i)
                evicted.append(i)
        return evicted


def keep_and_start(
    view: Any, ranked: Any, queue: Any, most: int, admit: Any, place: Any = None
) -> int:
    """Go down the ranks of all requests, running or not, and serve while the next round fits.

    After the first waiting request that does not fit none starts; the running requests end before
    the first that does not fit.

    Parameters
    ----------
    ranked : ranks of the running requests, sorted; the last part of a rank is the request.
    queue : ranks of the waiting requests, a heap; started requests are taken out.
    most : requests in memory at once.
    admit : an empty list; started requests are added to it.
    place : if given, a rank in the queue whose last part but one is not the place of the request is
        past, and thrown away.

    Returns how many of the ranked ones stay.
    """
    tokens, before, room = 0, 0, view.memory  # of the first of the running requests
    while len(queue):
        rank = queue[0]
        i = rank[-1]
        if place is not None and place[i] != rank[-2]:
            heappop(queue)
            continue
        while before < len(ranked) and ranked[before] < rank:
            tokens += _held_next(view, ranked[before][-1])
            before += 1
        needed = view.prompt[i] + view.generated[i] + 1
        if tokens + needed > room or before + len(admit) >= most:
            break
        heappop(queue)
        room -= needed
        admit.append(i)
    kept, places = 0, min(len(ranked), most - len(admit))
    while kept < places:
        room -= _held_next(view, ranked[kept][-1])
        if room < 0:
            break
        kept += 1
    return kept


def _held_next(view: Any, i: int) -> int:
    """Return the tokens that a request which has made tokens holds in the next round."""
    return view.prompt[i] + view.generated[i] + view.now - view.running[i] + 1  # type: ignore[no-any-return]


class Timers:
    """Rounds at which running requests are due; runs that ended before are skipped."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int]] = []

    def push(self, due: int, request: int, start: int) -> None:
        """Add a request that starts and the round in which it is due."""
        heappush(self._heap, (due, request, start))

    def pop(self, view: View) -> list[int]:
        """Take the requests out that are due by now and run without a break since they started."""
        due: list[int] = []
        while self.next <= view.now:
            _, i, start = heappop(self._heap)
            if view.running.get(i) == start:
                due.append(i)
        return due

    @property
    def next(self) -> int:
        """The round in which a request is due next; `NEVER` when there is none."""
        return self._heap[0][0] if self._heap else NEVER


class PrefixRun:
    """One run of a policy that orders by a key of arrival and never evicts by choice.

    Should memory overflow, because the believed lengths were too short, every active request is
    cleared and returns to the queue of the next round (Jaillet et al. (2025), Section 5.2.2).

    Parameters
    ----------
    setting : memory.
    key : of a request, computed when it enters the queue.
    length : believed output length of a request.
    margin : share of memory that admission leaves free.
    queue : of waiting requests; by default the prefix rule's.
    """

    def __init__(
        self,
        setting: Setting,
        key: Callable[[View, int], Key],
        length: Callable[[View, int], int],
        margin: float = 0.0,
        queue: PrefixQueue | None = None,
    ) -> None:
        self._key, self._length = key, length
        self._forecast = Forecast(unreserved(setting.memory, margin))
        self._queue = PrefixQueue() if queue is None else queue

    def __call__(self, view: View) -> Decision:
        for i in view.completed:
            self._forecast.remove(i)
        for i in view.arrived:
            self._queue.push(i, self._key(view, i))
        cleared: list[int] = []
        if view.tokens > view.memory:
            cleared = sorted(view.running)
            for i in cleared:
                self._forecast.remove(i)
        admitted, again = self._queue.admit(view, self._forecast, lambda i: self._length(view, i))
        for i in cleared:
            self._queue.push(i, self._key(view, i))
        return Decision(admitted, cleared, wake=view.now + 1 if cleared else again)
