"""Reading and writing instances and schedules: versioned and strict.

Reading either gives a valid object or raises `FormatError` with one line that names the file, the
field, the request and the rule. How files are read and written stands in `ratiolab.model.files`.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.files import (
    Content,
    FormatError,
    PathLike,
    csv_integer,
    csv_rows,
    json_lines,
    json_object,
    read_content,
    require_keys,
    write_text,
)
from ratiolab.model.instance import COLUMNS, OPTIONAL_COLUMNS, PROMISES, Instance, shown
from ratiolab.model.numbers import require_integer
from ratiolab.model.schedule import Schedule

if TYPE_CHECKING:
    from ratiolab.model.formats import InstanceFields

INSTANCE_FORMAT = "ratiolab-instance/1"
SCHEDULE_FORMAT = "ratiolab-schedule/1"


def as_instance(given: Instance | PathLike) -> Instance:
    """Return an instance, read from its file where only that is named."""
    if isinstance(given, str | os.PathLike):
        return read_instance(given)
    if not isinstance(given, Instance):
        raise ValueError(f"instance {shown(given)} must be an Instance, or the path of its file")
    return given


def read_instance(path: PathLike | Content, memory: int | None = None) -> Instance:
    """Read an instance from JSON (the ending ``.json``, or text that starts with a brace) or CSV.

    Parameters
    ----------
    path : the file, or what has been read from it. JSON holds the fields format
        (``ratiolab-instance/1``), name, memory, arrival, prompt and output, and optionally
        tick_seconds, lower, upper, predicted, location, scale, freedom, weight, deadline, first_by
        and source; CSV has the columns of the same names in its header line, and no memory.
    memory : tokens; required for CSV, and replaces the memory of a JSON file.

    Raises
    ------
    FormatError
        when the file cannot be read or anything in it breaks a rule.
    """
    from ratiolab.model.formats import InstanceFields, InstanceFile
    from ratiolab.model.validation import validated

    content = path if isinstance(path, Content) else read_content(path)
    path, text = Path(content.name), content.utf8
    try:
        is_json = path.suffix == ".json" or text.lstrip().startswith("{")
        fields = json_object(text, INSTANCE_FORMAT) if is_json else _csv_fields(path, text, memory)
        if memory is not None:
            fields["memory"] = require_integer("memory", memory)
        return instance_of(validated(InstanceFile if is_json else InstanceFields, fields))
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def instance_of(fields: "InstanceFields") -> Instance:
    """Return the instance that a file describes; `ValueError` when columns contradict another."""
    given = fields.given()
    for name, value in given.items():
        if isinstance(value, list):  # every value has been checked: an array is not read again
            given[name] = np.array(value, np.int64)
    return Instance(**given)


def write_instance(instance: Instance, path: PathLike) -> None:
    """Write an instance as JSON or, when the path ends in ``.csv``, as CSV.

    CSV holds the columns alone: memory, name, source and tick_seconds are left out.
    """
    if Path(path).suffix == ".csv":
        columns = instance.columns
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        write_text(path, "\n".join(lines) + "\n")
        return
    write_text(path, instance_text(instance))


def instance_text(instance: Instance) -> str:
    """Return the JSON text of an instance, a column a line."""
    return json_lines({"format": INSTANCE_FORMAT} | instance.to_dict())


def read_schedule(path: PathLike, instance: Instance) -> Schedule:
    """Read a schedule of this instance; `FormatError` when it is malformed or of another one.

    A file that names no ``preemption`` is of ``restart``.
    """
    from ratiolab.model.formats import ScheduleFile
    from ratiolab.model.validation import read_file

    data = read_file(path, SCHEDULE_FORMAT, ScheduleFile)
    try:
        if data.digest != instance.digest:
            raise ValueError(
                f"digest {shown(data.digest)} is not that of instance {instance.name}, "
                f"{instance.digest}"
            )
        if data.release is not None and not EVICTIONS[data.preemption].stays:
            raise ValueError(f"release belongs to preemption pause, not {data.preemption}")
        runs = (data.request, data.start, data.stop)
        more = (data.release, data.lead, data.unfilled)
        schedule = Schedule(instance, *runs, data.preemption, *more)
        require_total_latency(data.total_latency, schedule)
        return schedule
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def require_total_latency(stated: int | None, schedule: Schedule) -> None:
    """Raise `ValueError` if a file states another total latency than that of its runs."""
    if stated is not None and stated != schedule.total_latency:
        raise ValueError(
            f"total_latency {shown(stated)} is not that of the runs, {schedule.total_latency}"
        )


def write_schedule(schedule: Schedule, path: PathLike) -> None:
    """Write a schedule as JSON, tied to its instance by the digest."""
    write_text(path, json_lines({"format": SCHEDULE_FORMAT} | schedule.to_dict()))


def _csv_fields(path: Path, text: str, memory: int | None) -> dict[str, Any]:
    rows = csv_rows(text)
    _, header = next(rows)
    try:
        require_keys(dict.fromkeys(header), COLUMNS, (*OPTIONAL_COLUMNS, *PROMISES))
    except ValueError as error:
        asked = "is it a request log? `ratiolab trace` cuts an instance"
        raise ValueError(f"{error}; {asked}") from None
    if memory is None:
        raise ValueError("memory is missing: a CSV file needs --memory")
    columns: list[list[int]] = [[] for _ in header]
    for line, row in rows:
        for column, title, value in zip(columns, header, row, strict=True):
            column.append(csv_integer(value, title, line))
    return {"name": path.stem, **dict(zip(header, columns, strict=True))}
