"""A_max and A_random: order that knows nothing of the outputs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from ratiolab.online.policies.prefix import Order, PrefixPolicy
from ratiolab.online.policy import Setting, TieBreak
from ratiolab.online.view import Information


@dataclass(frozen=True)
class AMax(PrefixPolicy):
    """Every output is taken for its upper bound, so memory never overflows and nothing is evicted.

    With one interval, one prompt length and all requests there at round 0 this is the printed
    algorithm: a random set of the largest size that (3) allows. With later arrivals it is not: a
    waiting request keeps the key that it drew, and the printed algorithm draws anew every round.
    With several intervals the smallest upper bound goes first, with several prompts the first
    misfit ends the batch.

    Parameters
    ----------
    ties : how equal upper bounds are ordered.
    order : ``upper`` (default) is the order above; ``random`` reads the printed "random" as the
        order of the queue: a request draws its place when it arrives, or takes it by `ties` if
        these are not random, and its bound only plans memory.
    """

    ties: TieBreak = "random"
    order: Literal["upper", "random"] = "upper"

    name: ClassVar[str] = "a-max"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Algorithm 1, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.INTERVAL

    def ranks(self, setting: Setting) -> Order:
        tie, ranked = setting.ties.queue, self.order == "upper"
        return Order(
            key=lambda view, i: (view.upper[i] if ranked else 0, tie(i)),
            length=lambda view, i: view.upper[i],
        )


@dataclass(frozen=True)
class ARandom(PrefixPolicy):
    """A random order, packed with full knowledge of the outputs; a device of the analysis.

    A request draws its place when it arrives. The order is kept: the first misfit ends the batch.
    """

    ties: TieBreak = "random"

    name: ClassVar[str] = "a-random"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Algorithm 4, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def ranks(self, setting: Setting) -> Order:
        tie = setting.ties.queue
        return Order(lambda view, i: tie(i), lambda view, i: view.output[i])
