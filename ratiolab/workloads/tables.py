"""Files as tables of text: CSV, JSON lines, JSON and Parquet, compressed or not."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from ratiolab.model import FormatError, shown
from ratiolab.model.files import PathLike, csv_rows, read_content

MOST_ROWS = 4 * 10**6
"""Most rows of a log that are read."""

PARQUET = b"PAR1"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of values as a file has them.

    Parameters
    ----------
    columns : each of shape (n,), of text or numbers; None where there is no value.
    lines : the line of each row in the file, for messages; None where rows have none.
    """

    columns: Mapping[str, Sequence[Any]] = field(repr=False)
    lines: Sequence[int] | None = field(default=None, repr=False)

    def where(self, row: int) -> str:
        """Return where a row stands, as messages say it."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"


def read_table(path: PathLike) -> Table:
    """Read a file as a table, whatever its ending: its content says what it is.

    Raises
    ------
    FormatError
        one line that names file, line and rule.
    """
    content = read_content(path)
    try:
        if content[:4] == PARQUET:
            return _parquet(content)
        text = content.decode("utf-8-sig")
        if not text.strip():
            raise ValueError("is empty")
        if text.lstrip()[0] in "{[":
            return _json(text)
        return _csv(text)
    except UnicodeDecodeError:
        raise FormatError(f"{path}: is not UTF-8 text") from None
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def _csv(text: str) -> Table:
    first = next(line for line in text.splitlines() if line.strip())
    # spreadsheets of many countries write semicolons, exports of databases tabs
    delimiter = max(",;\t|", key=first.count)
    rows = csv_rows(text, MOST_ROWS, delimiter)
    _, header = next(rows)
    lines, values = [], []
    for line, row in rows:
        lines.append(line)
        values.append(row)
    columns = zip(*values, strict=True) if values else ((),) * len(header)
    return Table(dict(zip(header, columns, strict=True)), lines)


def _json(text: str) -> Table:
    """Return the table of an object of lists, of a list of objects, or of objects, one a line."""
    lines = None
    try:
        whole = _loads(text)
        rows = whole if isinstance(whole, list) else [whole]
    except ValueError:
        lines, rows = _json_lines(text)
    if rows and isinstance(rows[0], dict) and isinstance(rows[0].get("input_lens"), list):
        if len(rows) > 1:
            raise ValueError(f"holds {len(rows)} results of a benchmark: keep one in a file")
        return _lists(rows[0])
    return _objects(rows, lines)


def _json_lines(text: str) -> tuple[list[int], list[Any]]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > MOST_ROWS:
        raise ValueError(f"has more than {MOST_ROWS} rows, the most that are read")
    rows = []
    for number, line in lines:
        try:
            rows.append(_loads(line))
        except ValueError:
            raise ValueError(f"line {number}: is not JSON") from None
    return [number for number, _ in lines], rows


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def _lists(data: Mapping[str, Any]) -> Table:
    """Return the lists of a benchmark's result that have a value for each request."""
    n = len(data["input_lens"])
    columns = {k: v for k, v in data.items() if isinstance(v, list) and len(v) == n}
    if {"ttfts", "itls"} <= columns.keys():
        try:
            pairs = zip(columns["ttfts"], columns["itls"], strict=True)
            columns["latencies"] = [first + sum(rest) for first, rest in pairs]
        except TypeError:
            raise ValueError("itls must be lists of numbers, one for each request") from None
    return Table(columns)


def _objects(rows: Sequence[Any], lines: Sequence[int] | None) -> Table:
    names: dict[str, None] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            place = f"line {lines[number]}" if lines else f"row {number}"
            raise ValueError(f"{place}: {shown(row)} must be a JSON object")
        names.update(dict.fromkeys(row))
    return Table({name: [row.get(name) for row in rows] for name in names}, lines)


def _parquet(content: bytes) -> Table:
    import pandas as pd

    try:
        frame = pd.read_parquet(BytesIO(content))
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'ratiolab[parquet]'") from None
    except Exception as error:
        raise ValueError(f"is not Parquet ({' '.join(str(error).split())})") from None
    if len(frame) > MOST_ROWS:
        raise ValueError(f"has more than {MOST_ROWS} rows, the most that are read")
    return Table({str(name): frame[name].tolist() for name in frame.columns})
