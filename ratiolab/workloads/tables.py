"""Files as tables of values: CSV, JSON lines, JSON, Parquet and Arrow, whatever packs them."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

from ratiolab.model import FormatError
from ratiolab.model.files import Content, csv_rows
from ratiolab.workloads.json_tables import Found, flattened, found_tables

MOST_ROWS = 4 * 10**6
"""Most rows of a log that are read."""

PARQUET, ARROW = b"PAR1", b"ARROW1"

DELIMITERS = ",;\t|"
"""Between the values of a row: those of spreadsheets of all countries, and of databases."""

COMMENT = "#"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of values as a file has them.

    Parameters
    ----------
    columns : each of shape (n,), of text or numbers; None where there is no value.
    lines : the line of each row in the file, for messages; None where rows have none.
    place : where in a JSON file the rows are, as a dotted path.
    comments : lines of comment above the header.
    notes : what was left out or assumed while the file was read, sentences.
    """

    columns: Mapping[str, Sequence[Any]] = field(repr=False)
    lines: Sequence[int] | None = field(default=None, repr=False)
    place: str = ""
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def where(self, row: int) -> str:
        """Return where a row stands, as messages say it."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"

    def with_columns(self, more: Mapping[str, Sequence[Any]]) -> "Table":
        """Return the table with further columns."""
        return replace(self, columns={**self.columns, **more}) if more else self


def read_tables(content: Content) -> list[Table]:
    """Return the tables of a file: one, or every place of a JSON file that may hold the rows.

    The content says what it is, whatever the name.

    Raises
    ------
    FormatError
        one line that names file, line and rule.
    """
    try:
        if content.data[:4] == PARQUET or content.data[:6] == ARROW:
            return [_frame(content.data)]
        text = content.text
        if text.lstrip()[0] in "{[":
            return _json(text)
        return [_csv(text)]
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{content.name}: {error}") from None


def _csv(text: str) -> Table:
    comments, body, skipped = _above_header(text)
    first = next((line for line in body.split("\n") if line.strip()), "")
    if not first:
        raise ValueError("holds comments alone")
    delimiter = max(DELIMITERS, key=first.count)
    if hint := re.fullmatch(r"sep=(.)", first.strip()):  # as spreadsheets say it
        delimiter, skipped = hint[1], skipped + 1
        body = body.partition("\n")[2]
        first = body.partition("\n")[0]
    head = _commented_header(comments, first, delimiter)
    if head:
        body, skipped, comments = f"{head}\n{body}", skipped - 1, comments[:-1]
    rows = csv_rows(body, MOST_ROWS, delimiter, comment=COMMENT)
    _, header = next(rows)
    if len(header) > 1 and all(map(_is_number, header)):
        raise ValueError("line 1: has numbers, where the names of the columns must be")
    lines, values = [], []
    for line, row in rows:
        lines.append(line + skipped)
        values.append(row)
    columns = zip(*values, strict=True) if values else ((),) * len(header)
    named = dict(zip(header, columns, strict=True))
    return Table(_unpacked(named), lines, comments=tuple(comments))


def _above_header(text: str) -> tuple[list[str], str, int]:
    """Return the comments above the header, the text below them, and how many lines they take."""
    lines, taken = text.split("\n"), 0
    comments: list[str] = []
    while taken < len(lines) and (
        not lines[taken].strip() or lines[taken].lstrip().startswith(COMMENT)
    ):
        if words := lines[taken].strip().lstrip(COMMENT).strip():
            comments.append(words)
        taken += 1
    return comments, "\n".join(lines[taken:]), taken


def _commented_header(comments: Sequence[str], first: str, delimiter: str) -> str:
    """Return the last comment where it is the header: as many names as the row has values."""
    if not comments:
        return ""
    (row,) = csv.reader([first], delimiter=delimiter)
    names = comments[-1].split(delimiter)
    numbers = sum(map(_is_number, row))
    return comments[-1] if len(names) == len(row) > 1 and numbers > len(row) / 2 else ""


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _unpacked(columns: Mapping[str, Sequence[str]]) -> dict[str, Sequence[Any]]:
    """Return columns, with those of JSON objects in cells taken apart into dotted names."""
    found: dict[str, Sequence[Any]] = {}
    for name, cells in columns.items():
        found[name] = cells
        first = next((cell for cell in cells if cell.strip()), "")
        if not re.match(r'\s*\{\s*("|\})', first):
            continue
        try:
            objects = [json.loads(cell) if cell.strip() else None for cell in cells]
        except (ValueError, RecursionError):
            continue
        inner, _ = flattened([{name: each} for each in objects])
        found.update({key: values for key, values in inner.items() if key not in columns})
    return found


def _json(text: str) -> list[Table]:
    """Return what a JSON text, or JSON objects one after another, may hold as tables."""
    lines: list[int] | None = None
    try:
        whole = _loads(text)
    except ValueError:
        lines, whole = _several(text)
    found = found_tables(whole, MOST_ROWS)
    if not found:
        raise ValueError("holds no list of requests: a list of objects, or an object of lists")
    return [_table(each, lines) for each in found]


def _table(found: Found, lines: list[int] | None) -> Table:
    own = lines if not found.place and lines and len(lines) == found.rows else None
    return Table(found.columns, own, found.place)


def _several(text: str) -> tuple[list[int], list[Any]]:
    """Return the values of a text that has one a line, or one after another over many lines."""
    rows: list[Any] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(_loads(line))
        except ValueError:
            found = list(_one_after_another(text))
            if found:
                return [line for line, _ in found], [value for _, value in found]
            raise ValueError(f"line {number}: is not JSON") from None
        lines.append(number)
        if len(rows) > MOST_ROWS:
            raise ValueError(f"has more than {MOST_ROWS} rows, the most that are read")
    return lines, rows


def _one_after_another(text: str) -> Iterator[tuple[int, Any]]:
    """Return the values of a text that are printed over several lines each; nothing if it fails."""
    decoder, place, line = json.JSONDecoder(), 0, 1
    found = []
    while place < len(text):
        if (letter := text[place]).isspace() or letter == ",":
            line += letter == "\n"
            place += 1
            continue
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return iter(())
        found.append((line, value))
        line += text.count("\n", place, end)
        place = end
    return iter(found)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def _frame(data: bytes) -> Table:
    import pandas as pd

    try:
        read = pd.read_parquet if data[:4] == PARQUET else pd.read_feather
        frame = read(BytesIO(data))
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'ratiolab[parquet]'") from None
    except Exception as error:
        raise ValueError(f"is not Parquet ({' '.join(str(error).split())})") from None
    if len(frame) > MOST_ROWS:
        raise ValueError(f"has more than {MOST_ROWS} rows, the most that are read")
    rows = {str(name): frame[name].tolist() for name in frame.columns}
    if any(isinstance(next(iter(values), None), dict) for values in rows.values()):
        objects = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        rows, _ = flattened(objects)
    return Table(rows)
