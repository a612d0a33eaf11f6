"""Memory-constrained shortest first, and the same check in order of arrival.

Source: Jaillet, Jiang, Mellou, Molinaro, Podimata, Zhou (2025), Algorithms 1 and 2,
arXiv 2502.07115v5.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ratiolab.online.clock import BatchTime
from ratiolab.online.policies.prefix import Order, PrefixPolicy
from ratiolab.online.policy import Setting, Share, Shared
from ratiolab.online.view import Information, View

Lengths: TypeAlias = Literal["true", "predicted", "upper"]
LEVEL = {
    "true": Information.TRUE_LENGTH,
    "predicted": Information.PREDICTION,
    "upper": Information.INTERVAL,
}


def believed(lengths: Lengths) -> Callable[[View, int], int]:
    """Return the believed length; never more than what fits in memory beside the prompt."""
    if lengths == "true":
        return lambda view, i: view.output[i]
    if lengths == "upper":
        return lambda view, i: view.upper[i]
    return lambda view, i: min(view.predicted[i], view.memory - view.prompt[i])


@dataclass(frozen=True)
class Believing(PrefixPolicy):
    """Base of policies that plan with a believed length and never evict by choice.

    Parameters
    ----------
    lengths : which length is believed: ``true`` (default), ``predicted``, or ``upper``, the end of
        the prediction interval, which is the paper's assumption of a prediction that is never too
        short. Predictions that are too short can overflow; then all active requests are cleared,
        which may go on for ever: the run then ends as ``looping``.
    """

    lengths: Lengths = "true"

    @property
    def information(self) -> Information:
        return LEVEL[self.lengths]

    @property
    def may_loop(self) -> bool:
        return self.lengths == "predicted"


@dataclass(frozen=True)
class MCSF(Believing):
    """Shortest believed output first: the longest prefix that fits for ever, by prospective check.

    The queue is sorted by believed output length, equal lengths in the order of the file; requests
    are admitted until the first that would break (5) at some believed end.

    Parameters
    ----------
    margin : share of memory that the check leaves free against predictions that are too short, in
        [0, 1), read as a decimal; the paper takes 0.1 (Section 5.2.2). Memory overflows at M all
        the same. A request that does not fit under the margin by itself starts when no other runs.
    """

    margin: Share = 0.0

    name: ClassVar[str] = "mc-sf"
    source: ClassVar[str] = "Jaillet et al. (2025), Algorithm 1, arXiv 2502.07115v5"

    def ranks(self, setting: Setting) -> Order:
        length = believed(self.lengths)
        return Order(length, length, self.margin)

    def shared(self, memory: int, clock: BatchTime | None) -> Shared:
        length = believed(self.lengths)
        return Shared(length, length)


@dataclass(frozen=True)
class MCBenchmark(Believing):
    """First come first served with the prospective memory check of MC-SF."""

    name: ClassVar[str] = "mc-benchmark"
    source: ClassVar[str] = "Jaillet et al. (2025), Algorithm 2, arXiv 2502.07115v5"

    def ranks(self, setting: Setting) -> Order:
        return Order(None, believed(self.lengths))

    def shared(self, memory: int, clock: BatchTime | None) -> Shared:
        return Shared(lambda view, i: view.arrival[i], believed(self.lengths))
