"""Places of a JSON value that may hold a table of requests.

A table is a list of objects, whose inner objects become columns with dotted names; an object of
lists of equal length; a list of lists below one of names; or what pandas writes (``orient``:
records, columns, index, split, table).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ratiolab.model.instance import shown

DEEPEST = 8
"""Levels of a value that are looked through."""

FEW = 100
"""A list of this length may hold results that have tables of their own."""

MOST_NAMES = 2000
"""Columns that objects may be taken apart into."""


class Inner:
    """Stands where a row has an object."""


class Found(NamedTuple):
    """A table and where it is: keys and positions, with dots between; "" for the whole."""

    place: str
    columns: dict[str, list[Any]]
    rows: int


def found_tables(whole: Any, most: int) -> list[Found]:
    """Return the tables of a JSON value, those of the outer places first.

    Raise ValueError when the whole is a list of something else than objects, or a table has more
    rows than `most`.
    """
    if isinstance(whole, list):
        for number, row in enumerate(whole):
            if not isinstance(row, (dict, list)):
                raise ValueError(f"row {number}: {shown(row)} must be a JSON object")
    if isinstance(whole, list) and len(whole) == 1 and _is_columnar(whole[0]):
        whole = whole[0]  # one result, in a file that may have several
    if _is_row(whole):
        whole = [whole]
    found = list(_tables(whole, "", 0))
    for each in found:
        if each.rows > most:
            raise ValueError(f"has more than {most} rows, the most that are read")
    return found


def _tables(value: Any, place: str, depth: int) -> Iterator[Found]:
    if depth > DEEPEST:
        return
    for columns in _columns(value):
        yield Found(place, columns, len(next(iter(columns.values()))))
    inner: Iterator[tuple[str, Any]] = iter(())
    if isinstance(value, dict):
        inner = ((str(key), each) for key, each in value.items())
    elif isinstance(value, list) and len(value) <= FEW:
        inner = ((str(number), each) for number, each in enumerate(value))
    for key, each in inner:
        if isinstance(each, (dict, list)):
            yield from _tables(each, f"{place}.{key}" if place else key, depth + 1)


def _columns(value: Any) -> list[dict[str, list[Any]]]:
    """Return the columns of a value that is a table itself; two readings where it may be either."""
    if isinstance(value, list):
        if value and all(isinstance(row, dict) and row for row in value):
            return [flattened(value)[0]]
        return _below_header(value)
    if not isinstance(value, dict):
        return []
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and data:  # split
        if all(isinstance(row, list) and len(row) == len(names) for row in data):
            return [{str(name): [row[k] for row in data] for k, name in enumerate(names)}]
        return []
    if _is_columnar(value):
        length = _common_length(value)
        return [{str(k): v for k, v in value.items() if isinstance(v, list) and len(v) == length}]
    return _of_objects(value)


def _below_header(value: list[Any]) -> list[dict[str, list[Any]]]:
    """Return the columns of lists of values whose first list has names."""
    if len(value) < 2 or not all(isinstance(row, list) and row for row in value):
        return []
    names, *rows = value
    whole = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    if not whole or len(names) < 2 or any(len(row) != len(names) for row in rows):
        return []
    return [{name: [row[k] for row in rows] for k, name in enumerate(names)}]


def _is_columnar(value: Any) -> bool:
    """Return whether a value is an object of lists that have a value for each request."""
    return isinstance(value, dict) and _common_length(value) > 0


def _common_length(value: Mapping[str, Any]) -> int:
    """Return the length that most lists of an object have, when these are two at least."""
    sizes = Counter(
        len(each)
        for each in value.values()
        if isinstance(each, list) and each and not isinstance(each[0], dict)
    )
    length, count = sizes.most_common(1)[0] if sizes else (0, 0)
    return length if count >= 2 else 0


def _is_row(value: Any) -> bool:
    """Return whether an object is a single request: most of its values are plain."""
    if not isinstance(value, dict) or _is_columnar(value):
        return False
    plain = sum(isinstance(each, (int, float, str)) for each in value.values())
    return not any(map(_holds_objects, value.values())) and plain >= 2


def _holds_objects(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_objects, value.values())) or _is_columnar(value)
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _of_objects(value: Mapping[str, Any]) -> list[dict[str, list[Any]]]:
    """Return the columns of an object of objects, read column by column and row by row."""
    inner = list(value.values())
    if len(inner) < 2 or not all(isinstance(each, dict) and each for each in inner):
        return []
    keys = set(inner[0])
    if any(set(each) != keys for each in inner[1:]):
        return []
    if any(isinstance(v, (dict, list)) for each in inner for v in each.values()):
        return []
    by_row = {str(name): [row[name] for row in inner] for name in inner[0]}
    by_column = {str(name): [column[key] for key in inner[0]] for name, column in value.items()}
    return [by_column, by_row]


def flattened(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, list[Any]], bool]:
    """Return the columns of objects, inner objects under dotted names, and whether there were any.

    A column that holds objects in some rows and plain values or null in others keeps these under
    its own name, and ``True`` where there is an object.
    """
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    if not any(isinstance(value, dict) for row in rows for value in row.values()):
        return {str(name): [row.get(name) for row in rows] for name in names}, False
    flat = [dict(_leaves(row, "", 0)) for row in rows]
    names = {}
    for each in flat:
        names.update(dict.fromkeys(each))
        if len(names) > MOST_NAMES:
            raise ValueError(f"has objects with more than {MOST_NAMES} names")
    columns = {name: [each.get(name) for each in flat] for name in names}
    for name in [name for name, v in columns.items() if Inner in map(type, v)]:
        if all(type(value) is Inner for value in columns[name]):
            del columns[name]
        else:
            columns[name] = [True if type(v) is Inner else v for v in columns[name]]
    return columns, True


def _leaves(row: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, dict) and value and depth < DEEPEST:
            yield name, Inner()
            yield from _leaves(value, name, depth + 1)
        else:
            yield name, (None if isinstance(value, dict) else value)
