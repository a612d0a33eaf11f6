"""Late binding that balances what the replicas will hold."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ratiolab.online.policies.mc_sf import LEVEL, Lengths, believed
from ratiolab.online.policy import Count, Policy
from ratiolab.online.router import FleetSetting, ReplicaView, Route, Router, RouterView, both
from ratiolab.online.routers.central import CentralQueue
from ratiolab.online.view import Information

LOOKS = 5
"""Rounds within the horizon that are looked at, evenly spaced: memory changes slowly."""


@dataclass(frozen=True)
class BFIO(Router):
    """A central queue whose head goes where the imbalance over a horizon is least.

    This is our greedy reading. The paper solves an integer program in each step, for replicas whose
    batches end together. Here the head of the queue is placed alone. The imbalance is the sum over
    the horizon of R max L - sum L, with L the tokens that each of R replicas is believed to hold.
    No claim of the paper is tested with this router.

    Parameters
    ----------
    horizon : rounds, at least 1.
    lengths : which length is believed: ``true`` (default), ``predicted``, or ``upper``.
    """

    horizon: Count = 64
    lengths: Lengths = "true"

    name: ClassVar[str] = "bf-io"
    source: ClassVar[str] = "after Chen et al. (2026), arXiv 2601.17855, greedy"
    late: ClassVar[bool] = True

    def information(self, policy: Policy) -> Information:
        return both(LEVEL[self.lengths], policy.information)

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        return _Balanced(setting, self)


class _Balanced(CentralQueue):
    def __init__(self, setting: FleetSetting, router: BFIO) -> None:
        super().__init__(setting)
        self._ahead = np.unique(np.linspace(1, router.horizon, LOOKS).round().astype(np.int64))
        self._length = believed(router.lengths)
        self._ends: list[dict[int, tuple[int, int]]] = [{} for _ in range(setting.replicas)]

    def look(self, view: RouterView) -> None:
        self._loads = np.stack([self._load(replica) for replica in view.replicas])

    def _load(self, replica: ReplicaView) -> Any:
        own = [x for i, x in self._ends[replica.number].items() if i in replica.running]
        if not own:
            return np.zeros(len(self._ahead), np.int64)
        times = replica.round + self._ahead
        ends, constants = np.array(own, np.int64).T
        return np.where(ends[:, None] >= times, constants[:, None] + times, 0).sum(axis=0)

    def _own(self, view: RouterView, request: int) -> Any:
        tokens = view.known.prompt[request] + self._ahead
        return np.where(self._ahead <= self._length(view.known, request), tokens, 0)

    def value(self, view: RouterView, replica: ReplicaView, free: int, request: int) -> Any:
        loads = self._loads.copy()
        loads[replica.number] += self._own(view, request)
        imbalance = len(loads) * loads.max(axis=0) - loads.sum(axis=0)
        return int(imbalance.sum()), -free, replica.number

    def begun(self, view: RouterView, replica: ReplicaView, request: int) -> None:
        self._loads[replica.number] += self._own(view, request)
        end = replica.round + self._length(view.known, request)
        constant = view.known.prompt[request] - replica.round
        self._ends[replica.number][request] = end, constant

    def ended(self, replica: int, request: int) -> None:
        super().ended(replica, request)
        self._ends[replica].pop(request, None)
