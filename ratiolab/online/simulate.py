"""The event loop: asks a policy, refuses what is illegal, returns what ran when."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ratiolab.model import Instance, Preemption, Schedule, require_feasible
from ratiolab.model.eviction import EVICTIONS, require_preemption
from ratiolab.model.feasibility import InfeasibleScheduleError, violations
from ratiolab.model.files import PathLike
from ratiolab.model.instance import DATES, PICOSECONDS, shown
from ratiolab.model.io import as_instance
from ratiolab.model.numbers import require_integer
from ratiolab.model.streams import stream
from ratiolab.online import account
from ratiolab.online.account import LEFT, MEMORY, NEXT, NOW, STAYS
from ratiolab.online.accounts import Ended, boundaries, opened, schedule_of
from ratiolab.online.clock import BatchTime, as_clock
from ratiolab.online.compiled import serve_compiled
from ratiolab.online.observations import Observations, Revealed, Signals, setting_of
from ratiolab.online.policy import Policy
from ratiolab.online.registry import as_policy
from ratiolab.online.rules import OnLists
from ratiolab.online.simulation import Outcome, Simulation
from ratiolab.online.user_policy import contained
from ratiolab.online.view import NEVER, Decision, Information, show

COMPILING = 20
"""How many times longer it takes to compile a loop than to load it from disk."""


class PolicyError(RuntimeError):
    """Illegal decision of a policy; the message names policy, round and rule."""


def simulate(
    instance: Instance | PathLike,
    policy: Policy | str,
    *,
    seed: int = 0,
    patience: int | None = None,
    preemption: Preemption | None = None,
    clock: BatchTime | str | None = None,
) -> Simulation:
    """Run a policy on an instance.

    Time jumps from event to event: an arrival, a completion, the last round before memory would
    overflow, or the round at which the policy asked to be woken. The policy is asked at events
    only, so the cost is O(events), not O(tokens), plus what the policy does.

    Parameters
    ----------
    instance : what is to be served, or the path of its file.
    policy : a frozen description, or its key; its state is made afresh.
    seed : seed of all randomness of this run, the policy's and the ties'.
    patience : rounds without a completion after which the run counts as stalled; rounds
        without a request to serve do not count. The default, 10,000 plus the sum of all
        outputs, is beyond what serving one request at a time needs.
    preemption : what an eviction costs; by default what the policy is made for, else ``restart``.
    clock : how long a batch takes, or the name of a clock. A round is then a batch, and arrivals
        are converted by the length of a tick that the instance states: a request is delivered at
        the first boundary at or after its time, and a policy reads that round as its arrival. When
        no request is there, one round lasts until the next arrival. By default every round takes
        one unit of time.

    Raises
    ------
    ValueError
        when ``policy`` is not a policy, has a wrong attribute, such as a negative budget, or does
        not support these semantics of preemption, or when ``clock`` is not a clock.
    PolicyError
        when the policy returns something else than a decision, evicts a request that does not run,
        admits a request that does not wait, lets memory overflow in the next round, or leaves
        requests waiting with no event to come.
    PolicyExitError
        when the policy raises an error that is not an `Exception`, such as `SystemExit`.
    """
    instance, policy = as_instance(instance), as_policy(policy)
    clock = as_clock(clock)
    seed = require_integer("seed", seed)
    semantics = semantics_of(policy, preemption)
    if patience is not None:
        require_integer("patience", patience, 0)
    patience = int(instance.output.sum()) + 10_000 if patience is None else patience
    ended = None
    if len(instance) >= policy.many // COMPILING:
        anew = len(instance) >= policy.many
        ended = serve_compiled(instance, policy, seed, semantics, clock, patience, anew=anew)
    if ended is None:
        with contained():
            ended = Serving(instance, policy, seed, semantics, clock).to_the_end(patience)
    s, outcome, decisions, delivered = ended
    served, timing = instance, tuple[Any, ...]()
    if clock is not None:  # in batches, of which no date is known
        dates = dict.fromkeys(DATES)
        served = instance.replace(arrival=delivered, tick_seconds=None, **dates)
        timing = clock, boundaries(s), np.array(s.due, dtype=np.float64) / PICOSECONDS
    schedule = schedule_of(s, served, semantics)
    del ended, s, delivered  # the judge needs as much memory again
    if outcome == "complete":
        judge(schedule, policy)
    return Simulation(schedule, policy, seed, outcome, decisions, semantics, *timing)


def judge(schedule: Schedule, policy: Policy) -> None:
    """Raise InfeasibleScheduleError unless a schedule is feasible, or breaks only what it may."""
    if not policy.may_overflow:
        require_feasible(schedule)
    elif {violation.rule for violation in violations(schedule)} - {"memory"}:
        raise InfeasibleScheduleError(f"{policy.name}: not memory alone is exceeded")


def semantics_of(policy: Policy, asked: Preemption | None) -> Preemption:
    """Return the semantics of preemption that are asked for, or that the policy is made for."""
    chosen = policy.preemption if asked is None else asked
    require_preemption(chosen)
    if chosen not in policy.semantics:
        allowed = ", ".join(policy.semantics)
        raise ValueError(f"policy {policy.name}: preemption {chosen!r} must be one of {allowed}")
    return chosen


class Serving:
    """The truth of one run; a policy sees `observations.view` of it.

    A replica of a fleet is one, whose requests come one by one (`ratiolab.online.fleets.loop`).
    """

    def __init__(
        self,
        instance: Instance,
        policy: Policy,
        seed: int,
        preemption: Preemption,
        clock: BatchTime | None,
    ) -> None:
        self.name, self.budget = policy.name, policy.budget
        if self.budget and not EVICTIONS[preemption].in_chunks:
            raise ValueError(f"policy {policy.name}: a budget of tokens needs restart or recompute")
        self.limit = NEVER if policy.may_overflow else instance.memory
        self.account = opened(instance, preemption, self.budget, clock, OnLists())
        # what the view shows of the account
        self.running: dict[int, int] = {}
        self.waiting: dict[int, None] = {}
        self.paused: dict[int, None] = {}
        self.filling: dict[int, int] = {}
        self.kept = Revealed("kept tokens", policy.name)
        self.observations = Observations(
            instance, policy, self.running, self.waiting, self.paused, self.kept, self.filling
        )
        self.decisions = 0
        refined = policy.information is Information.REFINED
        self.signals = Signals(policy, self.account.output, seed) if refined else None
        # a request that keeps its tokens comes nearer to its end with every round that it runs
        self.may_loop = policy.may_loop and not EVICTIONS[preemption].keeps_tokens
        self.seen: set[frozenset[tuple[int, int]]] = set()
        self.last_completion: int | None = None
        setting = setting_of(instance, policy, seed, preemption, clock)
        self.decide = policy.start(setting, stream(seed, "policy"))
        if not callable(self.decide):
            returned = shown(self.decide)
            raise PolicyError(f"{self.name}: start returns {returned}, which is no function")

    def to_the_end(self, patience: int) -> Ended:
        """Serve until all have completed, or none does for too long."""
        s, outcome = self.account, None
        while True:
            account.begin(s)
            self.leave()
            outcome = self.ask(patience)
            if outcome is not None:
                return Ended(s, outcome, self.decisions, self.delivered())
            following = account.next_event(s, self.wake)
            if following >= NEVER:
                raise self.stuck()
            self.advance(following)

    def delivered(self) -> list[int]:
        """Return the round in which each request arrived; the present one if it has not."""
        now, arrival = self.account.v[NOW], self.observations.arrival
        return [arrival.get(i, now) for i in range(len(self.account.due))]

    def ask(self, patience: int, *, more: bool = False) -> Outcome | None:
        """Ask the policy what to do in this round, and do it; return how the run ends, if it does.

        Parameters
        ----------
        more : whether requests may come that the account does not list yet.
        """
        s, running, view = self.account, self.running, self.observations.view
        now = s.v[NOW]
        self._reveal()
        if s.completed:
            self.last_completion = now
            self.seen.clear()
            if s.v[LEFT] == 0:
                return "complete"
        elif self.last_completion is None:
            self.last_completion = now
        elif now - self.last_completion > patience:
            return "stalled"
        before = dict(running) if self.may_loop else {}
        tokens = account.running_tokens(s, now + 1)
        show(view, now, tuple(s.arrived), tuple(s.completed), tokens)
        decision = self.decide(view)
        self.decisions += 1
        evicts = self._apply(decision)
        if self.may_loop and evicts and s.v[NEXT] == len(s.order) and not more:
            # All have arrived and none has completed since: the running say which wait.
            state = frozenset((i, now - start) for i, start in before.items())
            if state in self.seen:
                return "looping"
            self.seen.add(state)
        try:
            self.wake = now + 1 if decision.wake is None else index(decision.wake)
        except TypeError:
            wake = shown(decision.wake)
            raise self._error(f"asks to be woken at {wake}, which is no round") from None
        return None

    def advance(self, following: int) -> None:
        """Move to a later round."""
        if not self.running and not self.waiting:
            self.last_completion = following  # there was no request to serve
        account.advance(self.account, following)

    def stuck(self) -> PolicyError:
        """Return the error of a policy after which nothing happens any more."""
        return self._error(
            f"{len(self.waiting)} requests wait, nothing runs or arrives, and no wake-up is set"
        )

    def _error(self, rule: str) -> PolicyError:
        return PolicyError(f"{self.name}, round {self.account.v[NOW]}: {rule}")

    def leave(self) -> None:
        """Show which requests complete in this round."""
        for i in self.account.completed:
            del self.running[i]
            self.observations.output[i] = self.account.output[i]

    def _reveal(self) -> None:
        """Show what this round has brought, beside the requests that completed."""
        s = self.account
        for i in s.arrived:
            self.observations.reveal(i, s.v[NOW])
            self.waiting[i] = None
        if self.budget:
            for i in self.filling:
                self.filling[i] = s.left[i]
        if self.signals is not None:
            for i, start in self.running.items():
                tokens = self.kept[i] + (0 if i in self.filling else s.v[NOW] - start)
                self.observations.signals[i] = self.signals.up_to(i, tokens)

    def _apply(self, decision: Decision) -> bool:
        """Do what a decision says; return whether it evicts a request."""
        if not isinstance(decision, Decision):
            raise self._error(f"answers {shown(decision)}, which is no Decision")
        s = self.account
        admit = self._listed("admits", decision.admit)
        evict = self._listed("evicts", decision.evict)
        for i in evict:
            if i not in self.running:
                raise self._error(f"evicts {i}, which does not run")
            account.evict(s, i)
            del self.running[i]
            self.filling.pop(i, None)
            self.waiting[i] = None
            self.kept[i] = s.kept[i]
        for i in admit:
            if i not in self.waiting:
                raise self._error(f"admits {i}, which does not wait")
            account.admit(s, i)
            del self.waiting[i]
            self.running[i] = s.v[NOW]
        if s.v[STAYS]:
            self._make_room(self._listed("drops", decision.drop))
        tokens = account.tokens_next(s)
        if tokens > self.limit:
            raise self._error(f"{tokens} tokens in the next round exceed memory {self.limit}")
        if self.budget and len(self.running) > self.budget:
            raise self._error(
                f"{len(self.running)} requests run in a batch of {self.budget} tokens"
            )
        account.begin_batch(s)
        if self.budget:
            for i in self.filling:
                self.running[i] = s.start[i]
            self.filling.clear()
            self.filling.update((i, s.left[i]) for i in s.filling)
        return bool(evict)

    def _listed(self, verb: str, requests: Sequence[int]) -> list[int]:
        """Return a copy of requests, which may be a live set that is about to change."""
        try:
            return list(map(index, requests))
        except TypeError:
            what = f"{verb} {shown(requests)}, which is no sequence of integers"
            raise self._error(what) from None

    def _make_room(self, order: Sequence[int]) -> None:
        """Take the memory of paused requests until the rest fits in the next round.

        Requests that are not paused are passed over; those not named in `order` come after the
        others, the last to be paused first.
        """
        s = self.account
        if account.tokens_next(s) > s.v[MEMORY]:
            for i in dict.fromkeys((*order, *reversed(s.paused))):
                if i in s.paused:
                    account.release(s, i)
                    if account.tokens_next(s) <= s.v[MEMORY]:
                        break
        self.paused.clear()
        self.paused.update(dict.fromkeys(s.paused))
