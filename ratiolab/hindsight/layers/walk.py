"""What walks over layers share: the limit, what is left out, and the step to the next layer."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.layers import beam_kernels as kernels
from ratiolab.hindsight.layers.guide import Guide
from ratiolab.hindsight.layers.layer import Layer
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

MOST_REQUESTS = 64
"""A set of started requests is one machine word."""

ROOM = 16
"""States written a layer, as a multiple of the width, before the worst parents are left out."""

LEAST_ROOM = 10_000
"""States written a layer at least."""

Stop: TypeAlias = Callable[[], bool]


def require_few(instance: Instance) -> None:
    """Nothing, or `ValueError` when there are more than `MOST_REQUESTS`."""
    if len(instance) > MOST_REQUESTS:
        raise ValueError(f"{len(instance)} requests: the search takes at most {MOST_REQUESTS}")


class Walk:
    """A walk from layer to layer that keeps states up to a limit.

    Parameters
    ----------
    ceiling : largest bound of interest, scaled.
    bounding : leave out what is no better than something left out before: what is proven is the
        same, and schedules are not looked for.
    """

    def __init__(self, guide: Guide, width: int, ceiling: int, bounding: bool) -> None:
        self.guide, self.instance, self.width = guide, guide.instance, width
        self.ceiling, self.bounding = ceiling, bounding
        self.left_out: int | None = None
        instance = self.instance
        self.most = min(len(instance), instance.memory // (int(instance.prompt.min()) + 1))
        self.last_arrival = int(instance.arrival.max())

    @property
    def limit(self) -> int:
        """Largest bound of a state that is of interest."""
        if self.bounding and self.left_out is not None:
            return min(self.ceiling, self.left_out - 1)
        return self.ceiling

    def leave_out(self, bounds: IntArray) -> None:
        """Remember the least bound of what is not searched further."""
        if len(bounds):
            least = int(bounds.min())
            self.left_out = least if self.left_out is None else min(self.left_out, least)

    def children(
        self,
        layer: Layer,
        t: int,
        twin: IntArray,
        now: IntArray,
        wait: IntArray,
        cost: IntArray,
        everyone: np.uint64,
        promised: tuple[int, IntArray, IntArray],
    ) -> Layer:
        """States of the next layer; what does not find room is left out.

        Parameters
        ----------
        twin : the equal request that starts before, or -1.
        now, wait : cost of starting at t, and of not having started by t + 1; cost : latency.
        promised : what follows from t + 1 on, and the parts of it that states know already: costs
            of starts above the least, shape (n, rounds), and of not having started.
        """
        instance = self.instance
        priced, paid = self.guide.row(t + 1)
        room, most = LEAST_ROOM + 4 * len(layer.started), ROOM * self.width
        while True:
            out = Layer.empty(room, self.most)
            written, parents = kernels.expand(
                *layer.states,
                *(instance.arrival <= t, twin, now, wait, cost),
                *(instance.prompt, instance.output, instance.memory, self.limit, priced, paid),
                *(everyone, t < self.last_arrival),
                *(t, *promised),
                *out.columns,
            )
            if parents == len(layer.started):
                return out.take(np.arange(written))
            if room <= most:
                room *= 4
            elif self.bounding:  # at a lower limit, all find room
                self.leave_out(np.partition(out.least, room // 4)[room // 4 :])
            else:
                self.leave_out(layer.least[parents:])
                return out.take(np.arange(written))

    def narrowed(self, layer: Layer) -> Layer:
        """At most ``width`` states within the limit, those of least bound, and these in order."""
        possible = np.flatnonzero(layer.least <= self.limit)
        possible = possible[np.argsort(layer.least[possible], kind="stable")]
        self.leave_out(layer.least[possible[self.width :]])
        return layer.take(possible[: self.width])
