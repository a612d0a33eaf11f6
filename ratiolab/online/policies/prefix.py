"""Building blocks of policies: ordered queues, orders of eviction, and the prefix rule."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from heapq import heapify, heappop, heappush
from math import floor
from typing import Any, ClassVar, NamedTuple, TypeAlias

from numpy.random import Generator

from ratiolab.model.footprint import held
from ratiolab.online.forecast import Believed, earliest, start, stop
from ratiolab.online.policy import Decide, Policy, Setting
from ratiolab.online.rules import Containers, OnLists, Rule, asked
from ratiolab.online.view import NEVER, View

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


class Prefix(NamedTuple):
    """State of a policy that plans memory with believed lengths.

    Parameters
    ----------
    believed : the running requests.
    key, length : of each request; the least key goes first, then the first in the file.
    queue : keys and requests that wait, a heap unless the policy looks further than at the first.
    admit, evict : the last decision.
    """

    believed: Believed
    key: Any
    length: Any
    queue: Any
    admit: Any
    evict: Any

    @classmethod
    def of(cls, memory: int, make: Containers) -> "Prefix":
        """Return the memory of a policy that has seen nothing; it may fill ``memory`` tokens."""
        columns = make.column(), make.column()
        return cls(Believed.of(memory, make), *columns, *map(make.heap, (2, 1, 1)))


def longest_prefix(view: Any, own: Prefix) -> int:
    """Admit the longest prefix of the queue that fits for ever; return when to be asked again.

    Should memory overflow, because the believed lengths were too short, every active request is
    cleared and returns to the queue of the next round (Jaillet et al. (2025), Section 5.2.2).
    """
    for i in view.arrived:
        heappush(own.queue, (own.key[i], i))
    clear(view, own)
    again = admit_prefix(view, own.believed, own.queue, own.length, own.admit)
    for i in own.evict:
        heappush(own.queue, (own.key[i], i))
    return view.now + 1 if len(own.evict) else again


def clear(view: Any, own: Any) -> None:
    """Take out completed requests, and all requests where memory would overflow."""
    own.admit.clear()
    own.evict.clear()
    for i in view.completed:
        stop(own.believed, i)
    if view.tokens > view.memory:
        own.evict.extend(sorted(own.believed.running))
        for i in own.evict:
            stop(own.believed, i)


def admit_prefix(view: Any, believed: Believed, queue: Any, length: Any, admit: Any) -> int:
    """Take the longest prefix of a heap that fits, stopping at the first misfit.

    A request with g kept tokens is one with prompt s + g that lacks g tokens less, at least 1. A
    request that does not fit under the believed memory by itself, which may be less than there is,
    starts when no other runs.

    Parameters
    ----------
    queue : heap of keys and requests.
    length : believed length of each request.
    admit : requests that start are added to it.

    Returns the round in which to look at the first misfit again.
    """
    while len(queue):
        i = queue[0][1]
        kept = view.generated[i]
        tokens, left = view.prompt[i] + kept, max(1, length[i] - kept)
        again = earliest(believed, tokens, left, view.now)
        if again > view.now and len(believed.running):
            return again
        heappop(queue)
        start(believed, i, tokens, view.now, left)
        admit.append(i)
    return NEVER


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


class Order(NamedTuple):
    """An order of requests, and what is believed of them: functions of a view and a request.

    Parameters
    ----------
    key : the least goes first; fixed when a request arrives. None is the order of arrival.
    length : believed output length.
    margin : share of memory that admission leaves free.
    """

    key: Callable[[View, int], Any] | None
    length: Callable[[View, int], int]
    margin: float = 0.0


@dataclass(frozen=True)
class PrefixPolicy(Policy):
    """Base of policies that admit the longest prefix of an order that fits for ever.

    They plan memory with believed lengths, and never evict by choice.
    """

    many: ClassVar[int] = 20_000

    @abstractmethod
    def ranks(self, setting: Setting) -> Order:
        """Return the order of one run."""

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return prefix_run(setting, self.ranks(setting))

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of the order."""
        order, requests = self.ranks(setting), range(len(known))
        place = None
        if order.key is not None:  # which may draw, as requests arrive
            key: list[Any] = [None] * len(requests)
            for i in known.order:
                key[i] = order.key(known, i)
            places = {value: place for place, value in enumerate(sorted({*key}))}
            place = [places[value] for value in key]
        remember = partial(Prefix.of, unreserved(setting.memory, order.margin))
        return Rule(longest_prefix, remember, place, [order.length(known, i) for i in requests])


def prefix_run(
    setting: Setting, order: Order, decide: Callable[[View, Prefix], int] = longest_prefix
) -> Decide:
    """Return one run, in Python, of a policy that admits by an order.

    Parameters
    ----------
    decide : the rule.
    """
    own = Prefix.of(unreserved(setting.memory, order.margin), OnLists())
    return asked(decide, own, order.key or (lambda view, i: view.arrival[i]), order.length)
