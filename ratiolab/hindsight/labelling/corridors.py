"""Corridors around known schedules: restricted diagrams through starts near theirs.

Good schedules of different origin agree in most of their starts. A corridor around several of them
has, for each request, its starts in any of them, and those a few rounds from these. Within it, a
sweep with all requests critical is narrow, and takes from each of the known schedules what it does
best. The weights only guide: a schedule is a schedule, whatever proves its bound.

Requests may be any number, as long as no more than 64 may start around the same round.

Source: optimal recombination, Eremeev and Kovalenko (2014), Yugoslav Journal of Operations Research
24; the corridor method, Sniedovich and Voss (2006), Control and Cybernetics 35.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.labelling.sweep import schedule_of, sweep
from ratiolab.hindsight.labelling.weights import (
    MOST_MEMORY,
    NEVER,
    Direction,
    Weights,
    directions,
)
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

WIDTH = 4_000
"""Labels that a layer of a beam keeps."""


class Corridors:
    """Beams through corridors of one instance, guided by duals.

    Parameters
    ----------
    duals : the better the bound that they prove, the better beams know which labels are good.
    latency : schedules below it are looked for.

    Raises
    ------
    OverflowError
        when memory, numbers or tables are too large for a beam.
    """

    def __init__(self, instance: Instance, duals: Duals, latency: int) -> None:
        if instance.memory > MOST_MEMORY:
            raise OverflowError(f"memory {instance.memory}: corridors take up to {MOST_MEMORY}")
        potentials = Weights.of(instance, duals)
        self.instance, self.unit, self.latency = instance, potentials.unit, latency
        self.base = int(potentials.least.sum() - potentials.capacity.sum())
        self.sides = directions(potentials, potentials.least, max(0, self._limit(latency)))

    def _limit(self, latency: int) -> int:
        """Return the most that a schedule of less latency costs; below 0 there is none."""
        return (latency - 1) * self.unit - self.base

    def search(
        self,
        known: Sequence[Schedule],
        reach: int,
        target: int,
        stop: Callable[[], bool],
        *,
        forward: bool,
    ) -> Schedule | None:
        """Return a schedule below the target with starts near those of known ones, if it finds one.

        Parameters
        ----------
        reach : how many rounds each start may be from one of this request in a known schedule.
        forward : the direction of the beam; neither is the better one everywhere.
        """
        instance, side = self.instance, self.sides[not forward]
        limit = self._limit(min(target, self.latency))
        if limit < 0:
            return None
        narrow, everyone = _narrowed(side, known, reach), 2 ** len(instance) - 1
        try:
            found = sweep(
                *(instance, narrow, limit, WIDTH),
                overflow="drop",
                critical=everyone,
                stop=stop,
            )
        except OverflowError:  # too many requests may start around one round
            return None
        return schedule_of(found.paths[0], instance) if found and found.paths else None


def _narrowed(side: Direction, known: Sequence[Schedule], reach: int) -> Direction:
    """Return a direction without the starts that are far from those of all known schedules.

    Equal requests share theirs: a sweep starts them in order of index, which schedules need not.
    """
    n, layers = side.excess.shape
    near = np.zeros((n, layers), np.bool_)
    for schedule in known:
        layer = schedule.starts
        if not side.forward:
            layer = side.end - schedule.starts - schedule.instance.output
        around = layer[:, None] + np.arange(-reach, reach + 1)
        row, place = np.nonzero((around >= 0) & (around < layers))
        near[row, around[row, place]] = True
    kinds = list(known[0].instance.requests)
    for kind in set(kinds):
        equal = [i for i in range(n) if kinds[i] == kind]
        near[equal] = near[equal].any(axis=0)
    return side._replace(excess=np.where(near, side.excess, NEVER))
