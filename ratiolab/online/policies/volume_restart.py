"""Kill and restart with caps geometric in volume, an offset for each request, and learned pace."""

from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal, TypeAlias

from numpy.random import Generator

from ratiolab.model import Preemption, volume
from ratiolab.online.pacing.paced import PacedRun
from ratiolab.online.pacing.survival import longest_within
from ratiolab.online.policy import Decide, Growth, Part, Policy, Setting, Share
from ratiolab.online.view import Information, View

Offset: TypeAlias = Literal["request", "run", "none"]


@dataclass(frozen=True)
class VolumeRestart(Policy):
    """Kill and restart at volumes v b**(U + k), k = 0, 1, ..., with a random U for each request.

    v is the volume of the lower bound. A request runs until its volume would exceed its cap; then
    the request is killed and returns to the queue with the next cap. Smaller caps go first, and
    equal caps in random order.

    The first request of the queue starts under two conditions. First, its turn has come: each start
    delays the next by the expected volume of the started request over M. Second, the memory that
    all running requests are expected to hold leaves room for it, now and at rounds ahead. If no
    request runs, it starts at once. Expectations come from the survival curve of the lengths seen
    so far: how many requests reached each age, and how many ended there. If memory overflows, the
    requests that ran least return to the queue with the caps that they had.

    In the fluid limit, with all requests at round 0, this policy costs at most 2.72837 times the
    optimum for every distribution of lengths. No policy that does not know the lengths has a
    smaller constant (`ratiolab.theory.limits.volume_restart`). Where killed requests keep their
    tokens (``recompute``, ``swap``), slowly growing caps, such as base 1.3, cost little more than 2
    times the optimum without evictions. No policy has a constant below 2 there.

    Parameters
    ----------
    base : growth b > 1 of the caps, in volume.
    offset : ``request``, a draw for each; ``run``, one draw for all; ``none``, all are 0.
    pace : part of the expected volume by which a start delays the next, in (0, 1].
    margin : share of memory that expectations leave free, in [0, 1).
    """

    base: Growth = 13.807
    offset: Offset = "request"
    pace: Part = 0.9
    margin: Share = 0.02

    name: ClassVar[str] = "volume-restart"
    source: ClassVar[str] = "ratiolab.theory.limits.volume_restart"
    information: ClassVar[Information] = Information.LOWER_BOUND
    semantics: ClassVar[tuple[Preemption, ...]] = ("restart", "recompute", "swap")
    randomized: ClassVar[bool] = True

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self, setting, rng)


class _Run(PacedRun):
    moving: ClassVar[bool] = True

    def __init__(self, policy: VolumeRestart, setting: Setting, rng: Generator) -> None:
        super().__init__(setting, policy.pace, policy.margin, rng)
        self._policy = policy
        self._common = float(rng.random()) if policy.offset == "run" else 0.0

    def learned(self, view: View) -> None:
        pass  # nothing is asked of the curve before starts are weighed

    def enter(self, view: View, i: int) -> None:
        draw = float(self.rng.random()) if self._policy.offset == "request" else self._common
        lower = view.lower[i]
        self.key[i] = volume(view.prompt[i], lower) * self._policy.base**draw
        self.cap[i] = max(lower, self._tokens(view, i))

    def reached(self, view: View, i: int) -> None:
        base, bound = self._policy.base, self.bound[i]
        needed = volume(view.prompt[i], bound + 1)
        while self.cap[i] <= bound:
            # of a base near 1 all steps at once, but for the last
            steps = int(log(max(1.0, needed / self.key[i])) / log(base)) - 1
            self.key[i] *= base ** max(1, steps)
            self.cap[i] = self._tokens(view, i)

    def _tokens(self, view: View, i: int) -> int:
        # nothing longer than what fits beside the prompt can complete at all
        most = view.memory - view.prompt[i]
        return min(longest_within(view.prompt[i], min(self.key[i], 4e18)), most)
