"""The router that looks at memory."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from ratiolab.online.router import AtOnce, FleetSetting, ReplicaView, Route, Router, RouterView


@dataclass(frozen=True)
class LeastKV(Router):
    """The replica with the fewest tokens, in memory and in the prompts of its queue.

    It needs no idea of the outputs.
    """

    name: ClassVar[str] = "least-kv"
    source: ClassVar[str] = "practice of engines: the least used KV cache"
    randomized: ClassVar[bool] = True

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        return _Fewest(setting, rng)


class _Fewest(AtOnce):
    def score(self, view: RouterView, replica: ReplicaView, request: int) -> float:
        return replica.tokens + replica.queued
