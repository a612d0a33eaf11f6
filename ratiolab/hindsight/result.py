"""Options of a solve, its progress while it runs, and its result, for one replica or several."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ratiolab.model import Instance, Schedule
from ratiolab.model.display import Result
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.interrupts import Interruptible, heard
from ratiolab.model.numbers import require_integer, require_number

if TYPE_CHECKING:
    from ratiolab.hindsight.certificates.certificate import Certificate
if TYPE_CHECKING:
    import pandas as pd

    from ratiolab.hindsight.certificates.certificate import Certificate


@dataclass(frozen=True)
class SolveOptions:
    """Options of a solve; `ratiolab.hindsight.solver` explains them, None stands for no limit.

    ``backend`` is None where no program is solved. `ValueError` names a number that is impossible.
    """

    method: str
    backend: str | None = None
    time_limit: float | None = None
    node_limit: int | None = None
    memory_limit: int | None = None
    seed: int = 0
    steps: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            require_number("time_limit", self.time_limit, 0)
        integers = {"seed": 0, "steps": 0, "threads": 1}
        if self.node_limit is not None:
            integers["node_limit"] = 0
        if self.memory_limit is not None:
            require_number("memory_limit", self.memory_limit)
        for name, least in integers.items():  # plain ones, which JSON shows
            object.__setattr__(self, name, require_integer(name, getattr(self, name), least))

    def as_dict(self) -> dict[str, Any]:
        """Return the options as JSON shows them, without the number of threads."""
        shown = asdict(self)
        del shown["threads"]
        if self.backend is None:
            del shown["backend"]
        return shown


class Progress(NamedTuple):
    """Progress of a running solve: seconds and nodes so far, proven bounds, and the stage."""

    seconds: float
    nodes: int
    upper: int
    lower: int
    stage: str


class Stage(NamedTuple):
    """Bounds at the end of a stage of a solve, and a note for the reader.

    ``seconds`` are those since the solve began; ``note`` is empty when the stage did all it could.
    """

    name: str
    seconds: float
    upper: int
    lower: int
    nodes: int
    note: str = ""


Report: TypeAlias = Callable[[Progress], None]


class Solving:
    """A solve while it runs, stage after stage: its clock, its progress, and what it has cost.

    Parameters
    ----------
    progress : called by `show`.
    ends : returns the lower and the upper end of the interval so far.

    Attributes
    ----------
    began : when, on the clock `time.perf_counter`; moved when the clock stands still.
    stage, note : the stage that runs, and what it has to say.
    stages : the stages that have ended.
    """

    def __init__(
        self,
        options: SolveOptions,
        progress: Report | None,
        ends: Callable[[], tuple[int, int]],
    ) -> None:
        self.began, self.options, self.progress = time.perf_counter(), options, progress
        self.ends = ends
        self.lock = threading.RLock()  # a second thread may find schedules, too
        self.nodes, self.interrupted = 0, False
        self.stage, self.note = "bounds", ""
        self.stages: list[Stage] = []

    @property
    def closed(self) -> bool:
        """Return whether the schedule is proven optimal."""
        lower, upper = self.ends()
        return lower == upper

    @property
    def last_note(self) -> str:
        """Return the last note of a stage, if any."""
        return next((stage.note for stage in reversed(self.stages) if stage.note), "")

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Enter a stage, and write down the bounds at its end, also when Ctrl-C ends it.

        The stage is shown within, by who enters it: Ctrl-C may come then, too, and an interrupt
        before the ``yield`` could not be ended here.
        """
        self.stage, self.note = name, ""
        try:
            with heard():
                yield
        except KeyboardInterrupt:
            self.interrupted = True
        if self.interrupted:
            self.note = f"Ctrl-C in stage {name}"
        self.end_stage()

    def end_stage(self) -> None:
        """Write down the bounds at the end of a stage."""
        lower, upper = self.ends()
        self.stages.append(Stage(self.stage, self.seconds, upper, lower, self.nodes, self.note))

    def show(self, nodes: int = 0, lower: int | None = None) -> None:
        """Show progress, with nodes and a bound of a program that are not known otherwise yet."""
        if self.progress is None:
            return
        with self.lock:
            known, upper = self.ends()
            best = known if lower is None else max(known, lower)
            self.progress(Progress(self.seconds, self.nodes + nodes, upper, best, self.stage))

    @property
    def seconds(self) -> float:
        """Return the seconds since the solve began."""
        return time.perf_counter() - self.began

    @property
    def time_left(self) -> float | None:
        """Return the seconds that are left, None without a limit."""
        limit = self.options.time_limit
        return None if limit is None else max(0.0, limit - self.seconds)

    def share(self, part: float) -> float | None:
        """Return this part of the time that is left, seconds; None without a time limit."""
        left = self.time_left
        return None if left is None else part * left

    def countdown(self, part: float = 1.0) -> Callable[[], float]:
        """Return a clock: the remaining seconds of this part of the time that is left now."""
        seconds = self.share(part)
        if seconds is None:
            return lambda: inf
        ends = time.perf_counter() + seconds
        return lambda: ends - time.perf_counter()

    def deadline(self, part: float = 1.0) -> Callable[[], bool]:
        """Return a predicate: is this part of the time that is left now over?"""
        left = self.countdown(part)
        return lambda: left() < 0


class Solved(Interruptible, Result):
    """A result of a solve in stages."""

    nodes: int
    seconds: float
    options: SolveOptions
    stages: tuple[Stage, ...]
    note: str

    @property
    def spent(self) -> dict[str, Any]:
        """Return nodes, seconds, stages, options and the note of the solve, as plain data."""
        return {
            "nodes": self.nodes,
            "seconds": round(self.seconds, 3),
            "stages": [s._asdict() | {"seconds": round(s.seconds, 3)} for s in self.stages],
            "note": self.note,
            "options": self.options.as_dict(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each stage, and the bounds that it left."""
        import pandas as pd

        return pd.DataFrame(self.spent["stages"])


class Interval:
    """A proven interval around an optimum, and what its lower end rests on."""

    upper: int
    lower: int
    lower_source: str
    certificate: "Certificate"

    @property
    def is_exact(self) -> bool:
        """Return whether the schedule is proven optimal."""
        return self.upper == self.lower

    @property
    def certified(self) -> int:
        """Return the bound of the certificate, rounds; it may be below ``lower``."""
        return self.certificate.bound

    @property
    def gap(self) -> Fraction:
        """Return (upper - lower) / lower: how far above the optimum the schedule is at most."""
        return Fraction(self.upper - self.lower, self.lower)

    @property
    def headline(self) -> str:
        """Return the optimum, or its proven interval, and what the lower bound rests on."""
        if self.is_exact:
            return f"optimum {self.upper:,} (proved: {self.proof})"
        return (
            f"optimum in [{self.lower:,}, {self.upper:,}], gap {float(self.gap):.2%} "
            f"(lower bound: {self.proof})"
        )

    @property
    def proof(self) -> str:
        """Return the source of the lower bound, and the bound of a certificate that proves less."""
        if self.certified == self.lower:
            return self.lower_source
        return (
            f"{self.lower_source}; certificate proves >= {self.certified:,}, {self.lower:,} rests "
            f"on {self.lower_source}"
        )

    def _ends(self, given: Instance | Fleet) -> dict[str, Any]:
        """Return what is served and both ends as plain data."""
        replicas = {"replicas": given.replicas} if isinstance(given, Fleet) else {}
        return {
            "instance": given.name,
            "digest": given.digest,
            **replicas,
            "status": "optimal" if self.is_exact else "bounded",
            "upper": self.upper,
            "lower": self.lower,
            "gap": float(self.gap),
            "lower_source": self.lower_source,
            "certified": self.certified,
            "preemption": "restart",
        }


@dataclass(frozen=True, eq=False)
class OptResult(Interval, Solved):
    """A feasible schedule and a proven interval around the hindsight optimum.

    Parameters
    ----------
    status : "optimal" when upper equals lower, else "bounded".
    upper : total latency of the schedule, rounds.
    lower : proven lower bound of the total latency of every schedule, rounds.
    lower_source : what proves it: a bound of `ratiolab.hindsight.bounds`, or a solver.
    nodes : nodes of the solver's search tree.
    options : the options of the solve.
    stages : the stages in order, each with the bounds at its end.
    note : why the interval is open, such as that no program was solved or a limit was met.
    interrupted : whether Ctrl-C ended the solve.
    certificate : proof of the best bound that needs no solver's word, checked by
        `ratiolab.hindsight.certificates.certify`.
    preemption : the semantics under which this is the optimum; evictions that lose all tokens
        never help a scheduler that knows everything.
    """

    instance: Instance
    status: Literal["optimal", "bounded"]
    schedule: Schedule = field(repr=False)
    upper: int
    lower: int
    lower_source: str
    nodes: int
    seconds: float
    options: SolveOptions = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)
    certificate: "Certificate" = field(repr=False)
    note: str = ""
    interrupted: bool = False
    preemption: Literal["restart"] = "restart"

    def to_dict(self) -> dict[str, Any]:
        """Return bounds, their source, and the best starts, rounds; ``seconds`` are wall-clock."""
        starts = {"starts": self.schedule.starts.tolist()}
        return self._ends(self.instance) | starts | self.spent


@dataclass(frozen=True, eq=False)
class FleetResult(Interval, Solved):
    """A feasible schedule of a fleet, and a proven interval around its hindsight optimum.

    Parameters
    ----------
    schedule : it has passed the feasibility check of each replica.
    lower : proven lower bound of the total latency of every schedule of the fleet, rounds; it
        holds for requests that move between replicas, too.
    status, upper, lower_source, nodes, seconds, options, stages, certificate, note : as in
        `ratiolab.hindsight.result.OptResult`, and so is ``interrupted``.
    """

    fleet: Fleet
    status: Literal["optimal", "bounded"]
    schedule: FleetSchedule = field(repr=False)
    upper: int
    lower: int
    lower_source: str
    nodes: int
    seconds: float
    options: SolveOptions = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)
    certificate: "Certificate" = field(repr=False)
    note: str = ""
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return bounds, their source, and the best starts and replicas of the requests."""
        starts, replica = self.schedule.runs.starts, self.schedule.replica
        runs = {"starts": starts.tolist(), "replica": replica.tolist()}
        return self._ends(self.fleet) | runs | self.spent
