"""What solving tells while it runs, and what it returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

if TYPE_CHECKING:
    from ratiolab.hindsight.certificates.certificate import Certificate


class Progress(NamedTuple):
    """What a running solve knows: seconds and nodes so far, proven bounds, and what it does."""

    seconds: float
    nodes: int
    upper: int
    lower: int
    stage: str


class Stage(NamedTuple):
    """What was known when a stage of a solve ended, and what a reader should know of it.

    ``seconds`` are those since the solve began; ``note`` is empty when the stage did all it could.
    """

    name: str
    seconds: float
    upper: int
    lower: int
    nodes: int
    note: str = ""


Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class OptResult:
    """A feasible schedule and a proven interval around the hindsight optimum.

    Parameters
    ----------
    status : "optimal" when upper equals lower, else "bounded".
    upper : total latency of the schedule, rounds.
    lower : proven lower bound of the total latency of every schedule, rounds.
    lower_source : who proves it: a bound of `ratiolab.hindsight.bounds`, or a solver.
    nodes : nodes of the solver's search tree.
    options : what `solve` was asked for.
    stages : what was done, in order, each with the bounds it left.
    note : what the reader should know, such as that no program was solved or a limit was met.
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
    options: Mapping[str, Any] = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)
    certificate: "Certificate" = field(repr=False)
    note: str = ""
    interrupted: bool = False
    preemption: Literal["restart"] = "restart"

    @property
    def is_exact(self) -> bool:
        """Whether the schedule is proven optimal."""
        return self.upper == self.lower

    @property
    def certified(self) -> int:
        """The bound of the certificate, rounds; it may be below ``lower``."""
        return self.certificate.bound

    @property
    def gap(self) -> Fraction:
        """The schedule is at most this part above the optimum: (upper - lower) / lower."""
        return Fraction(self.upper - self.lower, self.lower)
