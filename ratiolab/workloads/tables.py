"""Files as tables of values: CSV, JSON lines, JSON, Parquet and Arrow, whatever packs them."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

from ratiolab.model import FormatError
from ratiolab.model.files import Content, csv_rows
from ratiolab.model.instance import shown
from ratiolab.workloads.json_tables import Found, flattened, found_tables

MOST_ROWS = 4 * 10**6
"""Most rows of a log that are read."""

PARQUET, ARROW, ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"

NO_LOGS = {
    "version https://git-lfs": "is a pointer of Git LFS, not the log: git lfs pull",
    "<!doctype html": "is a web page, not a log: the download failed",
    "<html": "is a web page, not a log: the download failed",
}
"""How texts begin that stand where a log should be, in small letters, and what to do."""

DELIMITERS = ",;\t|"
"""Between the values of a row: those of spreadsheets of all countries, and of databases."""

COMMENT = "#"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of values as a file has them.

    Parameters
    ----------
    columns : columns of text or numbers, shape (n,); None where there is no value.
    lines : the line of each row in the file, for messages; None where rows have none.
    place : where in a JSON file the rows are, as a dotted path.
    comments : lines of comment above the header.
    notes : what was left out or assumed while the file was read, sentences.
    delimiter : between the values of a row of text; "" in other formats.
    """

    columns: Mapping[str, Sequence[Any]] = field(repr=False)
    lines: Sequence[int] | None = field(default=None, repr=False)
    place: str = ""
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    delimiter: str = ""

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

    The content decides the format, whatever the name. Raise FormatError, one line that names file,
    line and rule.
    """
    try:
        if content.data[:6].startswith((PARQUET, ARROW, ARROW_STREAM)):
            return [_frame(content.data)]
        text = content.text
        for start, words in NO_LOGS.items():
            if text[:100].lstrip().lower().startswith(start):
                raise ValueError(words)
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
    if not any(first.count(each) for each in DELIMITERS) and not hint:
        body, delimiter = _between_spaces(body), "\t"
    body, notes = _whole_rows(body, delimiter)
    rows = csv_rows(body, MOST_ROWS, delimiter, comment=COMMENT, unique=False)
    _, header = next(rows)
    if len(header) > 1 and all(map(_is_number, header)):
        raise ValueError("line 1: has numbers, where the names of the columns must be")
    lines, values = [], []
    for line, row in rows:
        lines.append(line + skipped)
        values.append(row)
    columns = zip(*values, strict=True) if values else ((),) * len(header)
    named, repeated = _named(header, list(columns))
    told = tuple(comments), (*notes, *repeated), delimiter
    return Table(_unpacked(named), lines, "", *told)


def _between_spaces(body: str) -> str:
    """Return a text with tabs for the spaces between values, if all rows have as many values."""
    rows = [line.split() for line in body.split("\n")]
    if len({len(row) for row in rows if row}) > 1 or '"' in body:
        return body
    return "\n".join("\t".join(row) for row in rows)


def _whole_rows(body: str, delimiter: str) -> tuple[str, list[str]]:
    """Return a text without an incomplete last row, and a note about that row."""
    head, _, rest = body.partition("\n")
    above, _, last = body.rpartition("\n")
    if not last.strip() or '"' in last or last.startswith(COMMENT) or not rest:
        return body, []
    if last.count(delimiter) >= head.count(delimiter) or '"' in head:
        return body, []
    return above + "\n", ["the last row is not whole: it is left out"]


def _named(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> tuple[dict[str, Sequence[str]], list[str]]:
    """Return columns by name, and a note about repeated names of the header.

    Equal columns are one; others get numbers, so that none is taken for another in silence.
    """
    named: dict[str, Sequence[str]] = {}
    notes: list[str] = []
    for name in dict.fromkeys(header):
        found = [column for each, column in zip(header, columns, strict=True) if each == name]
        if all(column == found[0] for column in found):
            named[name] = found[0]
            continue
        numbered = [f"{name} ({number})" for number in range(1, len(found) + 1)]
        named.update(zip(numbered, found, strict=True))
        if name:
            notes.append(f"the header has {name} {len(found)} times: {', '.join(numbered)}")
    return named, notes


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
    notes: tuple[str, ...] = ()
    twice: dict[str, None] = {}
    try:
        whole = _loads(text, twice)
    except ValueError:
        lines, whole, notes = _several(text, twice)
    if twice:
        names = ", ".join(map(shown, twice))
        notes += (f"some objects have two values of {names}: the last one counts",)
    found = found_tables(whole, MOST_ROWS)
    if not found:
        raise ValueError("holds no list of requests: a list of objects, or an object of lists")
    return [_table(each, lines, notes) for each in found]


def _table(found: Found, lines: list[int] | None, notes: tuple[str, ...]) -> Table:
    own = lines if not found.place and lines and len(lines) == found.rows else None
    return Table(found.columns, own, found.place, notes=notes)


def _several(text: str, twice: dict[str, None]) -> tuple[list[int], list[Any], tuple[str, ...]]:
    """Return the values of a text that has one a line, or one after another over many lines.

    A last line that was not written to its end is left out, and told. `twice` gets the names that
    an object has twice.
    """
    rows: list[Any] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(_loads(line, twice))
        except ValueError as error:
            found = list(_one_after_another(text, twice))
            if found:
                return [line for line, _ in found], [value for _, value in found], ()
            if rows and line.lstrip().startswith("{") and text.endswith(line):
                return lines, rows, (f"line {number}, the last, is not whole: it is left out",)
            why = "is not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
            raise ValueError(f"line {number}: {why}") from None
        lines.append(number)
        if len(rows) > MOST_ROWS:
            raise ValueError(f"has more than {MOST_ROWS} rows, the most that are read")
    return lines, rows, ()


def _one_after_another(text: str, twice: dict[str, None]) -> Iterator[tuple[int, Any]]:
    """Return the values of a text that are printed over several lines each; nothing if it fails."""
    decoder, place, line = json.JSONDecoder(object_pairs_hook=_noting(twice)), 0, 1
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


def _noting(twice: dict[str, None]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Return what makes a dictionary of the pairs of an object, and notes names of two values."""

    def row(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice.update((name, None) for name, value in pairs if value != found[name])
        return found

    return row


def _loads(text: str, twice: dict[str, None]) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_noting(twice))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise ValueError("has a number of more digits than are read") from None


def _frame(data: bytes) -> Table:
    import pandas as pd

    try:
        if data[:4] == ARROW_STREAM:
            from pyarrow import ipc

            frame = ipc.open_stream(data).read_pandas()
        else:
            read = pd.read_parquet if data[:4] == PARQUET else pd.read_feather
            frame = read(BytesIO(data))
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'ratiolab[parquet]'") from None
    except Exception as error:
        raise ValueError(f"is not Parquet ({' '.join(str(error).split())})") from None
    if len(frame) > MOST_ROWS:
        raise ValueError(f"has more than {MOST_ROWS} rows, the most that are read")
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    rows = {str(name): frame[name].tolist() for name in frame.columns}
    if any(isinstance(next(iter(values), None), dict) for values in rows.values()):
        objects = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        rows, _ = flattened(objects)
    return Table(rows)
