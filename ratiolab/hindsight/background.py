"""The background heuristic: a thread that looks for better schedules while the stages work.

Most of a solve is compiled code and HiGHS, which leave Python's lock to others. Each half of the
work gains by the other: stages need a good schedule to leave things out; the search for schedules
needs the duals of cuts, with which it crosses a whole population at once. With no time limit there
is no such thread, so that results are the same on every machine, and with a memory limit there is
none, as it would need its own share.
"""

import os
import threading
from types import TracebackType

from ratiolab.hindsight.cell_stage import delay_search, reason_against
from ratiolab.hindsight.schedules.heuristics import improved_schedule
from ratiolab.hindsight.state import Found, SolveState
from ratiolab.model import Schedule, stream

MEDIUM = 200
"""Most requests."""

LEAST_REQUESTS, LEAST_BESIDE_CELLS = 17, 10
"""With fewer, the first search leaves little to find: for labels, and for cells."""


class BackgroundHeuristic:
    """A context in which the thread runs; it ends within a few hundred steps."""

    def __init__(self, state: SolveState) -> None:
        self.state = state
        self.over = threading.Event()
        self.thread: threading.Thread | None = None
        options, size = state.options, len(state.instance)
        self.cells = not reason_against(state)
        least = LEAST_BESIDE_CELLS if self.cells else LEAST_REQUESTS
        if (
            options.threads > 1
            and options.time_limit is not None
            and options.steps
            and options.memory_limit is None
            and least <= size <= MEDIUM
        ):
            self.thread = threading.Thread(target=self._improve, daemon=True)

    def __enter__(self) -> None:
        if self.thread is not None:
            self.state.helped = True
            self.thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over.set()
        if self.thread is not None:
            self.thread.join()

    def _improve(self) -> None:
        state = self.state
        rng = stream(state.options.seed, "search", 2)
        if self.cells:
            delay_search(state, rng, self._ended)
            return
        from ratiolab.hindsight.search import SearchBeside  # compiled code: loaded when needed

        improved_schedule(state.schedule, rng, stop=self._ended, found=self._found)
        search = SearchBeside(state, rng, self._ended)
        while not self._ended():
            search.step()

    def _found(self, schedule: Schedule) -> None:
        self.state.keep(Found(schedule))

    def _ended(self) -> bool:
        return self.over.is_set() or self.state.closed or self.state.time_left == 0


def threads_here() -> int:
    """Return the number of threads of a solve: two where there are two cores."""
    return min(2, os.cpu_count() or 1)
