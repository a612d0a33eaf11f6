"""Findings of a walk over paths, `ratiolab.hindsight.paths.walk`, and its states for joins."""

from dataclasses import dataclass, field

import numpy as np

from ratiolab.hindsight.paths import join_kernels
from ratiolab.hindsight.paths.completions import Kept
from ratiolab.hindsight.paths.kernels import States
from ratiolab.hindsight.paths.potentials import Direction
from ratiolab.hindsight.paths.trees import Layer, planted
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule


class Table:
    """States of a complete walk by layer; a layer is prepared for joins when it is asked for.

    ``known`` are the requests remembered.
    """

    def __init__(self, known: int, layers: list[States]) -> None:
        self.known = known
        self._states = [(layer.mask, layer.settled, layer.tokens) for layer in layers]
        self._layers: dict[int, Layer] = {}

    def layer(self, k: int) -> Layer:
        """Return the states of layer k."""
        if k not in self._layers:
            self._layers[k] = planted(*self._states[k])
        return self._layers[k]

    def bound(
        self, states: States, rows: IntArray, limit: int, direction: Direction, layer: int
    ) -> None:
        """Raise the bounds of states of a layer of a walk in the other direction."""
        if len(rows):
            raw = direction.raw[direction.owner] + direction.rise * (layer - direction.age)
            bits = np.left_shift(np.uint64(1), direction.owner.astype(np.uint64))
            other = np.uint64(self.known), *self.layer(direction.end - layer)
            join_kernels.join(states, rows, limit, raw, direction.past, bits, *other)


def path_to(
    layers: list[States], row: int, direction: Direction, instance: Instance
) -> list[tuple[int, int]]:
    """Return the (start round, request) of the path to a state of the last layer."""
    path = []
    for t in range(len(layers) - 2, -1, -1):
        for place, word in enumerate(layers[t + 1].began[row].tolist()):
            while word:  # most layers start nobody
                lowest = word & -word
                word ^= lowest
                i = 64 * place + lowest.bit_length() - 1
                late = direction.end - t - int(instance.output[i])
                path.append((t if direction.forward else late, i))
        row = int(layers[t + 1].parent[row])
    return path


def schedule_of(path: list[tuple[int, int]], instance: Instance) -> Schedule:
    """Return the schedule that a path is; it starts each request once.

    Parameters
    ----------
    path : (start round, request) of each start.
    """
    starts = np.zeros(len(instance), np.int64)
    for start, i in path:
        starts[i] = start
    return Schedule.from_starts(instance, starts)


@dataclass(frozen=True, eq=False)
class Walked:
    """Findings of a walk.

    Parameters
    ----------
    least : least cost of a path that it found, or the limit plus one.
    left : least bound of what was left out, or the limit plus one.
    paths : (start round, request) of the cheapest paths, the cheapest first.
    table : for the other direction, of a complete walk.
    states : number of states kept; finished : whether it reached the end.
    kept : for walks the same way, of a complete walk.
    merged : the width to which states were merged, 0 where none were.
    within : number of states of each layer before any beyond its width were merged or left out.
    """

    least: int
    left: int
    paths: list[list[tuple[int, int]]] = field(repr=False)
    table: Table | None = field(repr=False)
    states: int
    finished: bool
    kept: Kept | None = field(default=None, repr=False)
    merged: int = 0
    within: tuple[int, ...] = field(default=(), repr=False)
