"""Reading and writing fleets and their schedules, as `ratiolab.model.io` does instances."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ratiolab.model.files import (
    Content,
    FormatError,
    PathLike,
    json_lines,
    json_object,
    read_content,
    write_text,
)
from ratiolab.model.fleet import Fleet, FleetSchedule, fleet_of
from ratiolab.model.instance import Instance, shown
from ratiolab.model.io import instance_of, read_instance, require_total_latency
from ratiolab.model.schedule import Schedule

FLEET_FORMAT = "ratiolab-fleet/1"
FLEET_SCHEDULE_FORMAT = "ratiolab-fleet-schedule/1"


def read_fleet(
    path: PathLike | Content,
    memory: int | Sequence[int] | None = None,
    replicas: int | None = None,
) -> Instance | Fleet:
    """Read a fleet from its file, or from that of an instance and a number of replicas.

    Parameters
    ----------
    path : a file of format ``ratiolab-fleet/1``, or an instance as
        `ratiolab.model.io.read_instance` reads it.
    memory : tokens of each replica, one number for all or one for each; required for CSV, replaces
        the memory of a JSON file.
    replicas : replaces the number of a fleet's file; 1 gives an instance.

    Returns
    -------
    a fleet; an instance where there is one replica.

    Raises
    ------
    ValueError
        when the memory is neither an integer nor a list of them.
    FormatError
        when the file cannot be read or anything in it breaks a rule.
    """
    from ratiolab.model.formats import FleetFile
    from ratiolab.model.validation import validated

    content = path if isinstance(path, Content) else read_content(path)
    text, number, each = content.utf8, 1, tuple[int, ...]()
    most = memory
    if isinstance(memory, str) or (isinstance(memory, Sequence) and not memory):
        raise ValueError(f"memory {shown(memory)} must be an integer, or one for each replica")
    if isinstance(memory, Sequence):
        each, most = tuple(memory), max(memory)
        number = len(each)
    assert not isinstance(most, Sequence)
    if not re.search(rf'"format"\s*:\s*"{FLEET_FORMAT}"', text):
        instance = read_instance(content, most)
    else:
        try:
            fields = json_object(text, FLEET_FORMAT)
            if most is not None:
                fields["memory"] = most
                fields.pop("memories", None)
            file = validated(FleetFile, fields)
            given = file.model_copy()
            given.model_fields_set.difference_update(("replicas", "memories"))
            instance, number = instance_of(given), number if each else file.replicas
            each = each or tuple(file.memories or ())
        except ValueError as error:
            raise FormatError(f"{Path(content.name)}: {error}") from None
    number = number if replicas is None else replicas
    try:
        return Fleet(instance, number, each) if len(each) > 1 else fleet_of(instance, number)
    except ValueError as error:
        raise FormatError(f"{Path(content.name)}: {error}") from None


def write_fleet(fleet: Fleet, path: PathLike) -> None:
    """Write a fleet as JSON, a column a line."""
    write_text(path, json_lines({"format": FLEET_FORMAT} | fleet.to_dict()))


def read_fleet_schedule(path: PathLike, fleet: Fleet) -> FleetSchedule:
    """Read a schedule of this fleet; `FormatError` when it is malformed or of another one."""
    from ratiolab.model.formats import FleetScheduleFile
    from ratiolab.model.validation import read_file

    data = read_file(path, FLEET_SCHEDULE_FORMAT, FleetScheduleFile)
    try:
        if data.digest != fleet.digest or data.replicas != fleet.replicas:
            raise ValueError(
                f"digest {shown(data.digest)} and {data.replicas} replicas are not those of "
                f"{fleet.name}, {fleet.digest} and {fleet.replicas}"
            )
        columns = (data.request, data.start, data.stop)
        more = (data.release, data.lead, data.unfilled)
        runs = Schedule(fleet.instance, *columns, data.preemption, *more)
        request, replica = np.array(data.request), np.array(data.replica)
        if len(request) != len(replica):
            raise ValueError(f"replica has {len(replica)} values for {len(request)} runs")
        places = np.full(len(fleet), -1)
        inside = (request >= 0) & (request < len(fleet))
        places[request[inside]] = replica[inside]
        if (places < 0).any():
            raise ValueError(f"request {int(np.argmin(places))} has no run, and so no replica")
        moved = np.flatnonzero(places[request[inside]] != replica[inside])
        if len(moved):
            raise ValueError(f"request {request[inside][moved[0]]} runs on two replicas")
        schedule = FleetSchedule(fleet, places, runs)
        require_total_latency(data.total_latency, schedule.runs)
        return schedule
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def write_fleet_schedule(schedule: FleetSchedule, path: PathLike) -> None:
    """Write a fleet schedule as JSON, tied to its fleet by the digest."""
    write_text(path, json_lines({"format": FLEET_SCHEDULE_FORMAT} | schedule.to_dict()))
