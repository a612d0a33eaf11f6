"""Smallest volume first, but of volumes that are nearly equal the shortest output that fits."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from heapq import heappop, heappush
from typing import Annotated, Any, ClassVar, NamedTuple

from numpy.random import Generator

from ratiolab.online.forecast import Believed, earliest, start
from ratiolab.online.policies.prefix import clear
from ratiolab.online.policies.svf import SVF
from ratiolab.online.policy import Count, Decide, Interval, Setting
from ratiolab.online.rules import Containers, OnLists, Rule, asked
from ratiolab.online.view import NEVER, View

LARGEST = 2**62
"""Sizes times terms of the ratio stay below this in compiled runs."""


@dataclass(frozen=True)
class SVFFit(SVF):
    """Smallest volume first, with a choice among the next few so that memory is filled.

    Candidates are the first ``candidates`` waiting requests in order of volume s o + o (o + 1) / 2,
    with at most ``ratio`` times the smallest volume. Among candidates that fit until completion, by
    prospective check, the one of the shortest believed output starts, the first in the order among
    equals; again until none of them fits. With ``candidates = 1`` it is ``svf``. Without a limit on
    volumes large requests would wait for ever under load.

    Parameters
    ----------
    ratio : largest volume that is looked at over the smallest, at least 1, read as a decimal.
    candidates : requests that are looked at, at least 1.
    """

    ratio: Annotated[float, Interval("[1, inf)")] = 1.75
    candidates: Count = 20

    name: ClassVar[str] = "svf-fit"
    source: ClassVar[str] = "ratiolab, after Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327"

    def start(self, setting: Setting, rng: Generator) -> Decide:
        size, length = self._order(setting)
        return asked(shortest_fitting, self._remember(setting.memory, OnLists()), size, length)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of the order, unless sizes leave 64 bits."""
        size, length = self._order(setting)
        requests = range(len(known))
        sizes = [size(known, i) for i in requests]
        if max(sizes) * Fraction(str(self.ratio)).numerator > LARGEST:
            return None
        remember = partial(self._remember, setting.memory)
        return Rule(shortest_fitting, remember, sizes, [length(known, i) for i in requests])

    def _order(
        self, setting: Setting
    ) -> tuple[Callable[[View, int], Any], Callable[[View, int], int]]:
        order = self.ranks(setting)
        assert order.key is not None
        return order.key, order.length

    def _remember(self, memory: int, make: Containers) -> "Few":
        ratio = Fraction(str(self.ratio))
        columns = make.column(), make.column()
        lists = map(make.heap, (2, 2, 1, 1))
        most = *ratio.as_integer_ratio(), self.candidates
        return Few(*most, Believed.of(memory, make), *columns, *lists)


class Few(NamedTuple):
    """State of a policy that chooses among the first few.

    Parameters
    ----------
    times, over : the ratio, as a fraction.
    candidates : requests that are looked at.
    believed : the running requests.
    key, length : size and believed length of each request.
    first : keys and requests of the first that wait, ascending, at most the candidates.
    queue : heap of keys and requests of the others.
    admit, evict : the last decision.
    """

    times: int
    over: int
    candidates: int
    believed: Believed
    key: Any
    length: Any
    first: Any
    queue: Any
    admit: Any
    evict: Any


def shortest_fitting(view: Any, own: Few) -> int:
    """Admit the shortest that fits of the first few, until none does; return when to ask again.

    A request with g kept tokens is one with prompt s + g that lacks g tokens less, at least 1.
    """
    for i in view.arrived:
        _wait(own, i)
    clear(view, own)
    again = _admit(view, own)
    for i in own.evict:
        _wait(own, i)
    return view.now + 1 if len(own.evict) else again


def _wait(own: Few, i: int) -> None:
    """Let a request wait, among the first if it is smaller than one of them."""
    entry, place = (own.key[i], i), len(own.first)
    while place and own.first[place - 1] > entry:
        place -= 1
    if place == len(own.first):
        heappush(own.queue, entry)
        return
    own.first.insert(place, entry)
    if len(own.first) > own.candidates:
        heappush(own.queue, own.first.pop())


def _admit(view: Any, own: Few) -> int:
    while True:
        while len(own.queue) and len(own.first) < own.candidates:
            own.first.append(heappop(own.queue))
        if not len(own.first):
            return NEVER
        ranked = []
        for place in range(len(own.first)):
            size, i = own.first[place]
            if own.over * size <= own.times * own.first[0][0]:
                ranked.append((own.length[i], place, i))
        waiting, again = len(own.first), NEVER
        for output, place, i in sorted(ranked):
            kept = view.generated[i]
            tokens, left = view.prompt[i] + kept, max(1, output - kept)
            fits = earliest(own.believed, tokens, left, view.now)
            if fits == view.now:
                own.first.pop(place)
                start(own.believed, i, tokens, view.now, left)
                own.admit.append(i)
                break
            again = min(again, fits)
        if len(own.first) == waiting:
            return again
