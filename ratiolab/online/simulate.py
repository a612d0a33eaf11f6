"""The event loop: asks a policy, refuses what is illegal, returns what ran when."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, TypeAlias

import numpy as np

from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.footprint import held
from ratiolab.online.view import (
    NEVER,
    Decision,
    Information,
    Policy,
    Setting,
    TieBreak,
    Ties,
    View,
    reveal,
)

Outcome: TypeAlias = Literal["complete", "stalled", "looping"]


class PolicyError(RuntimeError):
    """A policy decided something illegal; the message names policy, round and rule."""


@dataclass(frozen=True)
class Simulation:
    """One run of a policy.

    Parameters
    ----------
    schedule : what ran when; unless complete, only the runs that had ended.
    policy, seed : what was run.
    outcome : ``complete``; ``stalled`` when no request completed for `patience` rounds;
        ``looping`` when a state came back that leads to itself, so that no patience would help.
    decisions : how often the policy was asked.
    preemption : semantics of an eviction; here always ``restart``, all tokens are lost.
    """

    schedule: Schedule
    policy: Policy
    seed: int
    outcome: Outcome
    decisions: int
    preemption: str = "restart"

    @property
    def total_latency(self) -> int | None:
        """Total end-to-end latency, rounds; None when the run stalled."""
        return self.schedule.total_latency if self.outcome == "complete" else None


def simulate(
    instance: Instance, policy: Policy, *, seed: int = 0, patience: int | None = None
) -> Simulation:
    """Run a policy on an instance in unit rounds, restart semantics.

    Time jumps from event to event: an arrival, a completion, the last round before memory would
    overflow, or the round at which the policy asked to be woken. The policy is asked at events
    only, so the cost is O(events), not O(tokens), plus what the policy does.

    Parameters
    ----------
    instance : what is to be served.
    policy : a frozen description; its state is made afresh.
    seed : of all randomness of this run, the policy's and the ties'.
    patience : rounds without a completion after which the run counts as stalled; rounds in which
        nobody is there to be served do not count. The default, 10,000 plus the sum of all
        outputs, is beyond what serving one request at a time needs.

    Raises
    ------
    PolicyError
        when a decision evicts a request that does not run, admits one that does not wait, lets
        memory overflow in the next round, or leaves requests waiting with nothing to wait for.
    """
    run = _Run(instance, policy, seed)
    limit = int(instance.output.sum()) + 10_000
    outcome = run.to_the_end(limit if patience is None else patience)
    schedule = Schedule.from_runs(instance, run.finished)
    if outcome == "complete":
        require_feasible(schedule)
    return Simulation(schedule, policy, seed, outcome, run.decisions)


class _Run:
    def __init__(self, instance: Instance, policy: Policy, seed: int) -> None:
        self.memory = instance.memory
        self.name = policy.name
        self.arrival: list[int] = instance.arrival.tolist()
        self.prompt: list[int] = instance.prompt.tolist()
        self.output: list[int] = instance.output.tolist()
        self.hidden = _hidden_columns(instance, policy)
        self.order: list[int] = np.argsort(instance.arrival, kind="stable").tolist()
        self.next_arrival = 0
        self.view = View(instance.memory, policy.information, policy.name)
        self.completions: list[tuple[int, int, int]] = []  # (round, request, start), may be stale
        self.constant = 0  # tokens of the running requests at t: constant + running * t
        self.finished: list[tuple[int, int, int]] = []
        self.left = len(instance)
        self.decisions = 0
        rng = np.random.default_rng(seed)
        kind: TieBreak = getattr(policy, "ties", "random")
        self.may_loop: bool = getattr(policy, "may_loop", False)
        ties = Ties(kind, rng, self.output if kind in ("worst", "best") else None)
        self.decide = policy.start(Setting(instance.memory, ties), rng)

    def to_the_end(self, patience: int) -> Outcome:
        view, running = self.view, self.view._running
        view.now = self.arrival[self.order[0]]
        last_completion = view.now
        seen: set[frozenset[tuple[int, int]]] = set()
        while True:
            self._deliver()
            if view.completed:
                last_completion = view.now
                seen.clear()
                if self.left == 0:
                    return "complete"
            elif view.now - last_completion > patience:
                return "stalled"
            before = dict(running) if self.may_loop else {}
            decision = self.decide(view)
            self.decisions += 1
            self._apply(decision)
            if self.may_loop and len(decision.evict) and self.next_arrival == len(self.order):
                # All have arrived and none has completed since: who runs says who waits.
                state = frozenset((i, view.now - start) for i, start in before.items())
                if state in seen:
                    return "looping"
                seen.add(state)
            following = self._next_event(decision.wake)
            if following >= NEVER:
                waiting = len(view.waiting)
                raise PolicyError(
                    f"{self.name}, round {view.now}: {waiting} requests wait, nothing runs or "
                    "arrives, and no wake-up is asked for"
                )
            if not running and not view.waiting:
                last_completion = following  # nobody was there to be served
            view.now = following

    def _deliver(self) -> None:
        """Completions and arrivals of this round, told to the view."""
        view, now = self.view, self.view.now
        completed: list[int] = []
        while self.completions and self.completions[0][0] <= now:
            stop, i, start = heappop(self.completions)
            if view._running.get(i) == start:
                self._leave(i, start, stop)
                view._known["output"][i] = self.output[i]
                completed.append(i)
                self.left -= 1
        arrived: list[int] = []
        while self.next_arrival < len(self.order):
            i = self.order[self.next_arrival]
            if self.arrival[i] > now:
                break
            reveal(view, i, {name: column[i] for name, column in self.hidden.items()})
            view._waiting[i] = None
            arrived.append(i)
            self.next_arrival += 1
        view.arrived, view.completed = tuple(arrived), tuple(completed)

    def _leave(self, i: int, start: int, stop: int) -> None:
        del self.view._running[i]
        self.constant -= held(self.prompt[i], -start)
        self.finished.append((i, start, stop))

    def _apply(self, decision: Decision) -> None:
        view, now = self.view, self.view.now
        for i in decision.evict:
            start = view._running.get(i)
            if start is None:
                raise PolicyError(f"{self.name}, round {now}: evicts {i}, which does not run")
            self._leave(i, start, now)
            view._waiting[i] = None
        for i in decision.admit:
            if i not in view._waiting:
                raise PolicyError(f"{self.name}, round {now}: admits {i}, which does not wait")
            del view._waiting[i]
            view._running[i] = now
            self.constant += held(self.prompt[i], -now)
            heappush(self.completions, (now + self.output[i], i, now))
        tokens = self.constant + len(view._running) * (now + 1)
        if tokens > self.memory:
            raise PolicyError(
                f"{self.name}, round {now}: {tokens} tokens in the next round exceed "
                f"memory {self.memory}"
            )

    def _next_event(self, wake: int | None) -> int:
        view = self.view
        if not view._running and not view._waiting:
            return self.arrival[self.order[self.next_arrival]]
        events = [view.now + 1 if wake is None else max(wake, view.now + 1)]
        while self.completions:
            stop, i, start = self.completions[0]
            if view._running.get(i) == start:
                events.append(stop)
                break
            heappop(self.completions)
        if view._running:  # the last round whose successor still fits
            events.append((self.memory - self.constant) // len(view._running))
        if self.next_arrival < len(self.order):
            events.append(self.arrival[self.order[self.next_arrival]])
        return min(events)


def _hidden_columns(instance: Instance, policy: Policy) -> dict[str, Sequence[int]]:
    """What may be revealed on arrival; lengths only to those who declare to know them."""
    columns: dict[str, Sequence[int]] = {
        "prompt": instance.prompt.tolist(),
        "arrival": instance.arrival.tolist(),
        # what every request is known to satisfy serves as interval where none is given
        "lower": [1] * len(instance) if instance.lower is None else instance.lower.tolist(),
        "upper": (
            instance.memory - instance.prompt
            if instance.upper is None
            else np.minimum(instance.upper, instance.memory - instance.prompt)
        ).tolist(),
    }
    if instance.predicted is not None:
        columns["predicted"] = instance.predicted.tolist()
    elif policy.information is Information.PREDICTION:
        raise ValueError(
            f"{instance.name}: policy {policy.name} reads predicted lengths, "
            "but the instance has no column 'predicted'"
        )
    if policy.information is Information.TRUE_LENGTH:
        columns["output"] = instance.output.tolist()
    return columns
