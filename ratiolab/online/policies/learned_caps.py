"""Kill and restart with the best caps for a distribution of lengths that the policy learns."""

from bisect import insort
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import Generator

from ratiolab.model import Preemption, volume
from ratiolab.online.pacing.cap_plan import CapPlan
from ratiolab.online.pacing.paced import PacedRun
from ratiolab.online.policy import Decide, Part, Policy, Positive, Setting, Share
from ratiolab.online.view import Information, View

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
        1 / (1 + k / pilots).
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

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self, setting, rng)


@dataclass
class _Kind:
    """Known facts about the requests of a kind.

    Parameters
    ----------
    prompts : prompts of arrived requests, ascending.
    ended : volumes of ended requests, ascending.
    lower : the least length that one may have.
    known : ended, oldest age and arrivals when the plan was made.
    """

    prompts: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    lower: int = 0
    known: tuple[int, int, int] = (0, 0, 0)
    plan: CapPlan | None = None


class _Run(PacedRun):
    def __init__(self, policy: LearnedCaps, setting: Setting, rng: Generator) -> None:
        self._policy = policy
        kinds = self.kind_of(setting.memory) + 1
        super().__init__(setting, policy.pace, policy.margin, rng, kinds)
        self._setting = setting
        self._kinds: dict[int, _Kind] = {}
        self._arrivals: dict[int, int] = {}
        self._due = 0

    def kind_of(self, prompt: int) -> int:
        return prompt.bit_length() if self._policy.kinds == "digits" else 0

    def next_learning(self) -> int:
        return self._due

    def learned(self, view: View) -> None:
        touched = {self.kind[i] for i in (*view.completed, *view.arrived)}
        for i in view.completed:
            insort(self._kinds[self.kind[i]].ended, volume(view.prompt[i], view.output[i]))
        for i in view.arrived:
            kind = self._kinds.setdefault(self.kind[i], _Kind())
            insort(kind.prompts, view.prompt[i])
            kind.lower = min(kind.lower or view.lower[i], view.lower[i])
        if view.now >= self._due:
            self._due = view.now + PATIENCE
            touched = set(self._kinds)
        renewed = [key for key in sorted(touched) if self._renew(view, key)]
        if renewed:
            self.queue.change(self._plan_anew)

    def _renew(self, view: View, key: int) -> bool:
        """Bring the curve of a kind up to date, and its plan if there is enough news."""
        kind = self._kinds[key]
        curve = self.observe(key, view.now)
        curve.learn(kind.prompts[len(kind.prompts) // 2])
        ended, seen, arrived = kind.known
        know = (len(kind.ended), curve.seen, len(kind.prompts))
        if know[0] <= NEWS * ended and know[1] <= NEWS * seen and know[2] <= NEWS * arrived:
            return False
        kind.known = know
        memory, keeps = view.memory, self._setting.keeps
        kind.plan = CapPlan(curve, kind.prompts, kind.ended, kind.lower, memory, keeps=keeps)
        return True

    def enter(self, view: View, i: int) -> None:
        before = self._arrivals.get(self.kind[i], 0)
        self._arrivals[self.kind[i]] = before + 1
        if self.rng.random() < 1 / (1 + before / self._policy.pilots):
            self.cap[i], self.key[i] = view.memory - view.prompt[i], 0.0
        else:
            self.reached(view, i)

    def reached(self, view: View, i: int) -> None:
        number, prompt, bound = self.kind[i], view.prompt[i], self.bound[i]
        self.cap[i] = cap = self._plan(number).next_cap(prompt, bound)
        self.key[i] = float(self._key(number, prompt, bound, self.kept[i], cap))

    def _plan_anew(self, keys: Any, facts: Any) -> tuple[Any, Any]:
        """Return keys and caps after plans have been made; a `pacing.waiting.Replan`."""
        _, kinds, *known, caps = facts
        for kind in self._kinds:
            those = (kinds == kind) & (keys > 0)  # pilots stay what they are
            if those.any():
                prompt, bound, kept = (column[those] for column in known)
                caps[those] = self._caps(kind, prompt, bound)
                keys[those] = self._key(kind, prompt, bound, kept, caps[those])
        return keys, caps

    def _plan(self, number: int) -> CapPlan:
        plan = self._kinds[number].plan
        assert plan is not None  # made when the first of the kind arrived
        return plan

    def _caps(self, number: int, prompt: Any, bound: Any) -> Any:
        """Return the caps of requests of a kind."""
        plan, digits = self._plan(number), self._setting.memory + 1
        codes, which = np.unique(prompt * digits + bound, return_inverse=True)
        return np.array([plan.next_cap(*divmod(code, digits)) for code in codes.tolist()])[which]

    def _key(self, number: int, prompt: Any, bound: Any, kept: Any, cap: Any) -> Any:
        """Return the expected volume of a run to a cap for each completion expected of it."""
        curve = self.curves[number]
        work = curve.expected_volume(prompt, bound, cap) - volume(prompt, kept)
        log = curve.reach(cap)
        share = np.exp(log[cap] - log[bound])
        ends = np.where(cap == self._setting.memory - prompt, 1.0, 1 - share)
        # half as many digits: keys that are equal but for rounding are equal
        return (work / np.maximum(ends, 1e-9)).astype(np.float32)
