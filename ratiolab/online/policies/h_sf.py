"""H-SF, the hindsight yardstick of Chen et al.: as many requests as possible, now."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from numpy.random import Generator

from ratiolab.model.footprint import held
from ratiolab.online.forecast import Forecast
from ratiolab.online.policies.prefix import Order, PrefixPolicy
from ratiolab.online.policy import Decide, Setting
from ratiolab.online.rules import Rule
from ratiolab.online.view import NEVER, Decision, Information, View


@dataclass(frozen=True)
class HSF(PrefixPolicy):
    """Shortest output first with full knowledge of the arrived requests.

    Parameters
    ----------
    select : ``prefix`` (default) admits the longest fitting prefix by output length, as the text
        describes it; ``cardinality`` admits a largest set that fits, as Algorithm 3 prints it. On
        equal prompts both admit equally many; when prompts differ they differ.
    """

    select: Literal["prefix", "cardinality"] = "prefix"

    name: ClassVar[str] = "h-sf"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Algorithm 3, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def start(self, setting: Setting, rng: Generator) -> Decide:
        if self.select == "cardinality":
            return _Largest(setting)
        return super().start(setting, rng)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        return super().rule(setting, known, rng) if self.select == "prefix" else None

    def ranks(self, setting: Setting) -> Order:
        return Order(lambda view, i: view.output[i], lambda view, i: view.output[i])


class _Largest:
    """A largest set that fits, found exactly; cost O(waiting * size of the set) a decision.

    Requests that start together are taken in order of falling output. At time t all taken so far
    with output >= t are active, with tokens (sum of prompts) + count * t: of two sets of equal size
    the one with the smaller sum of prompts fits wherever the other does, so one sum for each size
    is enough. Among largest sets the one with least total prompt is taken, ties by file order.
    """

    def __init__(self, setting: Setting) -> None:
        self._memory = setting.memory
        self._forecast = Forecast(setting.memory)

    def __call__(self, view: View) -> Decision:
        for i in view.completed:
            self._forecast.remove(i)
        admitted = self._largest(view)
        for i in admitted:
            self._forecast.add(i, view.prompt[i], view.now, view.output[i])
        chosen = set(admitted)
        shapes = {(view.prompt[i], view.output[i]) for i in view.waiting if i not in chosen}
        again = min(
            (self._forecast.earliest(s, o, view.now) for s, o in _smallest(shapes)), default=NEVER
        )
        return Decision(admitted, wake=max(again, view.now + 1))

    def _largest(self, view: View) -> list[int]:
        waiting = sorted(view.waiting, key=lambda i: (-view.output[i], i))
        ends = sorted(
            {view.output[i] - (view.now - p) for i, p in view.running.items()}, reverse=True
        )
        free = {t: self._free(view, t) for t in ends}
        best: list[tuple[int, tuple[int, ...]]] = [(0, ())]  # by size: least sum, set
        position = 0
        for i in waiting:
            output = view.output[i]
            while position < len(ends) and ends[position] > output:
                best = _still_fitting(best, ends[position], free[ends[position]])
                position += 1
            room = self._free(view, output)
            for size in range(len(best), 0, -1):
                total = best[size - 1][0] + view.prompt[i]
                if total + size * output <= room and (size == len(best) or total < best[size][0]):
                    entry = (total, (*best[size - 1][1], i))
                    best[size : size + 1] = [entry]
        for t in ends[position:]:
            best = _still_fitting(best, t, free[t])
        return sorted(best[-1][1])

    def _free(self, view: View, ahead: int) -> int:
        """Return the memory left by the running requests `ahead` rounds from now."""
        return self._memory - sum(
            held(view.prompt[i], view.now + ahead - p)
            for i, p in view.running.items()
            if p + view.output[i] >= view.now + ahead
        )


def _still_fitting(
    best: list[tuple[int, tuple[int, ...]]], time: int, room: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Keep the sizes whose least sum of prompts fits at a time; a larger size needs more room."""
    fitting = 0
    while fitting < len(best) and best[fitting][0] + fitting * time <= room:
        fitting += 1
    return best[:fitting]


def _smallest(shapes: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the shapes (prompt, output) with none below in both: if they do not fit, none does."""
    front: list[tuple[int, int]] = []
    for prompt, output in sorted(shapes):
        if not front or output < front[-1][1]:
            front.append((prompt, output))
    return front
