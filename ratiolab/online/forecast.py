"""Believed memory of the running requests, and when another one fits under it.

The functions also run compiled, as those of `ratiolab.online.rules` do.
"""

from typing import Any, NamedTuple

from ratiolab.model.footprint import peak
from ratiolab.online.rules import Containers, OnLists
from ratiolab.online.view import NEVER


class Believed(NamedTuple):
    """The running requests, if each ends when it is believed to.

    A request with prompt s that starts at round k with believed length b fits iff at every time t
    in (k, k + b] the running requests believed active at t leave room for its s + t - k tokens.
    Between believed ends memory only grows, so only the believed ends inside and its own end need
    a look. A running request that has outlived its believed end is taken to end in the next round,
    whenever that is: it counts at t = k + 1 only.

    Source: Jaillet et al. (2025), (5), arXiv 2502.07115v5; Chen, Ye, Zhou (2025), (3),
    arXiv 2508.14544v2.

    Parameters
    ----------
    memory : tokens.
    v : at time t all running requests hold v[ALL] + their number * t tokens, and those believed to
        end after round v[SEEN] v[AHEAD] + their number * t.
    running : the running requests.
    end, constant : the believed end of each, and the tokens that it holds at time t, less t.
    ends : believed ends after round v[SEEN], ascending, with the constants of their requests.
    """

    memory: int
    v: Any
    running: Any
    end: Any
    constant: Any
    ends: Any

    @classmethod
    def of(cls, memory: int, make: Containers) -> "Believed":
        """Return a memory without requests."""
        columns = make.scalars(3), make.heap(1), make.column(), make.column()
        return cls(memory, *columns, make.heap(2))


ALL, AHEAD, SEEN = range(3)
"""Places in `Believed.v`."""


def start(own: Believed, i: int, prompt: int, now: int, length: int) -> None:
    """Start a request that is believed to run for `length` rounds."""
    own.end[i], own.constant[i] = now + length, prompt - now
    own.running.append(i)
    own.v[ALL] += prompt - now
    own.v[AHEAD] += prompt - now
    entry = (now + length, prompt - now)
    place = len(own.ends)
    while place and own.ends[place - 1] > entry:
        place -= 1
    own.ends.insert(place, entry)


def stop(own: Believed, i: int) -> None:
    """Remove a request from memory: it completed or was evicted."""
    own.running.remove(i)
    own.v[ALL] -= own.constant[i]
    if own.end[i] > own.v[SEEN]:
        own.v[AHEAD] -= own.constant[i]
        own.ends.remove((own.end[i], own.constant[i]))


def tokens_next(own: Believed, now: int) -> int:
    """Return the tokens that the running requests hold in the next round."""
    return own.v[ALL] + len(own.running) * (now + 1)  # type: ignore[no-any-return]


def earliest(own: Believed, prompt: int, length: int, now: int) -> int:
    """Return the first round in which a request fits: now itself, or when to ask again.

    The answer holds while no request starts, ends or is evicted. It is never later than the next
    believed end, where beliefs change, and `NEVER` when only an event can make room, or nothing can
    because the request does not fit alone. Cost O(running).
    """
    if peak(prompt, length) > own.memory:
        return NEVER
    while len(own.ends) and own.ends[0][0] <= now:  # completed, or outlived the belief
        own.v[AHEAD] -= own.ends.pop(0)[1]
    own.v[SEEN] = now
    horizon: int = own.ends[0][0] if len(own.ends) else NEVER
    room, begin = own.memory - prompt, now
    while begin < horizon:
        if tokens_next(own, begin) + 1 > room:
            return NEVER  # every running request still grows
        finish = begin + length
        constant, active, needed = own.v[AHEAD], len(own.ends) + 1, begin
        # at a fixed time t a later start k holds k' - k fewer tokens: solve s + t - k <= room
        for end, held in own.ends:
            if end > finish:
                break
            least = constant + active * end - room
            if least > needed:  # two comparisons are faster than max
                if least >= horizon:
                    return horizon
                needed = least
            constant -= held
            active -= 1
        needed = max(needed, constant + active * finish - room)
        if needed == begin:
            return begin
        begin = needed
    return horizon


class Forecast:
    """Believed memory for policies that are asked in Python."""

    def __init__(self, memory: int) -> None:
        self.believed = Believed.of(memory, OnLists())

    def __len__(self) -> int:
        return len(self.believed.running)

    def __contains__(self, request: int) -> bool:
        return request in self.believed.running

    def add(self, request: int, prompt: int, now: int, length: int) -> None:
        """Start a request that is believed to run for `length` rounds."""
        start(self.believed, request, prompt, now, length)

    def remove(self, request: int) -> None:
        """Remove a request from memory: it completed or was evicted."""
        stop(self.believed, request)

    def tokens_next(self, now: int) -> int:
        """Return the tokens that the running requests hold in the next round."""
        return tokens_next(self.believed, now)

    def overflows(self, now: int) -> bool:
        """Return whether the running requests alone exceed the memory in the next round."""
        return self.tokens_next(now) > self.believed.memory

    def earliest(self, prompt: int, length: int, now: int) -> int:
        """Return the first round in which a request fits; see `earliest`."""
        return earliest(self.believed, prompt, length, now)

    def fits(self, prompt: int, length: int, now: int) -> bool:
        """Return whether a request that starts now fits."""
        return self.earliest(prompt, length, now) == now
