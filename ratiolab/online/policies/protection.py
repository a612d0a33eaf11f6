"""A protected share of memory, and clearing when it was not enough.

Source: Jaillet, Jiang, Mellou, Molinaro, Podimata, Zhou (2025), Section 5.2, arXiv 2502.07115v5.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model.footprint import held
from ratiolab.online.forecast import Forecast
from ratiolab.online.policies.prefix import require_share, unreserved
from ratiolab.online.policy import Policy, Setting
from ratiolab.online.view import NEVER, Decision, Information, View


@dataclass(frozen=True)
class AlphaProtection(Policy):
    """Earliest arrival first into (1 - alpha) M; everybody is cleared when memory overflows.

    The queue is admitted in order while the running requests' tokens in the next round and the
    s + 1 of the newcomer stay within (1 - alpha) M. When the running requests would exceed M in
    the next round, all of them are cleared and return to their places in the queue; nobody is
    admitted in that round. A request that exceeds (1 - alpha) M by itself starts when nobody runs,
    as it would wait for ever. If alpha is too small, the same requests start and are cleared for
    ever: the run then ends as ``looping``.

    Parameters
    ----------
    alpha : protected share of memory, in [0, 1), read as a decimal. The paper finds 0.21 and 0.24
        to be the least that do not loop on its workloads, and reports 0.25 (default) and 0.3.
    """

    alpha: float = 0.25

    name: ClassVar[str] = "alpha-protection"
    source: ClassVar[str] = "Jaillet et al. (2025), Section 5.2, arXiv 2502.07115v5"
    information: ClassVar[Information] = Information.NOTHING
    may_loop: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share("policy alpha-protection: alpha", self.alpha)

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        return _Run(setting.memory, self.alpha, 1, rng)


@dataclass(frozen=True)
class AlphaBetaClearing(Policy):
    """As ``alpha-protection``, but each running request is cleared with probability beta only.

    The draws are independent. If the others still overflow, those left draw again, in the same
    round: the paper's simulator lets time pass above the limit, which no schedule may. For
    beta < 1 the earliest request outlives every clearing with positive probability, so that every
    run ends with probability 1, possibly late; beta = 1 is ``alpha-protection``.

    Parameters
    ----------
    alpha : protected share of memory, in [0, 1), read as a decimal.
    beta : probability, in (0, 1]. The paper reports alpha and beta of 0.1 and 0.2 each (default
        0.2), and finds 0.05 to 0.25 to be good.
    """

    alpha: float = 0.2
    beta: float = 0.2

    name: ClassVar[str] = "alpha-beta-clearing"
    source: ClassVar[str] = "Jaillet et al. (2025), Section 5.2, arXiv 2502.07115v5"
    information: ClassVar[Information] = Information.NOTHING
    randomized: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share("policy alpha-beta-clearing: alpha", self.alpha)
        if not 0 < self.beta <= 1:
            raise ValueError(f"policy alpha-beta-clearing: beta {self.beta} must be in (0, 1]")

    @property
    def may_loop(self) -> bool:
        return self.beta == 1

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        return _Run(setting.memory, self.alpha, self.beta, rng)


class _Run:
    def __init__(self, memory: int, alpha: float, chance: float, rng: Generator) -> None:
        self._threshold, self._chance, self._rng = unreserved(memory, alpha), chance, rng
        self._forecast = Forecast(memory)  # only its next round is used
        self._queue: list[tuple[int, int]] = []

    def __call__(self, view: View) -> Decision:
        forecast, now = self._forecast, view.now
        for i in view.completed:
            forecast.remove(i)
        for i in view.arrived:
            heappush(self._queue, (view.arrival[i], i))
        cleared = self._clear(view)
        admitted: list[int] = []
        while self._queue and not cleared:
            _, i = self._queue[0]
            tokens = view.prompt[i] + view.generated[i]
            if forecast.tokens_next(now) + held(tokens, 1) > self._threshold and len(forecast):
                break
            heappop(self._queue)
            forecast.add(i, tokens, now, 1)
            admitted.append(i)
        for i in cleared:
            heappush(self._queue, (view.arrival[i], i))
        # without an event the next round only gets fuller
        return Decision(admitted, cleared, wake=now + 1 if cleared else NEVER)

    def _clear(self, view: View) -> list[int]:
        cleared: list[int] = []
        active = sorted(view.running) if self._forecast.overflows(view.now) else []
        while self._forecast.overflows(view.now):
            drawn = self._rng.random(len(active)) < self._chance
            for i in [i for i, goes in zip(active, drawn, strict=True) if goes]:
                self._forecast.remove(i)
                active.remove(i)
                cleared.append(i)
        return cleared
