"""Findings of a walk over paths, `ratiolab.hindsight.paths.walk`, and its states for joins."""

from dataclasses import dataclass, field

from ratiolab.hindsight.paths.completions import Kept
from ratiolab.hindsight.paths.kernels import States
from ratiolab.hindsight.paths.trees import Layer, planted


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
    merged : whether states were merged.
    """

    least: int
    left: int
    paths: list[list[tuple[int, int]]] = field(repr=False)
    table: Table | None = field(repr=False)
    states: int
    finished: bool
    kept: Kept | None = field(default=None, repr=False)
    merged: bool = False
