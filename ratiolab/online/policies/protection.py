"""A protected share of memory, and clearing when it was not enough.

Source: Jaillet, Jiang, Mellou, Molinaro, Podimata, Zhou (2025), Section 5.2, arXiv 2502.07115v5.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from numpy.random import Generator

from ratiolab.online.policies.greedy import OneRoundAhead
from ratiolab.online.policies.prefix import held_next, unreserved
from ratiolab.online.policy import Decide, Part, Policy, Setting, Share
from ratiolab.online.rules import Ahead, leave
from ratiolab.online.view import View


@dataclass(frozen=True)
class AlphaProtection(Policy):
    """Earliest arrival first into (1 - alpha) M; all requests are cleared when memory overflows.

    The queue is admitted in order while the running requests' tokens in the next round and the
    s + 1 of the newcomer stay within (1 - alpha) M. When the running requests would exceed M in
    the next round, all of them are cleared and return to their places in the queue; no request is
    admitted in that round. A request that exceeds (1 - alpha) M by itself starts when no other
    runs, as it would wait for ever. If alpha is too small, the same requests start and are cleared
    for ever: the run then ends as ``looping``.

    Parameters
    ----------
    alpha : protected share of memory, in [0, 1), read as a decimal. The paper finds 0.21 and 0.24
        to be the least that do not loop on its workloads, and reports 0.25 (default) and 0.3.
    """

    alpha: Share = 0.25

    name: ClassVar[str] = "alpha-protection"
    source: ClassVar[str] = "Jaillet et al. (2025), Section 5.2, arXiv 2502.07115v5"

    @property
    def may_loop(self) -> bool:
        return True

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Clearing(setting, self.alpha, 1, rng)


@dataclass(frozen=True)
class AlphaBetaClearing(AlphaProtection):
    """As ``alpha-protection``, but each running request is cleared with probability beta only.

    The draws are independent. If the remaining requests still overflow, they draw again, in the
    same round, as memory is a limit. For beta < 1 the earliest request outlives every clearing with
    positive probability, so that every run ends with probability 1, possibly late; beta = 1 is
    ``alpha-protection``.

    Parameters
    ----------
    alpha : as for ``alpha-protection``.
    beta : probability, in (0, 1]. The paper reports alpha and beta of 0.1 and 0.2 each (default
        0.2), and finds 0.05 to 0.25 to be good.
    overflow : ``never`` (default) draws until the rest fits; ``allowed`` draws once a round, as the
        paper says, and lets the round pass above the limit if the rest does not fit. No engine can
        do that: such a run is not feasible, and only comparable with the paper's figures.
    """

    alpha: Share = 0.2
    beta: Part = 0.2
    overflow: Literal["never", "allowed"] = "never"

    name: ClassVar[str] = "alpha-beta-clearing"
    randomized: ClassVar[bool] = True

    @property
    def may_loop(self) -> bool:
        return self.beta == 1

    @property
    def may_overflow(self) -> bool:
        return self.overflow == "allowed"

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Clearing(setting, self.alpha, self.beta, rng, once=self.may_overflow)


class _Clearing(OneRoundAhead):
    """One run in order of arrival in which an overflow clears each request with some chance."""

    def __init__(
        self, setting: Setting, alpha: float, chance: float, rng: Generator, *, once: bool = False
    ) -> None:
        limit = unreserved(setting.memory, alpha)
        super().__init__(setting, lambda view, i: view.arrival[i], limit=limit)
        self._chance, self._rng, self._once = chance, rng, once

    def _make_room(self, view: View, own: Ahead) -> int:
        tokens = view.tokens
        active = sorted(view.running) if tokens > view.memory else []
        while tokens > view.memory:
            drawn = self._rng.random(len(active)) < self._chance
            for i in [i for i, goes in zip(active, drawn, strict=True) if goes]:
                tokens -= held_next(view, i)
                active.remove(i)
                leave(own, i)
            if self._once:
                break
        return tokens
