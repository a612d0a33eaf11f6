"""Requests and instances: frozen, validated, columnar."""

import hashlib
import reprlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.display import Rebuilt, Tabular
from ratiolab.model.footprint import IntArray, peak, volume

if TYPE_CHECKING:
    import pandas as pd

Column: TypeAlias = Sequence[int] | IntArray

LARGEST = 10**9
"""Largest value of any column but the arrivals."""

LATEST = 10**12
"""Latest arrival: 31 years of milliseconds. A million latencies of this size, and an arrival times
a memory of a million tokens, still fit a 64-bit integer."""

MOST_REQUESTS = 10**6
"""Most requests of one instance."""

LAST_ROUND = 2 * 10**15
"""Last round of a schedule: after the latest arrival, a million of the largest outputs fit one
after another."""

SHORTEST_TICK, LONGEST_TICK = 1e-9, 1e6
"""Limits of the seconds of a tick."""

PICOSECONDS = 10**12
"""In a second. Clocks count them in integers: sums are exact, whatever their order."""

COLUMNS = ("arrival", "prompt", "output")
LAW_COLUMNS = ("location", "scale", "freedom")
OPTIONAL_COLUMNS = ("lower", "upper", "predicted", *LAW_COLUMNS)
"""Columns of predictions."""
DATES = ("deadline", "first_by")
PROMISES = ("weight", *DATES)
"""Columns of promises: the value of a request, and until when it must be served."""
ALL_COLUMNS = COLUMNS + OPTIONAL_COLUMNS + PROMISES
_LEAST = {"arrival": 0, "prompt": 0, "location": 0}  # of every other column: 1
_MOST = {"arrival": LATEST} | dict.fromkeys(DATES, 2 * LATEST)  # of every other column: LARGEST


class Request(NamedTuple):
    """One request: arrival round, prompt and output tokens."""

    arrival: int
    prompt: int
    output: int


@dataclass(frozen=True, eq=False, init=False)
class Instance(Rebuilt, Tabular):
    """A memory size and the requests that share it.

    Columns become read-only int64 arrays of shape (n,); requests are named by their position,
    0 to n - 1.

    Parameters
    ----------
    name : what tables and pictures call the instance, one line.
    memory : KV cache size M, tokens, at least 1.
    arrival : round in which a request becomes known, at least 0; the latest, times the memory, is
        at most 10^18.
    prompt : prompt tokens s, at least 0 (the analysis of Chen et al. uses s = 0).
    output : output tokens o, at least 1, with s + o at most M.
    lower, upper : optional prediction interval: lower <= output <= upper.
    predicted : optional point prediction of the output, at least 1; it may be wrong.
    location, scale, freedom : optional predicted distribution of the output, in thousandths, all
        three or none: ln o is location + scale * (Student's t with `freedom` / 1000 degrees of
        freedom). The largest value of `freedom`, a million degrees, stands for the normal
        distribution.
    weight : optional value of serving a request, at least 1; 1 where the column is absent.
    deadline : optional latest completion of a request, in the unit of the arrivals.
    first_by : optional latest first token of a request, in the unit of the arrivals.
    source : where the instance comes from, one line of free text.
    tick_seconds : seconds of a tick, the unit of the arrivals; None when they are rounds without a
        length, which no clock can place in time.

    Raises
    ------
    ValueError
        names request, field, value and rule, as in
        ``request 3: prompt+output 70 exceeds memory 60``.

    Examples
    --------
    >>> instance = Instance("two", memory=10, arrival=[0, 0], prompt=[1, 2], output=[3, 4])
    >>> len(instance), instance.volume.tolist()
    (2, [9, 18])
    """

    name: str
    memory: int
    arrival: IntArray = field(repr=False)
    prompt: IntArray = field(repr=False)
    output: IntArray = field(repr=False)
    lower: IntArray | None = field(repr=False)
    upper: IntArray | None = field(repr=False)
    predicted: IntArray | None = field(repr=False)
    location: IntArray | None = field(repr=False)
    scale: IntArray | None = field(repr=False)
    freedom: IntArray | None = field(repr=False)
    weight: IntArray | None = field(repr=False)
    deadline: IntArray | None = field(repr=False)
    first_by: IntArray | None = field(repr=False)
    source: str = field(repr=False)
    tick_seconds: float | None = field(repr=False)

    def __init__(
        self,
        name: str,
        memory: int,
        arrival: Column,
        prompt: Column,
        output: Column,
        lower: Column | None = None,
        upper: Column | None = None,
        predicted: Column | None = None,
        source: str = "",
        location: Column | None = None,
        scale: Column | None = None,
        freedom: Column | None = None,
        tick_seconds: float | None = None,
        weight: Column | None = None,
        deadline: Column | None = None,
        first_by: Column | None = None,
    ) -> None:
        if tick_seconds is not None:
            tick_seconds = require_tick(tick_seconds)
        object.__setattr__(self, "tick_seconds", tick_seconds)
        for text, value in (("name", name), ("source", source)):
            if not isinstance(value, str):
                raise ValueError(f"{text} {shown(value)} must be a string")
            if not is_one_line(value):
                raise ValueError(f"{text} {shown(value)} must be one line of printable text")
            object.__setattr__(self, text, value)
        if not is_integer(memory):
            raise ValueError(f"memory {shown(memory)} must be an integer")
        if not 1 <= memory <= LARGEST:
            raise ValueError(f"memory {shown(int(memory))} must be between 1 and {LARGEST}")
        object.__setattr__(self, "memory", int(memory))
        given: tuple[Column | None, ...] = (arrival, prompt, output, lower, upper, predicted)
        given += (location, scale, freedom, weight, deadline, first_by)
        for column, values in zip(ALL_COLUMNS, given, strict=True):
            absent = values is None and column not in COLUMNS
            stored = None if absent else _read(column, values)
            object.__setattr__(self, column, stored)
            if stored is not None and len(stored) != len(self):
                raise ValueError(
                    f"{column} has {len(stored)} values but arrival has {len(self)}: "
                    "columns must have the same length"
                )
        self._check_relations()

    def _check_relations(self) -> None:
        if len(self) == 0:
            raise ValueError("arrival is empty: an instance must have at least one request")
        _refuse(
            self.arrival > LARGEST**2 // self.memory,
            lambda i: f"arrival {self.arrival[i]} times memory {self.memory} exceeds 10^18",
        )
        tokens = peak(self.prompt, self.output)
        _refuse(
            tokens > self.memory,
            lambda i: f"prompt+output {tokens[i]} exceeds memory {self.memory}",
        )
        lower, upper, output = self.lower, self.upper, self.output
        if lower is not None:
            _refuse(lower > output, lambda i: f"lower {lower[i]} exceeds output {output[i]}")
        if upper is not None:
            _refuse(upper < output, lambda i: f"upper {upper[i]} is below output {output[i]}")
        given = [name for name in LAW_COLUMNS if getattr(self, name) is not None]
        if given and len(given) < len(LAW_COLUMNS):
            rule = f"{', '.join(LAW_COLUMNS)} must be given together"
            raise ValueError(f"{given[0]} does not make a distribution: {rule}")

    def __len__(self) -> int:
        return len(self.arrival)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        mine, theirs = (
            (each.name, each.source, each.tick_seconds, each.digest) for each in (self, other)
        )
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.name, self.digest))

    @property
    def requests(self) -> Iterator[Request]:
        """The requests, one by one, in file order."""
        columns = (self.arrival.tolist(), self.prompt.tolist(), self.output.tolist())
        return (Request(*row) for row in zip(*columns, strict=True))

    @property
    def volume(self) -> IntArray:
        """Token-rounds that each request uses, shape (n,)."""
        return volume(self.prompt, self.output)

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits of SHA-256 over memory and columns.

        Name, source and the length of a tick are left out: schedules and proofs are in rounds.
        """
        sha = hashlib.sha256(str(self.memory).encode())
        for name in ALL_COLUMNS:
            column = getattr(self, name)
            if column is not None:
                sha.update(name.encode() + column.astype("<i8").tobytes())
            elif name not in (
                *LAW_COLUMNS,
                *PROMISES,
            ):  # their absence leaves older digests as they were
                sha.update(b"-")
        return sha.hexdigest()[:12]

    def require_own(self, other: "Instance", what: str) -> None:
        """Raise ValueError unless what is given with this instance is about these requests.

        Parameters
        ----------
        other : the instance of what is given, such as of a schedule or an optimum.
        what : what messages call it.
        """
        if other.digest != self.digest:
            raise ValueError(
                f"{what} is of {other.name} (digest {other.digest}), but must be of {self.name} "
                f"(digest {self.digest})"
            )

    @property
    def headline(self) -> str:
        """Name, number of requests and memory."""
        return f"{self.name}: {len(self):,} requests, memory {self.memory:,}"

    def to_dict(self) -> dict[str, Any]:
        """Return name, memory and columns as plain data: ``Instance(**data)`` is equal to it."""
        columns = {name: column.tolist() for name, column in self.columns.items()}
        head: dict[str, Any] = {"name": self.name, "memory": self.memory}
        tick = {} if self.tick_seconds is None else {"tick_seconds": self.tick_seconds}
        source = {"source": self.source} if self.source else {}
        return head | tick | columns | source

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each request."""
        import pandas as pd

        return pd.DataFrame({"request": range(len(self)), **self.columns})

    @property
    def columns(self) -> dict[str, IntArray]:
        """Return the columns that the instance has, by name."""
        values = {name: getattr(self, name) for name in ALL_COLUMNS}
        return {name: column for name, column in values.items() if column is not None}

    def take(self, requests: Column | NDArray[np.bool_], name: str | None = None) -> "Instance":
        """Return the instance of some requests only, in the order given.

        Parameters
        ----------
        requests : integers from 0 to n - 1, or one boolean for each request.
        name : the name of the instance; by default that of this instance.

        Raises
        ------
        ValueError
            when `requests` has no such values, or no values at all.

        Examples
        --------
        >>> three = Instance("three", 9, [0, 1, 2], [1, 1, 1], [2, 3, 4])
        >>> three.take([2, 0]).output.tolist(), three.take(three.output > 2).output.tolist()
        ([4, 2], [3, 4])
        """
        flags = isinstance(requests, list) and {*map(type, requests)} == {bool}
        is_array = hasattr(requests, "__array__") or flags
        given = np.asanyarray(requests) if is_array else requests
        if isinstance(given, np.ndarray) and given.dtype.kind == "b":
            if given.shape != (len(self),):
                raise ValueError(
                    f"requests has {given.size} booleans: a mask must have one for each of the "
                    f"{len(self)} requests"
                )
            given = np.flatnonzero(_unmasked("requests", given))
        chosen = integers("request", given, least=0, most=len(self) - 1, each="index")
        kept: dict[str, Any] = {name: column[chosen] for name, column in self.columns.items()}
        kept |= {"source": self.source, "tick_seconds": self.tick_seconds}
        return Instance(name or self.name, self.memory, **kept)

    def with_memory(self, memory: int) -> "Instance":
        """Return an instance with these requests and another memory; itself if memory is equal."""
        return self if memory == self.memory else self.replace(memory=memory)

    def without_predictions(self) -> "Instance":
        """Return an instance with these requests and without predictions of their outputs."""
        return self.replace(**dict.fromkeys(OPTIONAL_COLUMNS))

    def without_promises(self) -> "Instance":
        """Return an instance with these requests and without weights and deadlines."""
        return self.replace(**dict.fromkeys(PROMISES))

    @property
    def promises(self) -> tuple[str, ...]:
        """The names of the columns of promises that the instance has."""
        return tuple(name for name in PROMISES if getattr(self, name) is not None)

    def replace(self, **changes: Any) -> "Instance":
        """Return a validated copy with some fields changed.

        Raises
        ------
        ValueError
            when a new value breaks a rule, or arrivals move while deadlines, which are dates as
            they are, do not.
        """
        stale = [name for name in set(self.promises) & set(DATES) if name not in changes]
        if "arrival" in changes and stale:
            raise ValueError(
                f"{self.name}: new arrivals leave the dates of column {min(stale)} behind; give it "
                "anew, or None to drop it"
            )
        return replace(self, **changes)


def shown(value: object) -> str:
    """Return the value as a message quotes it: one line, cut when it is long or deep.

    >>> shown("x" * 100)
    "'xxxxxxxxxxxx...xxxxxxxxxxxxx'"
    """
    return reprlib.repr(value)


def is_one_line(text: str) -> bool:
    """Tell whether no control character, surrogate or line separator would spoil a message."""
    return not any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in text)


def require_tick(seconds: object) -> float:
    """Return the seconds of a tick; `ValueError` unless they are a number that makes sense."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | np.integer | np.floating):
        raise ValueError(f"tick_seconds {shown(seconds)} must be a number")
    if not SHORTEST_TICK <= seconds <= LONGEST_TICK:
        limits = f"between {SHORTEST_TICK:g} and {LONGEST_TICK:g}"
        raise ValueError(f"tick_seconds {shown(float(seconds))} must be {limits}")
    return float(seconds)


def is_integer(value: object) -> bool:
    """Return whether a value is an integer, of Python or numpy, and no truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _read(name: str, values: Any) -> IntArray:
    """Return the column as a frozen array, every value checked against its own limits."""
    limits = _LEAST.get(name, 1), _MOST.get(name, LARGEST)
    column = integers(name, values, *limits, longest=MOST_REQUESTS)
    return frozen(column)


def frozen(column: IntArray) -> IntArray:
    """Return a copy that stays as it is: no flag makes bytes writeable."""
    return np.frombuffer(column.tobytes(), np.int64)


def integers(
    name: str,
    values: Any,
    least: int,
    most: int,
    *,
    each: str = "request",
    longest: int | None = None,
) -> IntArray:
    """Return values as a new array of 64-bit integers between two limits.

    Parameters
    ----------
    name : what messages call the values.
    values : a list or a one-dimensional array of integers, without masked values.
    least, most : limits of each value.
    each : what messages call the place of a value.
    longest : largest number of values; None sets no limit.

    Raises
    ------
    ValueError
        names place, value and limits.
    """
    if hasattr(values, "__array__"):
        values = np.asanyarray(values)
    if isinstance(values, np.ndarray):
        readable = values.ndim == 1 and values.dtype.kind in "iu"
    else:
        readable = isinstance(values, Sequence) and not isinstance(values, str | bytes)
    if not readable:
        raise ValueError(f"{name} must be a list or a one-dimensional array of integers")
    if longest is not None and len(values) > longest:
        raise ValueError(f"{name} has {len(values)} values: at most {longest} are allowed")
    if isinstance(values, np.ndarray):
        values = _unmasked(name, values)
        _refuse(
            (values < least) | (values > most),
            lambda i: f"{name} {values[i]} must be between {least} and {most}",
            each,
        )
    else:
        for i, value in enumerate(values):
            if not is_integer(value):
                raise ValueError(f"{each} {i}: {name} {shown(value)} must be an integer")
            if not least <= value <= most:
                raise ValueError(
                    f"{each} {i}: {name} {shown(int(value))} must be between {least} and {most}"
                )
    return np.array(values, dtype=np.int64)


def _unmasked(name: str, values: NDArray[Any]) -> NDArray[Any]:
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: drop them, or fill them in")
    return np.asarray(values)


def _refuse(wrong: NDArray[np.bool_], rule: Callable[[int], str], each: str = "request") -> None:
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(f"{each} {i}: {rule(i)}")
