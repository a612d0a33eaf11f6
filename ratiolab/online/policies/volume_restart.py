"""Kill and restart with caps geometric in volume, an offset for each request, and learned pace."""

from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from numpy.random import Generator

from ratiolab.model import Preemption, volume
from ratiolab.online.pacing.paced import (
    Paced,
    admit,
    enter,
    kill,
    make_room,
    paced_rule,
    paced_run,
    plan_next,
    wait,
)
from ratiolab.online.pacing.survival import longest_within
from ratiolab.online.policy import Decide, Growth, Part, Policy, Setting, Share
from ratiolab.online.rules import Containers, OnLists, Rule
from ratiolab.online.view import NEVER, Information

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
    many: ClassVar[int] = 20_000

    def start(self, setting: Setting, rng: Generator) -> Decide:
        own = self.remember(OnLists(), setting, rng)
        return paced_run(restart, own, rng, draws=self.offset == "request")

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of caps geometric in volume."""
        remember = partial(self.remember, setting=setting, rng=rng)
        return paced_rule(restart, remember, known, rng, draws=self.offset == "request")

    def remember(self, make: Containers, setting: Setting, rng: Generator) -> "Restarts":
        """Return the state of a run before its first round."""
        common = float(rng.random()) if self.offset == "run" else 0.0
        paced = Paced.of(make, setting, self.pace, self.margin, moving=True)
        columns = make.reals(), make.column(), make.heap(1), make.heap(1)
        return Restarts(self.base, self.offset == "request", common, paced, *columns)


class Restarts(NamedTuple):
    """State of the policy.

    Parameters
    ----------
    base : growth of the caps, in volume.
    each : whether each request has an offset of its own.
    common : else the offset of all.
    paced : the running and the waiting requests.
    key : cap of each request, in volume.
    length : its lower bound.
    admit, evict : the last decision.
    """

    base: float
    each: bool
    common: float
    paced: Paced
    key: Any
    length: Any
    admit: Any
    evict: Any


def restart(seen: Any, own: Restarts) -> int:
    """Decide which requests run to which caps; return when to be asked again."""
    p = own.paced
    enter(seen, own)
    for i in seen.arrived:
        p.kind[i] = 0
        least = volume(seen.prompt[i], own.length[i])
        own.key[i] = least * own.base ** (p.draw[i] if own.each else own.common)
        p.cap[i] = max(own.length[i], _tokens(seen, own, i))
        wait(own, i)
    kill(seen, own)
    for i in own.evict:
        _next_cap(seen, own, i)
        wait(own, i)
    make_room(seen, own)
    wake = admit(seen, own)
    return plan_next(seen, own, wake, NEVER)


def _next_cap(seen: Any, own: Restarts, i: int) -> None:
    """Give a request that was killed its next cap."""
    p = own.paced
    needed = volume(seen.prompt[i], p.bound[i] + 1)
    while p.cap[i] <= p.bound[i]:
        # of a base near 1 all steps at once, but for the last
        steps = int(log(max(1.0, needed / own.key[i])) / log(own.base)) - 1
        own.key[i] *= own.base ** max(1, steps)
        p.cap[i] = _tokens(seen, own, i)


def _tokens(seen: Any, own: Restarts, i: int) -> int:
    """Return the tokens of a run whose volume is the key of a request."""
    # nothing longer than what fits beside the prompt can complete at all
    most: int = seen.memory - seen.prompt[i]
    if own.key[i] >= volume(seen.prompt[i], most):
        return most
    return longest_within(seen.prompt[i], int(own.key[i]))
