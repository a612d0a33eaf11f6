"""Good schedules of many requests: narrow beams find their settings, a wide one the schedule.

Which part of memory prices should be of is found by its effect: schedules leave some memory idle,
and prices are right when they are of as much as the schedule uses that they lead to. Expected
delays, the weight of idle memory and the rest are given in units of the instance, and narrow beams
try changes, one after the other from the best so far. The best are run wider, the winner as wide as
time lasts, and the best order of all is annealed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.relaxation.ascent import FloatArray, Problem, ascend, fluid_duals
from ratiolab.hindsight.scale import beam
from ratiolab.hindsight.scale.beam import Prepared, Setting, guide, prepare
from ratiolab.hindsight.scale.beam_state import Knobs
from ratiolab.hindsight.scale.choices import CHANGES, LEAST_MEMORY, Choice, changed
from ratiolab.hindsight.schedules.annealing import annealed, schedule_of
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

SEARCH_PARAMS = SearchParams()

CANDIDATES = 20
"""Waiting requests that a state tries to start."""

AHEAD = 6
"""Arrivals ahead that count as waiting, about: a state must not start a large request for want of
others, and more arrivals would crowd out those who wait."""

STEPS = 200
"""Steps of the ascent to the prices of a beam."""

PRICING = 0.025
"""Part of the time that an ascent may take."""

SEARCH, MEDIUM, WIDEN = 0.25, 0.45, 0.78
"""Parts of the time after which narrow beams, wider ones and the widest end."""

NARROW = 0.015
"""Part of the time that a narrow beam may take, about."""

FINALISTS = 3
"""Choices that are tried by wider beams."""

HOTTER, COLDER = 0.2, 0.01
"""First and last temperature of an annealing with much time, in mean latencies."""

WIDEST = 4_000
"""Most states of a bucket and generation."""

FIXED = 2_400
"""Requests times width of narrow beams without a time limit."""

MARGIN, NEAR = 0.005, 0.004
"""How much less memory than its schedule uses should guide a beam, and how near is near enough."""


@dataclass
class Portfolio:
    """The best order found so far, and the clock.

    Parameters
    ----------
    known : a schedule to begin with.
    found : is told of better schedules; stop : ends all early.
    seconds : for all; without them effort is fixed, and so is what is found.
    widest : most states of a bucket and generation.
    easy : total latency of a simple schedule, which beams must come up to; the known one's if None.
    """

    known: Schedule
    found: Callable[[Schedule], None]
    stop: Callable[[], bool] = lambda: False
    seconds: float | None = None
    seed: int = 0
    widest: int | None = None
    easy: int | None = None

    def __post_init__(self) -> None:
        self.began = time.perf_counter()
        self.instance = self.known.instance
        self.prepared: Prepared = prepare(self.instance, self.seed)
        self.prices: dict[float, tuple[int, FloatArray]] = {}
        self.order: IntArray = np.lexsort((self.instance.volume, self.known.starts))
        self.total = schedule_of(self.instance, self.order).total_latency
        self.tried: dict[Choice, int] = {}
        gap = float(np.ptp(self.instance.arrival)) / len(self.instance)
        self.ahead = int(max(1, min(AHEAD * gap, 4 * self.instance.output.mean())))
        self.output = float(self.instance.output.mean())
        self.prompt = max(1.0, float(self.instance.prompt.mean()))
        self.latency = 0.75 * self.known.total_latency / len(self.instance)
        self.expansion = 1e-5  # seconds of one
        self.expansions = 1.0  # of a beam, divided by its width
        self.widest_tried = 0

    def used(self) -> float:
        """Return the part of the time that is used; 1 when stopped."""
        if self.stop():
            return 1.0
        if self.seconds is None:
            return 0.0
        return min(1.0, (time.perf_counter() - self.began) / self.seconds)

    def run(self) -> bool:
        """Search settings, widen the best, and anneal what it found; tell whether that is worth it.

        It is not when no narrow beam comes up to a simple schedule: prompts are so small
        that what counts is how requests grow, and prices say nothing of who should grow together.
        """
        if self.seconds and self.used() < 1:
            compile_beams()
        began = time.perf_counter()
        self.attempt(Choice(), 1, until=0.75)
        first = time.perf_counter() - began
        changes, few = CHANGES, max(1, FIXED // len(self.instance))
        width = self.width_in(NARROW, 16) if self.seconds else few
        if self.seconds is None:
            changes = CHANGES[: 2 * few]
        if width > 1:
            self.tried.clear()
            self.calibrate(width)
        for change in changes:
            if (
                self.seconds
                and self.used() + (first + self.seconds_of(width)) / self.seconds > SEARCH
            ):
                break
            choice = changed(self.best_choice, change)
            if choice not in self.tried:
                self.attempt(choice, width, until=WIDEN)
        easy = self.known.total_latency if self.easy is None else self.easy
        if min(self.tried.values(), default=easy) > easy:
            return False
        if self.seconds:
            part = (MEDIUM - self.used()) / FINALISTS
            self.widen(FINALISTS, self.width_in(part), MEDIUM)
            self.widen(1, self.width_in(WIDEN - self.used()), WIDEN)
        else:
            self.widen(1, 5 * few, WIDEN)
        if self.used() < 1:
            annealed(
                *(self.instance, self.order, (SEARCH_PARAMS.hot, SEARCH_PARAMS.cold)),
                *(self.used, self.found, self.seed),
                None if self.seconds else SEARCH_PARAMS.moves,
            )
        return True

    def calibrate(self, width: int) -> None:
        """Try parts of memory until the beam's schedule uses about as much as its prices expect.

        Prices of more memory than schedules use are too low, and those of less memory leave some
        idle. What counts is use at times that have a price.
        """
        choice = Choice()
        for _ in range(4):
            used = self.attempt(choice, width, until=WIDEN)
            wanted = round(float(np.clip(used - MARGIN, LEAST_MEMORY, 0.99)), 3)
            if abs(wanted - choice.memory) < NEAR or replace(choice, memory=wanted) in self.tried:
                return
            choice = replace(choice, memory=wanted)

    def width_in(self, part: float, most: int = WIDEST) -> int:
        """Return how wide a beam may be that takes this part of the time."""
        seconds = part * (self.seconds or 0)
        return int(np.clip(seconds / self.seconds_of(1), 1, most))

    def seconds_of(self, width: int) -> float:
        """Return how long a beam takes, about."""
        return width * self.expansion * self.expansions

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
            seconds = None if self.seconds is None else PRICING * self.seconds
            duals, _ = ascend(problem, fluid[None, :], width, STEPS, seconds)
            self.prices[part] = width, duals[0]
        return self.prices[part]

    def attempt(self, choice: Choice, width: int, until: float) -> float:
        """Run a beam, keep and tell what it finds when that is better; return its priced use."""
        if self.used() >= 1:
            return choice.memory
        width = min(width, self.widest or WIDEST)
        bucket_width, prices = self.prices_of(choice.memory)
        setting = Setting(
            choice.weight,
            choice.delay * self.output,
            choice.size_delay * self.latency * 4000 / self.prompt,
            max(1, round(choice.horizon * self.output)),
            max(1, round(choice.bucket * self.output)),
        )
        room = choice.memory * self.instance.memory
        guided = guide(self.prepared, prices, bucket_width, room, setting)
        knobs = Knobs(setting.bucket, CANDIDATES, choice.children, self.ahead)
        start, began = self.used(), time.perf_counter()

        def left() -> float:
            """Return the part that is left of the time for this beam; -1 when all time is over."""
            used = self.used()
            if used >= 1:
                return -1.0
            return 1 - (used - start) / (until - start) if until > start else 0.0

        horizon = 2 * len(guided[1].sums)
        order, expanded = beam.run(self.prepared, guided, knobs, width, horizon, left)
        self.expansion = (time.perf_counter() - began) / max(1, expanded)
        self.expansions = max(self.expansions, expanded / width)
        self.widest_tried = width
        if order is None:
            return choice.memory
        schedule = schedule_of(self.instance, order)
        self.tried[choice] = total = schedule.total_latency
        if total < self.total:
            self.total, self.order = total, order
            self.found(schedule)
        return priced_use(schedule, prices, bucket_width)


def hot_search(
    known: Schedule, part: Callable[[], float], found: Callable[[Schedule], None], seed: int
) -> None:
    """Anneal a schedule from a heat at which it changes much, while others run wide beams.

    Parameters are those of `ratiolab.hindsight.schedules.annealing.annealed`.
    """
    order = np.lexsort((known.instance.volume, known.starts))
    annealed(known.instance, order, (HOTTER, COLDER), part, found, seed)


def compile_beams() -> None:
    """Compile what beams run, once: their speed must not be measured as that of the compiler.

    In a fresh installation that takes longer than many a beam, and all later ones would be narrow.
    """
    two = Instance("two requests", 9, [0, 1], [1, 2], [2, 3])
    Portfolio(Schedule.from_starts(two, [0, 1]), lambda _: None).attempt(Choice(), 1, until=1)


def priced_use(schedule: Schedule, prices: FloatArray, width: int) -> float:
    """Return the part of memory that a schedule uses, each time weighed by its price.

    Parameters
    ----------
    prices : of buckets of ``width`` times from the first arrival on.
    """
    begin = int(schedule.instance.arrival.min()) + 1
    use = schedule.usage()[begin : begin + len(prices) * width]
    price = np.repeat(prices, width)[: len(use)]
    paid = schedule.instance.memory * float(price.sum())
    return float(price @ use) / paid if paid else 1.0
