"""Families of requests on which routers are bad, each with a schedule by hand.

Every schedule by hand has a total latency of the sum of all outputs, but for `look_alike`: no
request waits, so it is optimal. A *big* request takes more than half of a memory, so no two run on
one replica.
"""

from dataclasses import dataclass
from functools import cached_property

from ratiolab.model import Instance
from ratiolab.model.feasibility import require_feasible_fleet
from ratiolab.model.fleet import Fleet, FleetSchedule


@dataclass(frozen=True, eq=False)
class Bad:
    """Requests of a family, and a schedule by hand.

    `by_hand` has replica and start of each request; `least` is a proven bound on what the router
    costs.
    """

    fleet: Fleet
    by_hand: tuple[list[int], list[int]]
    least: int

    @cached_property
    def better(self) -> int:
        """Return the total latency of the schedule by hand, once it is judged."""
        schedule = FleetSchedule.from_starts(self.fleet, *self.by_hand)
        return require_feasible_fleet(schedule).total_latency


class _Rows:
    """Requests as they are listed: arrival, prompt, output and the replica by hand."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int]] = []

    def add(self, arrival: int, prompt: int, output: int, replica: int) -> None:
        self.rows.append((arrival, prompt, output, replica))

    def bad(self, name: str, memory: int, replicas: int, least: int) -> Bad:
        arrival, prompt, output, replica = map(list, zip(*self.rows, strict=True))
        fleet = Fleet(Instance(name, memory, arrival, prompt, output), replicas)
        return Bad(fleet, (replica, arrival), least)


def big_and_tiny(replicas: int, bigs: int, rounds: int = 0) -> Bad:
    """Return R bigs in L rounds, each followed by R - 1 tiny ones: round robin serves all on one.

    L is `rounds`, a multiple of R and by default 10 R.
    """
    length = rounds or 10 * replicas
    memory, rows = 10 * length, _Rows()
    for k in range(bigs):
        time = k * length // replicas
        rows.add(time, memory - length - 2, length, k % replicas)
        for j in range(1, replicas):
            rows.add(time, 1, 1, (k + j) % replicas)
    waits = sum(k * length - k * length // replicas for k in range(bigs))
    least = bigs * (length + replicas - 1) + waits
    return rows.bad("bigs and tiny ones", memory, replicas, least)


def bursts(replicas: int, bigs: int) -> Bad:
    """Return big requests after bursts of tiny ones, which fill every other queue for a round.

    With ties by index, join the shortest queue sends every big to the first replica.
    """
    length = 2 * replicas * bigs
    memory, rows, tiny = 4 * length + 8 * bigs + 8, _Rows(), 0
    for k in range(bigs):
        time = k * length // replicas
        for j in range((replicas - 1) * (k - k // replicas)):
            rows.add(time, 1, 1, j % replicas)
            tiny += 1
        rows.add(time, memory - 2 * bigs - length - 6, length, k % replicas)
    waits = sum(k * length - k * length // replicas for k in range(bigs))
    return rows.bad("bursts", memory, replicas, bigs * length + tiny + waits)


def thin_and_others(output: int) -> Bad:
    """Return a thin request of large volume, and others that come five in a round, on two replicas.

    Least work sends all others away from the replica of the thin one, which has room for two more.
    `output` is that of the thin request, an even number.
    """
    memory, last, rows = 2 * output, 3 * output // 5, _Rows()
    rows.add(0, 0, output, 0)
    for time in range(1, last):
        for j in range(5):
            rows.add(time, memory // 4 - 1, 1, 0 if j == 0 else 1)
    # four of five complete in each round, so one more waits after each
    waits = sum(range(1, last))
    return rows.bad("a thin one and others", memory, 2, output + 5 * (last - 1) + waits)


def critical(replicas: int, batches: int, length: int = 10) -> Bad:
    """Return R big requests every ``length`` rounds, one for each of the R replicas."""
    memory, rows = 10 * length, _Rows()
    for k in range(batches):
        for j in range(replicas):
            rows.add(k * length, memory - length, length, j)
    return rows.bad("critical", memory, replicas, 0)


def look_alike(assigned: list[int], replicas: int, length: int) -> Bad:
    """Return big requests that differ in their outputs alone, given where a router sends them.

    Requests on the fullest replica have L tokens of output, all others one. By hand the short ones
    run first, in turn on all replicas, and then the long ones.
    """
    fullest = max(range(replicas), key=assigned.count)
    n, memory = len(assigned), 4 * length
    outputs = [length if place == fullest else 1 for place in assigned]
    free, starts, places = [0] * replicas, [0] * n, [0] * n
    for i in sorted(range(n), key=lambda i: outputs[i]):
        places[i] = min(range(replicas), key=lambda r: (free[r], r))
        starts[i] = free[places[i]]
        free[places[i]] += outputs[i]
    fleet = Fleet(Instance("look alike", memory, [0] * n, [memory - length] * n, outputs), replicas)
    k = assigned.count(fullest)
    return Bad(fleet, (places, starts), length * k * (k + 1) // 2)
