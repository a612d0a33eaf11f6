"""A memetic search: two schedules are crossed, and annealing improves the child.

Annealing from the best schedule again and again comes back to it. Good schedules of different
origin agree in most of their order, and what they differ in is still to be decided. A child has a
part of the order of one parent within that of the other, or the order of means of their starts. It
replaces its worse parent if it is better, or else the worst member.

Where all members can be recombined at once (`Cross`, such as
`ratiolab.hindsight.labelling.corridors.Corridors.search`), that finds more in the same time. A
population is restarted when no such recombination gains; an archive keeps the best of each.

Source: memetic search, Moscato (1989), Caltech Concurrent Computation Program Report 826; crossing
of orders, Davis (1985), Applying adaptive algorithms to epistatic domains, IJCAI 9.
"""

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.schedules.annealing import annealed
from ratiolab.model.footprint import IntArray
from ratiolab.model.schedule import Schedule

PARAMS = SearchParams()

REACHES = PARAMS.corridor, PARAMS.corridor, 2 * PARAMS.corridor, 2 * PARAMS.corridor
"""Rounds from the starts of members within which recombinations look, one after the other."""

Cross: TypeAlias = Callable[[Sequence[Schedule], int, int], Schedule | None]
"""A crossing of all: from schedules, a reach and a latency to a schedule below the latency with
starts within reach of theirs, if it finds one."""


class Population:
    """Schedules of one instance that descend from each other.

    Parameters
    ----------
    first : a schedule, the first member.
    rng : source of randomness.
    stop : returns whether time is over.
    found : called with each better schedule.
    cross : combines all members into new ones; the attribute may be set or changed at any time.
    """

    def __init__(
        self,
        first: Schedule,
        rng: np.random.Generator,
        stop: Callable[[], bool],
        found: Callable[[Schedule], None],
        cross: Cross | None = None,
    ) -> None:
        self.instance, self.rng, self.stop, self.found = first.instance, rng, stop, found
        self.first, self.cross = first, cross
        self.best = first.total_latency
        self.members = [first]
        self.elders: list[Schedule] = []
        self.idle = 0
        self._life = self._lives()

    def step(self) -> None:
        """Add a member, or cross all."""
        next(self._life)

    def _lives(self) -> Iterator[None]:
        """Yield after each step of one population after the other."""
        while True:
            for _ in range(2 * PARAMS.members - len(self.members)):
                self._breed()
                yield
            while self.cross is None:
                self._breed()
                yield
            tries = 0
            while tries < len(REACHES):
                best = min(self.members, key=_latency)
                tries = 0 if self._crossed_all(self.members, best, REACHES[tries]) else tries + 1
                yield
                for _ in range(PARAMS.between):
                    self._breed()
                    yield
            yield from self._meet()
            self.members = []

    def _meet(self) -> Iterator[None]:
        """Cross the best members with the best of earlier populations, and keep the best."""
        self.members.sort(key=_latency)
        insort(self.elders, self.members[0], key=_latency)
        tries = 0 if len(self.elders) > 1 else len(REACHES)
        while tries < len(REACHES):
            best = self.elders[0]
            all_of_them = self.elders + self.members[1 : PARAMS.members // 2]
            tries = 0 if self._crossed_all(all_of_them, best, REACHES[tries]) else tries + 1
            yield
            self.members.sort(key=_latency)
            if self.members[0].total_latency < best.total_latency:
                insort(self.elders, self.members[0], key=_latency)
        del self.elders[PARAMS.members :]

    def _crossed_all(self, schedules: Sequence[Schedule], best: Schedule, reach: int) -> bool:
        """Add what a crossing of all finds below the best of them; return whether it has."""
        assert self.cross is not None
        child = self.cross(schedules, reach, best.total_latency)
        if child is not None:
            self.add(child)
        return child is not None

    def _breed(self) -> None:
        """Add a member: without parents until there are enough, then a child of two."""
        if len(self.members) < PARAMS.members:
            factors = self.rng.uniform(1 - PARAMS.spread, 1 + PARAMS.spread, len(self.instance))
            order = np.argsort(self.instance.volume * factors)
            self.members.append(self._annealed(order, PARAMS.hot))
            self._tell(self.members[-1])
            return
        one, other = self.rng.choice(len(self.members), 2, replace=False).tolist()
        child = self._annealed(self._crossed(one, other), PARAMS.hot / 3)
        worse = max(one, other, key=self._latency)
        self.add(child, worse)
        if self.idle > PARAMS.patience:
            self.members, self.idle = [min(self.members, key=_latency)], 0

    def add(self, schedule: Schedule, worse: int | None = None) -> None:
        """Let a schedule take the place of a worse one, unless there is one as good already."""
        self._tell(schedule)
        if not self.members:
            self.members.append(schedule)
            return
        if any(schedule.total_latency == member.total_latency for member in self.members):
            return
        worst = max(range(len(self.members)), key=self._latency)
        for place in (worst,) if worse is None else (worse, worst):
            if schedule.total_latency < self._latency(place):
                self.members[place] = schedule
                return

    def _latency(self, place: int) -> int:
        return self.members[place].total_latency

    def _tell(self, schedule: Schedule) -> None:
        self.idle += 1
        if schedule.total_latency < self.best:
            self.best, self.idle = schedule.total_latency, 0
            self.found(schedule)

    def _crossed(self, one: int, other: int) -> IntArray:
        """Return the order of a child."""
        rng, n = self.rng, len(self.instance)
        starts = [self.members[place].starts + rng.random(n) for place in (one, other)]
        if rng.random() < 0.5:
            part = rng.random()
            return np.argsort(part * starts[0] + (1 - part) * starts[1])
        order = np.argsort(starts[0])
        begin, end = np.sort(rng.integers(0, n + 1, 2)).tolist()
        rest = np.argsort(starts[1])
        rest = rest[~np.isin(rest, order[begin:end])]
        return np.concatenate([rest[:begin], order[begin:end], rest[begin:]])

    def _annealed(self, order: IntArray, hot: float) -> Schedule:
        """Return the best schedule that an annealing from an order meets."""
        seed, moves = int(self.rng.integers(2**31)), PARAMS.child_moves
        part = lambda: float(self.stop())  # noqa: E731
        return annealed(self.instance, order, (hot, PARAMS.cold), part, seed=seed, moves=moves)


def _latency(schedule: Schedule) -> int:
    return schedule.total_latency
