"""Good schedules of many requests: narrow beams find a capacity, a wide one the schedule.

The prices of a beam are computed for a reduced capacity. It is calibrated to equal the capacity
that the resulting schedule uses, as schedules leave some memory idle. The best capacity is run as
wide as time allows, and annealing improves the schedule.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight.params import BeamParams, SearchParams
from ratiolab.hindsight.relaxation.ascent import FloatArray, Problem, ascend, fluid_duals
from ratiolab.hindsight.scale import beam
from ratiolab.hindsight.scale.beam import Prepared, Setting, guide, prepare
from ratiolab.hindsight.scale.beam_state import Knobs
from ratiolab.hindsight.schedules.annealing import annealed, schedule_of
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

PARAMS, SEARCH = BeamParams(), SearchParams()

CALIBRATIONS = 4
"""Most beams that look for the capacity of prices."""

NARROW, WIDE = 0.25, 0.78
"""Parts of the time after which the narrow beams end, and the wide one. Annealing has the rest."""

HOTTER, COLDER = 0.2, 0.01
"""First and last temperature of an annealing with much time, in mean latencies."""


@dataclass
class Portfolio:
    """The best order found so far, and the clock.

    Parameters
    ----------
    known : a schedule to begin with.
    found : receives better schedules.
    stop : ends all early.
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
        self.tried: dict[float, int] = {}  # latencies by capacity
        gap = float(np.ptp(self.instance.arrival)) / len(self.instance)
        self.ahead = int(max(1, min(PARAMS.ahead * gap, 4 * self.instance.output.mean())))
        output, prompt = float(self.instance.output.mean()), float(self.instance.prompt.mean())
        latency = 0.75 * self.known.total_latency / len(self.instance)
        self.setting = Setting(
            PARAMS.idle_weight,
            PARAMS.delay * output,
            PARAMS.size_delay * latency * 4000 / max(1.0, prompt),
            max(1, round(PARAMS.horizon * output)),
            max(1, round(PARAMS.bucket * output)),
        )
        self.expansion = 1e-5  # seconds of one
        self.expansions = 1.0  # of a beam, divided by its width

    def used(self) -> float:
        """Return the part of the time that is used; 1 when stopped."""
        if self.stop():
            return 1.0
        if self.seconds is None:
            return 0.0
        return min(1.0, (time.perf_counter() - self.began) / self.seconds)

    def run(self) -> bool:
        """Calibrate, run a beam as wide as time allows, and anneal; return whether that pays.

        It does not when no narrow beam comes up to a simple schedule: prompts are so small
        that the growth of requests counts, and prices do not tell which should grow together.
        """
        if self.seconds and self.used() < 1:
            compile_beams()
        self.attempt(PARAMS.capacity, 1, NARROW)
        few = max(1, PARAMS.fixed_effort // len(self.instance))
        part = (NARROW - self.used()) / CALIBRATIONS
        width = self.width_in(part) if self.seconds else few
        if width > 1:
            self.tried.clear()
            self.calibrate(width)
        easy = self.known.total_latency if self.easy is None else self.easy
        if min(self.tried.values(), default=easy) > easy:
            return False
        wider = self.width_in(WIDE - self.used()) if self.seconds else 5 * few
        if wider > width:
            best = min(self.tried, key=self.tried.__getitem__, default=PARAMS.capacity)
            self.attempt(best, wider, WIDE)
        if self.used() < 1:
            annealed(
                *(self.instance, self.order, (SEARCH.hot, SEARCH.cold), self.used, self.found),
                *(self.seed, None if self.seconds else SEARCH.moves),
            )
        return True

    def calibrate(self, width: int) -> None:
        """Try capacities until the beam's schedule uses about as much as its prices expect.

        Prices of more memory than schedules use are too low, and those of less memory leave some
        idle. Use counts at times that have a price.
        """
        capacity = PARAMS.capacity
        for _ in range(CALIBRATIONS):
            used = self.attempt(capacity, width, NARROW)
            wanted = round(float(np.clip(used - PARAMS.margin, 0.5, 1)), 3)
            if abs(wanted - capacity) < PARAMS.margin:
                return
            capacity = wanted

    def width_in(self, part: float) -> int:
        """Return how wide a beam may be that takes this part of the time."""
        assert self.seconds
        seconds = self.expansion * self.expansions  # of a beam of width 1
        return int(np.clip(part * self.seconds / seconds, 1, PARAMS.width))

    def prices_of(self, part: float) -> tuple[int, FloatArray]:
        """Return bucket width and prices of a part of memory."""
        if part not in self.prices:
            room = part * self.instance.memory
            fluid, width = fluid_duals(self.instance, room, PARAMS.buckets)
            problem = Problem.of(self.instance, room)
            seconds = None if self.seconds is None else PARAMS.pricing * self.seconds
            duals, _ = ascend(problem, fluid[None, :], width, PARAMS.price_steps, seconds)
            self.prices[part] = width, duals[0]
        return self.prices[part]

    def attempt(self, capacity: float, width: int, until: float) -> float:
        """Run a beam, keep and tell what it finds when that is better; return its priced use."""
        if self.used() >= 1:
            return capacity
        width = min(width, self.widest or PARAMS.width)
        bucket_width, prices = self.prices_of(capacity)
        room = capacity * self.instance.memory
        guided = guide(self.prepared, prices, bucket_width, room, self.setting)
        knobs = Knobs(self.setting.bucket, PARAMS.candidates, PARAMS.children, self.ahead)
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
        if order is None:
            return capacity
        schedule = schedule_of(self.instance, order)
        self.tried[capacity] = total = schedule.total_latency
        if total < self.total:
            self.total, self.order = total, order
            self.found(schedule)
        return priced_use(schedule, prices, bucket_width)


def hot_search(
    known: Schedule, part: Callable[[], float], found: Callable[[Schedule], None], seed: int
) -> None:
    """Anneal a schedule from a heat at which it changes much, while others run wide beams."""
    order = np.lexsort((known.instance.volume, known.starts))
    annealed(known.instance, order, (HOTTER, COLDER), part, found, seed)


def compile_beams() -> None:
    """Compile what beams run, once: their speed must not be measured as that of the compiler.

    In a fresh installation that takes longer than many a beam, and all later ones would be narrow.
    """
    two = Instance("two requests", 9, [0, 1], [1, 2], [2, 3])
    Portfolio(Schedule.from_starts(two, [0, 1]), lambda _: None).attempt(PARAMS.capacity, 1, 1)


def priced_use(schedule: Schedule, prices: FloatArray, width: int) -> float:
    """Return the part of memory that a schedule uses, each time weighed by its price."""
    begin = int(schedule.instance.arrival.min()) + 1
    use = schedule.usage()[begin : begin + len(prices) * width]
    price = np.repeat(prices, width)[: len(use)]
    paid = schedule.instance.memory * float(price.sum())
    return float(price @ use) / paid if paid else 1.0
