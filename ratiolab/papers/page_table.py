"""Tables beside the pages of experiments: what they keep, and how they are read back."""

from collections import defaultdict
from collections.abc import Sequence
from csv import DictReader
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.model import FormatError, read_text
from ratiolab.studies import Study
from ratiolab.studies.cell import Row, Value
from ratiolab.studies.store import FIRST, Store

if TYPE_CHECKING:
    import pandas as pd

DIGEST = "instance"
"""The column of digests of instances. One of digits alone is a word as well: numbers have another
order, and intervals are drawn in the order of digests."""


def kept_columns(frame: "pd.DataFrame", figures: Sequence[str]) -> list[str]:
    """Return some figures, and all that tells the cells of the rows apart."""
    missing = [name for name in figures if name not in frame]
    assert not missing, missing
    return list(dict.fromkeys([*_differing(frame), "seed", *figures, "version"]))


def stored(path: Path, study: Study, figures: Sequence[str]) -> "pd.DataFrame":
    """Return a table, with what is the same in all of the study's cells put back."""
    whole = _cells(study)
    differs = _differing(whole)
    frame = _read(path, read_text(path), differs, figures)
    # all rows of a study of a single cell are alike: nothing tells cells apart
    cells, expected = (
        len(rows[differs].drop_duplicates()) if differs else 1 for rows in (frame, whole)
    )
    if cells != expected:
        raise FormatError(f"{path}: has rows of {cells:,} cells, the study has {expected:,}")
    left_out = [name for name in map(str, whole.columns) if name not in frame]
    return frame.assign(**{name: whole[name].iloc[0] for name in left_out})


def take_over(path: Path, study: Study, figures: Sequence[str], store: Store) -> None:
    """Save the cells of a study that a table has and the store has not.

    Fields that all cells of the study share are not in its table and cannot be compared: the table
    has to be of this study, with fewer seeds or entries. Its rows keep their versions. Raise
    FormatError when the file is not there, or not a table of these figures and of such cells.
    """
    names, text = _differing(_cells(study)), read_text(path)
    _read(path, text, names, figures)
    cells = {tuple(str(c.fields.get(name, "")) for name in names): c for c in study.cells}
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    versions: dict[tuple[str, ...], str] = {}
    for line, row in enumerate(DictReader(StringIO(text), restval=""), 2):
        key = tuple(row[name] for name in names)
        if key not in cells:
            raise FormatError(f"{path}: line {line}: is of no cell of the study")
        versions[key] = row.pop("version")
        values = {name: _value(name, text) for name, text in row.items() if name not in names}
        found[key].append(values)
    # of cells that differ in labels alone, one file holds the rows
    missing = {cell.id for cell in store.missing(study)}
    taken = {cells[key].id: key for key in found if cells[key].id in missing}
    for key in taken.values():
        store.save(cells[key], found[key], versions[key])


def _read(path: Path, text: str, differs: Sequence[str], figures: Sequence[str]) -> "pd.DataFrame":
    """Return a table that has what tells cells apart, and these figures."""
    import pandas as pd

    try:
        frame = pd.read_csv(StringIO(text), dtype={DIGEST: str}, low_memory=False)
    except ValueError as error:
        raise FormatError(f"{path}: {' '.join(str(error).split())}") from None
    for name in (*differs, "seed", *figures, "version"):
        if name not in frame:
            raise FormatError(f"{path}: column {name!r} is missing")
    for name in figures:
        _require_numbers(path, frame[name])
    return frame


def _cells(study: Study) -> "pd.DataFrame":
    """Return a row of fields for each cell."""
    import pandas as pd

    return pd.DataFrame([dict(cell.fields) for cell in study.cells])


def _differing(frame: "pd.DataFrame") -> list[str]:
    """Return what tells rows apart, of the columns that say what a cell is."""
    return [
        name
        for name in map(str, frame.columns)
        if name.partition(".")[0] in FIRST and frame[name].nunique(dropna=False) > 1
    ]


def _require_numbers(path: Path, column: "pd.Series") -> None:
    """Refuse a column of numbers with a word among them; columns of words alone are left alone."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) or column.name == DIGEST:
        return
    numbers = pd.to_numeric(column, errors="coerce")
    words = column[column.notna() & numbers.isna()]
    if numbers.notna().any() and len(words):
        line = int(words.index[0]) + 2
        raise FormatError(f"{path}: line {line}: {column.name} {words.iloc[0]!r} is not a number")


def _value(name: str, text: str) -> "Value | None":
    """Return what a table's text stands for, so that it is written as the same text again."""
    if text in ("True", "False", "") or name == DIGEST:
        return {"True": True, "False": False, "": None}.get(text, text)
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text:
            return value
    return text
