"""What ran when; every cost is derived from that, never stored."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Column, Instance


class Run(NamedTuple):
    """One uninterrupted stay of a request in memory, rounds ``start`` to ``stop`` (half open).

    After ``stop - start`` rounds the request has produced as many tokens; it is then complete
    or was evicted and lost them.
    """

    request: int
    start: int
    stop: int
    completed: bool


@dataclass(frozen=True, init=False, eq=False)
class Schedule:
    """The runs of all requests of an instance, under *restart* preemption.

    A request may have several runs; an evicted run loses its tokens, the last one completes.
    Nothing is checked here beyond shapes: `ratiolab.model.feasibility` is the judge.

    Parameters
    ----------
    instance : what was scheduled.
    request, start, stop : one value a run, shape (r,), any order.
    """

    instance: Instance
    request: IntArray = field(repr=False)
    start: IntArray = field(repr=False)
    stop: IntArray = field(repr=False)

    def __init__(self, instance: Instance, request: Column, start: Column, stop: Column) -> None:
        columns = [np.array(c, dtype=np.int64).reshape(-1) for c in (request, start, stop)]
        if len({len(c) for c in columns}) != 1:
            raise ValueError("request, start and stop must have one value for each run")
        order = np.lexsort((columns[2], columns[0], columns[1]))
        object.__setattr__(self, "instance", instance)
        for name, column in zip(("request", "start", "stop"), columns, strict=True):
            column = column[order]
            column.setflags(write=False)
            object.__setattr__(self, name, column)

    @classmethod
    def from_starts(cls, instance: Instance, starts: Column) -> "Schedule":
        """The schedule without evictions that starts request i at ``starts[i]``.

        >>> from ratiolab.model import Instance
        >>> Schedule.from_starts(Instance("two", 5, [0, 0], [1, 1], [2, 3]), [0, 2]).total_latency
        7
        """
        starts = np.asarray(starts, dtype=np.int64)
        return cls(instance, np.arange(len(instance)), starts, starts + instance.output)

    @classmethod
    def from_runs(cls, instance: Instance, runs: Iterable[tuple[int, int, int]]) -> "Schedule":
        """The schedule of (request, start, stop) triples."""
        rows = np.array([tuple(run)[:3] for run in runs], dtype=np.int64).reshape(-1, 3)
        return cls(instance, rows[:, 0], rows[:, 1], rows[:, 2])

    @cached_property
    def completes(self) -> NDArray[np.bool_]:
        """Whether each run reaches the output length of its request, shape (r,)."""
        known = (self.request >= 0) & (self.request < len(self.instance))
        output = self.instance.output[np.where(known, self.request, 0)]
        complete: NDArray[np.bool_] = known & (self.stop - self.start == output)
        return complete

    @property
    def runs(self) -> Iterator[Run]:
        """The runs in order of start."""
        columns = (self.request, self.start, self.stop, self.completes)
        return (Run(*row) for row in zip(*(c.tolist() for c in columns), strict=True))

    @cached_property
    def completion(self) -> IntArray:
        """Round in which each request completes, shape (n,); -1 when it never does."""
        times = np.full(len(self.instance), -1, dtype=np.int64)
        times[self.request[self.completes]] = self.stop[self.completes]
        return times

    @property
    def starts(self) -> IntArray:
        """Round of each request's final start, shape (n,)."""
        return self.completion - self.instance.output

    @property
    def latency(self) -> IntArray:
        """Completion minus arrival of each request, rounds, shape (n,)."""
        return self.completion - self.instance.arrival

    @property
    def total_latency(self) -> int:
        """Total end-to-end latency (TEL), rounds."""
        return int(self.latency.sum())

    @property
    def makespan(self) -> int:
        """The last completion, rounds from 0."""
        return int(self.completion.max())

    @property
    def first_token(self) -> IntArray:
        """Rounds from arrival to the first token ever produced (TTFT), shape (n,).

        Decoding is deterministic, so a token that is lost to an eviction has been seen.
        """
        first = np.full(len(self.instance), np.iinfo(np.int64).max)
        np.minimum.at(first, self.request, self.start)
        return first + 1 - self.instance.arrival

    @property
    def evictions(self) -> int:
        """Runs that ended before their request was complete."""
        return int((~self.completes).sum())

    @property
    def wasted_tokens(self) -> int:
        """Tokens produced in runs that were evicted."""
        return int((self.stop - self.start)[~self.completes].sum())

    def usage(self) -> IntArray:
        """Tokens held at t = 0, ..., last stop, shape (last stop + 1,). Cost O(runs + rounds)."""
        end = int(self.stop.max(initial=0)) + 2
        level, slope = np.zeros(end, np.int64), np.zeros(end, np.int64)
        # held(s, t - p) = held(s, -p) + t on p+1 .. q: a step of the constant and one of the slope
        base = held(self.instance.prompt[self.request], -self.start)
        for change, sign in ((self.start + 1, 1), (self.stop + 1, -1)):
            np.add.at(level, change, sign * base)
            np.add.at(slope, change, sign)
        time = np.arange(end)
        return (np.cumsum(level) + np.cumsum(slope) * time)[:-1]
