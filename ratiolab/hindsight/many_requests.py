"""The stage of a solve for more requests than a program takes: schedules and bounds at once."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.stages import MOST_REQUESTS
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model.schedule import Schedule

ALONE = 0.6
"""Part of the time that schedules get when bounds have to wait for them."""


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

        def schedules(seconds: float | None) -> None:
            from ratiolab.hindsight.scale.portfolio import Portfolio

            def found(schedule: Schedule) -> None:
                call.found(Found(schedule))

            Portfolio(state.schedule, found, over.is_set, seconds, options.seed, widest).run()

        def bounds(seconds: float | None) -> None:
            from ratiolab.hindsight.scale.growth import growth_bounds

            for proof in growth_bounds(instance, seconds):
                bound = LowerBound(proof.bound, "growth rows")
                call.found(Found(bound=bound, certificate=proof))

        if seconds is None or options.threads < 2 or budget is not None:
            schedules(None if seconds is None else ALONE * seconds)
            bounds(state.share(self.part))
        else:
            _beside(lambda: schedules(seconds), lambda: bounds(seconds), over)
        return Found(note=f"no program: {len(instance)} requests, more than {MOST_REQUESTS}")


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
