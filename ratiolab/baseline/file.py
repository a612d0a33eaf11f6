"""Files of pinned values, entry by entry: an unreadable entry does not hide other entries."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ratiolab.baseline.entries import Entry, OneEntry
from ratiolab.model.files import FormatError, PathLike, json_object, read_text, write_text
from ratiolab.model.validation import Strict, validated

FORMAT = "ratiolab-baseline/1"


class BaselineFile(Strict):
    """Values that are recomputed and compared."""

    nouns: ClassVar[dict[str, str]] = {"entries": "entry {}:"}

    format: Literal["ratiolab-baseline/1"]
    entries: Annotated[list[Annotated[Entry, Field(discriminator="kind")]], Field(min_length=1)]


class _Outline(Strict):
    """A baseline whose entries have not been looked at."""

    format: Literal["ratiolab-baseline/1"]
    entries: Annotated[list[Any], Field(min_length=1)]


@dataclass(frozen=True)
class Unreadable:
    """An entry that is none, and why."""

    reason: str

    def __str__(self) -> str:
        """Return what stands in for the entry's name."""
        return "unreadable entry"


@dataclass(frozen=True)
class Placed:
    """An entry, or what stands in its place, with the line of the file on which it begins."""

    number: int
    line: int
    entry: Entry | Unreadable


def read_placed(path: PathLike) -> list[Placed]:
    """Return every entry of a file, readable or not; `FormatError` when it is no baseline."""
    text = read_text(path)
    try:
        data = validated(_Outline, json_object(text, FORMAT)).entries
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None
    lines = _lines(text, len(data))
    return [Placed(k, lines[k], _entry(each)) for k, each in enumerate(data)]


def read_baseline(path: PathLike) -> list[Entry]:
    """Return the entries of a baseline file; `FormatError` when it, or one of them, is wrong."""
    entries = []
    for placed in read_placed(path):
        if isinstance(placed.entry, Unreadable):
            raise FormatError(f"{path}: entry {placed.number}: {placed.entry.reason}")
        entries.append(placed.entry)
    return entries


def _entry(data: Any) -> Entry | Unreadable:
    try:
        return validated(OneEntry, data).root
    except ValueError as error:
        return Unreadable(str(error))


def _lines(text: str, count: int) -> list[int]:
    """Return the line on which each entry begins; 1 where the text does not show it."""
    decoder, lines = json.JSONDecoder(), list[int]()
    try:
        place = text.index("[", text.index('"entries"')) + 1
        while len(lines) < count:
            place += len(text[place:]) - len(text[place:].lstrip(" \t\r\n,"))
            lines.append(text.count("\n", 0, place) + 1)
            place = decoder.raw_decode(text, place)[1]
    except ValueError:  # a file that spells it in another way
        return [1] * count
    return lines


def entry_of(kind: str, arguments: Mapping[str, str]) -> Entry:
    """Return an entry without a value, its arguments given as words; numbers are read as such."""

    def read(word: str) -> Any:
        try:
            return json.loads(word)
        except ValueError:
            return word

    words = {name.replace("-", "_"): read(word) for name, word in arguments.items()}
    data = {"kind": kind, **words}
    if "value" in data:
        raise ValueError(
            "value is computed, not given; to pin the bound of a theorem, add a ratio-at-most with "
            f"at-most={arguments['value']}"
        )
    if "at_most" in data and kind != "ratio-at-most":
        raise ValueError(f"at-most belongs to the kind ratio-at-most, not to {kind}")
    return validated(OneEntry, data).root


def write_baseline(entries: Sequence[Entry], path: PathLike) -> None:
    """Write a baseline in one step, one entry a line."""
    lines = ",\n".join("    " + json.dumps(_data(entry)) for entry in entries)
    text = f'{{\n  "format": {json.dumps(FORMAT)},\n  "entries": [\n{lines}\n  ]\n}}\n'
    write_text(path, text)


def _data(entry: Entry) -> dict[str, Any]:
    """Return an entry as its line has it: kind and arguments before the value."""
    given = entry.given()
    return {"kind": entry.kind} | entry.arguments() | given
