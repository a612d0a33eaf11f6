"""Files as text: read with limits, written in one step, compressed or not; JSON and CSV, strictly.

A message is one line that names the file, the place and the rule. Writing goes to a temporary file
that is then renamed, so a crash leaves the old file or the new one, never half of either. A name
that ends in ``.gz`` stands for compressed text, in both directions; ``-`` is standard input.
"""

import codecs
import csv
import gzip
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import isinf
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import Any, TypeAlias, TypeVar

from ratiolab.model.instance import LARGEST, MOST_REQUESTS, shown
from ratiolab.model.packed import unpacked

PathLike: TypeAlias = str | os.PathLike[str]
Row = TypeVar("Row")

LARGEST_FILE = 2**28
"""Bytes of the largest file that is read, 256 MiB."""


STANDARD_INPUT = "standard input"
"""Name in messages of the file ``-``."""


STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
"""Descriptors of the paths that stand for output streams."""


class FormatError(ValueError):
    """A file that is not what it should be; the message is one line for people."""


@dataclass(frozen=True)
class Content:
    """Content of a file, read once: a pipe cannot be read again."""

    name: str
    data: bytes = field(repr=False)
    digest: str

    @property
    def utf8(self) -> str:
        """The text as it is. `FormatError` unless it is UTF-8 with content."""
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FormatError(f"{self.name}: is not UTF-8 text") from None
        if not text.strip():
            raise FormatError(f"{self.name}: is empty")
        return text

    @property
    def text(self) -> str:
        """The text, with ``\\n`` at the end of every line.

        `FormatError` unless there is some, in UTF-8, in UTF-16 or UTF-32 with a byte order mark, or
        in the letters of Western Europe that spreadsheets write.
        """
        text = self._decoded()
        if not text.strip():
            raise FormatError(f"{self.name}: is empty")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _decoded(self) -> str:
        marks = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
        marks |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
        marked = next((code for mark, code in marks.items() if self.data.startswith(mark)), None)
        if marked is None and b"\0" not in self.data:
            try:
                return self.data.decode("utf-8-sig")
            except UnicodeDecodeError:
                marked = "cp1252"
        try:
            text = self.data.decode(marked or "utf-8-sig")
        except UnicodeDecodeError:
            raise FormatError(f"{self.name}: is not UTF-8 text") from None
        strange = sum(ord(letter) > 126 or ord(letter) < 9 for letter in text[:4096])
        if marked == "cp1252" and strange > 0.1 * len(text[:4096]):
            raise FormatError(f"{self.name}: is not UTF-8 text")
        return text


def read_text(path: PathLike, largest: int | None = None) -> str:
    """Return the text of a file of at most `largest` bytes; by default `LARGEST_FILE`.

    The first bytes identify packed text, whatever the name. `FormatError` unless the file is
    readable UTF-8 with content.
    """
    return read_content(path, largest).utf8


def read_content(path: PathLike, largest: int | None = None) -> Content:
    """Return what a file holds, or standard input for the name ``-``, unpacked.

    By default at most `LARGEST_FILE` bytes are read. Raise FormatError when the file is not there,
    too large, a folder, a named pipe, or not whole, or when standard input is closed.
    """
    largest = LARGEST_FILE if largest is None else largest
    name = STANDARD_INPUT if str(path) == "-" else str(path)
    if str(path) != "-":
        require_no_pipe(Path(path))
    elif sys.stdin is None:
        raise FormatError(f"{name}: is closed; name a file, or pipe one into the command")
    try:
        if str(path) == "-":
            raw = sys.stdin.buffer.read(largest + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(largest + 1)
    except IsADirectoryError:
        raise FormatError(f"{name}: is a directory, not a file") from None
    except OSError as error:
        raise FormatError(f"{name}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the path
        raise FormatError(f"{name!r}: {error}") from None
    try:
        data = unpacked(raw, largest, packed=name.endswith(".gz"))
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None
    if max(len(raw), len(data)) > largest:
        raise FormatError(f"{name}: has more than {largest} bytes, the most that are read")
    return Content(name, data, hashlib.sha256(raw).hexdigest())


def require_no_pipe(path: Path) -> None:
    """Refuse a named pipe, which would block; standard input is one without a name."""
    try:
        is_pipe = Path(os.path.realpath(path)).is_fifo()
    except (OSError, ValueError):  # who opens the path says what is wrong with it
        return
    if is_pipe:
        raise FormatError(f"{path}: is a named pipe, not a file")


def csv_rows(
    text: str,
    most: int = MOST_REQUESTS,
    delimiter: str = ",",
    comment: str | None = None,
    unique: bool = True,
) -> Iterator[tuple[int, list[str]]]:
    """Return line number and values of each row of a CSV text, the header first.

    Lines that begin with `comment` are left out below the header, unless they have as many values.
    With `unique`, a name that the header has twice is refused.
    """
    if "\0" in text:
        raise ValueError("holds a NUL byte: is not CSV")
    if text.count("\n") > most + 1:
        raise ValueError(f"has more than {most} rows, the most that are read")
    # lines end where files end them, not at every character that Unicode calls a separator
    rows = csv.reader(StringIO(text, newline=None), strict=True, delimiter=delimiter)
    try:
        header = [column.strip() for column in next(rows)]
        if unique and len(set(header)) != len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise ValueError(f"line {rows.line_num}: {shown(twice)} stands in the header twice")
        yield rows.line_num, header
        for row in rows:
            if len(row) != len(header):
                if comment and (not row or row[0].lstrip().startswith(comment)):
                    continue
                raise ValueError(
                    f"line {rows.line_num}: has {len(row)} values, the header {len(header)}"
                )
            yield rows.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num}: is not CSV ({error})") from None


def csv_table(
    path: PathLike, head: Sequence[str], parse: Callable[[dict[str, str], int], Row]
) -> list[Row]:
    """Return the rows of a CSV file whose columns must be these, in this order.

    `parse` makes a row of the text in each column and the number of the line, and raises ValueError
    for what breaks a rule. Raise FormatError with file and rule, and the line where there is one.
    """
    try:
        rows = csv_rows(read_text(path))
        _, header = next(rows)
        if header != list(head):
            raise ValueError(f"columns must be {', '.join(head)}")
        return [parse(dict(zip(head, cells, strict=True)), line) for line, cells in rows]
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def csv_integer(value: str, column: str, line: int) -> int:
    """Return the integer that one cell holds; `ValueError` names line, column and value."""
    digits = value.strip().removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"line {line}: {column} {shown(value)} must be an integer")
    if len(digits) > 18:
        raise ValueError(f"line {line}: {column} {shown(value)} must be at most {LARGEST}")
    return int(value)


def write_text(path: PathLike, text: str) -> None:
    """Replace a file by this text in one step, creating its folder when needed."""
    content = text.encode()
    # no time of writing: equal texts make equal files
    write_bytes(path, gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def write_csv(path: PathLike, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV, in one step."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    write_text(path, text.getvalue())


def write_bytes(path: PathLike, content: bytes) -> None:
    """Replace a file by these bytes in one step, creating its folder when needed.

    A link keeps pointing where it did, and what is no regular file (a terminal, a pipe, the null
    device) is written to, never replaced. A file keeps its permissions, and the umask sets the
    permissions of a new file. `OSError` names the path that was asked for.
    """
    target = Path(os.path.realpath(path))
    try:
        if (stream := STREAMS.get(str(path))) is not None:
            # opened by its path, a file behind the stream would be replaced or cut
            sys.stdout.flush()
            with os.fdopen(os.dup(stream), "wb") as file:
                file.write(content)
            return
        if Path(path).exists() and not Path(path).is_file():
            Path(path).write_bytes(content)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".ratiolab-{token_hex(8)}")
        try:
            with temporary.open("xb") as file:
                if target.exists():  # before it holds the content
                    temporary.chmod(S_IMODE(target.stat().st_mode))
                file.write(content)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def json_lines(data: Mapping[str, Any]) -> str:
    """Return JSON with one key a line, so that files differ where their content does."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def json_object(text: str, version: str) -> dict[str, Any]:
    """Return a JSON object of this format; duplicate keys and NaN are refused."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        unique: dict[str, Any] = {}
        for key, value in items:
            if key in unique:
                raise FormatError(f"key {shown(key)} stands there twice")
            unique[key] = value
        return unique

    def number(word: str) -> float:
        value = float(word)
        if isinf(value):
            raise FormatError(f"number {shown(word)} is too large")
        return value

    def constant(word: str) -> None:
        raise FormatError(f"{word} is not a number of JSON")

    try:
        data = json.loads(
            text, object_pairs_hook=pairs, parse_float=number, parse_constant=constant
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: is not JSON ({error.msg})") from None
    except FormatError:
        raise
    except ValueError:  # the interpreter's own limit on the digits of an integer
        raise ValueError("an integer has thousands of digits") from None
    except RecursionError:
        raise ValueError("is not JSON of this format (nested too deeply)") from None
    if not isinstance(data, dict):
        raise ValueError(f"must be a JSON object, not {type(data).__name__}")
    if data.get("format") != version:
        raise ValueError(f"format {shown(data.get('format'))} must be {version!r}")
    return data


def require_keys(data: Mapping[str, Any], required: Iterable[str], optional: Iterable[str]) -> None:
    required, optional = tuple(required), tuple(optional)
    for key in required:
        if key not in data:
            raise ValueError(f"{key} is missing")
    for key in data:
        if key not in required + optional:
            allowed = ", ".join(required + optional)
            raise ValueError(f"unknown key {shown(key)}; known are {allowed}")
