"""Passes of walks back, what they prove, and the certificate of it.

The first pass remembers nobody, and may merge states. Each later one is bounded by what completing
the states of those before costs, and remembers more: what a ladder of sets says, or else what the
cheapest paths so far start twice or never. It ends when no path below a target is left, or when the
cheapest one is a schedule: decremental state space relaxation, as in Righini and Salani (2008), New
dynamic programming algorithms for the resource constrained elementary shortest path problem,
Networks 51.

Bounding each walk by the one before is successive sublimation, as in Tanaka, Fujikuma and Araki
(2009), An exact algorithm for single-machine scheduling without machine idle time, Journal of
Scheduling 12.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ratiolab.hindsight.certificates.certificate import (
    DualCertificate,
    PathCertificate,
    path_certificate,
)
from ratiolab.hindsight.paths.completions import Completions, completions
from ratiolab.hindsight.paths.orders import Order, by_fault
from ratiolab.hindsight.paths.potentials import Direction, Potentials, directions
from ratiolab.hindsight.paths.walk import MOST_STATES, walk
from ratiolab.hindsight.paths.walked import Table, Walked, schedule_of
from ratiolab.model.footprint import IntArray
from ratiolab.model.schedule import Schedule

LARGE_PART = 0.7
"""Once walks remember this part of all requests, the next remembers all."""


@dataclass
class Back:
    """A walk back that left out nothing and nothing bounds, and both directions for its limit.

    It serves at every smaller limit, too. ``rest`` is what completing its states costs, once known.
    """

    sides: tuple[Direction, Direction]
    walked: Walked
    rest: Completions | None = None

    @property
    def table(self) -> Table:
        """Return its states, for walks forward."""
        assert self.walked.table is not None
        return self.walked.table


@dataclass
class Passes:
    """Passes at one choice of multipliers and one target.

    Parameters
    ----------
    proven : the certificate of the duals behind the potentials.
    target : paths of latency below it are of interest; at least the bound of the duals.
    ladder : sets that the first passes remember, such as those of a smaller target: each at least
        that before.
    back : the first pass, if it has been made with the same potentials, multipliers and a limit
        that is no smaller. Sets of the ladder that do not contain what it remembers are left out.
    few : after the ladder each pass remembers so many more, those that the cheapest paths of the
        pass before start twice or never, as an order says; once that is a large part, the
        next remembers all. None for all that the one cheapest path starts twice or never.
    order : which of them come first.
    merged : width to which the first pass merges states, if it remembers nobody and nothing else
        has made it; 0 where it ends instead.

    Attributes
    ----------
    bound : what is proven. schedule : found by the last pass, if its path is one.
    """

    potentials: Potentials
    multipliers: IntArray
    proven: DualCertificate
    target: int
    ladder: tuple[int, ...] = ()
    back: Back | None = None
    few: int | None = None
    order: Order = by_fault
    merged: int = 0
    bound: int = field(init=False)
    schedule: Schedule | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        potentials = self.potentials
        self.base = int(self.multipliers.sum() - potentials.capacity.sum())
        self.bound = self.latency(0)
        self.limit = max(0, (self.target - 1) * potentials.unit - self.base)
        self.sides = (
            directions(potentials, self.multipliers, self.limit)
            if self.back is None
            else self.back.sides
        )
        self.sets: list[int] = []
        self.remembered = 0
        if self.back is not None:
            self.remembered = known = self.back.table.known
            more = (chosen for chosen in self.ladder if chosen & known == known != chosen)
            self.ladder = known, *more
        self.last: Walked | None = None
        self.rest: Completions | None = None
        self.turned, self.width = False, 0 if self.back is None else self.back.walked.merged
        self.kinds = list(potentials.instance.requests)
        self.everybody = 2 ** len(self.kinds) - 1

    @property
    def closed(self) -> bool:
        """Return whether the passes have nothing left to do."""
        return self.bound >= self.target or self.schedule is not None

    @property
    def following(self) -> int:
        """Return the set that the next pass remembers."""
        done = len(self.sets)
        return self.ladder[done] if done < len(self.ladder) else self.remembered

    def latency(self, cost: int) -> int:
        """Return the bound that a least cost of all paths proves."""
        return -(-(self.base + cost) // self.potentials.unit)

    def go(
        self,
        width: int,
        stop: Callable[[], bool] = lambda: False,
        *,
        whole: bool = True,
        most: int = MOST_STATES,
        everybody: bool = False,
    ) -> Walked:
        """Walk once more; a walk that is incomplete proves nothing and changes nothing.

        It ends at once, as it does beyond ``most`` states, unless ``whole`` is false, for its
        cheapest path. It remembers ``everybody`` or what comes next.
        """
        done = len(self.sets)
        remembered = self.everybody if everybody else self.following
        if not done and self.back is not None:
            least = min(self.back.walked.least, self.limit + 1)
            found = replace(self.back.walked, least=least, left=self.limit + 1, states=0)
        else:
            guide = self._guide(stop)
            if guide is None and done:
                return Walked(0, 0, [], None, 0, False)
            merges = self.merged > 0 and not (done or remembered)
            found = walk(
                *(self.potentials.instance, self.sides[1], self.limit),
                self.merged if merges else width,
                remembered=remembered,
                guide=guide,
                whole=whole and not merges,
                merges=merges,
                keeps=merges,
                most=most,
                stop=stop,
            )
            if merges:
                self.width = found.merged
        if found.kept is not None:
            self.sets.append(remembered)
            self.remembered = remembered
            self.last, self.rest = found, None
            self.bound = max(self.bound, self.latency(found.least))
            if found.least <= self.limit:
                self._learn(found.paths, fits=not found.merged)
        return found

    def merge(
        self,
        width: int,
        stop: Callable[[], bool] = lambda: False,
        pace: Callable[[int, int], int] | None = None,
        most: int = 0,
        room: int = MOST_STATES,
    ) -> Walked:
        """Walk back with states merged to a width, or to what ``pace`` says of each layer.

        Whatever that is, the bound is proven; unless ``most`` is given, and the walk is to merge
        nothing and to keep no more states. Beyond ``room`` it keeps only what paths need.
        """
        instance, limit = self.potentials.instance, self.limit
        found = walk(
            *(instance, self.sides[1], limit, width),
            whole=most > 0,
            merges=True,
            pace=pace,
            most=most or room,
            stop=stop,
        )
        if found.finished:
            self.sets, self.width = [0], found.merged
            self.back = None if found.kept is None else Back(self.sides, found)
            self.bound = max(self.bound, self.latency(found.least))
            if found.least <= limit and not found.merged:
                self._learn(found.paths)
        return found

    def _guide(self, stop: Callable[[], bool]) -> Completions | None:
        """Return what completing the states of the last pass costs; None when there is none."""
        if self.last is None or self.last.kept is None:
            return None
        first = self.back if len(self.sets) == 1 else None
        if self.rest is None and first is not None:
            self.rest = first.rest
        if self.rest is None:
            self.rest = completions(self.last.kept, stop)
        if first is not None:
            first.rest = self.rest
        return self.rest

    def beam(
        self, width: int, stop: Callable[[], bool] = lambda: False, *, whole: bool = False
    ) -> None:
        """Look for a schedule below the target: a walk that remembers all requests.

        What paths of `back` cost from a state on says which states are best. When nothing is left
        out, the bound is that of both walks. ``whole`` ends the walk when something is.
        """
        instance, limit = self.potentials.instance, self.limit
        found = walk(
            *(instance, self.sides[0], limit, width),
            remembered=self.everybody,
            join=None if self.back is None else self.back.table,
            whole=whole,
            stop=stop,
        )
        if found.finished and found.least <= limit:
            self._learn(found.paths)
        if found.table is not None and (self.back is None or not self.back.walked.merged):
            self.turned = True
            self.sets = [0 if self.back is None else self.back.table.known, self.everybody]
            self.bound = max(self.bound, self.latency(min(found.least, limit + 1)))

    def _learn(self, paths: list[list[tuple[int, int]]], *, fits: bool = True) -> None:
        """Keep the schedule that the cheapest path is, if it ``fits``, or else remember more."""
        instance, n = self.potentials.instance, len(self.kinds)
        counts = [np.bincount([i for _, i in path], minlength=n) for path in paths]
        if fits and (counts[0] == 1).all():
            self.schedule = schedule_of(paths[0], instance)
            return
        if self.few is None:
            self._remember([i for i in range(n) if counts[0][i] != 1])
        elif self.remembered.bit_count() >= LARGE_PART * n:
            self.remembered = self.everybody
        else:
            # the cheaper a path, the more it counts
            rank = np.arange(1, len(counts) + 1)[:, None]
            faults = (np.abs(np.array(counts) - 1) / rank).sum(axis=0)
            new = [i for i in self.order(faults) if not self.remembered >> i & 1]
            self._remember(new[: self.few])

    def _remember(self, requests: list[int]) -> None:
        """Remember these and those equal to them from the next pass on."""
        new = {self.kinds[i] for i in requests}
        self.remembered |= sum(1 << j for j, kind in enumerate(self.kinds) if kind in new)

    def certificate(self) -> PathCertificate:
        """Return the certificate of the bound."""
        unit, sets = self.potentials.unit, tuple(self.sets)
        numbers = self.proven, self.bound, unit, self.multipliers, sets
        return path_certificate(*numbers, back=not self.turned, width=self.width)
