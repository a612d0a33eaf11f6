"""Good schedules of many requests: narrow beams find their settings, a wide one the schedule.

Prices of less memory, expected delays and the weight of idle memory do not transfer from one
workload to another: narrow beams try them, one change after the other from the best so far. The
winner is run as wide as time lasts, and the order that it finds is annealed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ratiolab.hindsight.scale import beam
from ratiolab.hindsight.scale.annealing import Cooling, annealed, schedule_of
from ratiolab.hindsight.scale.ascent import FloatArray, Problem, ascend, fluid_duals
from ratiolab.hindsight.scale.beam import Prepared, Setting, guide, prepare
from ratiolab.hindsight.scale.beam_state import Knobs
from ratiolab.model.footprint import IntArray
from ratiolab.model.schedule import Schedule

CANDIDATES, CHILDREN = 40, 20
"""Waiting requests that a state tries to start, and the best of them that it keeps."""

AHEAD, FARTHEST = 6, 64
"""Arrivals ahead that count as waiting, about, and rounds at most: more would crowd out others."""

STEPS = 200
"""Steps of the ascent to the prices of a beam."""

SEARCH, MEDIUM, WIDEN = 0.25, 0.42, 0.85
"""Parts of the time after which narrow beams, wider ones and the widest end."""

NARROW = 0.02
"""Part of the time that a narrow beam may take, about."""

HOT, COLD = 0.05, 0.005
"""First and last temperature of the annealing, in mean latencies."""

WIDEST = 4_000
"""Most states of a bucket and generation."""

FIXED = 2_400
"""Requests times width of narrow beams without a time limit."""

SLICES = 60
"""Parts of an annealing without a time limit."""


@dataclass(frozen=True)
class Choice:
    """Settings of a beam that do not depend on the units of an instance.

    Parameters
    ----------
    memory : part of memory whose prices guide the beam.
    weight : of idle memory.
    delay : rounds by which a request is expected to start late, in mean outputs.
    size_delay : the same for each 4,000 tokens of prompt, in mean latencies.
    horizon, bucket : in mean outputs.
    """

    memory: float = 0.97
    weight: float = 0.6
    delay: float = 0.15
    size_delay: float = 0.5
    horizon: float = 0.1
    bucket: float = 0.04


CHANGES: tuple[dict[str, float], ...] = (
    {"memory": 0.95},
    {"size_delay": 0.2},
    {"memory": 0.99},
    {"memory": 0.9},
    {"memory": 0.85},
    {"delay": 0.6},
    {"size_delay": 1.0},
    {"weight": 0.4},
    {"memory": 0.93},
    {"delay": 0.05},
    {"weight": 0.8},
    {"horizon": 0.2},
    {"size_delay": 0.35},
    {"memory": 0.96},
    {"horizon": 0.05},
    {"memory": 0.975},
    {"delay": 0.3},
    {"memory": 0.94},
    {"weight": 0.5},
    {"size_delay": 0.7},
)
"""What narrow beams try, each from the best choice so far."""


@dataclass
class Portfolio:
    """The best order found so far, and the clock.

    Parameters
    ----------
    known : a schedule to begin with.
    found : is told of better schedules; stop : ends all early.
    seconds : for all; without them effort is fixed, and so is what is found.
    widest : most states of a bucket and generation.
    """

    known: Schedule
    found: Callable[[Schedule], None]
    stop: Callable[[], bool] = lambda: False
    seconds: float | None = None
    seed: int = 0
    widest: int | None = None

    def __post_init__(self) -> None:
        self.began = time.perf_counter()
        self.instance = self.known.instance
        self.prepared: Prepared = prepare(self.instance, self.seed)
        self.prices: dict[float, tuple[int, FloatArray]] = {}
        self.order: IntArray = np.lexsort((self.instance.volume, self.known.starts))
        self.total = schedule_of(self.instance, self.order).total_latency
        self.tried: dict[Choice, int] = {}
        gap = float(np.ptp(self.instance.arrival)) / len(self.instance)
        self.ahead = int(np.clip(AHEAD * gap, 1, FARTHEST))
        self.output = float(self.instance.output.mean())
        self.latency = 0.75 * self.known.total_latency / len(self.instance)
        self.pace, self.fixed = 1.0, np.inf  # seconds that beams took: a width, and whatever width
        self.widest_tried = 0

    def used(self) -> float:
        """Return the part of the time that is used; 1 when stopped."""
        if self.stop():
            return 1.0
        if self.seconds is None:
            return 0.0
        return min(1.0, (time.perf_counter() - self.began) / self.seconds)

    def run(self) -> None:
        """Search settings, widen the best, and anneal what it found."""
        width, began = 1, time.perf_counter()
        self.attempt(Choice(), width, until=0.75)
        first = time.perf_counter() - began
        changes, few = CHANGES, max(1, FIXED // len(self.instance))
        width = self.width_in(NARROW, 12) if self.seconds else few
        if self.seconds is None:
            changes = CHANGES[: 2 * few]
        if width > 1:
            self.attempt(Choice(), width, until=0.9)
        for change in changes:
            if self.seconds and self.used() + (first + width * self.pace) / self.seconds > SEARCH:
                break
            self.attempt(replace(self.best_choice, **change), width, until=WIDEN)
        if self.seconds:
            self.widen(3, self.width_in((MEDIUM - self.used()) / 3), MEDIUM)
            self.widen(1, self.width_in(WIDEN - self.used()), WIDEN)
        else:
            self.widen(1, 5 * few, WIDEN)
        if self.used() < 1:
            heat = self.total / len(self.instance)
            cooling, slices = Cooling(HOT * heat, COLD * heat), count()
            part = self.used if self.seconds else lambda: max(self.used(), next(slices) / SLICES)
            annealed(self.instance, self.order, cooling, part, self.found, self.seed)

    def width_in(self, part: float, most: int = WIDEST) -> int:
        """Return how wide a beam may be that takes this part of the time."""
        return int(np.clip(part * (self.seconds or 0) / self.pace, 1, most))

    def widen(self, most: int, width: int, until: float) -> None:
        """Run wider beams with the best choices so far, as they did at the width before."""
        ranked = sorted(self.tried, key=lambda choice: self.tried[choice])[:most]
        if width > self.widest_tried:
            self.tried.clear()
            for place, choice in enumerate(ranked, 1):
                now = self.used()
                self.attempt(choice, width, now + (until - now) / (len(ranked) - place + 1))

    @property
    def best_choice(self) -> Choice:
        """Return the choice that did best at the width tried last."""
        return min(self.tried, key=lambda choice: self.tried[choice], default=Choice())

    def prices_of(self, part: float) -> tuple[int, FloatArray]:
        """Return bucket width and prices of a part of memory."""
        if part not in self.prices:
            room = part * self.instance.memory
            fluid, width = fluid_duals(self.instance, room)
            problem = Problem.of(self.instance, room)
            seconds = None if self.seconds is None else 0.03 * self.seconds
            duals, _ = ascend(problem, fluid[None, :], width, STEPS, seconds)
            self.prices[part] = width, duals[0]
        return self.prices[part]

    def attempt(self, choice: Choice, width: int, until: float) -> None:
        """Run a beam, and keep and tell what it finds when that is better."""
        width = min(width, self.widest or WIDEST)
        bucket_width, prices = self.prices_of(choice.memory)
        setting = Setting(
            choice.weight,
            choice.delay * self.output,
            choice.size_delay * self.latency,
            max(1, round(choice.horizon * self.output)),
            max(1, round(choice.bucket * self.output)),
        )
        room = choice.memory * self.instance.memory
        guided = guide(self.prepared, prices, bucket_width, room, setting)
        knobs = Knobs(setting.bucket, CANDIDATES, CHILDREN, self.ahead)
        start, began = self.used(), time.perf_counter()

        def left() -> float:
            """Return the part that is left of the time for this beam."""
            return 1 - (self.used() - start) / (until - start) if until > start else 0.0

        order = beam.run(self.prepared, guided, knobs, width, 2 * len(guided[1].sums), left)
        took = time.perf_counter() - began
        self.fixed = min(self.fixed, took if width == 1 else self.fixed)
        self.pace = max(1e-4, took if width == 1 else (took - 0.8 * self.fixed) / width)
        self.widest_tried = width
        if order is None:
            return
        schedule = schedule_of(self.instance, order)
        self.tried[choice] = total = schedule.total_latency
        if total < self.total:
            self.total, self.order = total, order
            self.found(schedule)
