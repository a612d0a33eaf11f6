"""Rules of policies that also run compiled.

A rule reads a view, or `Seen`, which has the same names for what the rule needs, and writes who
starts and who leaves; it keeps its state in columns of its own. One source runs on
lists and dictionaries, asked as any policy is, and compiled, for long runs.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, Protocol

import numpy as np

from ratiolab.online.view import NEVER, Decision, View


class Containers(Protocol):
    """Makes the columns and lists of rules and accounts: for Python, or for compiled code."""

    def column(self) -> Any:
        """Return a value for each request, which is set when it has arrived."""

    def reals(self) -> Any:
        """Return a real number for each request, which is set when it has arrived."""

    def copied(self, values: Any) -> Any:
        """Return the values of all requests."""

    def scalars(self, number: int) -> Any:
        """Return some numbers, all 0."""

    def heap(self, width: int, *, real: bool = False) -> Any:
        """Return an empty list, or heap, of tuples of ``width`` numbers; or of single ones."""


class OnLists:
    """Containers for Python, whose numbers have no limit."""

    def column(self) -> dict[int, Any]:
        """Return a value for each request that has one."""
        return {}

    reals = column

    def copied(self, values: Any) -> list[int]:
        """Return the values of all requests."""
        return values.tolist() if isinstance(values, np.ndarray) else list(values)

    def scalars(self, number: int) -> list[int]:
        """Return some numbers, all 0."""
        return [0] * number

    def heap(self, width: int, *, real: bool = False) -> list[Any]:
        """Return an empty list."""
        return []


class Rule(NamedTuple):
    """Compiled form of a policy, for long runs.

    Parameters
    ----------
    decide : takes the view and the state, and returns the round of the next decision.
    remember : creates the state.
    key : key of each request when it enters the queue; None stands for the round of its arrival.
    length : believed length of each request; None if the rule does not read lengths.
    """

    decide: Callable[[Any, Any], int]
    remember: Callable[[Containers], Any]
    key: Sequence[int] | None = None
    length: Sequence[int] | None = None


def asked(
    decide: Callable[[Any, Any], int],
    own: Any,
    key: Callable[[View, int], Any],
    length: Callable[[View, int], int] | None = None,
) -> Callable[[View], Decision]:
    """Return a run of a policy in Python that decides by a rule.

    Parameters
    ----------
    own : state of the rule, on lists.
    key, length : of a request that arrives; length if the rule reads it.
    """

    def run(view: View) -> Decision:
        for i in view.arrived:
            own.key[i] = key(view, i)
            if length is not None:
                own.length[i] = length(view, i)
        wake = decide(view, own)
        return Decision(list(own.admit), list(own.evict), wake)

    return run


class Seen(NamedTuple):
    """The view of compiled rules: a `ratiolab.online.View` in columns.

    Every column is empty but for requests that have arrived.
    """

    now: int
    memory: int
    tokens: int
    arrived: Any
    completed: Any
    prompt: Any
    generated: Any
    running: Any
    filling: Any
    unfilled: int


class Ahead(NamedTuple):
    """State of a policy that looks one round ahead.

    Parameters
    ----------
    most : requests in memory at once.
    limit : tokens that admission fills. A request that exceeds them by itself starts when no other
        runs.
    count : of running requests, a list of one number.
    key : of each request; the least is admitted first and evicted last, then the first in the file.
    start : round in which each request started, or -1.
    queue : heap of keys and requests that wait.
    victims : heap of negative keys, negative requests, requests and starts; some entries are past.
    admit, evict : the last decision.
    """

    most: int
    limit: int
    count: Any
    key: Any
    start: Any
    queue: Any
    victims: Any
    admit: Any
    evict: Any

    @classmethod
    def of(cls, most: int, limit: int, make: Containers) -> "Ahead":
        """Return the memory of a rule that has seen nothing yet."""
        columns = make.scalars(1), make.column(), make.column()
        return cls(most, limit, *columns, *map(make.heap, (2, 4, 1, 1)))


def one_round_ahead(view: Any, own: Ahead) -> int:
    """Admit while the next round fits, evict when it does not; return when to be asked again."""
    take_note(view, own)
    tokens = make_room(view, own)
    return fill(view, own, tokens)


def take_note(view: Any, own: Any) -> None:
    """Enter who has completed, who was evicted last, and who has arrived."""
    for i in view.completed:
        own.start[i] = -1
    own.count[0] -= len(view.completed)
    for i in own.evict:
        heappush(own.queue, (own.key[i], i))
    for i in view.arrived:
        heappush(own.queue, (own.key[i], i))
        own.start[i] = -1
    own.admit.clear()
    own.evict.clear()


def make_room(view: Any, own: Ahead) -> int:
    """Evict until the others fit in the next round; return the tokens that they hold then."""
    tokens: int = view.tokens
    forget_past(own.victims, own.start, own.count[0])
    while tokens > view.memory:
        _, _, i, start = heappop(own.victims)
        if own.start[i] == start:
            tokens -= view.prompt[i] + view.generated[i] + view.now + 1 - start
            leave(own, i)
    return tokens


def forget_past(victims: Any, start: Any, running: int) -> None:
    """Take entries of runs that have ended out of a heap, if they are most of it.

    Parameters
    ----------
    victims : heap of entries that end with request and start.
    start : start of each request that runs.
    running : requests.
    """
    if len(victims) > 2 * running + 64:
        entries = [entry for entry in victims if start[entry[-2]] == entry[-1]]
        victims.clear()
        victims.extend(entries)
        heapify(victims)


def leave(own: Any, i: int) -> None:
    """Evict a request."""
    own.start[i] = -1
    own.count[0] -= 1
    own.evict.append(i)


def fill(view: Any, own: Any, tokens: int) -> int:
    """Admit in order while the next round fits; return when to be asked again."""
    while len(own.queue) and not len(own.evict) and own.count[0] < own.most:
        key, i = own.queue[0]
        needed = view.prompt[i] + view.generated[i] + 1
        if tokens + needed > own.limit and own.count[0]:
            break
        heappop(own.queue)
        heappush(own.victims, (-key, -i, i, view.now))
        tokens += needed
        own.start[i] = view.now
        own.count[0] += 1
        own.admit.append(i)
    # without an event the next round only gets fuller
    return view.now + 1 if len(own.evict) else NEVER


class Steps(NamedTuple):
    """State of an engine.

    Parameters
    ----------
    most : requests in a batch.
    tokens : most tokens that a batch computes.
    block : tokens of a block of memory.
    returns_first : whether an evicted request goes to the front of the queue.
    by_key : whether the largest key is evicted first, of equals the latest arrival; else the
        request that was admitted last is.
    v : numbers of running requests, of arrivals, of admissions, and of evictions.
    key : key of each request; the least is admitted first, then the first to arrive.
    number : number of each request, in order of arrival.
    start : round of admission, or -1.
    queue : heap of 0, or less for the front; keys; numbers; and requests.
    victims : heap of the order of evictions (two numbers), requests and starts; some entries are
        past.
    admit, evict : the last decision.
    """

    most: int
    tokens: int
    block: int
    returns_first: bool
    by_key: bool
    v: Any
    key: Any
    number: Any
    start: Any
    queue: Any
    victims: Any
    admit: Any
    evict: Any

    @classmethod
    def of(
        cls, limits: tuple[int, int, int], returns_first: bool, by_key: bool, make: Containers
    ) -> "Steps":
        """Return the memory of an engine that has seen nothing yet.

        Parameters
        ----------
        limits : requests and tokens of a batch, and tokens of a block.
        """
        columns = make.scalars(4), make.column(), make.column(), make.column()
        return cls(*limits, returns_first, by_key, *columns, *map(make.heap, (4, 4, 1, 1)))


ENGINE_RUNNING, ARRIVALS, TURNS, RETURNED = range(4)
"""Places in `Steps.v`."""


def engine_step(seen: Any, own: Steps) -> int:
    """Decide as an engine whose blocks are tokens; return when to be asked again."""
    note_arrivals(seen, own)
    most = seen.memory // own.block
    if seen.tokens > most and own.v[ENGINE_RUNNING] > 1:
        evict_in_order(seen, own, seen.tokens - most)
        return seen.now + 1  # type: ignore[no-any-return]
    return join(seen, own, seen.tokens, seen.unfilled)


def note_arrivals(view: Any, own: Steps) -> None:
    """Enter who has completed and arrived."""
    own.admit.clear()
    own.evict.clear()
    own.v[ENGINE_RUNNING] -= len(view.completed)
    for i in view.completed:
        own.start[i] = -1
    for i in view.arrived:
        own.number[i], own.start[i] = own.v[ARRIVALS], -1
        own.v[ARRIVALS] += 1
        heappush(own.queue, (0, own.key[i], own.number[i], i))


def blocks_of(own: Steps, tokens: int) -> int:
    """Return how many blocks some tokens take."""
    return -(-tokens // own.block)


def evict_in_order(view: Any, own: Steps, excess: int) -> None:
    """Evict until ``excess`` blocks of the next round are free; one request stays."""
    forget_past(own.victims, own.start, own.v[ENGINE_RUNNING])
    while excess > 0 and own.v[ENGINE_RUNNING] > 1:
        _, _, i, start = heappop(own.victims)
        if own.start[i] == start:
            excess -= evict_request(view, own, i)


def evict_request(view: Any, own: Steps, i: int) -> int:
    """Evict a request; return the blocks that it would have held in the next round."""
    made = 0 if i in view.filling else view.now - view.running[i]
    own.v[RETURNED] += 1
    own.v[ENGINE_RUNNING] -= 1
    own.start[i] = -1
    front = -own.v[RETURNED] if own.returns_first else 0
    heappush(own.queue, (front, own.key[i], own.number[i], i))
    own.evict.append(i)
    return blocks_of(own, view.prompt[i] + view.generated[i] + made + 1)


def join(view: Any, own: Steps, used: int, unfilled: int) -> int:
    """Admit in order while the batch computes fewer tokens than it may, up to the first misfit.

    Parameters
    ----------
    used : blocks of the running requests in the next round.
    unfilled : tokens that they are still to prefill.

    Returns the round in which to be asked again.
    """
    most = view.memory // own.block
    room = own.tokens - (own.v[ENGINE_RUNNING] - len(view.filling)) - unfilled
    while len(own.queue) and room > 0 and own.v[ENGINE_RUNNING] < own.most:
        i = own.queue[0][3]
        held = view.prompt[i] + view.generated[i]
        used += blocks_of(own, held + 1)
        if used > most and own.v[ENGINE_RUNNING]:
            break
        heappop(own.queue)
        room -= held
        own.start[i] = view.now
        first, second = -own.v[TURNS], 0
        if own.by_key:
            first, second = -own.key[i], -own.number[i]
        heappush(own.victims, (first, second, i, view.now))
        own.v[TURNS] += 1
        own.v[ENGINE_RUNNING] += 1
        own.admit.append(i)
    # without an event the next round only gets fuller; who is left with a rest makes an event
    return view.now + 1 if room == 0 and len(own.queue) else NEVER
