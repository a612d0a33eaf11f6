"""Finished cells on disk: a small file each, and one tidy table of all.

A cell's file is written in one step, so that a crash leaves it whole or not at all; a file that is
not what it should be counts as absent. The table lists the cells in the order of the study, so
that it does not depend on who computed what when.
"""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratiolab.model import FormatError
from ratiolab.model.files import json_lines, json_object, read_text, write_bytes, write_text
from ratiolab.studies.cell import FORMAT, Cell, Row
from ratiolab.studies.spec import Study
from ratiolab.version import __version__

if TYPE_CHECKING:
    import pandas as pd

FIRST = ("task", "workload", "option", "policy", "preemption", "clock", "seed")
"""Order of the columns that say what a cell is."""


@dataclass(frozen=True)
class Store:
    """The folder of a study's results; made when the first cell is saved."""

    folder: Path

    def path(self, cell: Cell) -> Path:
        """Return the path of a cell's file."""
        return self.folder / "cells" / f"{cell.id}.json"

    def save(self, cell: Cell, rows: Sequence[Row], version: str = __version__) -> None:
        """Write the rows of a finished cell."""
        data = {"format": FORMAT, "version": version, "cell": dict(cell.fields), "rows": rows}
        write_text(self.path(cell), json_lines(data | {"sha256": _sha256(data)}))

    def load(self, cell: Cell) -> tuple[str, list[Row]] | None:
        """Return version and rows of a finished cell, None when it is not finished."""
        if not self.path(cell).is_file():
            return None
        try:
            data = json_object(read_text(self.path(cell)), FORMAT)
            if data.pop("sha256", None) != _sha256(data) or Cell(data["cell"]).id != cell.id:
                return None
            return data["version"], data["rows"]
        except (FormatError, ValueError):
            return None

    def missing(self, study: Study) -> list[Cell]:
        """Return the unfinished cells in order, one of each group that differs in labels alone."""
        unique = {cell.id: cell for cell in study.cells}
        return [cell for cell in unique.values() if self.load(cell) is None]

    def merge(self, study: Study) -> "pd.DataFrame":
        """Write the table of all cells as ``NAME.csv`` and, with pyarrow, ``NAME.parquet``.

        ``NAME.json`` beside it says what was declared and which version computed it.

        Raises
        ------
        ValueError
            when a cell is not finished.
        """
        import pandas as pd

        rows = list(self.rows(study))
        header = _header(rows)
        frame = pd.DataFrame(rows, columns=header)
        about = {
            "format": FORMAT,
            "version": sorted({row["version"] for row in rows}),
            "cells": len(study.cells),
            "rows": len(rows),
            "study": study.declared,
        }
        table, description, parquet = tables(self.table(study))
        write_text(table, csv_text(rows, header))
        write_text(description, json_lines(about))
        if find_spec("pyarrow") is not None:
            write_bytes(parquet, _parquet(frame, about))
        return frame

    def table(self, study: Study) -> Path:
        """Return the path of the CSV file of all cells."""
        return self.folder / f"{study.name}.csv"

    def rows(self, study: Study) -> Iterator[dict[str, Any]]:
        """Return the rows of all cells, each with the fields of its cell."""
        for cell in study.cells:
            found = self.load(cell)
            if found is None:
                raise ValueError(f"{self.folder}: cell {cell} is not finished")
            version, rows = found
            for row in rows:
                yield {**cell.fields, **row, "version": version}


def tables(table: Path) -> tuple[Path, Path, Path]:
    """Return the paths of a table as CSV, of its description, and of the table as Parquet."""
    return table, table.with_suffix(".json"), table.with_suffix(".parquet")


def _sha256(data: Mapping[str, Any]) -> str:
    """Return the digest of what a cell's file says, by which a damaged file is recognized."""
    return hashlib.sha256(json_lines(data).encode()).hexdigest()


def _header(rows: Sequence[Row]) -> list[str]:
    columns = dict.fromkeys(name for row in rows for name in row if name != "version")
    place = {name: number for number, name in enumerate(columns)}

    def rank(name: str) -> tuple[int, int]:
        stem = name.partition(".")[0]
        return (FIRST.index(stem) if stem in FIRST else len(FIRST), place[name])

    return [*sorted(columns, key=rank), "version"]


def csv_text(rows: Sequence[Row], header: Sequence[str]) -> str:
    """Return CSV: integers stay integers, floats their shortest text, absent values empty."""
    text = StringIO()
    writer = csv.DictWriter(text, header, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _parquet(frame: "pd.DataFrame", about: dict[str, Any]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    for name in frame.columns:
        values = frame[name].dropna()
        if any(isinstance(v, str) for v in values) and not all(isinstance(v, str) for v in values):
            # a parameter that is a word for one policy and a number for another
            frame = frame.assign(**{str(name): frame[name].map(str, na_action="ignore")})
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    metadata = {**(table.schema.metadata or {}), b"ratiolab": json.dumps(about).encode()}
    content = BytesIO()
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), content)
    return content.getvalue()
