"""The language everything speaks: instances, schedules, and the judge of schedules."""

from ratiolab.model.feasibility import (
    InfeasibleScheduleError,
    Violation,
    require_feasible,
    violations,
)
from ratiolab.model.files import FormatError
from ratiolab.model.instance import Instance, Request
from ratiolab.model.io import read_instance, read_schedule, write_instance, write_schedule
from ratiolab.model.run import Preemption, Run
from ratiolab.model.schedule import Schedule

__all__ = [
    "FormatError",
    "InfeasibleScheduleError",
    "Instance",
    "Preemption",
    "Request",
    "Run",
    "Schedule",
    "Violation",
    "read_instance",
    "read_schedule",
    "require_feasible",
    "violations",
    "write_instance",
    "write_schedule",
]
