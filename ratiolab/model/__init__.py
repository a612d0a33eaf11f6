"""The language everything speaks: instances, schedules, and the judge of schedules."""

from ratiolab.model.eviction import Preemption
from ratiolab.model.feasibility import (
    InfeasibleScheduleError,
    Violation,
    require_feasible,
    violations,
)
from ratiolab.model.files import FormatError, PathLike, read_text, write_text
from ratiolab.model.footprint import IntArray, held, peak, volume
from ratiolab.model.instance import Instance, Request, shown
from ratiolab.model.io import read_instance, read_schedule, write_instance, write_schedule
from ratiolab.model.run import Run
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

__all__ = [
    "FormatError",
    "InfeasibleScheduleError",
    "Instance",
    "IntArray",
    "PathLike",
    "Preemption",
    "Request",
    "Run",
    "Schedule",
    "Violation",
    "held",
    "peak",
    "read_instance",
    "read_schedule",
    "read_text",
    "require_feasible",
    "shown",
    "stream",
    "violations",
    "volume",
    "write_instance",
    "write_schedule",
    "write_text",
]
