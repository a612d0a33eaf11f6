"""Routers that count requests: of all replicas, and of two at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from numpy.random import Generator

from ratiolab.online.router import AtOnce, FleetSetting, ReplicaView, Route, Router, RouterView


@dataclass(frozen=True)
class JSQ(Router):
    """Join the shortest queue: the replica with the fewest requests.

    Parameters
    ----------
    ties : between replicas with equally many: ``random`` (default), or the first by ``index``.
    """

    ties: Literal["random", "index"] = "random"

    name: ClassVar[str] = "jsq"
    source: ClassVar[str] = "Winston (1977), J. Appl. Probab. 14"

    @property
    def randomized(self) -> bool:  # type: ignore[override]
        return self.ties == "random"

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        return _Fewest(setting, rng if self.ties == "random" else None)


@dataclass(frozen=True)
class P2C(Router):
    """Power of two choices: of two replicas at random the one with fewer requests."""

    name: ClassVar[str] = "p2c"
    source: ClassVar[str] = "Mitzenmacher (2001), IEEE Trans. Parallel Distrib. Syst. 12"
    randomized: ClassVar[bool] = True

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        return _FewestOfTwo(setting, rng)


class _Fewest(AtOnce):
    def score(self, view: RouterView, replica: ReplicaView, request: int) -> float:
        return replica.requests


class _FewestOfTwo(_Fewest):
    def choices(self, replicas: Sequence[ReplicaView]) -> Sequence[ReplicaView]:
        if len(replicas) < 3:
            return replicas
        assert self._rng is not None
        drawn = self._rng.choice(len(replicas), 2, replace=False)
        return [replicas[number] for number in drawn.tolist()]
