"""Late binding: one queue before all replicas."""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, ClassVar

from numpy.random import Generator

from ratiolab.online.forecast import Forecast
from ratiolab.online.policy import Policy
from ratiolab.online.router import FleetSetting, ReplicaView, Route, Router, RouterView, Routing
from ratiolab.online.view import NEVER, Information


@dataclass(frozen=True)
class Central(Router):
    """One queue in the order of the policy; its head starts where most memory is free, or waits.

    The head starts on a replica that would start it at once, by the test of the policy: it fits for
    good if the policy plans memory with a length, else it fits in the next round. While a replica
    has a queue of its own, of evicted requests, it gets no other.
    """

    name: ClassVar[str] = "central"
    source: ClassVar[str] = "late binding: one queue for all servers"
    late: ClassVar[bool] = True

    def information(self, policy: Policy) -> Information:
        return policy.information

    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        return CentralQueue(setting)


class CentralQueue:
    """One run of a central queue."""

    def __init__(self, setting: FleetSetting) -> None:
        self.shared = setting.policy.shared(max(setting.memories), setting.clock)
        self.heap: list[tuple[Any, int]] = []
        self.forecasts = [Forecast(memory) for memory in setting.memories]

    def __call__(self, view: RouterView) -> Routing:
        shared = self.shared
        for i in view.arrived:
            heappush(self.heap, (shared.key(view.known, i), i))
        for number, i in view.completed:
            self.ended(number, i)
        self.look(view)
        given: list[tuple[int, int]] = []
        wake = NEVER
        free = [replica.memory - replica.tokens for replica in view.replicas]
        usable = [replica.number for replica in view.replicas if not replica.waiting]
        running = [len(replica.running) for replica in view.replicas]
        while self.heap:
            i = self.heap[0][1]
            prompt = view.known.prompt[i]
            length = None if shared.length is None else shared.length(view.known, i)
            best: tuple[Any, int] | None = None
            later = NEVER
            for number in usable:
                replica = view.replicas[number]
                if running[number] >= shared.most:
                    continue
                if free[number] <= prompt and running[number]:
                    continue
                if length is not None and running[number]:
                    start = self.forecasts[number].earliest(prompt, length, replica.round)
                    if start > replica.round:
                        if start < NEVER:
                            later = min(later, replica.when(start))
                        continue
                if replica.time > view.now:  # it decides at its next boundary
                    later = min(later, replica.time)
                    continue
                value = self.value(view, replica, free[number], i)
                if best is None or value < best[0]:
                    best = value, number
            if best is None:
                wake = later
                break
            heappop(self.heap)
            number = best[1]
            free[number] -= prompt + 1
            running[number] += 1
            if length is not None:
                start = view.replicas[number].round
                self.forecasts[number].add(i, prompt, start, max(1, length))
            self.begun(view, view.replicas[number], i)
            given.append((i, number))
        return Routing(given, wake)

    def look(self, view: RouterView) -> None:
        """Look at the replicas before the first request is placed."""

    def value(self, view: RouterView, replica: ReplicaView, free: int, request: int) -> Any:
        """Return the value of a replica that can start a request; the least is taken."""
        return -free, replica.number

    def begun(self, view: RouterView, replica: ReplicaView, request: int) -> None:
        """Note that a request is placed."""

    def ended(self, replica: int, request: int) -> None:
        """Note that a request has completed."""
        if request in self.forecasts[replica]:
            self.forecasts[replica].remove(request)
