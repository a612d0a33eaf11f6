"""Routers that weigh volumes: what a replica still has to serve, and what each class has had."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model.footprint import volume
from ratiolab.online.policies.mc_sf import LEVEL, Lengths, believed
from ratiolab.online.policy import Policy
from ratiolab.online.router import (
    AtOnce,
    FleetSetting,
    ReplicaView,
    Route,
    Router,
    RouterView,
    Routing,
)
from ratiolab.online.view import Information


@dataclass(frozen=True)
class Weighing(Router):
    """Base of routers that weigh requests by their volume under a believed length.

    Parameters
    ----------
    lengths : which length is believed: ``true`` (default), ``predicted``, or ``upper``.
    """

    lengths: Lengths = "true"

    randomized: ClassVar[bool] = True

    def information(self, policy: Policy) -> Information:
        return LEVEL[self.lengths]


@dataclass(frozen=True)
class LeastWork(Weighing):
    """The replica with the least remaining volume: s o + o (o + 1) / 2 less the part served.

    The rule is least work left, known from queues with several servers. Work is volume here.
    """

    name: ClassVar[str] = "least-work"
    source: ClassVar[str] = "least work left: Harchol-Balter, Crovella, Murta (1999)"

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        return _LeastLeft(setting, rng, self.lengths)


@dataclass(frozen=True)
class IMD(Weighing):
    """Immediate dispatch by classes: within each, the replica that has had the least volume.

    A class holds the volumes between two powers of two. All volume that a replica has ever been
    given counts, also what has completed.
    """

    name: ClassVar[str] = "imd"
    source: ClassVar[str] = "Avrahami, Azar (2003), SPAA; volume for the time of a machine"

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        return _LeastGiven(setting, rng, self.lengths)


class _ByVolume(AtOnce):
    def __init__(self, setting: FleetSetting, rng: Generator, lengths: Lengths) -> None:
        super().__init__(setting, rng)
        self._length = believed(lengths)
        self.length: dict[int, int] = {}

    def volume(self, view: RouterView, i: int) -> int:
        """Return the believed volume of a request, and note its length."""
        self.length[i] = self._length(view.known, i)
        return volume(view.known.prompt[i], self.length[i])


class _LeastLeft(_ByVolume):
    def __init__(self, setting: FleetSetting, rng: Generator, lengths: Lengths) -> None:
        super().__init__(setting, rng, lengths)
        self._all = [0] * setting.replicas
        self._of: dict[int, int] = {}
        self._served: dict[int, int] = {}

    def __call__(self, view: RouterView) -> Routing:
        self._served.clear()
        return super().__call__(view)

    def score(self, view: RouterView, replica: ReplicaView, request: int) -> float:
        if replica.number not in self._served:
            self._served[replica.number] = sum(
                volume(view.known.prompt[i], min(self.length[i], made(replica, i)))
                for i in replica.running
            )
        return self._all[replica.number] - self._served[replica.number]

    def handed(self, view: RouterView, replica: int, request: int) -> None:
        self._of[request] = self.volume(view, request)
        self._all[replica] += self._of[request]

    def completed(self, replica: int, request: int) -> None:
        self._all[replica] -= self._of.pop(request)


def made(replica: ReplicaView, request: int) -> int:
    """Return the tokens that a running request has made by the round in which others can start."""
    return replica.generated[request] + max(0, replica.round - replica.running[request])


class _LeastGiven(_ByVolume):
    def __init__(self, setting: FleetSetting, rng: Generator, lengths: Lengths) -> None:
        super().__init__(setting, rng, lengths)
        self._given: dict[tuple[int, int], int] = {}

    def score(self, view: RouterView, replica: ReplicaView, request: int) -> float:
        size = self.volume(view, request).bit_length()
        return self._given.get((size, replica.number), 0)

    def handed(self, view: RouterView, replica: int, request: int) -> None:
        own = self.volume(view, request)
        key = own.bit_length(), replica
        self._given[key] = self._given.get(key, 0) + own
