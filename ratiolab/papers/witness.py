"""Witnesses: small files that show a claim false, for anyone to recheck.

A witness is JSON in instances/witnesses: the instance, schedules by name as start rounds (evicted
runs never are needed: a schedule that proves something has none), and the figures it claims. It is
rechecked with the exact judge of schedules and the simulator alone; no solver is involved.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ratiolab.model import FormatError, Instance, Schedule, require_feasible
from ratiolab.model.io import instance_of
from ratiolab.model.shipped import shipped

FORMAT = "ratiolab-witness/1"


@dataclass(frozen=True, eq=False)
class Witness:
    """An instance, feasible schedules by name, and exact figures by name.

    Parameters
    ----------
    claim : id of the claim it speaks against.
    instance : small.
    schedules : start rounds of every request, by name of the schedule.
    figures : integers, or fractions as strings ``"p/q"``, by name.
    """

    claim: str
    instance: Instance
    schedules: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    figures: Mapping[str, int | str] = field(default_factory=dict)

    def schedule(self, name: str) -> Schedule:
        """Return a schedule of the witness; `InfeasibleScheduleError` when it breaks a rule."""
        return require_feasible(Schedule.from_starts(self.instance, self.schedules[name]))


@cache
def folder() -> Path:
    """Return the folder of witnesses: ``RATIOLAB_WITNESSES``, or that of the project."""
    chosen = os.environ.get("RATIOLAB_WITNESSES")
    return Path(chosen) if chosen else shipped("instances") / "witnesses"


def read_witness(name: str) -> Witness:
    """Read ``<folder>/<name>.json``."""
    from ratiolab.model.validation import read_file
    from ratiolab.papers.witness_file import WitnessFile

    path = folder() / f"{name}.json"
    if not path.exists():
        raise FormatError(
            f"{path}: there is no such witness; RATIOLAB_WITNESSES can name their folder"
        )
    data = read_file(path, FORMAT, WitnessFile)
    try:
        instance = instance_of(data.instance)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None
    schedules = {key: tuple(starts) for key, starts in data.schedules.items()}
    return Witness(data.claim, instance, schedules, data.figures)
