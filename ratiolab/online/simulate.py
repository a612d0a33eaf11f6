"""The event loop: asks a policy, refuses what is illegal, returns what ran when."""

from operator import index

import numpy as np

from ratiolab.model import Instance, Preemption, Schedule, require_feasible
from ratiolab.model.feasibility import InfeasibleScheduleError, violations
from ratiolab.model.files import PathLike
from ratiolab.model.instance import DATES
from ratiolab.model.io import as_instance
from ratiolab.model.run import require_preemption
from ratiolab.model.streams import stream
from ratiolab.online.batch_timeline import BatchTimeline
from ratiolab.online.cache import Cache
from ratiolab.online.clock import PICOSECONDS, BatchTime
from ratiolab.online.observations import Observations, Revealed, Signals
from ratiolab.online.policy import Policy, Setting, Ties
from ratiolab.online.registry import as_policy
from ratiolab.online.simulation import Outcome, Simulation
from ratiolab.online.user_policy import contained
from ratiolab.online.view import NEVER, Decision, Information, show


class PolicyError(RuntimeError):
    """Illegal decision of a policy; the message names policy, round and rule."""


def simulate(
    instance: Instance | PathLike,
    policy: Policy | str,
    *,
    seed: int = 0,
    patience: int | None = None,
    preemption: Preemption | None = None,
    clock: BatchTime | None = None,
) -> Simulation:
    """Run a policy on an instance.

    Time jumps from event to event: an arrival, a completion, the last round before memory would
    overflow, or the round at which the policy asked to be woken. The policy is asked at events
    only, so the cost is O(events), not O(tokens), plus what the policy does.

    Parameters
    ----------
    instance : what is to be served, or the path of its file.
    policy : a frozen description, or its key; its state is made afresh.
    seed : of all randomness of this run, the policy's and the ties'.
    patience : rounds without a completion after which the run counts as stalled; rounds
        without a request to serve do not count. The default, 10,000 plus the sum of all
        outputs, is beyond what serving one request at a time needs.
    preemption : what an eviction costs; by default what the policy is made for, else ``restart``.
    clock : how long a batch takes. A round is then a batch, and arrivals are converted by the
        length of a tick that the instance states: a request is delivered at the first boundary at
        or after its time, and a policy reads that round as its arrival. When no request is there,
        one round lasts until the next arrival. By default every round takes one unit of time.

    Raises
    ------
    ValueError
        when the policy is none, or makes no sense under these semantics of preemption.
    PolicyError
        when a decision is none, evicts a request that does not run, admits one that does not wait,
        lets memory overflow in the next round, or leaves requests waiting with nothing to wait for.
    PolicyExitError
        when the policy raises what is no `Exception`, such as `SystemExit`.
    """
    instance, policy = as_instance(instance), as_policy(policy)
    semantics = semantics_of(policy, preemption)
    limit = int(instance.output.sum()) + 10_000
    with contained():
        run = _Run(instance, policy, seed, semantics, clock)
        outcome = run.to_the_end(limit if patience is None else patience)
    served = instance
    if clock is not None:  # in batches, of which no date is known
        dates = dict.fromkeys(DATES)
        served = instance.replace(arrival=run.delivered(), tick_seconds=None, **dates)
    schedule = run.cache.schedule(served)
    if outcome == "complete":
        _judge(schedule, policy)
    if run.timeline is None:
        return Simulation(schedule, policy, seed, outcome, run.decisions, semantics)
    times = run.timeline.boundaries(run.now)
    arrivals = np.array(run.due, dtype=np.float64) / PICOSECONDS
    return Simulation(
        schedule, policy, seed, outcome, run.decisions, semantics, clock, times, arrivals
    )


def _judge(schedule: Schedule, policy: Policy) -> None:
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


class _Run:
    """The truth of one run; a policy sees `observations.view` of it."""

    def __init__(
        self,
        instance: Instance,
        policy: Policy,
        seed: int,
        preemption: Preemption,
        clock: BatchTime | None,
    ) -> None:
        self.memory = NEVER if policy.may_overflow else instance.memory
        self.name = policy.name
        self.due: list[int] = instance.arrival.tolist()
        self.output: list[int] = instance.output.tolist()
        self.order: list[int] = np.argsort(instance.arrival, kind="stable").tolist()
        self.next_arrival = 0
        self.timeline: BatchTimeline | None = None
        if clock is not None:
            self.due = clock.arrivals(instance)
            self.timeline = BatchTimeline(clock, self.due[self.order[0]])
        self.now = self.due[self.order[0]] if clock is None else 0
        self.waiting: dict[int, None] = {}
        self.kept = Revealed("kept tokens", policy.name)
        self.budget = policy.budget
        if self.budget and preemption not in ("restart", "recompute"):
            raise ValueError(f"policy {policy.name}: a budget of tokens needs restart or recompute")
        self.cache = Cache(instance, self.kept, preemption, self.budget)
        self.running = self.cache.running
        memory = (self.running, self.waiting, self.cache.paused, self.kept, self.cache.filling)
        self.observations = Observations(instance, policy, *memory)
        self.left = len(instance)
        self.decisions = 0
        refined = policy.information is Information.REFINED
        self.signals = Signals(policy, self.output, seed) if refined else None
        # a request that keeps its tokens comes nearer to its end with every round that it runs
        self.may_loop = preemption == "restart" and policy.may_loop
        ties = Ties(
            policy.ties or "random",
            stream(seed, "ties"),
            self.output if policy.ties in ("worst", "best") else None,
        )
        setting = Setting(instance.memory, ties, preemption != "restart", clock)
        self.decide = policy.start(setting, stream(seed, "policy"))

    def to_the_end(self, patience: int) -> Outcome:
        running, waiting, view = self.running, self.waiting, self.observations.view
        last_completion = self.now
        seen: set[frozenset[tuple[int, int]]] = set()
        while True:
            completed, arrived = self._complete(), self._arrive()
            if completed:
                last_completion = self.now
                seen.clear()
                if self.left == 0:
                    return "complete"
            elif self.now - last_completion > patience:
                return "stalled"
            before = dict(running) if self.may_loop else {}
            show(view, self.now, arrived, completed, self.cache.running_tokens(self.now + 1))
            decision = self.decide(view)
            self.decisions += 1
            self._apply(decision)
            if self.may_loop and len(decision.evict) and self.next_arrival == len(self.order):
                # All have arrived and none has completed since: the running say which wait.
                state = frozenset((i, self.now - start) for i, start in before.items())
                if state in seen:
                    return "looping"
                seen.add(state)
            following = self._next_event(decision.wake)
            if following >= NEVER:
                raise self._error(
                    f"{len(waiting)} requests wait, nothing runs or arrives, and no wake-up is "
                    "asked for"
                )
            if not running and not waiting:
                last_completion = following  # there was no request to serve
            if self.timeline is not None:
                self.timeline.advance(following)
            self.now = following

    def _error(self, rule: str) -> PolicyError:
        return PolicyError(f"{self.name}, round {self.now}: {rule}")

    def _complete(self) -> tuple[int, ...]:
        """End the runs that complete in this round."""
        completed = self.cache.complete(self.now)
        for i in completed:
            self.observations.output[i] = self.output[i]
        self.left -= len(completed)
        if self.signals is not None:
            for i, start in self.running.items():
                tokens = self.kept[i] + (0 if i in self.cache.filling else self.now - start)
                self.observations.signals[i] = self.signals.up_to(i, tokens)
        return tuple(completed)

    def _arrive(self) -> tuple[int, ...]:
        """Let the requests of this round arrive."""
        arrived: list[int] = []
        present = self.now if self.timeline is None else self.timeline.time
        while self.next_arrival < len(self.order):
            i = self.order[self.next_arrival]
            if self.due[i] > present:
                break
            self.observations.reveal(i, self.now)
            self.waiting[i] = None
            arrived.append(i)
            self.next_arrival += 1
        return tuple(arrived)

    def _apply(self, decision: Decision) -> None:
        if not isinstance(decision, Decision):
            raise self._error(f"answers {decision!r}, which is no Decision")
        now, cache = self.now, self.cache
        for i in decision.evict:
            if i not in self.running:
                raise self._error(f"evicts {i}, which does not run")
            cache.evict(i, now)
            self.waiting[i] = None
        for i in decision.admit:
            if i not in self.waiting:
                raise self._error(f"admits {i}, which does not wait")
            del self.waiting[i]
            cache.admit(i, now)
        cache.make_room(decision.drop, now)
        tokens = cache.tokens(now + 1)
        if tokens > self.memory:
            raise self._error(f"{tokens} tokens in the next round exceed memory {self.memory}")
        if self.budget and len(self.running) > self.budget:
            raise self._error(
                f"{len(self.running)} requests run in a batch of {self.budget} tokens"
            )
        work = cache.begin_batch(now)
        if self.timeline is not None:
            self.timeline.add_batches(now, *work)

    def _next_event(self, wake: int | None) -> int:
        if not self.running and not self.waiting:
            arrives = self.due[self.order[self.next_arrival]]
            if self.timeline is None:
                return arrives
            self.timeline.add_idle_round(self.now, arrives)
            return self.now + 1
        try:
            events = [self.now + 1 if wake is None else max(index(wake), self.now + 1)]
        except TypeError:
            raise self._error(f"asks to be woken at {wake!r}, which is no round") from None
        if self.running:
            events.append(self.cache.next_completion())
            events.append(max(self.cache.last_fitting(), self.now + 1))
            events.append(self.cache.next_chunk)
        if self.next_arrival < len(self.order):
            due = self.due[self.order[self.next_arrival]]
            events.append(due if self.timeline is None else self.timeline.reach(due))
        return min(events)

    def delivered(self) -> list[int]:
        """Return the round in which each request arrived; the present one for all still to come."""
        return [self.observations.arrival.get(i, self.now) for i in range(len(self.due))]
