"""The stage of a solve for more requests than a program takes: schedules and bounds at once."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ratiolab.hindsight import memory
from ratiolab.hindsight.schedules.heuristics import improved_schedule
from ratiolab.hindsight.stages import MOST_REQUESTS, find_growth_bounds
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model import Schedule, stream

ALONE = 0.6
"""Part of the time that schedules get when bounds have to wait for them."""

REST = 0.1
"""Part of the time that must be left, when no ascent gets higher, for another search."""

Left: TypeAlias = Callable[[], float | None]

OVER = 1e-6
"""Seconds that are left when none are."""


@dataclass(frozen=True)
class ManyRequests:
    """Beams guided by duals, and the bound by growth rows: each in a thread of its own, if any."""

    part: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        instance, options = state.instance, state.options
        widest, budget = None, state.memory_budget
        if budget is not None:
            widest = memory.beam_width(instance, budget)
            if widest < 1:
                return Found(note="no beam: the memory limit leaves no room for one")
        seconds = state.share(self.part)
        over = threading.Event()

        def schedules(left: Left) -> None:
            from ratiolab.hindsight.scale.portfolio import Portfolio

            def found(schedule: Schedule) -> None:
                call.found(Found(schedule))

            seconds, known = left(), state.schedule
            easy = state.stages[0].upper
            search = Portfolio(known, found, over.is_set, seconds, options.seed, widest, easy)
            if not search.run():
                _orders(state, found, lambda: over.is_set() or left() == OVER)

        def bounds(left: Left) -> None:
            find_growth_bounds(instance, left(), call)

        def bounds_and_more(left: Left) -> None:
            bounds(left)
            rest = left()
            if seconds is not None and rest is not None and rest > REST * seconds:
                from ratiolab.hindsight.scale.portfolio import hot_search

                def part() -> float:
                    now = left()
                    return 1.0 if over.is_set() or now is None or now == OVER else 1 - now / rest

                hot_search(state.schedule, part, lambda s: call.found(Found(s)), options.seed + 1)

        if seconds is None or options.threads < 2 or budget is not None:
            schedules(_left(None if seconds is None else ALONE * seconds))
            bounds(_left(state.share(self.part)))
        else:
            here = _left(seconds)  # a thread counts for itself: its clock may be its own
            _beside(lambda: schedules(_left(seconds)), lambda: bounds_and_more(here), over)
        return Found(note=f"no program: {len(instance)} requests, more than {MOST_REQUESTS}")


def _left(seconds: float | None) -> Left:
    """Return a function that tells how many of these seconds, which begin now, are left, if any.

    Everything after the call counts, also the start of a thread and the import of compiled code.
    """
    began = time.perf_counter()
    return lambda: None if seconds is None else max(OVER, seconds - time.perf_counter() + began)


def _orders(state: SolveState, found: Callable[[Schedule], None], stop: Callable[[], bool]) -> None:
    """Anneal priority lists instead: again and again, or twice without a time limit."""
    options, number, budget = state.options, 0, state.memory_budget
    if not options.steps or (budget is not None and memory.order_bytes(state.instance) > budget):
        return
    while not stop() and (number < 2 or state.time_left is not None):
        rng = stream(options.seed, "search", number)
        improved_schedule(state.schedule, rng, options.steps, stop=stop, found=found)
        number += 1


def _beside(one: Callable[[], None], other: Callable[[], None], over: threading.Event) -> None:
    """Run one in a thread while the other runs here; what either raises is raised."""
    failed: list[BaseException] = []

    def guarded() -> None:
        try:
            one()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    try:
        other()
        while thread.is_alive():
            thread.join(0.1)
    finally:
        over.set()
        thread.join()
    if failed:
        raise failed[0]
