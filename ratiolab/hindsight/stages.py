"""The stages of a solve: each improves the schedule, the bound, or both.

A stage takes the `Search`, works within its part of the time that is left and of the memory, and
returns what a reader should know of it: why it did nothing, or where it stopped.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.hindsight import memory
from ratiolab.hindsight.certificates.certificate import LayerCertificate, WindowCertificate
from ratiolab.hindsight.schedules.heuristics import FEW, improved_schedule
from ratiolab.hindsight.search import Search

if TYPE_CHECKING:
    from ratiolab.hindsight.layers.windows import Pass

MOST_REQUESTS = 400
"""Most requests for which a program is considered: windows cost O(n^2 log n)."""

LEAST_SEARCH = 0.001
"""A search that takes fewer seconds has nothing to search for, and does not go on."""

MOST_CERTIFIED = 10**7
"""States of a search that its certificate asks a checker to do again, in about 10 seconds."""


@dataclass(frozen=True)
class Orders:
    """A good schedule by the search over orders.

    ``rest`` goes on for what a time limit leaves, each search from the best schedule so far.
    """

    part: float
    rest: bool = False

    def __call__(self, search: Search) -> str:
        said, room, steps = search.stages[-1].note, search.room, search.options["steps"]
        if not steps or (self.rest and search.time_left is None):
            return said
        if room is not None and memory.order_bytes(search.instance) > room:
            return f"no search over orders: {memory.needs(memory.order_bytes(search.instance))}"
        rng = np.random.default_rng(search.options["seed"] + self.rest)
        stop, again = search.until(self.part), True
        while again:
            before = search.seconds
            improved_schedule(search.schedule, rng, steps, stop=stop, found=search.offer)
            again = self.rest and not stop() and search.seconds > before + LEAST_SEARCH
        return said


@dataclass(frozen=True)
class MemoryPrices:
    """The bound by prices of memory, also where cuts are out of reach."""

    part: float

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.relaxation.dual_bound import dual_bound

        if len(search.instance) <= FEW:
            return ""
        found = dual_bound(search.instance, search.upper, stop=search.until(self.part))
        search.prove(found, "lagrangian")
        return ""


@dataclass(frozen=True)
class Cuts:
    """The bound by configuration cuts, whose prices guide what follows; up to ``most`` requests."""

    rounds: int
    part: float
    most: int = MOST_REQUESTS

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.cuts.cut_bound import cut_bound, fits

        instance, horizon = search.instance, search.schedule.makespan
        if self.most < len(instance) <= MOST_REQUESTS:
            return f"no cuts yet: {len(instance)} requests, more than {self.most}"
        if len(instance) > MOST_REQUESTS or not fits(instance, horizon):
            return "no cuts: requests, memory or horizon are too many for configurations"
        needed = memory.cut_bytes(instance, horizon)
        if search.room is not None and needed > search.room:
            return f"no cuts: {memory.needs(needed)}"
        found = cut_bound(
            instance,
            horizon=horizon,
            rounds=self.rounds,
            time_limit=search.share(self.part),
            target=search.upper,
            progress=lambda now: search.raise_lower(now.lower, "configuration cuts"),
        )
        search.prove(found.certificate, "configuration cuts")
        if search.prices is None or found.lower >= search.prices.bound:
            search.guide_by(found.certificate)
        search.interrupted = found.stopped == "interrupted"
        return f"cuts ended: {found.stopped}"


@dataclass(frozen=True)
class WindowCosts:
    """What is still to come after each time, which raises the bound and guides the layers.

    Walks get wider until one leaves out nothing. ``most`` requests are worth their time.
    """

    widths: tuple[int, ...]
    part: float
    most: int

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.layers import windows

        instance, prices = search.instance, search.prices
        if len(instance) > self.most:
            return f"no windows: {len(instance)} requests, more than {self.most}"
        if instance.memory > windows.LARGEST_MEMORY:
            return f"no windows: memory {instance.memory}, more than {windows.LARGEST_MEMORY}"
        if prices is None:
            return "no windows: there are no prices of cuts to guide them"
        widest, stop = self.widths[-1], search.until(self.part)
        if search.room is not None:
            widest = min(widest, memory.window_width(instance, prices.prices, search.room))
        known = windows.NONE
        for width in (*(width for width in self.widths if width < widest), widest):
            if width < 1:
                return "no windows: the memory limit leaves no room for a layer"
            found = windows.window_pass(
                *(instance, prices.prices, search.upper),
                width=width,
                known=known,
                stop=stop,
                proved=lambda found: _prove_windows(search, found),
            )
            known = found.windows
            if search.closed or found.exact:
                return ""
            if stop():
                return f"windows stopped by the time limit, at {width} states a layer"
        return f"windows not exact: at most {widest} states a layer"


@dataclass(frozen=True)
class Layers:
    """The search layer by layer, guided by the prices of the cuts; exact when all states fit.

    ``most`` is the number of requests up to which it is worth its time.
    """

    width: int
    part: float
    most: int = 64

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.layers import beam, walk
        from ratiolab.hindsight.layers.windows import NONE

        instance, width = search.instance, self.width
        most = min(self.most, walk.MOST_REQUESTS)
        if len(instance) > most:
            return f"no layered search: {len(instance)} requests, more than {most}"
        if search.prices is None:
            return "no layered search: there are no prices of cuts to guide it"
        if search.room is not None:
            width = min(width, memory.layer_width(instance, search.schedule.makespan, search.room))
        if width < 1:
            return "no layered search: the memory limit leaves no room for a layer"
        stop = search.until(self.part)
        found = beam.widening_beam(
            instance,
            search.prices.prices,
            search.schedule,
            width=width,
            windows=search.windows or NONE,
            stop=stop,
            found=search.offer,
            proved=lambda result: _prove(search, result.lower, result.states),
        )
        search.raise_lower(found.lower, "layered search")
        if found.exhausted:
            return ""
        narrowed = f", narrowed from {self.width} by the memory limit" * (width < self.width)
        stopped = "stopped by the time limit" if stop() else "not exact"
        return f"layered search {stopped}: at most {width} states a layer{narrowed}"


def _prove(search: Search, bound: int, states: int) -> None:
    """Keep a bound of a layered search, with a certificate where a checker can search again."""
    prices = search.prices
    if prices is not None and bound > prices.bound and states <= MOST_CERTIFIED:
        named = prices.instance, prices.digest
        search.prove(LayerCertificate(*named, bound, prices.value, prices.prices), "layered search")
    search.raise_lower(bound, "layered search")


def _prove_windows(search: Search, found: "Pass") -> None:
    """Keep windows, and their bound with a certificate where a checker can search again."""
    prices = search.prices
    if prices is None:
        return
    search.windows = found.windows
    if found.lower > prices.bound and found.states <= MOST_CERTIFIED:
        named = prices.instance, prices.digest
        proven = found.windows.needed
        certificate = WindowCertificate(*named, found.lower, prices.value, prices.prices, proven)
        search.prove(certificate, "windows")
    search.raise_lower(found.lower, "windows")
