"""Schedules: the runs of requests; every cost is derived from them, never stored."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.display import Rebuilt, Result
from ratiolab.model.eviction import EVICTIONS, Eviction, Preemption, require_preemption
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import LAST_ROUND, Column, Instance, frozen, integers, shown
from ratiolab.model.run import Run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, init=False, eq=False)
class Schedule(Rebuilt, Result):
    """The runs of all requests of an instance, and what an eviction costs.

    A request may have several runs; the last one completes. Under ``restart`` an evicted run loses
    its tokens. Under the other semantics they are kept: with g tokens from earlier runs the
    next one holds s + g + (t - start) tokens at t in (start, stop], and the request completes
    when its runs together have lasted as many rounds as its output. Under ``pause`` it holds
    s + g + (stop - start) tokens at t in (stop, release], too; a run that starts at the release of
    the one before finds its cache in place, any other builds it again. Nothing is checked here
    beyond numbers and shapes: `ratiolab.model.feasibility` is the judge.

    An engine may prefill in chunks. A run then begins with a lead of rounds that make no token, in
    which it holds s + g + 1 tokens: its prompt, what it brings along, and room for the token to
    come. A run that is evicted before its first token has no other rounds.

    Parameters
    ----------
    instance : what was scheduled.
    request, start, stop : values of each run in any order, shape (r,).
    preemption : ``restart`` (default), ``recompute``, ``swap`` or ``pause``.
    release : under ``pause``, the round until which the cache of each run stays in memory, shape
        (r,); by default its stop.
    lead : rounds of each run before that of its first token, shape (r,); by default 0.
    unfilled : tokens that were still to be prefilled when a run was evicted, shape (r,); by
        default 0.

    Raises
    ------
    ValueError
        when a column is not of integers, a value is beyond 2 * 10^15, or columns differ in length.
    """

    instance: Instance
    request: IntArray = field(repr=False)
    start: IntArray = field(repr=False)
    stop: IntArray = field(repr=False)
    preemption: Preemption
    release: IntArray = field(repr=False)
    lead: IntArray = field(repr=False)
    unfilled: IntArray = field(repr=False)

    def __init__(
        self,
        instance: Instance,
        request: Column,
        start: Column,
        stop: Column,
        preemption: Preemption = "restart",
        release: Column | None = None,
        lead: Column | None = None,
        unfilled: Column | None = None,
    ) -> None:
        require_preemption(preemption)
        given = {"release": release, "lead": lead, "unfilled": unfilled}
        named = {"request": request, "start": start, "stop": stop} | given
        read = {name: _read(name, c) for name, c in named.items() if c is not None}
        zeros = np.zeros(len(read["start"]), np.int64)
        read = {"release": read["stop"], "lead": zeros, "unfilled": zeros} | read
        columns = [read[name] for name in named]
        if len({len(c) for c in columns}) != 1:
            more = "".join(f" and {name}" for name, column in given.items() if column is not None)
            raise ValueError(f"request, start and stop{more} must have one value for each run")
        order = np.lexsort((columns[2], columns[0], columns[1]))
        object.__setattr__(self, "instance", instance)
        object.__setattr__(self, "preemption", preemption)
        for name, column in zip(named, columns, strict=True):
            object.__setattr__(self, name, frozen(column[order]))

    @classmethod
    def from_starts(cls, instance: Instance, starts: Column) -> "Schedule":
        """Return the schedule without evictions that starts request i at ``starts[i]``.

        >>> from ratiolab.model import Instance
        >>> Schedule.from_starts(Instance("two", 5, [0, 0], [1, 1], [2, 3]), [0, 2]).total_latency
        7
        """
        first = integers("start", starts, 0, LAST_ROUND)
        if len(first) != len(instance):
            raise ValueError(f"starts has {len(first)} values for {len(instance)} requests")
        return cls(instance, np.arange(len(instance)), first, first + instance.output)

    @classmethod
    def from_runs(
        cls,
        instance: Instance,
        runs: Iterable[tuple[int, int, int]],
        preemption: Preemption = "restart",
    ) -> "Schedule":
        """Return the schedule of (request, start, stop) triples.

        >>> from ratiolab.model import Instance
        >>> one = Instance("one", 9, [0], [2], [5])
        >>> Schedule.from_runs(one, [(0, 0, 3), (0, 4, 6)], "recompute").total_latency
        6
        """
        rows = [tuple(run)[:3] for run in runs]
        for i, row in enumerate(rows):
            if len(row) < 3:
                raise ValueError(f"run {i}: {shown(row)} must be a request, its start and its stop")
        request, start, stop = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(instance, request, start, stop, preemption)

    @property
    def made(self) -> IntArray:
        """Tokens that each run makes, shape (r,)."""
        return self.stop - self.start - self.lead

    @property
    def eviction(self) -> Eviction:
        """Effect of an eviction under its semantics of preemption."""
        return EVICTIONS[self.preemption]

    @cached_property
    def kept(self) -> IntArray:
        """Tokens that the request of each run brings along from its earlier runs, shape (r,)."""
        kept = np.zeros(len(self.request), np.int64)
        if self.eviction.keeps_tokens:
            order = np.argsort(self.request, kind="stable")  # runs of a request stay in time order
            request, length = self.request[order], self.made[order]
            before = np.cumsum(length) - length
            kept[order] = before - before[np.searchsorted(request, request)]
        return kept

    @cached_property
    def resumes_in_place(self) -> NDArray[np.bool_]:
        """Whether each run finds its cache in memory: paused and never evicted, shape (r,)."""
        found = np.zeros(len(self.request), np.bool_)
        if self.eviction.stays:
            order = np.argsort(self.request, kind="stable")
            earlier, later = order[:-1], order[1:]
            same = self.request[earlier] == self.request[later]
            found[later] = same & (self.release[earlier] == self.start[later])
        return found

    @cached_property
    def prefilled(self) -> IntArray:
        """Tokens that each run prefills when it starts, shape (r,).

        Prompt and kept tokens, but for runs whose cache was moved back or never left, and for what
        an eviction left undone.
        """
        whole = self.instance.prompt[self.request] + self.kept
        tokens: IntArray = np.where(self._finds_cache, 0, whole)
        return tokens - self.unfilled

    @property
    def _finds_cache(self) -> NDArray[np.bool_]:
        """Whether each run goes on with the cache of the one before, shape (r,)."""
        return self.resumes_in_place | (self.eviction.moves & (self.kept > 0))

    @property
    def computed_tokens(self) -> int:
        """Tokens whose keys and values were computed, in prefills or one by one.

        The last token of a run is made and never computed: without evictions prompt and output
        minus one, for every request.
        """
        decoded = self.made - (~self._finds_cache & (self.made > 0))
        return int(self.prefilled.sum() + decoded.sum())

    @cached_property
    def completes(self) -> NDArray[np.bool_]:
        """Whether each run reaches the output length of its request, shape (r,)."""
        known = (self.request >= 0) & (self.request < len(self.instance))
        output = self.instance.output[np.where(known, self.request, 0)]
        complete: NDArray[np.bool_] = known & (self.kept + self.made == output)
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
        """Round of each request's final start, shape (n,); -1 when it never completes."""
        times = np.full(len(self.instance), -1, dtype=np.int64)
        times[self.request[self.completes]] = self.start[self.completes]
        return times

    @property
    def is_complete(self) -> bool:
        """Whether every request completes."""
        return bool((self.completion >= 0).all())

    @property
    def latency(self) -> IntArray:
        """Completion minus arrival of each request, rounds, shape (n,); -1 if it never completes.

        A request that completes before it arrives has a negative latency:
        `ratiolab.model.feasibility` refuses such a schedule.
        """
        return np.where(self.completion < 0, -1, self.completion - self.instance.arrival)

    @cached_property
    def total_latency(self) -> int:
        """Total end-to-end latency (TEL), rounds; `ValueError` if a request never completes."""
        require_complete(self)
        latency = self.latency
        fits = len(latency) * int(np.abs(latency).max()) < 2**63
        return int(latency.sum()) if fits else sum(latency.tolist())

    @property
    def makespan(self) -> int:
        """The last completion, rounds from 0."""
        return int(self.completion.max())

    @property
    def ttft(self) -> IntArray:
        """Rounds from arrival to the first token ever produced (TTFT), shape (n,); -1 without one.

        Decoding is deterministic, so a token that is lost to an eviction has been seen.
        """
        never = np.iinfo(np.int64).max
        first = np.full(len(self.instance), never)
        fruitful = self.made > 0
        np.minimum.at(first, self.request[fruitful], (self.start + self.lead)[fruitful])
        return np.where(first == never, -1, first - self.instance.arrival + 1)

    @property
    def preemptions(self) -> int:
        """Runs that ended before their request was complete."""
        return int((~self.completes).sum())

    @property
    def evictions(self) -> int:
        """Preempted runs whose cache left the memory: all of them but under ``pause``."""
        return self.preemptions - int(self.resumes_in_place.sum())

    @property
    def wasted_tokens(self) -> int:
        """Output tokens whose cache had to be made more than once.

        Under ``restart`` the tokens of evicted runs, under ``recompute`` the tokens that resumed
        runs bring along, under ``swap`` none, under ``pause`` as under ``recompute`` where the
        cache was lost.
        """
        if not self.eviction.keeps_tokens:
            return int(self.made[~self.completes].sum())
        return int(self.kept[self.prefilled > 0].sum())

    @property
    def headline(self) -> str:
        """Name of the instance, and the total latency."""
        cost = f"TEL {self.total_latency:,}" if self.is_complete else "some requests never complete"
        return f"{self.instance.name}: {cost}"

    def to_dict(self) -> dict[str, Any]:
        """Return the runs as plain data, tied to the instance by its digest.

        The total latency is left out if a request never completes.
        """
        head = {"instance": self.instance.name, "digest": self.instance.digest}
        kept = {} if self.preemption == "restart" else {"preemption": self.preemption}
        names = ["request", "start", "stop", *(["release"] if self.eviction.stays else [])]
        names += [name for name in ("lead", "unfilled") if getattr(self, name).any()]
        runs = {name: getattr(self, name).tolist() for name in names}
        cost = {"total_latency": self.total_latency} if self.is_complete else {}
        return head | kept | runs | cost

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each run, in order of start."""
        import pandas as pd

        return pd.DataFrame(self.runs, columns=Run._fields)

    def usage(self) -> IntArray:
        """Return the tokens held at t = 0, ..., last release, in O(r log r + rounds) steps."""
        return self.stretches().tokens_by_round()

    def stretches(self) -> "Stretches":
        """Return the tokens held, by stretches of rounds in which the same runs hold memory.

        The cost is O(r log r) for r runs, however long they last.
        """
        begin = self.start + self.lead
        base = held(self.instance.prompt[self.request] + self.kept, -begin)
        # held(s, t - p) = held(s, -p) + t on p+1 .. q: a step of the constant and one of the slope
        steps = [(begin, base, 1), (self.stop, -base, -1)]
        if self.lead.any():
            steps += [(self.start, base + begin + 1, 0), (begin, -base - begin - 1, 0)]
        if (self.release != self.stop).any():
            steps += [(self.stop, base + self.stop, 0), (self.release, -base - self.stop, 0)]
        rounds = np.concatenate([[-1, 0], *(at for at, _, _ in steps)]) + 1
        order = np.argsort(rounds, kind="stable")
        rounds = rounds[order]
        last = np.append(rounds[1:] != rounds[:-1], True)
        constant = np.concatenate([[0, 0], *(step for _, step, _ in steps)])[order]
        slope = np.repeat([0, *(one for *_, one in steps)], [2, *[len(base)] * len(steps)])[order]
        first, growth = rounds[last], np.cumsum(slope)[last]
        return Stretches(first, np.cumsum(constant)[last] + growth * first, growth)


class Stretches(NamedTuple):
    """Stretches of rounds in which the same runs hold memory, from round 0 or the first start on.

    Parameters
    ----------
    first : first round of each, increasing; the last one begins when all memory is free.
    tokens : tokens held in that round.
    growth : tokens that each later round of the stretch adds.
    """

    first: IntArray
    tokens: IntArray
    growth: IntArray

    @property
    def rounds(self) -> IntArray:
        """Rounds of each stretch; the last has none."""
        return np.append(np.diff(self.first), 0)

    def tokens_by_round(self) -> IntArray:
        """Return the tokens held in each round from 0 on."""
        rounds = self.rounds
        later = np.arange(self.first[0], self.first[-1]) - np.repeat(self.first, rounds)
        tokens = np.repeat(self.tokens, rounds) + np.repeat(self.growth, rounds) * later
        from_zero: IntArray = tokens[-self.first[0] :]
        return from_zero

    def total(self) -> float:
        """Return the sum of the tokens held in all rounds."""
        rounds = self.rounds.astype(np.float64)
        return float((self.tokens * rounds + self.growth * (rounds * (rounds - 1) / 2)).sum())

    def most(self) -> int:
        """Return the most tokens held in a round."""
        return int((self.tokens + self.growth * np.maximum(self.rounds - 1, 0)).max())

    def rounds_above(self, memory: int) -> int:
        """Return the number of rounds in which more tokens are held than there are."""
        within = (memory - self.tokens) // np.maximum(self.growth, 1) + 1
        within = np.where(self.growth > 0, within, np.where(self.tokens > memory, 0, self.rounds))
        return int((self.rounds - np.clip(within, 0, self.rounds)).sum())


def require_complete(schedule: Schedule) -> None:
    """Raise `ValueError` if a request never completes: such a schedule has no total cost."""
    if not schedule.is_complete:
        i = int((schedule.completion < 0).argmax())
        raise ValueError(
            f"{schedule.instance.name}: request {i} never completes, so there is no total latency"
        )


def _read(name: str, values: Column) -> IntArray:
    # the judge of schedules names negative values
    return integers(name, values, -LAST_ROUND, LAST_ROUND, each="run")
