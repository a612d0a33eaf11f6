"""Kill and restart with the best caps for a distribution of lengths that the policy learns."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator

from ratiolab.model import Preemption, volume
from ratiolab.online.pacing.cap_plan import NODES, Plans, few, plan, price, spread
from ratiolab.online.pacing.paced import (
    Paced,
    admit,
    enter,
    kill,
    make_room,
    observe,
    paced_rule,
    paced_run,
    plan_next,
    reorder,
    wait,
)
from ratiolab.online.pacing.survival import learn
from ratiolab.online.policy import Decide, Part, Policy, Positive, Setting, Share
from ratiolab.online.rules import Containers, OnLists, Rule
from ratiolab.online.view import Information

NEWS = 1.5
"""A plan is made again when the ended requests, the oldest age or the arrivals have grown by this
factor."""

PATIENCE = 64
"""Rounds after which all survival curves are brought up to date, beside the curves of kinds with
new ends or arrivals."""


Kinds: TypeAlias = Literal["digits", "one"]


@dataclass(frozen=True)
class LearnedCaps(Policy):
    """Caps of least cost for the distribution of lengths, estimated from the requests so far.

    Requests are grouped into kinds, and each kind has its own survival curve of lengths, by the
    estimator of Kaplan and Meier. Requests that are killed or still run count up to the age that
    they have reached. Beyond the largest age seen, the curve falls like one over the root of the
    volume. Some requests of each kind, drawn at random and ever more rarely, are pilots. Pilots go
    first and are not killed, so that long lengths are seen, too.

    The curve and the prompts give the distribution of volumes of a kind, and that distribution
    gives the list of caps of least cost (`ratiolab.model.caps`). A request runs to the next cap of
    the list. Requests with the least expected volume for each expected completion go first. Starts
    are paced as in ``volume-restart``. A list is computed again whenever the observations have
    grown by half. Where killed requests keep their tokens, the lists take that into account.

    Parameters
    ----------
    kinds : ``digits`` groups requests by the number of binary digits of their prompts; ``one``
        puts all requests in one kind.
    pilots : the k-th arrival of a kind, k = 0, 1, ..., is a pilot with probability
        pilots / (pilots + k).
    pace : part of the expected volume by which a start delays the next, in (0, 1].
    margin : share of memory that expectations leave free, in [0, 1).
    """

    kinds: Kinds = "digits"
    pilots: Positive = 4.0
    pace: Part = 0.5
    margin: Share = 0.02

    name: ClassVar[str] = "learned-caps"
    source: ClassVar[str] = "own; ratiolab.game.ranges.cap_design"
    information: ClassVar[Information] = Information.LOWER_BOUND
    semantics: ClassVar[tuple[Preemption, ...]] = ("restart", "recompute", "swap")
    randomized: ClassVar[bool] = True
    many: ClassVar[int] = 10_000

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return paced_run(learn_caps, self.remember(OnLists(), setting), rng, draws=True)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of learned caps."""
        remember = partial(self.remember, setting=setting)
        return paced_rule(learn_caps, remember, known, rng, draws=True)

    def remember(self, make: Containers, setting: Setting) -> "Learned":
        """Return the state of a run before its first round."""
        memory, digits = setting.memory, self.kinds == "digits"
        kinds = memory.bit_length() + 1 if digits else 1
        paced = Paced.of(make, setting, self.pace, self.margin, kinds=kinds)
        facts = digits, self.pilots, paced, Plans.of(kinds, memory, keeps=setting.keeps)
        lists = make.scalars(1), make.heap(2), np.zeros(memory + 1, np.int64)
        counts = [np.zeros(kinds, np.int64) for _ in range(7)]
        news = np.zeros((3, kinds), np.int64)
        columns = make.reals(), make.column(), make.heap(1), make.heap(1)
        return Learned(*[*facts, *lists, *counts, news, *columns])


class Learned(NamedTuple):
    """State of the policy.

    Parameters
    ----------
    digits : whether there is a kind for each number of binary digits, else one for all.
    pilots : the number of pilots to begin with.
    paced : the running and the waiting requests.
    plans : lists of caps of all kinds.
    v : the round in which all curves are brought up to date.
    ended : kinds and volumes of requests that ended.
    prompts : number of arrived requests with each prompt.
    arrived, entered, ends : of each kind, how many requests have arrived, have a cap, have ended.
    lower, touched : of each kind, the least length, and whether there is news in this round.
    median, below : of each kind, a prompt, and the number of arrived requests with smaller ones.
    known : ended requests, oldest age and arrivals when each plan was made, shape (3, kinds).
    key : expected volume of the next run of each request for each completion; 0 for pilots.
    length : its lower bound.
    admit, evict : the last decision.
    """

    digits: bool
    pilots: float
    paced: Paced
    plans: Plans
    v: Any
    ended: Any
    prompts: Any
    arrived: Any
    entered: Any
    ends: Any
    lower: Any
    touched: Any
    median: Any
    below: Any
    known: Any
    key: Any
    length: Any
    admit: Any
    evict: Any


DUE = 0
"""Place in `Learned.v`."""


def learn_caps(seen: Any, own: Learned) -> int:
    """Decide which requests run to which caps; return when to be asked again."""
    p = own.paced
    enter(seen, own)
    for i in seen.completed:
        kind = p.kind[i]
        own.ended.append((kind, volume(seen.prompt[i], p.bound[i])))
        own.ends[kind] += 1
        own.touched[kind] = 1
    for i in seen.arrived:
        p.kind[i] = _kind(own, seen.prompt[i])
        _arrive(own, p.kind[i], seen.prompt[i], own.length[i])
    _learn(seen, own)
    for i in seen.arrived:
        before = own.entered[p.kind[i]]
        own.entered[p.kind[i]] += 1
        p.cap[i], own.key[i] = seen.memory - seen.prompt[i], 0.0
        if not p.draw[i] < own.pilots / (own.pilots + before):
            _next_cap(seen, own, i)
        wait(own, i)
    kill(seen, own)
    for i in own.evict:
        _next_cap(seen, own, i)
        wait(own, i)
    make_room(seen, own)
    wake = admit(seen, own)
    return plan_next(seen, own, wake, own.v[DUE])


def _kind(own: Learned, prompt: int) -> int:
    """Return the kind of requests with a prompt."""
    digits = 0
    while own.digits and prompt:
        prompt >>= 1
        digits += 1
    return digits


def _arrive(own: Learned, kind: int, prompt: int, lower: int) -> None:
    """Count a request that arrives."""
    if not own.arrived[kind]:
        own.median[kind], own.lower[kind] = prompt, lower
    own.arrived[kind] += 1
    own.prompts[prompt] += 1
    own.below[kind] += prompt < own.median[kind]
    own.lower[kind] = min(own.lower[kind], lower)
    own.touched[kind] = 1


def _learn(seen: Any, own: Learned) -> None:
    """Bring the curves of kinds with news up to date, and plans if there is enough of it."""
    if seen.now >= own.v[DUE]:
        own.v[DUE] = seen.now + PATIENCE
        for kind in range(len(own.arrived)):
            own.touched[kind] = own.arrived[kind] > 0
    renewed = False
    for kind in range(len(own.arrived)):
        if own.touched[kind]:
            own.touched[kind] = 0
            renewed = _renew(seen, own, kind) or renewed
    if renewed:
        waiting = [int(request) for key, _, request in own.paced.queue if key > 0]
        _price(seen, own, waiting)  # pilots stay what they are
        reorder(own)


def _renew(seen: Any, own: Learned, kind: int) -> bool:
    """Bring the curve of a kind up to date, and its plan if there is enough news."""
    p, half = own.paced, own.arrived[kind] // 2
    while own.below[kind] > half:
        own.median[kind] -= 1
        own.below[kind] -= own.prompts[own.median[kind]]
    while own.below[kind] + own.prompts[own.median[kind]] <= half:
        own.below[kind] += own.prompts[own.median[kind]]
        own.median[kind] += 1
    observe(p, kind, seen.now)
    learn(p.curves, kind, own.median[kind])
    known, news = own.known, False
    counts = own.ends[kind], p.curves.seen[kind], own.arrived[kind]
    for fact in range(3):
        news = news or counts[fact] > NEWS * known[fact, kind]
    if news:
        for fact in range(3):
            known[fact, kind] = counts[fact]
        volumes = sorted([volume for of, volume in own.ended if of == kind])
        ended = np.empty(len(volumes), np.int64)
        for k in range(len(volumes)):
            ended[k] = volumes[k]
        least = (1 << kind) // 2 if own.digits else 0
        prompts = few(own.prompts, least, own.arrived[kind])
        plan(own.plans, p.curves, kind, prompts, spread(ended, NODES), own.lower[kind])
    return news


def _next_cap(seen: Any, own: Learned, i: int) -> None:
    """Give a request the next cap of its plan, and its place in the queue."""
    _price(seen, own, [i])


def _price(seen: Any, own: Learned, requests: Any) -> None:
    """Give requests the next caps of their plans, and their places in the queue."""
    p = own.paced
    facts, keys = np.empty((5, len(requests)), np.int64), np.empty(len(requests))
    for place in range(len(requests)):
        i = requests[place]
        facts[0, place], facts[1, place] = p.kind[i], seen.prompt[i]
        facts[2, place], facts[3, place] = p.bound[i], p.kept[i]
    price(own.plans, p.curves, facts, keys)
    for place in range(len(requests)):
        p.cap[requests[place]], own.key[requests[place]] = facts[4, place], keys[place]
