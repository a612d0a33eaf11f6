"""The state of a solve: the best schedule and bound so far, and the limits that are left."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ratiolab.hindsight.bounds import LowerBound, best_lower_bound
from ratiolab.hindsight.certificates.certificate import (
    Certificate,
    DualCertificate,
    FormulaCertificate,
    PathCertificate,
)
from ratiolab.hindsight.memory import budget
from ratiolab.hindsight.params import DEFAULT, SolveParams
from ratiolab.hindsight.result import OptResult, Report, SolveOptions, Solving
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.instance import LARGEST
from ratiolab.model.interrupts import heard


@dataclass(frozen=True)
class Found:
    """Findings of a stage; a `SolveState` keeps what is better than what it has.

    Parameters
    ----------
    schedule : a feasible schedule.
    bound : a proven lower bound.
    certificate : a proof of it that can be checked.
    duals : duals that guide the stages to come.
    nodes : nodes of a search tree.
    note : why the stage did nothing, or where it stopped.
    interrupted : whether Ctrl-C ended the stage.
    """

    schedule: Schedule | None = None
    bound: LowerBound | None = None
    certificate: Certificate | None = None
    duals: DualCertificate | None = None
    nodes: int = 0
    note: str = ""
    interrupted: bool = False


class Callbacks(NamedTuple):
    """Callbacks of a running stage.

    ``found`` keeps findings at once, so that Ctrl-C does not lose them; ``progress`` only shows
    nodes and a bound. A program's incumbent stays out: it may defer requests, and only checked
    schedules count.
    """

    found: Callable[[Found], None]
    progress: Callable[[int, int | None], None]


class SolveState(Solving):
    """The best schedule and bound so far, and their cost; stages read it and never write it.

    Parameters
    ----------
    progress : called when a stage begins, when a bound or the schedule gets better, and every few
        tenths of a second while HiGHS runs.

    Attributes
    ----------
    helped : whether `ratiolab.hindsight.search` looks for schedules.
    duals : duals that guide the stages to come.
    walked : a proof by labelling with the same duals, from which labelling goes on.
    """

    def __init__(
        self,
        instance: Instance,
        options: SolveOptions,
        progress: Report | None = None,
        params: SolveParams = DEFAULT,
    ) -> None:
        super().__init__(options, progress, lambda: (self.lower.value, self.upper))
        self.instance, self.params, self.helped = instance, params, False
        if (last := int(instance.arrival.max())) > LARGEST:
            raise ValueError(
                f"{instance.name}: a solver looks at rounds up to {LARGEST}, not at the arrival "
                f"{last}: take longer ticks, or fewer requests"
            )
        self.lower: LowerBound = best_lower_bound(instance)
        self.certificate: Certificate = FormulaCertificate(
            instance.name, instance.digest, self.lower.value, self.lower.source
        )
        self.duals: DualCertificate | None = None
        self.walked: PathCertificate | None = None
        self.schedule = require_feasible(best_list_schedule(instance))
        self.end_stage()

    @property
    def upper(self) -> int:
        """Return the latency of the best schedule."""
        return self.schedule.total_latency

    @property
    def nodes_left(self) -> int | None:
        """Return the nodes that are left, None without a limit."""
        limit = self.options.node_limit
        return None if limit is None else max(0, limit - self.nodes)

    @property
    def memory_budget(self) -> int | None:
        """Return the bytes that arrays may take, None without a limit."""
        return budget(self.options.memory_limit)

    def keep(self, found: Found) -> None:
        """Keep what is better than what is known, and show progress when bounds have moved."""
        with self.lock:
            better = False
            self.nodes += found.nodes
            self.interrupted |= found.interrupted
            if found.schedule is not None and found.schedule.total_latency < self.upper:
                self.schedule, better = require_feasible(found.schedule), True
            if found.certificate is not None and found.certificate.bound > self.certificate.bound:
                self.certificate = found.certificate
            if found.bound is not None and found.bound.value > self.lower.value:
                self.lower, better = found.bound, True
            if found.duals is not None:
                self.duals = found.duals
            if found.note:
                self.note = found.note
            if better:
                self.show()

    @contextmanager
    def running(self, name: str) -> Iterator[Callbacks]:  # type: ignore[override]
        """Enter a stage, which tells of its findings by what this returns."""
        with super().running(name):
            yield Callbacks(self.keep, self.show)

    @contextmanager
    def uncounted(self, name: str) -> Iterator[None]:
        """Run the body of a `with` statement as a stage of this name that takes no counted time."""
        begun, stage, self.stage = time.perf_counter(), self.stage, name
        self.show()
        try:
            with heard():
                yield
        finally:
            self.began += time.perf_counter() - begun
            self.stage = stage

    def result(self, note: str = "") -> OptResult:
        """Return the result so far.

        Parameters
        ----------
        note : why the interval is not closed; by default the last note of a stage.
        """
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
            note="" if self.closed else note or self.last_note,
            certificate=self.certificate,
            interrupted=self.interrupted,
        )


Work: TypeAlias = Callable[[SolveState, Callbacks], Found]
"""A stage: it works within its part of the time and memory that are left."""
