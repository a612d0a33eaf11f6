"""The event loop over the replicas of a fleet: a router hands out requests, policies serve them.

Time is that of the fleet, rounds or picoseconds under a clock, where each replica has batches and
rounds of its own. The loop moves to the least time at which a request arrives, a replica has an
event, or the router asked to be woken. There, first the runs of these replicas complete, then the
router is asked if requests wait, then the replicas that have an event, or were idle and get a
request, are asked as `ratiolab.online.simulate` does. A replica in the midst of a batch lets new
requests in at its next boundary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratiolab.model import IntArray, Preemption, stream
from ratiolab.model.display import Result
from ratiolab.model.fleet import Fleet, FleetSchedule, memories_of
from ratiolab.model.instance import DATES, PICOSECONDS, Instance, shown
from ratiolab.model.numbers import require_integer
from ratiolab.model.promises import goodput, has_dates
from ratiolab.model.schedule import Schedule
from ratiolab.online import account
from ratiolab.online.account import CLOCKED, HELD_PAUSED, LEFT, NEXT, NOW, TIME
from ratiolab.online.accounts import boundaries, schedule_of
from ratiolab.online.clock import BatchTime, as_clock
from ratiolab.online.fleets.registry import as_router
from ratiolab.online.metrics import per_request
from ratiolab.online.observations import Observations, Revealed
from ratiolab.online.policy import Policy
from ratiolab.online.registry import as_policy
from ratiolab.online.router import FleetSetting, ReplicaView, Router, RouterView, Routing
from ratiolab.online.simulate import PolicyError, Serving, judge, semantics_of
from ratiolab.online.simulation import Outcome, Simulation
from ratiolab.online.user_policy import contained
from ratiolab.online.view import NEVER, Information, show

if TYPE_CHECKING:
    import pandas as pd


class RouterError(RuntimeError):
    """Illegal answer of a router; the message names router, time and rule."""


@dataclass(frozen=True, eq=False)
class FleetSimulation(Result):
    """One run of a router and of a policy on each replica.

    Parameters
    ----------
    fleet : what was served.
    policy, router, seed : what was run.
    outcome : ``complete``, or how the first replica that failed ended.
    replica : replica of each request, shape (n,); -1 when it never left the central queue.
    parts : the run of each replica that had requests, by replica; requests numbered anew.
    decisions : how often policies were asked.
    preemption, clock : as for `ratiolab.online.simulation.Simulation`.
    """

    fleet: Fleet | Instance
    policy: Policy
    router: Router
    seed: int
    outcome: Outcome
    replica: IntArray = field(repr=False)
    parts: dict[int, Simulation] = field(repr=False)
    decisions: int
    preemption: Preemption
    clock: BatchTime | None = None

    @cached_property
    def per_request(self) -> "pd.DataFrame":
        """The table `ratiolab.online.metrics.per_request` of all requests, with their replicas."""
        import pandas as pd

        frames = []
        for number, part in self.parts.items():
            own = np.flatnonzero(self.replica == number)
            frames.append(per_request(part).assign(request=own, replica=number))
        return pd.concat(frames).sort_values("request", ignore_index=True)

    @property
    def total_latency(self) -> int | None:
        """Total end-to-end latency, rounds; None when the run stalled, or under a clock."""
        if self.outcome != "complete" or self.clock is not None:
            return None
        return sum(part.schedule.total_latency for part in self.parts.values())

    @property
    def evictions(self) -> int:
        """Preempted runs whose cache left the memory."""
        return sum(part.schedule.evictions for part in self.parts.values())

    @cached_property
    def schedule(self) -> FleetSchedule:
        """The schedule of the fleet; `ValueError` under a clock, where rounds differ."""
        if self.clock is not None or not isinstance(self.fleet, Fleet):
            raise ValueError("only several replicas in unit rounds have one schedule")
        instance, columns = self.fleet.instance, []
        for number, part in self.parts.items():
            own, runs = np.flatnonzero(self.replica == number), part.schedule
            more = (runs.release, runs.lead, runs.unfilled)
            columns.append([own[runs.request], runs.start, runs.stop, *more])
        request, start, stop, *more_ = (np.concatenate(c) for c in zip(*columns, strict=True))
        runs = Schedule(instance, request, start, stop, self.preemption, *more_)
        return FleetSchedule(self.fleet, np.maximum(self.replica, 0), runs)

    @property
    def headline(self) -> str:
        """Policy, router, fleet, and the mean latency or why there is none."""
        what = f"{self.policy.name} behind {self.router.name} on {self.fleet.headline}"
        if self.outcome != "complete":
            return f"{what}: {self.outcome}"
        unit = "rounds" if self.clock is None else "s"
        return f"{what}: mean latency {self.per_request['latency'].mean():,.4g} {unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return costs and measures, without the times of single requests."""
        times = self.per_request if self.outcome == "complete" else None
        names = ("latency", "ttft", "tpot")
        return {
            "policy": self.policy.name,
            "router": self.router.name,
            "seed": self.seed,
            "outcome": self.outcome,
            "unit": "rounds" if self.clock is None else "seconds",
            "total_latency": self.total_latency,
            **self._in_time,
            "evictions": self.evictions,
            "mean": {n: None if times is None else float(times[n].mean()) for n in names},
            "replica": self.replica.tolist(),
        }

    @property
    def _in_time(self) -> dict[str, int]:
        """The weight in time, in rounds and where requests have dates."""
        if self.clock is not None or not isinstance(self.fleet, Fleet):
            return {}
        return {"goodput": goodput(self.schedule.runs)} if has_dates(self.fleet.instance) else {}

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each request."""
        return self.per_request


def simulate_fleet(
    fleet: Fleet | Instance,
    policy: Policy | str,
    router: Router | str = "round-robin",
    *,
    seed: int = 0,
    patience: int | None = None,
    preemption: Preemption | None = None,
    clock: BatchTime | str | None = None,
) -> FleetSimulation:
    """Run a router, and a policy on each replica.

    On one replica, every router that hands out requests on arrival gives the decisions of
    `ratiolab.online.simulate`. An instance counts as a fleet of one replica.

    Parameters
    ----------
    fleet : the requests, and the replicas that serve them.
    policy : policy of each replica, or the key of a policy.
    router : router, or the key of a router.
    seed : seed of all randomness; the first replica's policy uses this seed, and each other replica
        a seed derived from it.
    patience, preemption, clock : as for `ratiolab.online.simulate`.

    Raises
    ------
    ValueError
        when the policy or the router makes no sense here.
    PolicyError, RouterError
        when a decision is refused, or requests wait with nothing to wait for.
    """
    policy, router = as_policy(policy), as_router(router)
    if patience is not None:
        require_integer("patience", patience, 0)
    seed = require_integer("seed", seed)
    with contained():
        return _FleetRun(fleet, policy, router, seed, preemption, as_clock(clock)).run(patience)


def require_room(instance: Instance, memories: Sequence[int]) -> None:
    """Refuse a request that some replica cannot hold: routers do not know how long it becomes."""
    peaks, least = instance.prompt + instance.output, min(memories)
    if (peaks > least).any():
        i = int(np.argmax(peaks > least))
        raise ValueError(
            f"request {i}: prompt+output {peaks[i]} exceeds memory {least} of replica "
            f"{memories.index(least)}, and a router may send it there. Leave out the replicas that "
            f"are smaller than {peaks.max()} tokens, or `ratiolab solve` for the best schedule"
        )


def replica_seed(seed: int, replica: int) -> int:
    """Return the seed of the policy of a replica; the first has that of the run."""
    return seed if not replica else int(stream(seed, "replica", replica).integers(2**31))


class _Informed(NamedTuple):
    name: str
    information: Information


class _Replica:
    """A replica between two events: what serves, and when it has its next event."""

    def __init__(self, number: int, memory: int, serving: Serving) -> None:
        self.serving, self.s = serving, serving.account
        self.clocked = bool(self.s.v[CLOCKED])
        self.s.order.clear()
        self.s.v[LEFT] = NEVER  # the fleet counts
        self.opened, self.idle = False, True
        self.following = self.event = NEVER
        self.view = ReplicaView(
            number,
            memory,
            MappingProxyType(serving.running),
            serving.waiting.keys(),
            MappingProxyType(serving.kept),
        )

    def begin(self, time: int) -> None:
        """Move to a time at which this replica has an event or is idle; end runs that complete."""
        s = self.s
        if not self.opened:
            s.v[TIME if self.clocked else NOW] = time
            self.opened = True
        elif self.idle and self.clocked:
            if s.v[TIME] < time:  # a round that lasts until now
                s.stretches.append((s.v[NOW], s.v[TIME], time - s.v[TIME], 0, 0))
                self.serving.advance(s.v[NOW] + 1)
        elif not self.clocked:
            if s.v[NOW] < time:
                self.serving.advance(time)
        else:
            self.serving.advance(self.following)
        self.event = time
        account.complete(s)
        self.serving.leave()

    def hand(self, i: int, time: int) -> None:
        """Let a request arrive, now or at the next boundary."""
        s = self.s
        s.due[i] = time
        s.order.append(i)
        if not self.idle and self.event > time:
            round_ = account.reach(s, time) if self.clocked else time
            if round_ < self.following:
                self.following = round_
                self.event = self._time_of(round_)

    def finish(self, patience: int, *, more: bool) -> Outcome | None:
        """Let requests arrive, ask the policy, and find the next event."""
        s, serving = self.s, self.serving
        account.arrive(s)
        outcome = serving.ask(patience, more=more)
        self.idle = not serving.running and not serving.waiting
        self.following = NEVER if self.idle else account.next_event(s, serving.wake)
        self.event = NEVER if self.following >= NEVER else self._time_of(self.following)
        return outcome

    def show(self, time: int) -> None:
        """Write the present state of this replica where routers can see it."""
        s, view, kept = self.s, self.view, self.serving.kept
        present = s.v[TIME] if self.clocked else s.v[NOW]
        round_, at = s.v[NOW], time
        if not self.clocked:
            round_ = time
        elif self.idle:
            round_ += present < time and self.opened
        elif present < time:
            round_ = account.reach(s, time)
            at = account.time_of(s.stretches[-1], round_)
        view.round, view.time = round_, at
        to_come = s.order[s.v[NEXT] :]
        queue = (*self.serving.waiting, *to_come)
        view.requests = len(self.serving.running) + len(queue)
        view.queued = sum(s.prompt[i] + kept.get(i, 0) + 1 for i in queue)
        view.tokens = account.running_tokens(s, round_ + 1) + s.v[HELD_PAUSED]
        if self.clocked and s.stretches and not self.idle:
            stretch = s.stretches[-1]
            view.when = lambda later: account.time_of(stretch, later)

    def _time_of(self, round_: int) -> int:
        return account.time_of(self.s.stretches[-1], round_) if self.clocked else round_


class _FleetRun:
    """The truth of one run of a fleet."""

    def __init__(
        self,
        fleet: Fleet | Instance,
        policy: Policy,
        router: Router,
        seed: int,
        preemption: Preemption | None,
        clock: BatchTime | None,
    ) -> None:
        self.fleet, self.policy, self.router, self.seed = fleet, policy, router, seed
        self.clock, self.semantics = clock, semantics_of(policy, preemption)
        instance, memories = memories_of(fleet)
        require_room(instance, memories)
        self.instance = instance
        self.order = np.argsort(instance.arrival, kind="stable").tolist()
        self.due = instance.arrival.tolist() if clock is None else clock.arrivals(instance)
        self.replicas = [
            _Replica(
                r,
                memory,
                Serving(
                    instance.with_memory(memory),
                    *(policy, replica_seed(seed, r), self.semantics, clock),
                ),
            )
            for r, memory in enumerate(memories)
        ]
        informed = _Informed(f"router {router.name}", router.information(policy))
        waiting: dict[int, None] = {}
        kept = Revealed("kept tokens", informed.name)
        self.observations = Observations(instance, informed, {}, waiting, {}, kept, {})
        setting = FleetSetting(memories, policy, clock)
        self.route = router.start(setting, stream(seed, "router"))
        if not callable(self.route):
            start = f"start returns {shown(self.route)}, which is no function"
            raise RouterError(f"{router.name}: {start}")
        self.central: dict[int, None] = {}
        self.place = np.full(len(instance), -1)
        self.next = 0

    def run(self, patience: int | None) -> FleetSimulation:
        """Serve until all have completed, or none does for too long."""
        n, left, order, due = len(self.order), len(self.order), self.order, self.due
        if patience is None:
            patience = int(self.instance.output.sum()) + 10_000
        arrived: list[int] = []
        completed: list[tuple[int, int]] = []
        wake, outcome = NEVER, None
        while True:
            time = min(wake, *(replica.event for replica in self.replicas))
            if self.next < n:
                time = min(time, due[order[self.next]])
            if time >= NEVER:
                raise self._stuck()
            active = [replica for replica in self.replicas if replica.event <= time]
            for replica in active:
                replica.begin(time)
                done = replica.s.completed
                left -= len(done)
                for i in done:
                    self.observations.output[i] = replica.s.output[i]
                    completed.append((replica.view.number, i))
            if not left:
                return self._result("complete")
            while self.next < n and due[order[self.next]] <= time:
                i = order[self.next]
                self.observations.reveal(i, time)
                self.central[i] = None
                arrived.append(i)
                self.next += 1
            if self.central:
                wake = self._ask(time, arrived, completed, active)
                arrived, completed = [], []
            more = self.next < n or bool(self.central)
            for replica in active:
                outcome = replica.finish(patience, more=more) or outcome
            if outcome is not None:
                return self._result(outcome)

    def _ask(
        self,
        time: int,
        arrived: list[int],
        completed: list[tuple[int, int]],
        active: list[_Replica],
    ) -> int:
        """Ask the router, hand out what it says, and return when to ask again."""
        for replica in self.replicas:
            replica.show(time)
        known = self.observations.view
        show(known, time, tuple(arrived), tuple(i for _, i in completed), 0)
        views = [replica.view for replica in self.replicas]
        central = MappingProxyType(self.central)
        view = RouterView(time, central, tuple(arrived), tuple(completed), views, known)
        assign, following = self._read(self.route(view), time)
        for i, r in assign:
            if i not in self.central:
                raise self._error(time, f"assigns request {i}, which is not in the central queue")
            if not 0 <= r < len(self.replicas):
                at = f"which is none of 0 to {len(self.replicas) - 1}"
                raise self._error(time, f"assigns request {i} to replica {r}, {at}")
            del self.central[i]
            self.place[i] = r
            replica = self.replicas[r]
            replica.hand(i, time)
            if replica not in active and (replica.idle or replica.event == time):
                replica.begin(time)
                active.append(replica)
        if not self.central:
            return NEVER
        if following <= time:
            raise self._error(time, f"asks to be woken at {following}, which is not later")
        return following

    def _read(self, routing: object, time: int) -> tuple[list[tuple[int, int]], int]:
        """Return what a router assigns, and when it wants to be asked again."""
        if not isinstance(routing, Routing):
            raise self._error(time, f"answers {shown(routing)}, which is no Routing")
        try:
            assign = [(index(i), index(r)) for i, r in routing.assign]
        except (TypeError, ValueError):
            what = "no sequence of pairs, a request and its replica"
            raise self._error(time, f"assigns {shown(routing.assign)}, which is {what}") from None
        try:
            return assign, index(routing.wake)
        except TypeError:
            wake = f"asks to be woken at {shown(routing.wake)}, which is no time"
            raise self._error(time, wake) from None

    def _error(self, time: int, rule: str) -> RouterError:
        return RouterError(f"{self.router.name}, time {time}: {rule}")

    def _stuck(self) -> Exception:
        if self.central:
            return RouterError(
                f"{self.router.name}: {len(self.central)} requests are in the central queue, and "
                "nothing happens any more"
            )
        for replica in self.replicas:
            if replica.serving.waiting:
                return replica.serving.stuck()
        return PolicyError(f"{self.policy.name}: nothing happens any more")

    def _result(self, outcome: Outcome) -> FleetSimulation:
        parts = {}
        for number, replica in enumerate(self.replicas):
            own = np.flatnonzero(self.place == number)
            if len(own):
                parts[number] = self._part(replica, own, number, outcome)
        return FleetSimulation(
            *(self.fleet, self.policy, self.router, self.seed, outcome, self.place, parts),
            sum(replica.serving.decisions for replica in self.replicas),
            self.semantics,
            self.clock,
        )

    def _part(self, replica: _Replica, own: IntArray, number: int, outcome: Outcome) -> Simulation:
        """Return the run of one replica, its requests numbered anew."""
        s, place = replica.s, np.full(len(self.place), -1)
        place[own] = np.arange(len(own))
        part = self.instance.take(own).with_memory(replica.view.memory)
        if self.clock is not None:
            delivered = np.array(replica.serving.delivered())[own]
            dates = dict.fromkeys(DATES)
            part = part.replace(arrival=delivered, tick_seconds=None, **dates)
        runs = [(int(place[i]), *rest) for i, *rest in s.runs]
        schedule = schedule_of(s._replace(runs=runs), part, self.semantics)
        if outcome == "complete":
            judge(schedule, self.policy)
        seed = replica_seed(self.seed, number)
        head = schedule, self.policy, seed, outcome, replica.serving.decisions, self.semantics
        if self.clock is None:
            return Simulation(*head)
        arrivals = np.array([self.due[i] for i in own.tolist()], np.float64) / PICOSECONDS
        return Simulation(*head, self.clock, boundaries(s), arrivals)
