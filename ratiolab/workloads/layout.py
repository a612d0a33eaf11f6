"""A layout of request logs: which column of a file plays which role.

Instants: ``arrival``, ``start`` (of the first batch that serves the request), ``first`` (first
token) and ``finish`` (last token); promised ones ``deadline`` (of the last token) and ``first_by``
(of the first). Durations after the arrival: ``wait``, ``ttft`` and ``latency``; ``gap`` is the time
since the arrival before. Tokens: ``prompt`` and ``output``. ``weight`` is what a request counts, a
whole number. ``status`` says whether a request was served.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

PROMISED = ("deadline", "first_by")
INSTANTS = ("arrival", "start", "first", "finish", *PROMISED)
DURATIONS = ("gap", "wait", "ttft", "latency")
TOKENS = ("prompt", "output")
ROLES = (*INSTANTS, *DURATIONS, *TOKENS, "weight", "status")

UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "100ns": 1e7, "ns": 1e9}
UNITS |= {"min": 1 / 60, "h": 1 / 3600, "d": 1 / 86_400}
"""How many of each unit of time make a second; 100 ns are the ticks of Windows."""

Names: TypeAlias = "str | tuple[str, ...]"
"""The column of a role, or several names: the first in the file counts."""

Columns: TypeAlias = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Layout:
    """A known or given way to write a log.

    Parameters
    ----------
    name : the name in messages.
    columns : the column of each role that such a log must have.
    optional : columns of further roles, used where the file has them.
    marks : further columns that such a log must have.
    unit : documented unit of times that are numbers, a key of `UNITS`; None: not documented.
    units : units of roles that have another unit than `unit`.
    served : words of a status that mean "served", beside those of `ratiolab.workloads.status`.
    derived : makes further columns out of those of the file.
    without_arrival : what to tell where a file lacks the column of the arrivals.
    source : where the layout is described.
    given : whether the user named the columns.
    block : tokens of the blocks that the role ``blocks`` names; 0 without that role.
    """

    name: str
    columns: Mapping[str, Names]
    optional: Mapping[str, Names] = field(default_factory=dict)
    marks: tuple[Names, ...] = ()
    unit: str | None = "s"
    units: Mapping[str, str] = field(default_factory=dict)
    served: tuple[str, ...] = ()
    derived: Callable[[Columns], Columns] | None = field(default=None, repr=False)
    without_arrival: str = ""
    source: str = ""
    given: bool = False
    block: int = 0

    def fits(self, header: Collection[str]) -> bool:
        """Return whether a file with these columns is of the layout."""
        return all(_present(names, header) for names in (*self.columns.values(), *self.marks))

    @property
    def width(self) -> int:
        """The number of columns that a log must have: the widest layout that fits counts."""
        return len(self.columns) + len(self.marks)

    def within(self, header: Collection[str]) -> dict[str, str]:
        """Return the column of each role that such a file has."""
        every = {**self.columns, **self.optional}
        found = {role: _present(names, header) for role, names in every.items()}
        return {role: name for role, name in found.items() if name}


def _present(names: Names, header: Collection[str]) -> str:
    each = (names,) if isinstance(names, str) else names
    return next((name for name in each if name in header), "")


def given_layout(words: str, header: Collection[str]) -> Layout:
    """Return the layout that ``arrival=ts,prompt=n_in,output=n_out`` names, for these columns.

    A name with a comma stands in double quotes: ``prompt="tokens, in"``. Raise ValueError that
    names the role or column that is missing, unknown or named twice.
    """
    columns: dict[str, str] = {}
    for word in _split(words):
        role, sign, name = word.strip().partition("=")
        if not sign or not name:
            raise ValueError(f"columns {word!r} must be role=column")
        if role not in ROLES:
            raise ValueError(f"columns: {role!r} is no role; roles are {', '.join(ROLES)}")
        if role in columns:
            raise ValueError(f"columns: {role!r} is named twice")
        columns[role] = _resolved(name, header)
    for role in TOKENS:
        if role not in columns:
            raise ValueError(f"columns: {role!r} is missing, as in {role}=COLUMN")
    return Layout("columns that were named", columns, unit=None, given=True)


def _split(words: str) -> list[str]:
    """Return the parts between commas that do not stand in double quotes, without the quotes."""
    parts = re.findall(r'(?:"[^"]*"|[^,"])+|(?<=,)(?=,|$)|^(?=,)', words)
    return [part.replace('"', "") for part in parts] or [words]


def _resolved(name: str, header: Collection[str]) -> str:
    """Return a column by its name, or by that of the object whose value or type it is."""
    for inner in (*(f"{name}.{key}" for key in ("value", "type", "$date", "$numberLong")), name):
        if inner in header:
            return inner
    raise ValueError(f"columns: there is no column {name!r}, only {listed(header)}")


def given_units(words: str | None, header: Collection[str]) -> dict[str, str]:
    """Return the unit of each role or column that ``ms`` or ``arrival=s,ttft=ms`` names.

    The key ``""`` is for all others. Raise ValueError for an unknown unit, role or column.
    """
    found: dict[str, str] = {}
    for word in _split(words) if words else ():
        key, sign, unit = word.strip().rpartition("=")
        if unit not in UNITS:
            raise ValueError(f"time unit {unit!r} must be one of {', '.join(UNITS)}")
        if sign and key not in ROLES and key not in header:
            raise ValueError(f"time unit {word!r}: {key!r} is neither a role nor a column")
        found[key] = unit
    return found


def listed(header: Collection[str]) -> str:
    """Return the names of columns for a message, on one line that is not too long."""
    words = ", ".join(header)
    return words if len(words) <= 300 else f"{words[:300]}..."
