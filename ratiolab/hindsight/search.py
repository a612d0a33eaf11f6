"""The best schedule and bound so far: what the stages of a solve share."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ratiolab.hindsight.bounds import Bound, best_lower_bound
from ratiolab.hindsight.certificates.certificate import (
    Certificate,
    FormulaCertificate,
    PriceCertificate,
)
from ratiolab.hindsight.memory import room
from ratiolab.hindsight.result import OptResult, Progress, Report, Stage
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model.feasibility import require_feasible
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

if TYPE_CHECKING:
    from ratiolab.hindsight.layers.windows import Windows


class Search:
    """The best schedule and bound so far, and what they cost.

    Parameters
    ----------
    options : ``time_limit``, ``node_limit``, ``memory_limit``, None for none; ``seed``, ``steps``.
    progress : called when a stage begins, when a bound or the schedule gets better, and every few
        tenths of a second while HiGHS runs.
    """

    def __init__(
        self, instance: Instance, options: Mapping[str, Any], progress: Report | None = None
    ) -> None:
        self.began = time.perf_counter()
        self.lock = threading.RLock()  # `ratiolab.hindsight.beside` offers schedules, too
        self.instance, self.options, self.progress = instance, options, progress
        self.nodes = 0
        self.interrupted = False
        self.stages: list[Stage] = []
        self.doing = "bounds"
        self.lower: Bound = best_lower_bound(instance)
        self.certificate: Certificate = FormulaCertificate(
            instance.name, instance.digest, self.lower.value, self.lower.source
        )
        self.prices: PriceCertificate | None = None
        self.windows: Windows | None = None
        self.schedule = require_feasible(best_list_schedule(instance))
        self._end_stage("")

    @property
    def upper(self) -> int:
        return self.schedule.total_latency

    @property
    def closed(self) -> bool:
        """Whether the schedule is proven optimal."""
        return self.upper == self.lower.value

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def time_left(self) -> float | None:
        limit = self.options["time_limit"]
        return None if limit is None else max(0.0, limit - self.seconds)

    @property
    def nodes_left(self) -> int | None:
        limit = self.options["node_limit"]
        return None if limit is None else max(0, limit - self.nodes)

    @property
    def room(self) -> int | None:
        """Bytes that arrays may take; None without a limit."""
        return room(self.options["memory_limit"])

    def share(self, part: float) -> float | None:
        """So much of the time that is left, seconds; None without a time limit."""
        left = self.time_left
        return None if left is None else part * left

    def until(self, part: float = 1.0) -> Callable[[], bool]:
        """What tells a stage that its part of the time now left is over."""
        seconds = self.share(part)
        if seconds is None:
            return lambda: False
        ends = time.perf_counter() + seconds
        return lambda: time.perf_counter() > ends

    def offer(self, schedule: Schedule) -> None:
        """Keep this schedule when it is better."""
        with self.lock:
            if schedule.total_latency < self.upper:
                self.schedule = require_feasible(schedule)
                self.tell()

    def raise_lower(self, value: int | None, source: str) -> None:
        """Keep this bound when it is better."""
        with self.lock:
            if value is not None and value > self.lower.value:
                self.lower = Bound(value, source)
                self.tell()

    def prove(self, certificate: Certificate, source: str) -> None:
        """Keep this certificate when it proves more, and its bound."""
        if certificate.bound > self.certificate.bound:
            self.certificate = certificate
        self.raise_lower(certificate.bound, source)

    def guide_by(self, prices: PriceCertificate | None) -> None:
        """Let these prices guide the searches to come; windows were proven under others."""
        self.prices, self.windows = prices, None

    def run(self, name: str, work: "Callable[[Search], str]") -> None:
        """Do a stage and write down what it left, also when Ctrl-C ends it."""
        self.doing = name
        note = ""
        self.tell()
        try:
            note = work(self)
        except KeyboardInterrupt:
            self.interrupted = True
        if self.interrupted:
            note = f"Ctrl-C in stage {name}"
        self._end_stage(note)

    def _end_stage(self, note: str) -> None:
        values = self.seconds, self.upper, self.lower.value, self.nodes
        self.stages.append(Stage(self.doing, *values, note))

    def result(self, note: str = "") -> OptResult:
        """What is known; the note of the last stage explains why no more is, or the one given."""
        lower, upper = self.lower, self.upper
        if lower.value > upper:
            raise AssertionError(f"{lower.source} claims {lower.value}, a schedule has {upper}")
        return OptResult(
            instance=self.instance,
            status="optimal" if self.closed else "bounded",
            schedule=self.schedule,
            upper=upper,
            lower=lower.value,
            lower_source=lower.source,
            nodes=self.nodes,
            seconds=self.seconds,
            options=self.options,
            stages=tuple(self.stages),
            note="" if self.closed else note or self.stages[-1].note,
            certificate=self.certificate,
            interrupted=self.interrupted,
        )

    def tell(self, nodes: int = 0, lower: int | None = None) -> None:
        """Tell of the search so far, and of nodes and a bound that are not in it yet.

        A program's incumbent stays out: it may defer requests, and only checked schedules count.
        """
        if self.progress is None:
            return
        with self.lock:
            best = max(self.lower.value, lower or 0)
            now = self.seconds, self.nodes + nodes, self.upper, best
            self.progress(Progress(*now, self.doing))
