"""The result of a solve of a fleet."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ratiolab.hindsight.result import Interval, Solved, SolveOptions, Stage
from ratiolab.model.fleet import Fleet, FleetSchedule

if TYPE_CHECKING:
    from ratiolab.hindsight.certificates.certificate import Certificate


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
        return {
            "instance": self.fleet.name,
            "digest": self.fleet.digest,
            "replicas": self.fleet.replicas,
            "status": self.status,
            "upper": self.upper,
            "lower": self.lower,
            "gap": float(self.gap),
            "lower_source": self.lower_source,
            "certified": self.certified,
            "preemption": "restart",
            "starts": self.schedule.runs.starts.tolist(),
            "replica": self.schedule.replica.tolist(),
            **self.spent,
        }
