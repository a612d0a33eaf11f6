"""The account of a run: what memory holds, what time it is, and what happens next.

The functions run in two ways. On Python lists they serve short runs and policies in Python, and
their sums are exact whatever their size. Compiled, on arrays, they serve long runs of policies with
a rule (`ratiolab.online.rules`). Scalars stand in the column `v`, at the places named below.
"""

from heapq import heappop, heappush
from math import sqrt
from typing import Any, NamedTuple

from ratiolab.online.view import NEVER

(NOW, TIME, NEXT, LEFT, MEMORY, BUDGET, KEEPS, CLOCKED) = range(8)
"""Present round and its time in picoseconds; how many have arrived and how many are to complete;
tokens of the memory and of a batch; whether evicted requests keep their tokens; whether there is a
clock."""

(RUNNING, WAITING, CONSTANT, HELD_FILLING, HELD_PAUSED, MOVED) = range(8, 14)
"""How many requests run and wait; past their prefill they hold CONSTANT + their number * t tokens
at t; what the others hold; tokens swapped since the last batch."""

(CHUNK_OF, CHUNK, CHUNK_SINCE, CHUNK_UNTIL) = range(14, 18)
"""The request that prefills in chunks, or -1, and its tokens in each batch from a round to a round
in which chunks are to be handed out anew."""

(FIXED, PREFILL, DECODE, KV, SWAPPED) = range(18, 23)
"""Picoseconds of the clock."""

(MOVES, STAYS, STOP) = range(23, 26)
"""Whether caches of evicted requests go to the host, or stay; whether a compiled run is to end."""

EVICTED = {"keeps_tokens": KEEPS, "moves": MOVES, "stays": STAYS}
"""Places of the fields of `ratiolab.model.eviction.Eviction` that the account asks."""

SCALARS = 26

FUTURE, WAITS, RUNS, DONE = range(4)
"""States of a request."""


class Account(NamedTuple):
    """Columns with a value for each request, and lists of requests, runs and times.

    Parameters
    ----------
    v : scalars.
    order : requests in order of arrival.
    due, prompt, output : of each request; arrivals in picoseconds when there is a clock.
    state, kept, start : state, tokens from earlier runs, and round of the first token of this run.
    began, left : round of admission, and tokens that are still to be prefilled or -1.
    paused_run : position of the last run among the ended runs, of paused requests; else -1.
    completions : heap of rounds, requests and starts; some entries are past.
    filling, new, paused : running requests before their prefill ends, in order of admission; those
        whose prefill is in the next batch; paused ones, in order of eviction.
    completed, arrived : in this round.
    runs : request, start, stop, rounds before the first token, and tokens left unprefilled.
    released : rounds in which the caches of these runs left memory.
    stretches : rounds in which the same requests run: the first, its time and the duration of its
        batch, that of the next, and what each later one takes more than the one before.
    """

    v: Any
    order: Any
    due: Any
    prompt: Any
    output: Any
    state: Any
    kept: Any
    start: Any
    began: Any
    left: Any
    paused_run: Any
    completions: Any
    filling: Any
    new: Any
    paused: Any
    completed: Any
    arrived: Any
    runs: Any
    released: Any
    stretches: Any


def begin(s: Account) -> None:
    """End the runs that complete in this round, and let the requests of this round arrive."""
    complete(s)
    arrive(s)


def complete(s: Account) -> None:
    """End the runs that complete in this round."""
    now = s.v[NOW]
    if s.v[CHUNK_OF] >= 0:
        s.left[s.v[CHUNK_OF]] -= s.v[CHUNK] * (now - s.v[CHUNK_SINCE])
        s.v[CHUNK_OF], s.v[CHUNK_UNTIL] = -1, NEVER
    s.completed.clear()
    while len(s.completions) and s.completions[0][0] <= now:
        stop, i, start = heappop(s.completions)
        if s.state[i] == RUNS and s.start[i] == start and s.left[i] < 0:
            _leave(s, i, stop)
            s.state[i] = DONE
            s.completed.append(i)
    s.v[LEFT] -= len(s.completed)


def arrive(s: Account) -> None:
    """Let the requests of this round arrive."""
    s.arrived.clear()
    present = s.v[TIME] if s.v[CLOCKED] else s.v[NOW]
    while s.v[NEXT] < len(s.order):
        i = s.order[s.v[NEXT]]
        if s.due[i] > present:
            break
        s.state[i] = WAITS
        s.arrived.append(i)
        s.v[NEXT] += 1
    s.v[WAITING] += len(s.arrived)


def evict(s: Account, i: int) -> None:
    """End the run of a request before it completes."""
    now, start = s.v[NOW], s.start[i]
    s.state[i] = WAITS
    s.v[WAITING] += 1
    if s.left[i] >= 0:
        s.v[HELD_FILLING] -= s.prompt[i] + s.kept[i] + 1
        s.v[RUNNING] -= 1
        s.filling.remove(i)
        s.runs.append((i, start, now, now - start, s.left[i]))
        s.released.append(now)
        s.left[i] = -1
        return
    _leave(s, i, now)
    if not s.v[KEEPS]:
        return
    s.kept[i] += now - start
    if s.v[MOVES]:
        s.v[MOVED] += s.prompt[i] + s.kept[i]
    elif s.v[STAYS]:
        s.paused_run[i] = len(s.runs) - 1
        s.paused.append(i)
        s.v[HELD_PAUSED] += s.prompt[i] + s.kept[i]


def admit(s: Account, i: int) -> None:
    """Start a request."""
    now, held = s.v[NOW], s.prompt[i] + s.kept[i]
    s.state[i], s.start[i], s.began[i] = RUNS, now, now
    s.v[RUNNING] += 1
    s.v[WAITING] -= 1
    if s.v[BUDGET]:
        s.left[i] = held
        s.filling.append(i)
        s.v[HELD_FILLING] += held + 1
        return
    _make_tokens(s, i)
    if s.paused_run[i] >= 0:
        release(s, i)
    elif s.kept[i] and s.v[MOVES]:
        s.v[MOVED] += held
    else:
        s.new.append(i)


def release(s: Account, i: int) -> None:
    """Take the memory of a paused request."""
    s.released[s.paused_run[i]] = s.v[NOW]
    s.paused_run[i] = -1
    s.paused.remove(i)
    s.v[HELD_PAUSED] -= s.prompt[i] + s.kept[i]


def running_tokens(s: Account, time: int) -> int:
    """Return the tokens that the running requests hold at a time if they run until then."""
    decoding = s.v[RUNNING] - len(s.filling)
    return s.v[CONSTANT] + decoding * time + s.v[HELD_FILLING]  # type: ignore[no-any-return]


def tokens_next(s: Account) -> int:
    """Return the tokens held in the next round."""
    return running_tokens(s, s.v[NOW] + 1) + s.v[HELD_PAUSED]  # type: ignore[no-any-return]


def begin_batch(s: Account) -> None:
    """Hand out what the batch of this round computes, and with a clock add its stretch of rounds.

    A request that prefills the last of its tokens makes its first one in the same batch. A chunk
    reads the cache of the chunks before it, as a decoding request reads its own.
    """
    now = s.v[NOW]
    decoding = s.v[RUNNING] - len(s.filling) - len(s.new)
    room, prefill, reread = s.v[BUDGET] - decoding, 0, 0
    while len(s.filling) and s.left[s.filling[0]] <= room:
        i = s.filling.pop(0)
        left = s.left[i]
        room -= left
        prefill += left
        reread += s.prompt[i] + s.kept[i] - left
        s.v[HELD_FILLING] -= s.prompt[i] + s.kept[i] + 1
        s.left[i] = -1
        s.start[i] = now
        _make_tokens(s, i)
        s.new.append(i)
    starting = 0
    for i in s.new:
        starting += s.prompt[i] + s.kept[i]
    cached = s.v[CONSTANT] + (s.v[RUNNING] - len(s.filling)) * now
    if not s.v[BUDGET]:
        prefill = starting
    begun, chunk, before = len(s.new) > 0, 0, 0
    s.new.clear()
    if len(s.filling) and room:
        i = s.filling[0]
        chunk, before = room, s.prompt[i] + s.kept[i] - s.left[i]
        # where a request begins beside a chunk, the next batch is asked for anew
        last = 1 if begun else (s.left[i] - 1) // room
        s.v[CHUNK_OF], s.v[CHUNK], s.v[CHUNK_SINCE], s.v[CHUNK_UNTIL] = i, room, now, now + last
    if s.v[CLOCKED]:
        read = cached - starting + reread + before
        first = _batch(s, prefill + chunk, decoding, read) + s.v[SWAPPED] * s.v[MOVED]
        decoding = s.v[RUNNING] - len(s.filling)
        second = _batch(s, chunk, decoding, cached + decoding + before + chunk)
        s.stretches.append((now, s.v[TIME], first, second, s.v[KV] * (decoding + chunk)))
    s.v[MOVED] = 0


def next_event(s: Account, wake: int) -> int:
    """Return the round in which something happens next, at the latest the one of a wake-up."""
    now = s.v[NOW]
    if not s.v[RUNNING] and not s.v[WAITING]:
        arrives = s.due[s.order[s.v[NEXT]]]
        if not s.v[CLOCKED]:
            return arrives  # type: ignore[no-any-return]
        s.stretches.append((now, s.v[TIME], arrives - s.v[TIME], 0, 0))
        return now + 1  # type: ignore[no-any-return]
    following: int = max(wake, now + 1)
    if s.v[RUNNING]:
        while len(s.completions):
            stop, i, start = s.completions[0]
            if s.state[i] == RUNS and s.start[i] == start and s.left[i] < 0:
                following = min(following, stop)
                break
            heappop(s.completions)
        decoding = s.v[RUNNING] - len(s.filling)
        if decoding:
            held_still = s.v[CONSTANT] + s.v[HELD_PAUSED] + s.v[HELD_FILLING]
            following = min(following, max((s.v[MEMORY] - held_still) // decoding, now + 1))
        following = min(following, s.v[CHUNK_UNTIL])
    if s.v[NEXT] < len(s.order):
        due = s.due[s.order[s.v[NEXT]]]
        following = min(following, reach(s, due) if s.v[CLOCKED] else due)
    return following


def advance(s: Account, following: int) -> None:
    """Move to a later round."""
    if s.v[CLOCKED]:
        s.v[TIME] = time_of(s.stretches[-1], following)
    s.v[NOW] = following


def _make_tokens(s: Account, i: int) -> None:
    """Let a request make its next token in this round."""
    now = s.v[NOW]
    s.v[CONSTANT] += s.prompt[i] + s.kept[i] - now
    heappush(s.completions, (now + s.output[i] - s.kept[i], i, now))


def _leave(s: Account, i: int, stop: int) -> None:
    """End the run of a request past its prefill."""
    start, began = s.start[i], s.began[i]
    s.v[RUNNING] -= 1
    s.v[CONSTANT] -= s.prompt[i] + s.kept[i] - start
    s.runs.append((i, began, stop, start - began, 0))
    s.released.append(stop)


def _batch(s: Account, prefill: int, decoding: int, read: int) -> int:
    """Return the picoseconds of a batch that swaps nothing."""
    v = s.v
    return v[FIXED] + v[PREFILL] * prefill + v[DECODE] * decoding + v[KV] * read  # type: ignore[no-any-return]


def time_of(stretch: tuple[int, int, int, int, int], now: int) -> int:
    """Return when a round begins that the same requests reach."""
    began, time, first, second, growth = stretch
    m = now - began - 1
    return time + first + m * second + growth * (m * (m - 1) // 2)


def reach(s: Account, due: int) -> int:
    """Return the first later round that begins at or after a time, if the same requests run."""
    stretch: tuple[int, int, int, int, int] = s.stretches[-1]
    began, time, first, second, growth = stretch
    need = due - time - first
    if need <= 0:
        return began + 1
    if growth == 0:
        return began + 1 - need // -second
    # the least m with m second + growth m (m - 1) / 2 >= need, from floats that may be one off
    linear = 2.0 * second - growth
    m = max(0, int((sqrt(linear * linear + 8.0 * growth * need) - linear) / (2.0 * growth)))
    while m > 0 and time_of(stretch, began + m) >= due:
        m -= 1
    while time_of(stretch, began + 1 + m) < due:
        m += 1
    return began + 1 + m
