"""Smallest volume first: order by what a request uses of memory and time together."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from numpy.random import Generator

from ratiolab.model.footprint import volume
from ratiolab.online.clock import BatchTime
from ratiolab.online.policies.greedy import OneRoundAhead
from ratiolab.online.policies.mc_sf import Believing, believed
from ratiolab.online.policies.prefix import Order
from ratiolab.online.policy import Decide, Policy, Setting, Shared
from ratiolab.online.rules import Ahead, Rule, one_round_ahead
from ratiolab.online.view import NEVER, Information, View


@dataclass(frozen=True)
class SVF(Believing):
    """Smallest volume s o + o (o + 1) / 2 first: start the longest prefix that fits to the end.

    Admission is that of ``mc-sf``: the prospective check, up to the first request that does not
    fit. On equal prompts the order is that of ``mc-sf``, too. The policy is built from the paper's
    abstract and the definition of the volume. We do not claim the paper's constants for it.
    """

    name: ClassVar[str] = "svf"
    source: ClassVar[str] = "after Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327"

    def ranks(self, setting: Setting) -> Order:
        length, size = believed(self.lengths), self._size(setting.memory, setting.clock)
        return Order(lambda view, i: size(view.prompt[i], length(view, i)), length)

    def shared(self, memory: int, clock: BatchTime | None) -> Shared:
        length, size = believed(self.lengths), self._size(memory, clock)
        return Shared(lambda view, i: size(view.prompt[i], length(view, i)), length)

    def _size(self, memory: int, clock: BatchTime | None) -> Callable[[int, int], int]:
        """Return the function of prompt and output by which the queue is ordered."""
        return volume


@dataclass(frozen=True)
class SVFOneBit(Policy):
    """Smallest volume first with one bit on each output: short or long.

    A request counts with the volume of an output in the middle of its prediction interval, rounded
    down; `predictions.one_bit` makes intervals of one bit, and the policy takes any. The bit is too
    little to plan memory with: requests are admitted and evicted looking one round ahead, as
    ``fcfs`` does, the largest volume evicted first.

    Built from the paper's abstract, which says no more than that one bit does; the order within
    each class and the admission are our reading, and no constant is claimed for it.
    """

    name: ClassVar[str] = "svf-1bit"
    source: ClassVar[str] = "after Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327"
    information: ClassVar[Information] = Information.INTERVAL

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return OneRoundAhead(setting, self.key)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of an order by volume."""
        key = [self.key(known, i) for i in range(len(known))]
        return Rule(one_round_ahead, partial(Ahead.of, NEVER, setting.memory), key)

    def key(self, view: View, request: int) -> int:
        """Return the key of a request that enters the queue; the least goes first."""
        middle = (view.lower[request] + view.upper[request]) // 2
        return volume(view.prompt[request], middle)
