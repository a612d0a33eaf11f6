"""Serving engines that look one round ahead: first come first served, and shortest predicted first.

They admit while the next round fits and evict when it does not, as vLLM's scheduler does, here
with restart semantics. Source of the practice: Kwon et al. (2023), arXiv 2309.06180.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model.footprint import held
from ratiolab.online.forecast import Forecast
from ratiolab.online.policies.prefix import Victims
from ratiolab.online.view import NEVER, Decision, Information, Setting, View


@dataclass(frozen=True)
class FCFS:
    """Earliest arrival first; needs no idea of the output.

    The queue is admitted in order while the next round fits. When the running requests alone would
    not fit, the latest arrivals among them are evicted until they do; nobody is admitted in such a
    round. The earliest arrival is never evicted, so every run ends.
    """

    name: ClassVar[str] = "fcfs"
    source: ClassVar[str] = "vLLM's scheduler: Kwon et al. (2023), arXiv 2309.06180"
    information: ClassVar[Information] = Information.NOTHING

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        return _Run(setting, lambda view, i: view.arrival[i])


@dataclass(frozen=True)
class SJF:
    """Shortest predicted output first, looking one round ahead; otherwise as ``fcfs``.

    The longest predictions are evicted first. The prediction is a priority only: memory is not
    planned with it, so no prediction is too wrong.
    """

    name: ClassVar[str] = "sjf"
    source: ClassVar[str] = "shortest job first on predictions: Zheng et al. (2023), 2305.13144"
    information: ClassVar[Information] = Information.PREDICTION

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        return _Run(setting, lambda view, i: view.predicted[i])


class _Run:
    def __init__(self, setting: Setting, key: Callable[[View, int], int]) -> None:
        self._key = key
        self._forecast = Forecast(setting.memory)  # only its next round is used
        self._queue: list[tuple[int, int]] = []
        self._victims = Victims()

    def __call__(self, view: View) -> Decision:
        forecast, now = self._forecast, view.now
        for i in view.completed:
            forecast.remove(i)
        for i in view.arrived:
            heappush(self._queue, (self._key(view, i), i))
        evicted = self._victims.evict(view, forecast)
        admitted: list[int] = []
        while self._queue and not evicted:
            key, i = self._queue[0]
            if forecast.tokens_next(now) + held(view.prompt[i], 1) > view.memory:
                break
            heappop(self._queue)
            forecast.add(i, view.prompt[i], now, 1)
            self._victims.push(i, (-key, -i), now)
            admitted.append(i)
        for i in evicted:
            heappush(self._queue, (self._key(view, i), i))
        # without an event the next round only gets fuller
        return Decision(admitted, evicted, wake=now + 1 if evicted else NEVER)
