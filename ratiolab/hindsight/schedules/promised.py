"""Schedules that serve much weight in time, or have little weighted latency.

Times are counted from the first arrival; ``room[r, t]`` is the memory of replica r that is free at
time t. A start of -1 says that a request is late. Requests are inserted one after another, each at
its earliest start that fits beside those inserted before, on the first replica that has it.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.arrays import Requests, overwrite
from ratiolab.hindsight.objective import Objective, with_late
from ratiolab.machine_code import compiled
from ratiolab.model import Instance, IntArray, Schedule, stream
from ratiolab.model.fleet import Fleet, FleetSchedule, replicas_of
from ratiolab.model.interrupts import heard


@compiled
def earliest_fit(room, s, o, p, last):  # type: ignore[no-untyped-def]
    """Return the first start from p up to ``last`` that fits, or -1.

    At the last time of ``room`` all memory is free.
    """
    if s + o > room[len(room) - 1]:
        return np.int64(-1)
    while p <= last:
        start = p
        for g in range(o, 0, -1):  # from the end: what is held only grows
            lack = s + g - room[p + g]
            if lack > 0:
                # at the time p + g the request must hold so much less, or be yet to start
                start = p + min(lack, g)
                break
        if start == p:
            return p
        p = start
    return np.int64(-1)


@compiled
def earliest_place(room, s, o, p, last):  # type: ignore[no-untyped-def]
    """Return the first start that fits on some replica, or -1, and the replica."""
    best, place = np.int64(-1), np.int64(0)
    for r in range(len(room)):
        start = earliest_fit(room[r], s, o, p, last)
        if start >= 0:
            best, place, last = start, np.int64(r), start - 1
    return best, place


@compiled
def occupy(room, s, o, p, sign):  # type: ignore[no-untyped-def]
    """Take the memory of a run out of the room, or give it back with sign -1."""
    for g in range(1, o + 1):
        room[p + g] -= sign * (s + g)


@compiled
def insert_in_order(order, arrival, prompt, output, last, room, start, place):  # type: ignore[no-untyped-def]
    """Insert requests in an order and write their starts and replicas."""
    for i in order:
        start[i], place[i] = earliest_place(room, prompt[i], output[i], arrival[i], last[i])
        if start[i] >= 0:
            occupy(room[place[i]], prompt[i], output[i], start[i], 1)


@compiled
def ruin_and_recreate(  # type: ignore[no-untyped-def]
    columns, last, weight, key, by_arrival, widest, room, now, best, worth, steps, heat, rng
):
    """Change starts for a number of steps, and keep the best ones met.

    A step takes all requests of a span of time around a late one out, and inserts them and the late
    ones of that span anew, in the order of noisy keys. A step that loses weight is undone, unless
    the loss is below an exponential draw of mean ``heat``.

    Parameters
    ----------
    columns : the `ratiolab.hindsight.arrays.Requests`, from the first arrival on.
    key : logarithm of the weight for each token-round.
    by_arrival : requests in order of arrival.
    widest : most rounds from an arrival to its last start.
    now, best : present starts and replicas, and the best ones, which are overwritten, shape (2, n).
    worth : weight in time under both.
    """
    arrival, prompt, output = columns.arrival, columns.prompt, columns.output
    start, place = now
    n = len(arrival)
    in_order = np.empty(n, np.int64)
    for k in range(n):
        in_order[k] = arrival[by_arrival[k]]
    taken, before, at_before = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    noisy = np.empty(n, np.float64)
    for _ in range(steps):
        i = np.int64(rng.random() * n)
        for _ in range(8):  # most often a late one
            if start[i] < 0 and last[i] >= arrival[i]:
                break
            i = np.int64(rng.random() * n)
        wait = min(max(last[i] - arrival[i], 0), widest)
        span = 1 + np.int64(rng.random() * (output[i] + wait))
        low = arrival[i] - np.int64(rng.random() * span)
        high = low + span
        noise = 2.5 * rng.random()
        k = np.searchsorted(in_order, low - widest)
        count, gain = 0, 0
        while k < n and in_order[k] <= high:
            j = by_arrival[k]
            k += 1
            inside = low <= start[j] <= high if start[j] >= 0 else last[j] >= max(low, arrival[j])
            if inside:
                taken[count], before[count], at_before[count] = j, start[j], place[j]
                noisy[count] = noise * (rng.random() - rng.random()) - key[j]
                count += 1
                if start[j] >= 0:
                    occupy(room[place[j]], prompt[j], output[j], start[j], -1)
                    gain -= weight[j]
        for at in np.argsort(noisy[:count]):
            j = taken[at]
            start[j], place[j] = earliest_place(room, prompt[j], output[j], arrival[j], last[j])
            if start[j] >= 0:
                occupy(room[place[j]], prompt[j], output[j], start[j], 1)
                gain += weight[j]
        if gain < 0 and gain < heat * np.log(1 - rng.random()):
            for at in range(count):
                j = taken[at]
                if start[j] >= 0:
                    occupy(room[place[j]], prompt[j], output[j], start[j], -1)
                start[j], place[j] = before[at], at_before[at]
                if start[j] >= 0:  # the room may be negative until all are back
                    occupy(room[place[j]], prompt[j], output[j], start[j], 1)
            continue
        worth[0] += gain
        if worth[0] > worth[1]:
            worth[1] = worth[0]
            for row in range(2):
                overwrite(best[row], 0, now[row], 0, n)


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

    Goodput: take requests of a span of time out and insert them anew, as in `ruin_and_recreate`,
    with losses that are accepted ever more rarely.
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
