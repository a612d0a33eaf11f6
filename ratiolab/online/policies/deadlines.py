"""Policies that know weights and deadlines: earliest deadline first, or largest value first.

Each takes the longest prefix of its queue that fits for ever, as ``mc-sf`` does. In rounds, a
request that can no longer be in time by its believed length waits behind all that can: that may
save others, and costs it nothing. Under a clock dates are not compared with batches, whose number
does not tell the time: there the order of the queue alone counts.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from heapq import heappop, heappush
from typing import ClassVar, Literal

from numpy.random import Generator

from ratiolab.model.footprint import volume
from ratiolab.model.promises import NO_DATE
from ratiolab.online.forecast import earliest, start
from ratiolab.online.policies.mc_sf import LEVEL, believed
from ratiolab.online.policies.prefix import Key, Order, Prefix, clear, prefix_run
from ratiolab.online.policy import Decide, Policy, Setting
from ratiolab.online.view import NEVER, Information, View


@dataclass(frozen=True)
class Promising(Policy):
    """Base of policies that order by what was promised, and never evict by choice.

    Parameters
    ----------
    lengths : which length is believed: ``true`` (default), or ``upper``, the end of the prediction
        interval. Either is never too short, so memory never overflows.
    """

    lengths: Literal["true", "upper"] = "true"

    @property
    def information(self) -> Information:
        return LEVEL[self.lengths]

    def start(self, setting: Setting, rng: Generator) -> Decide:
        length = believed(self.lengths)
        timeless = setting.clock is not None

        def last(view: View, i: int) -> int:
            return NEVER if timeless else last_start(view, i, length(view, i))

        def key(view: View, i: int) -> Key:
            return (last(view, i), *self.order(view, i, length(view, i)))

        return prefix_run(setting, Order(key, length), partial(_late_behind, []))

    @abstractmethod
    def order(self, view: View, request: int, length: int) -> Key:
        """Return the key of a request that enters the queue; the least goes first."""


@dataclass(frozen=True)
class EDF(Promising):
    """Earliest due date first; the date is that of the completion or of the first token.

    Where a request has both, the earlier one counts. Equal dates, and requests without any, go in
    order of arrival.
    """

    name: ClassVar[str] = "edf"
    source: ClassVar[str] = "Liu and Layland (1973), J. ACM 20"
    reads: ClassVar[tuple[str, ...]] = ("deadline", "first_by")

    def order(self, view: View, request: int, length: int) -> Key:
        due = min(view.deadline[request], view.first_by[request])
        return due, view.arrival[request]


@dataclass(frozen=True)
class LeastSlack(Promising):
    """Least slack first: the rounds that a request can still wait and be in time.

    The slack falls alike for all who wait, so the order is that of the last start in time.
    """

    name: ClassVar[str] = "least-slack"
    source: ClassVar[str] = "Mok (1983), least laxity first, without preemption"
    reads: ClassVar[tuple[str, ...]] = ("deadline", "first_by")

    def order(self, view: View, request: int, length: int) -> Key:
        return last_start(view, request, length), view.arrival[request]


@dataclass(frozen=True)
class Density(Promising):
    """Largest weight for each token-round first: ``svf`` with weights.

    With equal weights and no dates it decides as ``svf``.
    """

    name: ClassVar[str] = "density"
    source: ClassVar[str] = "Smith (1956), Naval Res. Logist. Quart. 3, on volumes"
    reads: ClassVar[tuple[str, ...]] = ("weight", "deadline", "first_by")

    def order(self, view: View, request: int, length: int) -> Key:
        return (Fraction(volume(view.prompt[request], length), view.weight[request]),)


def last_start(view: View, request: int, length: int) -> int:
    """Return the last start from which a request of this length is in time."""
    deadline, first_by = view.deadline[request], view.first_by[request]
    return min(deadline - length if deadline < NO_DATE else NO_DATE, first_by - 1)


def _late_behind(late: list[tuple[Key, int]], view: View, own: Prefix) -> int:
    """Admit the longest prefix that fits, of those in time and then of the late ones.

    Memory never overflows: no believed length is too short.

    Parameters
    ----------
    late : heap of those whose last start, first in the key, is over.

    Returns the round in which to look at the first misfit again: when it fits, or when it is late
    and makes way.
    """
    clear(view, own)
    for i in view.arrived:
        heappush(own.queue, (own.key[i][1:], i))
    while True:
        while own.queue and own.key[own.queue[0][1]][0] < view.now:
            heappush(late, heappop(own.queue))
        queue = own.queue or late
        if not queue:
            return NEVER
        i = queue[0][1]
        kept = view.generated[i]
        tokens, left = view.prompt[i] + kept, own.length[i] - kept
        again = earliest(own.believed, tokens, left, view.now)
        if again > view.now and own.believed.running:
            return min(again, own.key[i][0] + 1) if queue is own.queue else again
        heappop(queue)
        start(own.believed, i, tokens, view.now, left)
        own.admit.append(i)
