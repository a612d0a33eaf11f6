"""Serving engines that look one round ahead, in order of arrival, predicted length or learned rank.

They admit while the next round fits and evict when it does not, as vLLM's scheduler does: with
``restart`` by default, with vLLM's own ``recompute`` or ``swap`` when asked. Source of the
practice: Kwon et al. (2023), arXiv 2309.06180.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from numpy.random import Generator

from ratiolab.online import rules
from ratiolab.online.clock import BatchTime
from ratiolab.online.policy import Decide, Limit, Policy, Setting, Shared
from ratiolab.online.rules import Ahead, OnLists, Rule
from ratiolab.online.view import NEVER, Decision, Information, View


@dataclass(frozen=True)
class Greedy(Policy):
    """Base of policies that look one round ahead in an order of their own.

    Parameters
    ----------
    batch : most requests in memory at once; 0 (default) leaves it to the memory. vLLM takes 256.
    """

    batch: Limit = 0

    order: ClassVar[str] = "arrival"
    """The column whose least value goes first."""

    def key(self, view: View, request: int) -> float:
        """Return the key of a request that enters the queue; the least goes first."""
        return getattr(view, self.order)[request]  # type: ignore[no-any-return]

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return OneRoundAhead(setting, self.key, self.batch or NEVER)

    def shared(self, memory: int, clock: BatchTime | None) -> Shared:
        return Shared(self.key, most=self.batch or NEVER)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of an order by a column."""
        if type(self).key is not Greedy.key:
            return None
        remember = partial(Ahead.of, self.batch or NEVER, setting.memory)
        return Rule(rules.one_round_ahead, remember, getattr(known, self.order, None))


@dataclass(frozen=True)
class FCFS(Greedy):
    """Earliest arrival first; needs no idea of the output.

    The queue is admitted in order while the next round fits. When the running requests alone would
    not fit, the latest arrivals among them are evicted until they do; no request is admitted in
    such a round. The earliest arrival is never evicted, so every run ends.
    """

    name: ClassVar[str] = "fcfs"
    source: ClassVar[str] = "vLLM's scheduler: Kwon et al. (2023), arXiv 2309.06180"


@dataclass(frozen=True)
class SJF(Greedy):
    """Shortest predicted output first, looking one round ahead; otherwise as ``fcfs``.

    The longest predictions are evicted first. The prediction is a priority only: memory is not
    planned with it, so no prediction is too wrong.
    """

    name: ClassVar[str] = "sjf"
    source: ClassVar[str] = "shortest job first on predictions: Zheng et al. (2023), 2305.13144"
    information: ClassVar[Information] = Information.PREDICTION
    order: ClassVar[str] = "predicted"


@dataclass(frozen=True)
class SSJF(SJF):
    """Shortest predicted output first, the prediction that of a small regression model.

    It decides exactly as ``sjf``; the name is that of the system. Give it point predictions that
    err as the model does, as `predictions.gaussian` or the medians of `distributional`.
    """

    name: ClassVar[str] = "ssjf"
    source: ClassVar[str] = "Qiu et al. (2024), arXiv 2404.08509"


@dataclass(frozen=True)
class LTR(SJF):
    """Least score first, the score that of a model which learned to rank and not to measure.

    It decides as ``sjf`` does on the same column: only comparisons of scores count. Give it
    `predictions.ranked`. The system's guard against starvation is not built.
    """

    name: ClassVar[str] = "ltr"
    source: ClassVar[str] = "Fu et al. (2024), arXiv 2408.15792"


class OneRoundAhead:
    """One run of a policy with an order that admits while the next round fits, and evicts.

    Parameters
    ----------
    setting : memory.
    key : of a request, computed when it enters the queue; the least is admitted first and evicted
        last, equal keys in the order of the file.
    most : requests in memory at once.
    """

    def __init__(
        self, setting: Setting, key: Callable[[View, int], float], most: int = NEVER
    ) -> None:
        self._key = key
        self._own = Ahead.of(most, setting.memory, OnLists())

    def __call__(self, view: View) -> Decision:
        own = self._own
        for i in view.arrived:
            own.key[i] = self._key(view, i)
        wake = rules.one_round_ahead(view, own)
        for i in own.evict:
            own.key[i] = self._key(view, i)
        return Decision(list(own.admit), list(own.evict), wake)
