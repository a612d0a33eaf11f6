"""Records: the best interval known around the optimum of an instance, and its proof."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Literal

from ratiolab.model.files import FormatError, PathLike, csv_rows, read_text, write_text
from ratiolab.model.instance import shown

Status = Literal["certified", "proved", "open"]

FOLDER = "records"
"""Folder of certificates and schedules, beside the table."""

_NAME = re.compile(r"(?!\.)[\w.-]+/(?!\.)[\w.-]+", re.ASCII)
"""Names of instances: folder and name, inside the folder of records."""


@dataclass(frozen=True)
class Record:
    """One row of the table.

    Parameters
    ----------
    instance : name with its folder, as in ``jaillet2025/model-1-00``.
    requests, memory, digest : figures of the instance.
    lower, upper : total latency, rounds: bound of the certificate, and of the schedule.
    proved : the best lower bound, also by a search whose word has to be taken; at least ``lower``.
    lower_by, proved_by, upper_by : what found them.
    seconds, tries : time and number of all tries; a try continues from what is known.
    certificate, schedule : files, below the folder of the table.
    """

    instance: str
    requests: int
    memory: int
    digest: str
    lower: int
    upper: int
    proved: int
    lower_by: str
    proved_by: str
    upper_by: str
    seconds: float
    tries: int
    certificate: str
    schedule: str

    @property
    def status(self) -> Status:
        """Return which proves the schedule optimal: the certificate, only a search, or none."""
        if self.lower == self.upper:
            return "certified"
        return "proved" if self.proved == self.upper else "open"

    @property
    def gap(self) -> Fraction:
        """Return how far above the optimum the certificate allows the schedule, as a part."""
        return Fraction(self.upper - self.lower, self.lower)

    @property
    def row(self) -> list[str]:
        """Return the cells of the table."""
        values = [str(getattr(self, column.name)) for column in fields(self)]
        cells = [*values, self.status, f"{float(self.gap):.6f}"]
        return [*cells, _check(cells)]


HEADER = (*(column.name for column in fields(Record)), "status", "gap", "check")


def read_records(path: PathLike) -> list[Record]:
    """Read the table; a cell that does not fit the others of its row is an error."""
    text = read_text(path)
    try:
        rows = csv_rows(text)
        _, header = next(rows)
        if tuple(header) != HEADER:
            raise ValueError(f"columns must be {', '.join(HEADER)}")
        records = [_record(line, cells) for line, cells in rows]
        names = [record.instance for record in records]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"instance {shown(name)} stands there twice")
        return records
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def write_records(records: Iterable[Record], path: PathLike) -> None:
    """Write the table as CSV, in one step."""
    rows = [HEADER, *(record.row for record in records)]
    write_text(path, "\n".join(",".join(row) for row in rows) + "\n")


def _record(line: int, cells: Sequence[str]) -> Record:
    from ratiolab.model.validation import validated

    columns = (column.name for column in fields(Record))
    try:
        record = validated(Record, dict(zip(columns, cells, strict=False)))
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None
    if not 0 < record.lower <= record.proved <= record.upper:
        raise ValueError(f"line {line}: lower, proved and upper must rise")
    if not _NAME.fullmatch(record.instance):
        named, rule = shown(record.instance), "FOLDER/NAME of letters, digits, dots, - and _"
        raise ValueError(f"line {line}: instance {named} must be {rule}")
    files = (f"{record.instance}.lower-{record.lower}", f"{record.instance}.upper-{record.upper}")
    for column, file in zip(("certificate", "schedule"), files, strict=True):
        named, rule = getattr(record, column), f"{FOLDER}/{file}.json.gz"
        if named != rule:
            raise ValueError(f"line {line}: {column} {shown(named)} must be {rule}")
    for name, cell, right in zip(HEADER, cells, record.row, strict=True):
        if cell != right:
            raise ValueError(
                f"line {line}: {name} {shown(cell)} does not fit the row, {shown(right)}"
            )
    return record


def _check(cells: Sequence[str]) -> str:
    """Return the digits that tie the cells of a row together."""
    return hashlib.sha256(",".join(cells).encode()).hexdigest()[:12]
