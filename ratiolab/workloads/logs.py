"""Tables of requests read as columns of numbers: times in seconds, and tokens."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import LARGEST, shown
from ratiolab.workloads.layouts import DURATIONS, INSTANTS, SERVED, TOKENS, UNITS, Layout
from ratiolab.workloads.tables import Table

if TYPE_CHECKING:
    import pandas as pd

Seconds = NDArray[np.float64]

ABSENT = ("", "nan", "null", "none", "na", "n/a", "#n/a", "nat", "-")
"""Words, in small letters, of a value that is not there."""


FORMS = tuple(
    f"{date} {time}"
    for date in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y")
    for time in ("%H:%M:%S", "%H:%M:%S.%f", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
)
"""Forms of dates that are tried after ISO 8601; each log has one."""


SEPARATED = re.compile(r"\d{1,3}([,' \u00a0\u2009\u202f]\d{3})+")
"""A whole number with separators of thousands."""

LATEST = 4.1e9
"""Seconds from 1970 to 2099."""


class Columns(NamedTuple):
    """Requests of a log in order of arrival.

    Parameters
    ----------
    times : the roles arrival, start, first and finish that the log tells, in seconds from the first
        arrival on, NaN where it does not know.
    prompt, output : tokens.
    dropped : how many rows were left out, by reason.
    """

    times: dict[str, Seconds]
    prompt: IntArray
    output: IntArray
    dropped: dict[str, int]


def columns_of(table: Table, layout: Layout) -> Columns:
    """Return the requests of a table of this layout.

    Rows that were not served, or lack an arrival or tokens, are left out and counted.

    Raises
    ------
    ValueError
        one line that names line, column, value and rule.
    """
    names = layout.within(table.columns)
    values = {role: _present(table.columns[name]) for role, name in names.items()}
    rows = len(values["prompt"])
    if rows == 0:
        raise ValueError("has no requests below its header")
    tokens = {role: _tokens(values[role], names[role], table) for role in TOKENS}
    times = _times(values, names, table, UNITS[layout.unit])
    missing = {f"without {role}": np.isnan(column) for role, column in tokens.items()}
    if "arrival" in times:
        missing["without arrival"] = np.isnan(times["arrival"])
    if "status" in values:
        words = values["status"].astype(str).str.strip().str.lower()
        missing["not served"] = (~words.isin(SERVED) & values["status"].notna()).to_numpy(bool)
    kept, dropped = np.arange(rows), {}
    for reason, wrong in missing.items():
        if count := int(wrong[kept].sum()):
            dropped[reason] = count
            kept = kept[~wrong[kept]]
    if not len(kept):
        reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise ValueError(f"has no requests left: {reasons}")
    if "arrival" in times:
        kept = kept[np.argsort(times["arrival"][kept], kind="stable")]
        first = times["arrival"][kept[0]]
        times = {role: column - first for role, column in times.items()}
    prompt, output = (tokens[role][kept].astype(np.int64) for role in TOKENS)
    return Columns({role: t[kept] for role, t in times.items()}, prompt, output, dropped)


def _present(column: Sequence[Any]) -> "pd.Series":
    """Return a column in which None stands for each value that is not there."""
    import pandas as pd

    values = pd.Series(list(column), dtype=object)
    texts = values.map(lambda value: value.strip().lower() if isinstance(value, str) else "x")
    return values.where(~texts.isin(ABSENT) & values.notna(), None)


def _numbers(values: "pd.Series") -> tuple[Seconds, NDArray[np.bool_]]:
    """Return numbers, NaN where there is none, and which values are something else."""
    import pandas as pd

    found = pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    booleans = values.map(lambda value: isinstance(value, bool)).to_numpy(bool)
    wrong = (values.notna().to_numpy(bool) & ~np.isfinite(found)) | booleans
    return found, wrong


def _tokens(values: "pd.Series", name: str, table: Table) -> Seconds:
    found, wrong = _numbers(values)
    if wrong.any():
        values = values.map(_without_separators)
        found, wrong = _numbers(values)
    _refuse(wrong | (found % 1 > 0), values, name, table, "must be an integer")
    most = f"must be between 0 and {LARGEST}"
    _refuse((found < 0) | (found > LARGEST), values, name, table, most)
    return found


def _without_separators(value: Any) -> Any:
    """Return a text without the separators of thousands that spreadsheets write: ``1,186``."""
    if isinstance(value, str) and SEPARATED.fullmatch(value.strip()):
        return re.sub(r"\D", "", value)
    return value


def _times(
    values: dict[str, "pd.Series"], names: dict[str, str], table: Table, per_second: int
) -> dict[str, Seconds]:
    """Return the instants that a table tells, in seconds from some moment on."""
    found = _instants(values, names, table, per_second)
    spans = {
        role: _span(values[role], names[role], table, per_second)
        for role in DURATIONS
        if role in values
    }
    if "gap" in spans:
        found["arrival"] = np.cumsum(np.concatenate([[0.0], spans["gap"][1:]]))
    if "arrival" not in found:
        return {}
    for role, instant in (("wait", "start"), ("ttft", "first"), ("latency", "finish")):
        if role in spans:
            found[instant] = found["arrival"] + spans[role]
    return found


def _instants(
    values: dict[str, "pd.Series"], names: dict[str, str], table: Table, per_second: int
) -> dict[str, Seconds]:
    """Return instants in seconds: numbers, or dates when the arrivals are dates."""
    roles = [role for role in (*INSTANTS, "sent") if role in values]
    if "arrival" not in roles:
        return {}
    read = {role: _numbers(values[role]) for role in roles}
    if read["arrival"][1].any():
        dates = {role: _dates(values[role], names[role], table) for role in roles}
        stamps, there = dates["arrival"]
        origin = int(stamps[there].min())
        return {
            role: np.where(there, (stamps - origin) / 1e9, np.nan)
            for role, (stamps, there) in dates.items()
        }
    for role in roles:
        _refuse(
            read[role][1], values[role], names[role], table, "must be a number, as arrivals are"
        )
    numbers = {role: read[role][0] for role in roles}
    known = numbers["arrival"][~np.isnan(numbers["arrival"])]
    earliest = known.min() if len(known) else 0.0
    if earliest > LATEST * per_second:
        units = [unit for unit, each in UNITS.items() if earliest <= LATEST * each]
        raise ValueError(
            f"{names['arrival']}: {earliest:.0f} is too large for seconds since 1970: say "
            f"--time-unit {units[0] if units else 'ns'}"
        )
    sent = numbers.pop("sent", None)
    if sent is not None:  # chunks count from the sending; 0 was not recorded
        for role in ("first", "finish"):
            if role in numbers:
                moment = numbers["arrival"] + numbers[role] - sent
                numbers[role] = np.where(numbers[role] > 0, moment, np.nan)
    return {role: (column - earliest) / per_second for role, column in numbers.items()}


def _dates(values: "pd.Series", name: str, table: Table) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return nanoseconds since 1970, and where there are any; without an offset they are UTC."""
    import pandas as pd

    there = values.notna().to_numpy(bool)
    stamps = pd.to_datetime(values, utc=True, format="ISO8601", errors="coerce")
    if there.any() and stamps[there].isna().all():
        stamps = _local_dates(values, name, there)
    wrong = there & (stamps.isna() | (stamps.dt.year < 1970) | (stamps.dt.year >= 2100)).to_numpy()
    rule = "must be a time of the years 1970 to 2099 like 2023-11-16 18:15:46.6805900"
    _refuse(wrong, values, name, table, rule)
    whole = stamps.dt.as_unit("ns").fillna(pd.Timestamp(0, tz="UTC"))
    nanoseconds: IntArray = np.asarray(whole.astype(np.int64), np.int64)
    return nanoseconds, there


def _local_dates(values: "pd.Series", name: str, there: NDArray[np.bool_]) -> "pd.Series":
    """Return dates as people write them, in the one form of `FORMS` that reads all of them.

    Where day and month could change places, that order is taken in which the log is sorted.
    """
    import pandas as pd

    read = {form: pd.to_datetime(values, utc=True, format=form, errors="coerce") for form in FORMS}
    whole = {form: dates for form, dates in read.items() if dates[there].notna().all()}
    if len(whole) > 1:
        ordered = {form: d for form, d in whole.items() if d[there].is_monotonic_increasing}
        if len(ordered) != 1:
            raise ValueError(
                f"{name}: {shown(values[there].iloc[0])} may begin with the day or with the month: "
                "write dates as 2023-11-16 18:15:46"
            )
        whole = ordered
    if not whole:  # told with the first that the best form does not read
        return max(read.values(), key=lambda dates: int(dates.notna().sum()))
    return next(iter(whole.values()))


def _span(values: "pd.Series", name: str, table: Table, per_second: int) -> Seconds:
    found, wrong = _numbers(values)
    _refuse(wrong | (found < 0), values, name, table, "must be a number, at least 0")
    return found / per_second


def _refuse(
    wrong: NDArray[np.bool_], values: "pd.Series", name: str, table: Table, rule: str
) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{table.where(row)}: {name} {shown(values.iloc[row])} {rule}")
