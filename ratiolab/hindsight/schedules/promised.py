"""Schedules that serve much weight in time, or have little weighted latency."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.arrays import Requests
from ratiolab.hindsight.objective import Objective, with_late
from ratiolab.model import Instance, IntArray, Schedule, stream
from ratiolab.model.fleet import Fleet, FleetSchedule, replicas_of
from ratiolab.model.interrupts import heard

HOT, COLD = 0.6, 0.02
"""Mean weights that a step may lose at the beginning and at the end."""

AT_A_TIME = 500
"""Steps between two looks at the clock."""

LONGEST = 2**24
"""Most rounds for which the free memory is kept."""

Plan: TypeAlias = Schedule | FleetSchedule
Report = Callable[[Plan], None]
Listed = Callable[[IntArray], Plan]


def first_schedule(given: Instance | Fleet, objective: Objective, listed: Listed) -> Plan:
    """Return the best list schedule for an objective; ``listed`` makes one of an order.

    For goodput requests are inserted by falling weight for each token-round, each at its earliest
    start that is in time and fits; for weighted latency lists are by volume, output and arrival.
    """
    if objective.dropping and (search := _Insertion.of(given, objective)):
        return search.schedule()
    instance, _ = replicas_of(given)
    weight = objective.slope if not objective.dropping else objective.late
    keys = (instance.volume / weight, instance.output / weight, instance.arrival + 0.0)
    plans = [listed(np.argsort(key, kind="stable")) for key in keys]
    pick = max if objective.dropping else min
    return pick(plans, key=objective.value)


def improve(
    given: Instance | Fleet,
    known: Plan,
    objective: Objective,
    listed: Listed,
    part: Callable[[], float],
    found: Report,
    *,
    seed: int = 0,
) -> None:
    """Look for better schedules, and tell of each; ``part`` says how much of the effort is spent.

    Goodput: take requests of a span of time out and insert them anew, as in
    `ratiolab.hindsight.schedules.promised_kernels`, with losses that are accepted ever more rarely.
    Weighted latency: list schedules of noisy keys around the best ones.
    """
    if not objective.dropping:
        _noisy_lists(replicas_of(given)[0], known, objective, listed, part, found, seed)
        return
    search = _Insertion.of(given, objective)
    if search is None:
        return
    best, rng = objective.value(known), stream(seed, "search")
    with heard():
        while (spent := part()) < 1:
            search.steps(AT_A_TIME, HOT * (COLD / HOT) ** spent, rng)
            if search.worth[1] > best:
                best = int(search.worth[1])
                found(search.schedule())


def _noisy_lists(
    instance: Instance,
    known: Plan,
    objective: Objective,
    listed: Listed,
    part: Callable[[], float],
    found: Report,
    seed: int,
) -> None:
    """Look for a list of less weighted latency among noisy ones."""
    rng = stream(seed, "search")
    key = np.log(instance.volume / objective.slope)
    best = objective.value(known)
    while part() < 1:
        chosen = rng.random(len(key)) < rng.choice([0.05, 0.3, 1.0])
        noisy = key + chosen * rng.normal(0, rng.choice([0.05, 0.3, 1.0]), len(key))
        schedule = listed(np.argsort(noisy, kind="stable"))
        if (value := objective.value(schedule)) < best:
            key, best = noisy, value
            found(schedule)


class _Insertion:
    """Starts in time, counted from the first arrival, their replicas, and the memory left over."""

    def __init__(self, given: Instance | Fleet, last: IntArray, weight: IntArray) -> None:
        from ratiolab.hindsight.schedules.promised_kernels import insert_in_order

        instance, replicas = replicas_of(given)
        self.given, self.instance, self.begin = given, instance, int(instance.arrival.min())
        requests = Requests.of(instance)
        arrival, memory = requests.arrival, requests.memory
        self.requests = requests._replace(arrival=arrival - self.begin)
        self.last, self.weight = last - self.begin, weight
        self.key = np.log(weight / instance.volume)
        self.by_arrival = np.argsort(arrival, kind="stable")
        reachable = self.last >= self.requests.arrival
        waits = np.where(reachable, self.last - self.requests.arrival, 0)
        self.widest, end = int(waits.max()), int((self.last + instance.output)[reachable].max())
        self.room = np.full((replicas, end + 2), memory)
        self.now = np.stack([np.full(len(arrival), -1), np.zeros(len(arrival), np.int64)])
        order, columns = np.argsort(-self.key, kind="stable"), self.requests[:3]
        insert_in_order(order, *columns, self.last, self.room, *self.now)
        self.best, kept = self.now.copy(), int(weight[self.now[0] >= 0].sum())
        self.worth = np.array([kept, kept])
        self.mean = float(weight.mean())

    @classmethod
    def of(cls, given: Instance | Fleet, objective: Objective) -> "_Insertion | None":
        """Return the search; None when no request can be in time, or rounds are too many."""
        instance, replicas = replicas_of(given)
        serial = int(instance.arrival.max() + instance.output.sum())
        last = np.minimum(objective.last, serial)  # no later start helps: all could be earlier
        rounds = replicas * (serial - int(instance.arrival.min()))
        if rounds > LONGEST or (last < instance.arrival).all():
            return None
        return cls(given, last, objective.late)

    def steps(self, number: int, heat: float, rng: np.random.Generator) -> None:
        """Do a number of steps."""
        from ratiolab.hindsight.schedules.promised_kernels import ruin_and_recreate

        columns = self.requests, self.last, self.weight, self.key, self.by_arrival, self.widest
        kept = self.room, self.now, self.best, self.worth
        ruin_and_recreate(*columns, *kept, number, heat * self.mean, rng)

    def schedule(self) -> Plan:
        """Return the schedule of the best starts, the late requests at its end."""
        start, place = self.best
        return plan_of(self.given, place, np.where(start < 0, -1, start + self.begin))


def plan_of(given: Instance | Fleet, place: IntArray, starts: IntArray) -> Plan:
    """Return the schedule with these starts and replicas; -1 stands for a late request.

    On a fleet late ones run on its first replica, one after another, when all others are done.
    """
    if isinstance(given, Instance):
        return with_late(given, starts)
    late = with_late(given.instance, starts)
    return FleetSchedule(given, np.where(starts < 0, 0, place), late)
