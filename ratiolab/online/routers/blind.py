"""Routers that look at no replica: in turn, and at random."""

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from numpy.random import Generator

from ratiolab.online.router import FleetSetting, Route, Router, RouterView, Routing


@dataclass(frozen=True)
class RoundRobin(Router):
    """Replicas in turn, in order of arrival."""

    name: ClassVar[str] = "round-robin"
    source: ClassVar[str] = "folklore"

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        turns = count()

        def route(view: RouterView) -> Routing:
            return Routing([(i, next(turns) % setting.replicas) for i in view.waiting])

        return route


@dataclass(frozen=True)
class Random(Router):
    """A replica at random for each request."""

    name: ClassVar[str] = "random"
    source: ClassVar[str] = "folklore"
    randomized: ClassVar[bool] = True

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        def route(view: RouterView) -> Routing:
            return Routing([(i, int(rng.integers(setting.replicas))) for i in view.waiting])

        return route
