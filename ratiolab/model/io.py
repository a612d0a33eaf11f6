"""Reading and writing instances and schedules: versioned, strict, atomic.

Reading either gives a valid object or raises `FormatError` with one line that names the file, the
field, the request and the rule. Writing goes to a temporary file that is then renamed, so a crash
leaves the old file or the new one, never half of either.
"""

import csv
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ratiolab.model.instance import COLUMNS, MOST_REQUESTS, OPTIONAL_COLUMNS, Instance
from ratiolab.model.schedule import Schedule

PathLike: TypeAlias = "str | os.PathLike[str]"

INSTANCE_FORMAT = "ratiolab-instance/1"
SCHEDULE_FORMAT = "ratiolab-schedule/1"
LARGEST_FILE = 2**28
"""Bytes of the largest file that is read, 256 MiB."""


class FormatError(ValueError):
    """A file that is not what it should be; the message is one line for people."""


def read_instance(path: PathLike, memory: int | None = None) -> Instance:
    """Read an instance from JSON (``.json``) or CSV (any other ending).

    Parameters
    ----------
    path : the file. JSON holds ``{"format": "ratiolab-instance/1", "name", "memory", "arrival",
        "prompt", "output"}`` and optionally ``"lower", "upper", "predicted", "source"``; CSV has
        the columns of the same names in its header line, and no memory.
    memory : tokens; required for CSV, and replaces the memory of a JSON file.

    Raises
    ------
    FormatError
        when the file cannot be read or anything in it breaks a rule.
    """
    path = Path(path)
    text = _read_text(path)
    try:
        fields = _json_fields(text) if path.suffix == ".json" else _csv_fields(text, path.stem)
        if memory is not None:
            fields["memory"] = memory
        if "memory" not in fields:
            raise ValueError("memory is missing: a CSV file needs --memory")
        return Instance(**fields)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def write_instance(instance: Instance, path: PathLike) -> None:
    """Write an instance as JSON or, when the path ends in ``.csv``, as CSV (without the memory)."""
    columns = {
        name: getattr(instance, name).tolist()
        for name in COLUMNS + OPTIONAL_COLUMNS
        if getattr(instance, name) is not None
    }
    if Path(path).suffix == ".csv":
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        write_text(path, "\n".join(lines) + "\n")
        return
    head = {"format": INSTANCE_FORMAT, "name": instance.name, "memory": instance.memory}
    tail = {"source": instance.source} if instance.source else {}
    write_text(path, json_lines(head | columns | tail))


def read_schedule(path: PathLike, instance: Instance) -> Schedule:
    """Read a schedule of this instance; `FormatError` when it is malformed or of another one."""
    try:
        data = _json_object(_read_text(Path(path)), SCHEDULE_FORMAT)
        _require_keys(data, ("instance", "digest", "request", "start", "stop"), ("total_latency",))
        if data["digest"] != instance.digest:
            raise ValueError(
                f"digest {data['digest']!r} is not that of instance {instance.name}, "
                f"{instance.digest}"
            )
        columns = [data[name] for name in ("request", "start", "stop")]
        for name, column in zip(("request", "start", "stop"), columns, strict=True):
            if not isinstance(column, list) or not all(type(value) is int for value in column):
                raise ValueError(f"{name} must be a list of integers")
        return Schedule(instance, *columns)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"{path}: {error}") from None


def write_schedule(schedule: Schedule, path: PathLike) -> None:
    """Write a schedule as JSON, tied to its instance by the digest."""
    instance = schedule.instance
    runs = {name: getattr(schedule, name).tolist() for name in ("request", "start", "stop")}
    head = {"format": SCHEDULE_FORMAT, "instance": instance.name, "digest": instance.digest}
    write_text(path, json_lines(head | runs | {"total_latency": schedule.total_latency}))


def write_text(path: PathLike, text: str) -> None:
    """Replace a file by this text in one step, creating its folder when needed."""
    write_bytes(path, text.encode())


def write_bytes(path: PathLike, content: bytes) -> None:
    """Replace a file by these bytes in one step, creating its folder when needed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def json_lines(data: Mapping[str, Any]) -> str:
    """JSON with one key a line, so that versions of a file differ where their content does."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _read_text(path: Path) -> str:
    if path.is_dir():
        raise FormatError(f"{path}: is a directory, not a file")
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise FormatError(f"{path}: has {size} bytes; at most {LARGEST_FILE} are read")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FormatError(f"{path}: is not UTF-8 text") from None
    if not text.strip():
        raise FormatError(f"{path}: is empty")
    return text


def _json_object(text: str, version: str) -> dict[str, Any]:
    """A JSON object of this format, without its format key; duplicate keys and NaN are refused."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        unique = dict(items)
        if len(unique) != len(items):
            raise ValueError(f"a key stands there twice; the keys are {', '.join(unique)}"[:200])
        return unique

    def constant(word: str) -> None:
        raise ValueError(f"{word} is not a number of JSON")

    try:
        data = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: is not JSON ({error.msg})") from None
    except RecursionError:
        raise ValueError("is not JSON of this format (nested too deeply)") from None
    if not isinstance(data, dict):
        raise ValueError(f"must be a JSON object, not {type(data).__name__}")
    found = data.pop("format", None)
    if found != version:
        raise ValueError(f"format {found!r} must be {version!r}")
    return data


def _require_keys(
    data: Mapping[str, Any], required: Iterable[str], optional: Iterable[str]
) -> None:
    required, optional = tuple(required), tuple(optional)
    for key in required:
        if key not in data:
            raise ValueError(f"{key} is missing")
    for key in data:
        if key not in required + optional:
            allowed = ", ".join(required + optional)
            raise ValueError(f"unknown key {key!r}; known are format, {allowed}")


def _json_fields(text: str) -> dict[str, Any]:
    data = _json_object(text, INSTANCE_FORMAT)
    _require_keys(data, ("name", "memory", *COLUMNS), (*OPTIONAL_COLUMNS, "source"))
    for name in COLUMNS + OPTIONAL_COLUMNS:
        if name in data and not isinstance(data[name], list):
            raise ValueError(f"{name} must be a list of integers")
    return data


def _csv_fields(text: str, name: str) -> dict[str, Any]:
    if "\0" in text:
        raise ValueError("holds a NUL byte: is not CSV")
    try:
        rows = csv.reader(text.splitlines(), strict=True)
        header = [column.strip() for column in next(rows)]
        _require_keys(dict.fromkeys(header), COLUMNS, OPTIONAL_COLUMNS)
        if len(set(header)) != len(header):
            raise ValueError("a column stands in the header twice")
        columns: list[list[int]] = [[] for _ in header]
        for row in rows:
            line = rows.line_num
            if len(row) != len(header):
                raise ValueError(f"line {line}: has {len(row)} values, the header {len(header)}")
            if len(columns[0]) == MOST_REQUESTS:
                raise ValueError(f"has more than {MOST_REQUESTS} rows, the most that are read")
            for column, title, value in zip(columns, header, row, strict=True):
                column.append(_csv_integer(value, title, line))
    except csv.Error as error:
        raise ValueError(f"is not CSV ({error})") from None
    return {"name": name, **dict(zip(header, columns, strict=True))}


def _csv_integer(value: str, title: str, line: int) -> int:
    digits = value.strip()
    if not digits.removeprefix("-").isascii() or not digits.removeprefix("-").isdigit():
        raise ValueError(f"line {line}: {title} {value!r} must be an integer")
    if len(digits) > 18:
        raise ValueError(f"line {line}: {title} {value!r} is too large")
    return int(digits)
