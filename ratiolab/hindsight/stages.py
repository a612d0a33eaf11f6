"""The stages of a solve: each improves the schedule, the bound, or both.

A stage takes the `Search`, works within its part of the time that is left and of the memory, and
returns what a reader should know of it: why it did nothing, or where it stopped.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.hindsight import memory
from ratiolab.hindsight.certificates.certificate import LayerCertificate, WindowCertificate
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.programs.timeindexed import build, size
from ratiolab.hindsight.schedules.heuristics import FEW, improved_schedule, serial_schedule
from ratiolab.hindsight.search import Search
from ratiolab.model.feasibility import require_feasible, violations
from ratiolab.model.schedule import Schedule

if TYPE_CHECKING:
    from ratiolab.hindsight.layers.windows import Pass

MOST_REQUESTS = 400
"""Most requests for which a program is considered: windows cost O(n^2 log n)."""

MOST_NONZEROS = 2_000_000
"""Largest program that is handed to a solver."""

AT_ONCE = A_SECOND = 20_000
"""Non-zeros that any time limit, and each second left of it, allow: presolve does not stop."""

TAIL = 0.1
"""First horizon beyond the last start of the known schedule, as a part of it."""

EASY_NONZEROS = 4_000
"""A program of this size is tried as it is, before cuts are looked for: nodes, and time."""

EASY_NODES, EASY_PART = 50, 0.2

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
            return f"no search over orders: {_needs(memory.order_bytes(search.instance))}"
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
            return f"no cuts: {_needs(needed)}"
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
        from ratiolab.hindsight.layers import beam

        instance, width = search.instance, self.width
        most = min(self.most, beam.MOST_REQUESTS)
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
            windows=search.windows,
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


@dataclass(frozen=True)
class IntegerProgram:
    """Tail relaxations of growing horizon, until one proves the optimum or a limit is met.

    ``easy`` tries only a small one, for a few nodes and a part of the time. Cuts that are known
    become rows, and columns that their bound excludes go.
    """

    easy: bool = False

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.cuts.strengthen import strengthen
        from ratiolab.hindsight.programs import highs

        instance = search.instance
        if len(instance) > MOST_REQUESTS:
            return _too_many(search)
        if search.nodes and search.nodes_left == 0:
            return "stopped before proof: node limit"
        last = last_starts(instance, search.upper)
        horizon = first_horizon(search.schedule)
        while True:
            entries = size(instance, last, horizon)
            if self.easy and entries > EASY_NONZEROS:
                return ""
            if refused := _too_large(search, entries):
                return refused
            program = build(instance, last, horizon)
            if search.prices is not None:
                program = strengthen(program, search.prices, search.upper)
            full = memory.Watch(search.options["memory_limit"])
            nodes = search.nodes_left
            if self.easy:
                nodes = EASY_NODES if nodes is None else min(EASY_NODES, nodes)
            outcome = highs.solve_program(
                program,
                start=program.counts(search.schedule.starts),
                time_limit=search.share(EASY_PART if self.easy else 1.0),
                node_limit=nodes,
                seed=search.options["seed"],
                progress=search.tell,
                stop=full,
            )
            search.nodes += outcome.nodes
            search.interrupted = outcome.interrupted
            search.raise_lower(outcome.lower, "HiGHS")
            if outcome.counts is not None:
                starts = program.starts(outcome.counts)
                literal = Schedule.from_starts(instance, starts)
                if violations(literal):
                    literal = serial_schedule(instance, np.argsort(starts, kind="stable"))
                search.offer(literal)
            if search.closed:
                return ""
            if not outcome.optimal:
                cause = "memory limit" if full.met else outcome.status
                return f"HiGHS stopped before proof: {cause}"
            if horizon >= last.max():  # nothing was deferred: only a solver's error leads here
                return "HiGHS's optimum failed the exact check"
            horizon += max(1, horizon // 2)


@dataclass(frozen=True)
class PulpProgram:
    """The full program; PuLP hands on no bound, so short of a proof ours is the only one."""

    solver: str

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.programs import pulp

        instance = search.instance
        if len(instance) > MOST_REQUESTS:
            return _too_many(search)
        last = last_starts(instance, search.upper)
        if refused := _too_large(search, size(instance, last, int(last.max()), merge=False)):
            return refused
        answer = pulp.solve_model(
            instance,
            last.tolist(),
            solver=self.solver,
            time_limit=search.time_left,
            seed=search.options["seed"],
        )
        if answer.schedule is not None:
            search.offer(require_feasible(answer.schedule))
            if answer.proven:
                search.raise_lower(answer.schedule.total_latency, f"{self.solver} through PuLP")
        return "" if answer.proven else f"{self.solver} stopped before proof: {answer.status}"


@dataclass(frozen=True)
class BruteForce:
    """Every vector of starts that could still be best."""

    def __call__(self, search: Search) -> str:
        from ratiolab.hindsight.bruteforce import brute_force

        search.offer(brute_force(search.instance))
        search.raise_lower(search.upper, "brute force")
        return ""


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


def first_horizon(known: Schedule) -> int:
    """Where the first tail relaxation ends: a little beyond the last start of a good schedule."""
    latest = int(known.starts.max())
    return latest + max(1, int(TAIL * latest))


def _too_many(search: Search) -> str:
    requests = f"{len(search.instance)} requests, more than {MOST_REQUESTS}"
    return f"no program: {requests}; bounds and heuristics only"


def _too_large(search: Search, entries: int) -> str:
    """Why a program of so many non-zeros is not built; empty when it is."""
    if entries > MOST_NONZEROS:
        return f"no program: {entries} non-zeros, more than {MOST_NONZEROS}"
    left = search.time_left
    if left is not None and entries > max(AT_ONCE, A_SECOND * left):
        return f"no program: {entries} non-zeros are too many for the {left:.1f} s that are left"
    if search.room is not None and entries > memory.program_entries(search.room):
        return f"no program: {_needs(entries * memory.NONZERO)}"
    return ""


def _needs(count: int) -> str:
    return f"about {count // memory.MEGABYTE} MB of arrays are more than the memory limit leaves"
