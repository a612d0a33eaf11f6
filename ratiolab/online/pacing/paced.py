"""Runs to caps, one start after the other at the pace that memory is expected to allow.

The queue is ordered by a key of each request; a policy says which key and which cap. A request
runs until its cap; then it is killed and returns with the next one. A request starts when its turn
has come, each start delaying the next by the volume that it is expected to take over M; and when
the memory that all running requests are expected to hold leaves room for it, now and at rounds
ahead. When nothing runs, it starts at once. Should memory overflow, the requests that ran least
return to the queue with the caps that they had.

The rule looks at every round. Rounds in which it could do nothing are skipped: before the next turn
has come; while the next round has no room, which only an end or a kill can change; and, while the
curves stay as they are, rounds for which it is seen ahead that memory further on has none.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import floor
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ratiolab.machine_code import Often
from ratiolab.model.footprint import held, volume
from ratiolab.online.pacing.survival import Curves, expected_volume, learn, outlives, saw
from ratiolab.online.policy import Decide, Setting
from ratiolab.online.rules import Containers, Rule, asked
from ratiolab.online.view import NEVER, View

FORESIGHT = 32
"""Rounds that are looked at together for the first in which the next request may fit."""

HORIZONS = 14
"""Rounds ahead, in geometric progression, at which expected memory is looked at."""

CLOSE = 1e-9
"""Difference of expected tokens, or of rounds, that rounding may make."""

FIRST, PROMPT, BOUND, CAP, KIND, REQUEST = range(6)
"""Rows of the table of running requests: the round in which a request had or would have had no
token; its prompt; the age that it is known to outlive, as far as survival curves have been told;
the age at which it is killed; its kind, and the request."""

RUN, TOKENS, STARTS, KINDS = range(4)
"""Places in `Paced.v`."""


class Paced(NamedTuple):
    """State of a run that paces its starts by learned survival curves.

    The state of a policy has it as ``paced``, beside key, admit and evict.

    Parameters
    ----------
    memory : tokens.
    share : tokens that expectations may fill.
    keeps : whether evicted requests keep their tokens.
    pace : part of the expected volume by which a start delays the next, in (0, 1].
    moving : whether all survival curves are brought up to date whenever starts are weighed.
    curves : survival curves of the lengths seen so far, by kind of request.
    v : numbers of running requests, of starts and of kinds, and what running requests hold at
        time t, less their number times t.
    clock : time at which the next start has its turn, a list of one number.
    table : running requests, in the first columns; who ends makes room for the last one.
    ahead, room, chosen, mine : rounds ahead; what is free there, what those chosen are expected to
        hold, and what one request is, shape (HORIZONS + 3,).
    kind, cap : of each request; the cap is the age at which it is to be killed, if it runs.
    bound : age that each request that waits is known to outlive.
    kept : tokens that it would start with.
    place, turn : column in the table, or -1; number of the last start.
    tie, draw : random numbers: order of equal keys, and whatever the policy draws.
    queue : heap of key, tie and request.
    kills : heap of round, turn and request; some have ended.
    due : heap of turn and request of those killed now.
    """

    memory: int
    share: float
    keeps: bool
    pace: float
    moving: bool
    curves: Curves
    v: Any
    clock: Any
    table: Any
    ahead: Any
    room: Any
    chosen: Any
    mine: Any
    kind: Any
    cap: Any
    bound: Any
    kept: Any
    place: Any
    turn: Any
    tie: Any
    draw: Any
    queue: Any
    kills: Any
    due: Any

    @classmethod
    def of(
        cls,
        make: Containers,
        setting: Setting,
        pace: float,
        margin: float,
        *,
        kinds: int = 1,
        moving: bool = False,
    ) -> "Paced":
        """Return the state of a run before its first round."""
        memory, scalars = setting.memory, make.scalars(4)
        scalars[KINDS] = kinds
        numbers = memory, (1 - margin) * memory, setting.keeps, pace, moving
        table, ahead = np.zeros((6, memory + 1), np.int64), np.zeros(HORIZONS + 3, np.int64)
        facts = Curves.of(kinds, memory), scalars, np.zeros(1), table, ahead
        weighed = np.zeros((3, HORIZONS + 3))
        columns = [make.column() for _ in range(6)]
        heaps = make.heap(3, real=True), make.heap(3), make.heap(2)
        reals = make.reals(), make.reals()
        return cls(*[*numbers, *facts, *weighed, *columns, *reals, *heaps])


def enter(seen: Any, own: Any) -> None:
    """Take note of who has completed, and who has arrived."""
    p = own.paced
    own.admit.clear()
    own.evict.clear()
    for i in seen.completed:
        leave(p, i, seen.now, True)
    for i in seen.arrived:
        p.bound[i], p.kept[i], p.place[i] = own.length[i] - 1, 0, -1


def leave(p: Paced, i: int, now: int, ended: bool) -> None:
    """Take a request out of memory, and enter what its run has shown."""
    table, place, last = p.table, p.place[i], p.v[RUN] - 1
    age = now - table[FIRST, place]
    saw(p.curves, p.kind[i], table[BOUND, place], age, ended)
    p.bound[i] = max(table[BOUND, place], age)
    if p.keeps:
        p.kept[i] = age
    p.v[TOKENS] -= held(table[PROMPT, place], -table[FIRST, place])
    for row in range(len(table)):
        table[row, place] = table[row, last]
    p.place[table[REQUEST, last]] = place
    p.place[i] = -1
    p.v[RUN] = last


def wait(own: Any, i: int) -> None:
    """Let a request wait with the key that it has."""
    heappush(own.paced.queue, (own.key[i], own.paced.tie[i], float(i)))


def kill(seen: Any, own: Any) -> None:
    """Evict the requests that have reached their caps, in the order of their starts."""
    p = own.paced
    while next_kill(p) <= seen.now:
        _, turn, i = heappop(p.kills)
        heappush(p.due, (turn, i))
    while len(p.due):
        _, i = heappop(p.due)
        leave(p, i, seen.now, False)
        own.evict.append(i)


def next_kill(p: Paced) -> int:
    """Return the round in which a running request reaches its cap next."""
    while len(p.kills):
        due, turn, i = p.kills[0]
        if p.place[i] >= 0 and p.turn[i] == turn:
            return due  # type: ignore[no-any-return]
        heappop(p.kills)
    return NEVER


def make_room(seen: Any, own: Any) -> None:
    """Evict the youngest until the others fit in the next round."""
    p = own.paced
    while room(p, seen.now) < 0:
        youngest = 0
        for place in range(1, p.v[RUN]):
            first, request = p.table[FIRST, place], p.table[REQUEST, place]
            latest = p.table[FIRST, youngest]
            if first > latest or (first == latest and request > p.table[REQUEST, youngest]):
                youngest = place
        i = int(p.table[REQUEST, youngest])
        leave(p, i, seen.now, False)
        wait(own, i)
        own.evict.append(i)


def room(p: Paced, now: int) -> int:
    """Return the tokens that the running requests leave in the next round."""
    return p.memory - p.v[TOKENS] - p.v[RUN] * (now + 1)  # type: ignore[no-any-return]


def admit(seen: Any, own: Any) -> int:
    """Start requests; return the next round to look, without an arrival or an end."""
    p, now = own.paced, seen.now
    if not len(p.queue):
        return NEVER
    running = p.v[RUN]
    # where nothing runs, what was expected to fill memory has ended early
    p.clock[0] = max(p.clock[0], float(now)) if running else float(now)
    if running:
        again = earliest(seen, p, now)
        if again > now:
            return again
    if p.moving:
        for kind in range(p.v[KINDS]):
            observe(p, kind, now)
            learn(p.curves, kind, -1)
    number = horizons(p.cap[int(p.queue[0][2])], p.ahead)
    ahead, free, chosen, mine = p.ahead[:number], p.room, p.chosen, p.mine
    free[:number], chosen[:number] = p.share, 0.0
    free[0] = p.memory
    expect(p.curves, p.table, 0, running, now, ahead, chosen)
    for k in range(number):
        free[k], chosen[k] = free[k] - chosen[k], 0.0
    while len(p.queue) and p.clock[0] < now + 1 - CLOSE:
        key, _, request = p.queue[0]
        i = int(request)
        mine[:number] = 0.0
        remember(p, i, seen.prompt[i], now)
        expect(p.curves, p.table, p.v[RUN], p.v[RUN] + 1, now, ahead, mine)
        fits = True
        for k in range(number):
            fits = fits and chosen[k] + mine[k] <= free[k] + CLOSE
        if not fits and (running or len(own.admit)):
            break
        heappop(p.queue)
        if key > 0:
            work = expected_volume(p.curves, p.kind[i], seen.prompt[i], p.bound[i], p.cap[i])
            p.clock[0] += p.pace * (work - volume(seen.prompt[i], p.kept[i])) / p.memory
        for k in range(number):
            chosen[k] += mine[k]
        begin(p, i, seen.prompt[i], now)
        own.admit.append(i)
    if len(own.admit) or p.moving:
        return earliest(seen, p, now + 1)
    worst = 0
    for k in range(number):
        if mine[k] - free[k] > mine[worst] - free[worst]:
            worst = k
    allowed = p.share if worst else float(p.memory)
    return foreseen(p, now, ahead[worst], allowed - mine[worst])


def remember(p: Paced, i: int, prompt: int, now: int) -> None:
    """Write a request behind the running ones in the table."""
    table, place = p.table, p.v[RUN]
    table[FIRST, place], table[PROMPT, place] = now - p.kept[i], prompt
    table[BOUND, place], table[CAP, place] = p.bound[i], p.cap[i]
    table[KIND, place], table[REQUEST, place] = p.kind[i], i


def begin(p: Paced, i: int, prompt: int, now: int) -> None:
    """Start the request behind the running ones in the table."""
    first = now - p.kept[i]
    p.place[i], p.turn[i] = p.v[RUN], p.v[STARTS]
    heappush(p.kills, (first + p.cap[i], p.v[STARTS], i))
    p.v[TOKENS] += held(prompt, -first)
    p.v[RUN] += 1
    p.v[STARTS] += 1


def earliest(seen: Any, p: Paced, after: int) -> int:
    """Return the first round that may start a request, not before `after`; now or later."""
    if not len(p.queue):
        return NEVER
    i = int(p.queue[0][2])
    if room(p, seen.now) < held(seen.prompt[i] + p.kept[i], 1):
        return NEVER  # until then everybody grows
    turn: int = max(after, floor(p.clock[0]) - 1)
    while not p.clock[0] < turn + 1 - CLOSE:
        turn += 1
    return turn


def foreseen(p: Paced, now: int, ahead: int, allowed: float) -> int:
    """Return the first of the next rounds in which all leave room at a round ahead of it.

    Returns the round after the searched ones if there is none.
    """
    last = min(now + FORESIGHT, next_kill(p))
    p.ahead[0] = ahead
    for later in range(now + 1, last + 1):
        p.chosen[0] = 0.0
        expect(p.curves, p.table, 0, p.v[RUN], later, p.ahead[:1], p.chosen)
        if p.chosen[0] <= allowed + CLOSE:
            return later
    return last + 1


def observe(p: Paced, kind: int, now: int) -> None:
    """Enter how far those of a kind that run have come."""
    saw_running(p.curves, p.table, p.v[RUN], kind, now)


@Often
def saw_running(c: Curves, table: Any, number: int, kind: int, now: int) -> None:
    """Enter the ages of running requests of a kind; the table takes note of them."""
    for j in range(number):
        age = now - table[FIRST, j]
        if table[KIND, j] == kind and age > table[BOUND, j]:
            for x in range(table[BOUND, j] + 1, age + 1):
                c.reached[kind, x] += 1.0
            table[BOUND, j] = age
            c.facts[kind] += 1
            c.seen[kind] = max(c.seen[kind], age)


@Often
def expect(c: Curves, table: Any, begin: int, end: int, now: int, ahead: Any, total: Any) -> None:
    """Add what requests are expected to hold at rounds ahead; nothing beyond their caps.

    Parameters
    ----------
    table, begin, end : requests: those of these columns.
    ahead, total : rounds ahead, and the tokens there, to which those of the requests are added.
    """
    shares = c.alive
    for i in range(begin, end):
        kind, age = table[KIND, i], now - table[FIRST, i]
        oldest, tail, known = c.oldest[kind], c.prompt[kind], max(table[BOUND, i], age)
        sure = outlives(shares, kind, oldest, tail, known)
        for k in range(len(ahead)):
            then = age + ahead[k]
            if then > table[CAP, i]:
                break
            alive = outlives(shares, kind, oldest, tail, max(then - 1, known)) / sure
            total[k] += alive * (table[PROMPT, i] + then)


def horizons(cap: int, ahead: Any) -> int:
    """Write the rounds ahead at which expected memory is looked at: 1, 2, 3, then sparser.

    Returns their number.

    >>> ahead = [0] * (HORIZONS + 3)
    >>> ahead[: horizons(6, ahead)]
    [1, 2, 3, 4, 5, 6]
    """
    number = last = 0
    most = max(5, cap)
    for k in range(-3, HORIZONS):
        there = 4 + k if k < 0 else round(4 * (most / 4) ** (k / (HORIZONS - 1)))
        if last < there <= max(1, cap):
            ahead[number] = last = there
            number += 1
    return number


def plan_next(seen: Any, own: Any, wake: int, learning: int) -> int:
    """Return the round in which to be asked again.

    Parameters
    ----------
    wake : the next round to look, without an arrival, end or kill.
    learning : the round in which there is more to learn from running requests.
    """
    if own.paced.v[RUN]:
        wake = min(wake, next_kill(own.paced), max(learning, seen.now + 1))
    return wake


def paced_run(decide: Any, own: Any, rng: Generator, *, draws: bool) -> Decide:
    """Return a run of a policy in Python; `paced_rule` has the parameters.

    Parameters
    ----------
    own : state of the policy, on lists.
    """

    def key(_: View, i: int) -> float:
        _draw(own.paced, rng, i, own=draws)
        return 0.0  # the policy says which

    return asked(decide, own, key, lambda view, i: view.lower[i])


def paced_rule(
    decide: Any, remember: Callable[[Containers], Any], known: Any, rng: Generator, *, draws: bool
) -> Rule:
    """Return a rule that decides as `paced_run` does.

    Parameters
    ----------
    decide, remember : of the policy, as in `ratiolab.online.rules.Rule`.
    known : columns of all requests.
    draws : whether the policy draws a random number of its own for each request.
    """

    def remembered(make: Containers) -> Any:
        own = remember(make)
        for i in known.order:
            _draw(own.paced, rng, i, own=draws)
        return own

    return Rule(decide, remembered, length=known.lower)


def _draw(p: Paced, rng: Generator, i: int, *, own: bool) -> None:
    """Draw the random numbers of a request that arrives: one of its policy's own, and for ties."""
    if own:
        p.draw[i] = float(rng.random())
    p.tie[i] = float(rng.random())


def reorder(own: Any) -> None:
    """Sort the queue anew after keys have changed."""
    queue = own.paced.queue
    entries = [(own.key[int(entry[2])], entry[1], entry[2]) for entry in queue]
    queue.clear()
    queue.extend(entries)
    heapify(queue)
