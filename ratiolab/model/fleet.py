"""Fleets: replicas that share the requests of an instance, and schedules of them.

A fleet is no instance: who reads an instance and knows nothing of replicas would claim something
false about it. One replica is an `Instance`, and never a fleet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.model.display import Rebuilt, Result, Tabular
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Column, Instance, frozen, integers, is_integer, shown
from ratiolab.model.schedule import Schedule

if TYPE_CHECKING:
    import pandas as pd

MOST_REPLICAS = 10**6
"""Most replicas of a fleet, as many as an instance may have requests: more would stay idle."""

UNEQUAL = (
    "this needs replicas of equal memory; `solve`, `certify`, `simulate`, `compare` and `evaluate` "
    "without limits of time take others. Give the smallest memory for all: its schedules run on "
    "the replicas; the largest for all: its bounds hold for them"
)
"""Why memories that differ are refused, and what to do instead."""


@dataclass(frozen=True, eq=False)
class Fleet(Tabular):
    """Requests, and the replicas that serve them.

    A request runs on one replica from its first start to its completion.

    Parameters
    ----------
    instance : the requests, and the KV cache size M of the largest replica, tokens.
    replicas : number R of replicas, from 2 to `MOST_REPLICAS`.
    memories : tokens of each replica, the largest M; left out, all have M.

    Raises
    ------
    ValueError
        when the number of replicas is out of these limits, or memories contradict the others.

    Examples
    --------
    >>> pair = Fleet(Instance("pair", 3, [0, 0], [1, 1], [2, 2]), replicas=2)
    >>> pair.headline
    'pair: 2 requests, 2 replicas, memory 3 each'
    >>> Fleet(Instance("pair", 9, [0, 0], [1, 1], [2, 2]), 2, (9, 7)).headline
    'pair: 2 requests, 2 replicas, memories 9 and 7'
    """

    instance: Instance
    replicas: int
    memories: tuple[int, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        given = self.replicas
        if not is_integer(given):
            raise ValueError(f"replicas {shown(given)} must be an integer")
        if len(self.memories) not in (0, given):
            raise ValueError(f"{len(self.memories)} memories are given for {given} replicas")
        if not 2 <= given <= MOST_REPLICAS:
            raise ValueError(
                f"replicas {shown(int(given))} must be between 2 and {MOST_REPLICAS}; "
                "one replica is an instance"
            )
        object.__setattr__(self, "replicas", int(given))
        most = self.instance.memory
        memories = tuple(self.memories) or (most,) * self.replicas
        if not all(map(is_integer, memories)):
            raise ValueError(f"memories {shown(memories)} must be integers")
        if min(memories) < 1 or max(memories) != most:
            raise ValueError(
                f"memories {shown(memories)} must be at least 1, and the largest {most}, the "
                "memory of the instance"
            )
        object.__setattr__(self, "memories", tuple(map(int, memories)))

    def __len__(self) -> int:
        return len(self.instance)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fleet):
            return NotImplemented
        return (self.instance, self.memories) == (other.instance, other.memories)

    def __hash__(self) -> int:
        return hash((self.instance, self.memories))

    @property
    def name(self) -> str:
        """Name of the instance."""
        return self.instance.name

    @property
    def equal(self) -> bool:
        """Whether all replicas have the same memory."""
        return min(self.memories) == self.instance.memory

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits of SHA-256 over the instance's digest and the replicas."""
        what = self.replicas if self.equal else "+".join(map(str, self.memories))
        return sha256(f"{self.instance.digest} {what}".encode()).hexdigest()[:12]

    @property
    def headline(self) -> str:
        """Name, number of requests, replicas and memory."""
        one = self.instance
        memory = f"memory {one.memory:,} each"
        if not self.equal:
            *first, last = (f"{m:,}" for m in self.memories)
            memory = f"memories {'; '.join(first)} and {last}"
        return f"{one.name}: {len(one):,} requests, {self.replicas:,} replicas, {memory}"

    def serving(self, instance: Instance) -> "Fleet":
        """Return these replicas with other requests."""
        return replace(self, instance=instance)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of replicas, and the instance as plain data."""
        data = {"replicas": self.replicas} | self.instance.to_dict()
        return data if self.equal else data | {"memories": list(self.memories)}

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each request."""
        return self.instance.to_frame()


def fleet_of(instance: Instance, replicas: int | Sequence[int]) -> Instance | Fleet:
    """Return the fleet of some replicas, or of their memories; one replica is an instance.

    >>> fleet_of(Instance("one", 9, [0], [2], [5]), 1)
    Instance(name='one', memory=9)
    >>> fleet_of(Instance("one", 9, [0], [2], [5]), [7, 8]).headline
    'one: 1 requests, 2 replicas, memories 7 and 8'
    """
    if not isinstance(replicas, Sequence):
        return instance if replicas == 1 else Fleet(instance, replicas)
    largest = instance.replace(memory=max(replicas))
    return largest if len(replicas) == 1 else Fleet(largest, len(replicas), tuple(replicas))


def replicas_of(given: Instance | Fleet) -> tuple[Instance, int]:
    """Return the requests of an instance or a fleet, and the number of equal replicas.

    Raise ValueError when memories differ: a caller that knows one memory alone would claim
    something false.

    >>> replicas_of(Fleet(Instance("one", 9, [0], [2], [5]), 3))
    (Instance(name='one', memory=9), 3)
    """
    if isinstance(given, Instance):
        return given, 1
    if not given.equal:
        raise ValueError(f"{given.name}: {UNEQUAL}")
    return given.instance, given.replicas


def memories_of(given: Instance | Fleet) -> tuple[Instance, tuple[int, ...]]:
    """Return the requests of an instance or a fleet, and the memory of each replica.

    >>> memories_of(Instance("one", 9, [0], [2], [5]))
    (Instance(name='one', memory=9), (9,))
    """
    if isinstance(given, Instance):
        return given, (given.memory,)
    return given.instance, given.memories


def require_fleet(given: Instance | Fleet, instead: str) -> Fleet:
    """Return a fleet; `ValueError` for an instance, which another function takes."""
    if not isinstance(given, Fleet):
        raise ValueError(f"one replica is an instance: {instead} takes it")
    return given


@dataclass(frozen=True, init=False, eq=False)
class FleetSchedule(Rebuilt, Result):
    """The runs of all requests of a fleet, and the replica of each request.

    Nothing is checked here beyond shapes: `ratiolab.model.feasibility.fleet_violations` is
    the judge.

    Parameters
    ----------
    fleet : what was scheduled.
    replica : the replica that each request runs on, 0 to R - 1, shape (n,).
    runs : the runs of all requests, as a schedule of the instance; its memory is that of the
        largest replica, so by itself it may break the rule of memory.
    """

    fleet: Fleet
    replica: IntArray = field(repr=False)
    runs: Schedule = field(repr=False)

    def __init__(self, fleet: Fleet, replica: Column, runs: Schedule) -> None:
        column = integers("replica", replica, 0, fleet.replicas - 1)
        if len(column) != len(fleet):
            raise ValueError(f"replica has {len(column)} values for {len(fleet)} requests")
        own = fleet.instance
        over = (own.prompt + own.output) > np.array(fleet.memories)[column]
        if over.any():
            i = int(np.argmax(over))
            raise ValueError(
                f"request {i}: prompt+output {own.prompt[i] + own.output[i]} exceeds memory "
                f"{fleet.memories[column[i]]} of replica {column[i]}"
            )
        fleet.instance.require_own(runs.instance, "the schedule of the runs")
        unknown = (runs.request < 0) | (runs.request >= len(fleet))
        if unknown.any():
            raise ValueError(f"a run names request {runs.request[unknown][0]}, which is unknown")
        for name, value in (("fleet", fleet), ("replica", frozen(column)), ("runs", runs)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_starts(cls, fleet: Fleet, replica: Column, starts: Column) -> "FleetSchedule":
        """Return the schedule without evictions that starts each request on its replica.

        >>> pair = Fleet(Instance("pair", 3, [0, 0], [1, 1], [2, 2]), replicas=2)
        >>> FleetSchedule.from_starts(pair, [0, 1], [0, 0]).total_latency
        4
        """
        return cls(fleet, replica, Schedule.from_starts(fleet.instance, starts))

    def on(self, replica: int) -> Schedule | None:
        """Return the schedule of one replica, its requests numbered anew; None without any."""
        own = np.flatnonzero(self.replica == replica)
        if not len(own):
            return None
        place = np.full(len(self.fleet), -1)
        place[own] = np.arange(len(own))
        runs = self.runs
        mine = np.isin(runs.request, own)
        return Schedule(
            self.fleet.instance.take(own).with_memory(self.fleet.memories[replica]),
            place[runs.request[mine]],
            *(runs.start[mine], runs.stop[mine], runs.preemption),
            *(runs.release[mine], runs.lead[mine], runs.unfilled[mine]),
        )

    @property
    def parts(self) -> Iterator[tuple[int, Schedule]]:
        """The replicas that have requests, each with its schedule."""
        for replica in np.unique(self.replica).tolist():
            schedule = self.on(replica)
            assert schedule is not None
            yield replica, schedule

    @cached_property
    def total_latency(self) -> int:
        """Total end-to-end latency (TEL), rounds; `ValueError` if a request never completes."""
        return self.runs.total_latency

    @property
    def headline(self) -> str:
        """Name, replicas, and the total latency."""
        return f"{self.runs.headline}, {self.fleet.replicas:,} replicas"

    def to_dict(self) -> dict[str, Any]:
        """Return the runs as plain data, with the replica of each run."""
        mine = {"instance": self.fleet.name, "digest": self.fleet.digest}
        data = self.runs.to_dict() | mine
        replica = self.replica[self.runs.request].tolist()
        return data | {"replicas": self.fleet.replicas, "replica": replica}

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each run, in order of start."""
        return self.runs.to_frame().assign(replica=self.replica[self.runs.request])


def runs_of(schedule: Schedule | FleetSchedule) -> Schedule:
    """Return the runs of all requests of a schedule, of one replica or several."""
    return schedule if isinstance(schedule, Schedule) else schedule.runs
