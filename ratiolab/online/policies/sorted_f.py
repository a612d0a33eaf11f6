"""Sorted-F: batches that are large for the sum of their outputs, one after the other."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from numpy.random import Generator

from ratiolab.model.footprint import peak, volume
from ratiolab.online.forecast import Forecast
from ratiolab.online.policy import Decide, Policy, Setting
from ratiolab.online.view import NEVER, Decision, Information, View

Entry: TypeAlias = tuple[int, int, int]
"""Key of an order, output, request."""


@dataclass(frozen=True)
class SortedF(Policy):
    """Form the batch of least F = sum of outputs / size**2, serve it by output, form the next.

    A batch is a set of waiting requests that would fit together in an empty memory. Its requests
    are admitted in order of output as soon as the prospective check allows, first misfit first;
    when all have started, the next batch is formed of the requests that wait then, and follows at
    once.
    This is the natural reading of the paper's abstract, which serves a backlog at round 0; its
    constants are not claimed for it.

    Parameters
    ----------
    batch : ``greedy`` (default) takes the best prefix of three orders, by output, by peak s + o
        and by volume, equals by output; O(size**2) for each batch.
        ``exact`` finds a batch of least F, the largest of these, of least total prompt; at most
        O(waiting * size * M) for each batch, fit for some hundred requests. The two methods take
        the larger of batches with equal F.
    """

    batch: Literal["greedy", "exact"] = "greedy"

    name: ClassVar[str] = "sorted-f"
    source: ClassVar[str] = "after Wang, Ye, Zhou (2025), arXiv 2508.06133"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(setting.memory, exact=self.batch == "exact")


def exact_batch(shapes: Iterable[tuple[int, int, int]], memory: int) -> list[int]:
    """Find a batch of least F, of these the largest, of these one of least total prompt.

    Requests that start together are taken in order of falling output: when one of output o is
    added to k - 1 others of total prompt S', all k are active at age o, the last time at which
    they are, and hold S' + s + k o. A set of equal size with less total prompt and less total
    output dominates, so dominated sets are dropped.

    Parameters
    ----------
    shapes : request, prompt and output, tokens.
    memory : tokens.

    Examples
    --------
    Three of output 2, with F = 6/9, go before one of output 1 that would fill the memory:

    >>> exact_batch([(0, 5, 1), (1, 0, 2), (2, 0, 2), (3, 0, 2)], memory=6)
    [1, 2, 3]
    """
    # by size: (total prompt, total output, members), total prompt rising and total output falling
    fronts: list[list[tuple[int, int, tuple[int, ...]]]] = [[(0, 0, ())]]
    for i, prompt, output in sorted(shapes, key=lambda shape: (-shape[2], shape[0])):
        fronts.append([])
        for size in range(len(fronts) - 1, 0, -1):
            grown = [
                (total + prompt, outputs + output, (*members, i))
                for total, outputs, members in fronts[size - 1]
                if total + prompt + size * output <= memory
            ]
            if grown:
                fronts[size] = _undominated([*fronts[size], *grown])
        if not fronts[-1]:
            fronts.pop()
    _, _, _, members = min(
        (Fraction(outputs, size * size), -size, total, members)
        for size, front in enumerate(fronts)
        for total, outputs, members in front
        if size
    )
    return list(members)


def _undominated(
    sets: list[tuple[int, int, tuple[int, ...]]],
) -> list[tuple[int, int, tuple[int, ...]]]:
    front: list[tuple[int, int, tuple[int, ...]]] = []
    for one in sorted(sets, key=lambda entry: entry[:2]):
        if not front or one[1] < front[-1][1]:
            front.append(one)
    return front


class _Run:
    def __init__(self, memory: int, exact: bool) -> None:
        self._memory = memory
        self._form = self._exact if exact else self._greedy
        self._forecast = Forecast(memory)
        self._batch: deque[int] = deque()
        # requests in no batch yet
        self._orders: tuple[list[Entry], ...] = ([], [], [])

    def __call__(self, view: View) -> Decision:
        for i in view.completed:
            self._forecast.remove(i)
        for i in view.arrived:
            for order, entry in self._entries(view, i):
                insort(order, entry)
        admitted: list[int] = []
        again = NEVER
        while self._batch or self._orders[0]:
            if not self._batch:
                self._next_batch(view)
            i = self._batch[0]
            again = self._forecast.earliest(view.prompt[i], view.output[i], view.now)
            if again > view.now:
                break
            self._batch.popleft()
            self._forecast.add(i, view.prompt[i], view.now, view.output[i])
            admitted.append(i)
        return Decision(admitted, wake=max(again, view.now + 1))

    def _next_batch(self, view: View) -> None:
        chosen = self._form(view)
        self._batch.extend(sorted(chosen, key=lambda i: (view.output[i], i)))
        for i in chosen:
            for order, entry in self._entries(view, i):
                del order[bisect_left(order, entry)]

    def _entries(self, view: View, i: int) -> Iterable[tuple[list[Entry], Entry]]:
        """Return the entry of a request in each order, with the order."""
        prompt, output = view.prompt[i], view.output[i]
        keys = output, peak(prompt, output), volume(prompt, output)
        entries = [(key, output, i) for key in keys]
        return zip(self._orders, entries, strict=True)

    def _exact(self, view: View) -> list[int]:
        shapes = ((i, view.prompt[i], view.output[i]) for _, _, i in self._orders[0])
        return exact_batch(shapes, self._memory)

    def _greedy(self, view: View) -> list[int]:
        best: tuple[Fraction, int] | None = None
        batch: list[int] = []
        for order in self._orders:
            together = Forecast(self._memory)
            outputs = 0
            for size, (_, output, i) in enumerate(order, start=1):
                if not together.fits(view.prompt[i], output, 0):
                    break
                together.add(i, view.prompt[i], 0, output)
                outputs += output
                score = Fraction(outputs, size * size), -size
                if best is None or score < best:
                    best, batch = score, [i for _, _, i in order[:size]]
        return batch
