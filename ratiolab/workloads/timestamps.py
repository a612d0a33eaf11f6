"""Dates and times of logs as nanoseconds since 1970, in forms of programs and of people."""

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import shown

if TYPE_CHECKING:
    import pandas as pd

FORMS = tuple(
    f"{date} {time}"
    for date in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y")
    for time in ("%H:%M:%S", "%H:%M:%S.%f", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
)
"""Forms of dates that are tried after ISO 8601; each log has one."""

ZONES = {
    **dict.fromkeys(("UTC", "GMT", "Z", "UCT", "WET"), 0),
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "AKST": -9,
    "AKDT": -8,
    "HST": -10,
    "BST": 1,
    "CET": 1,
    "MET": 1,
    "CEST": 2,
    "WEST": 1,
    "EET": 2,
    "EEST": 3,
    "MSK": 3,
    "IST": 5.5,
    "SGT": 8,
    "HKT": 8,
    "JST": 9,
    "KST": 9,
    "AEST": 10,
    "AEDT": 11,
    "NZST": 12,
    "NZDT": 13,
}
"""Hours that names of time zones are ahead of UTC; a log has mostly one, and only gaps count."""

MONTHS = {
    month: number
    for number, month in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}

RULE = "must be a time of the years 1970 to 2099 like 2023-11-16 18:15:46.6805900"

DAY = 86_400 * 10**9

LEAP_DAY = re.compile(r"\b0?2-29[T ]|\bfeb[a-z]*\s+29\b", re.IGNORECASE)
"""The 29th of February of a time without a year, perhaps of one with a year."""

CALENDARS = {False: ("2001", 365 * DAY), True: ("2000", 366 * DAY)}
"""The year of times without one and its length: of 365 days, and with the 29th of February."""

CLOCK = r"(?P<clock>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)"
ZONE = r"(?:\s*(?P<offset>[+-]\d{2}(?::?\d{2})?))?(?:\s*\(?(?P<zone>[A-Za-z]{1,5})\)?)?"
TAIL = r"(?:\s+m=[+-][\d.]+)?"  # Go's monotonic reading
MONTH = r"(?P<month>[A-Za-z]{3,9})"

PATTERNS = tuple(
    re.compile(pattern + ZONE + TAIL)
    for pattern in (
        rf"(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})[Tt _]\s*{CLOCK}",
        rf"(?P<day>\d{{1,2}})/{MONTH}/(?P<year>\d{{4}})[: ]{CLOCK}",  # Apache
        rf"(?:[A-Za-z]{{3,9}},\s+)?(?P<day>\d{{1,2}})[ -]{MONTH}[ -](?P<year>\d{{4}})\s+{CLOCK}",
        rf"{MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}),? (?:at )?{CLOCK}",
        rf"(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})[T ]{CLOCK}",  # without a year
        CLOCK,
    )
)
ASCTIME = re.compile(
    rf"(?:[A-Za-z]{{3}}\s+)?{MONTH}\s+(?P<day>\d{{1,2}})\s+{CLOCK}"
    rf"(?:\s+(?P<zone>[A-Z]{{1,5}}))?(?:\s+(?P<year>\d{{4}}))?"
)

COMPACT = re.compile(
    r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[T _-]?([01]\d|2[0-3])([0-5]\d)"
    r"(?:([0-5]\d)(?:[.,]?(\d+))?)?"
)
"""Digits of a date and a time in a row: ``20230116181546``."""

COMPACT_SIZES = (12, 14, 17, 20)
"""Digits of such a number: to the minute, the second, the millisecond, the microsecond."""

COMPACT_POWERED = re.compile(r"(1[.,]9|2[.,]0)\d*e\+?(11|13|16|19)", re.IGNORECASE)
"""Such a number with an exponent, which often has lost digits: ``2.02301161815e+13``."""

COMPACT_SHORT = re.compile(
    r"(\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d)([0-5]\d)(?:\.\d+)?"
)
"""Such a number with a year of two digits: ``230116181546``."""


class Stamps(NamedTuple):
    """Times of a column.

    Parameters
    ----------
    nanoseconds : since 1970, shape (n,); any number where there is none.
    there : which there are, shape (n,).
    note : what was assumed, a sentence; or nothing.
    period : nanoseconds after which times without a date, or without a year, repeat; 0 for others.
    """

    nanoseconds: IntArray
    there: NDArray[np.bool_]
    note: str = ""
    period: int = 0


def has_leap_day(values: "pd.Series") -> bool:
    """Return whether a time may be of the 29th of February of a year that is not written."""
    return any(isinstance(value, str) and LEAP_DAY.search(value) for value in values)


def stamps(
    values: "pd.Series", name: str, leap: bool | None = None
) -> tuple[Stamps, NDArray[np.bool_]]:
    """Return the times of a column of texts, and which values are none; no offset means UTC.

    Times without a year are of a leap year if `leap`, or where it is None if one of the column is
    of the 29th of February. Where day and month could change places, that order is taken in which
    the log is sorted. Raise ValueError when the order of day and month cannot be told.
    """
    import pandas as pd

    there = values.notna().to_numpy(bool)
    leap = has_leap_day(values) if leap is None else leap
    read = pd.to_datetime(values, utc=True, format="ISO8601", errors="coerce")
    note, period = "", 0
    if there.any() and read[there].isna().any():
        plain = pd.Series(
            [
                " ".join(str(v).strip().strip("[]").split()) if t else None
                for v, t in zip(values, there, strict=True)
            ],
            index=values.index,
            dtype=object,
        )
        if (zone := _one_zone(plain[there])) is not None:
            plain = plain.str.removesuffix(zone)
        again = pd.to_datetime(
            plain.map(lambda word: _iso(word, CALENDARS[leap][0])),
            utc=True,
            format="ISO8601",
            errors="coerce",
        )
        if again[there].isna().all():
            again = _local(plain.str.replace(r"(\d{4}),\s+", r"\1 ", regex=True), name, there)
        elif again[there].notna().all():
            again, note, period = _completed(again, plain, there, name, leap)
        read = again
    wrong = there & (read.isna() | (read.dt.year < 1970) | (read.dt.year >= 2100)).to_numpy()
    whole = read.mask(wrong).dt.as_unit("ns").fillna(pd.Timestamp(0, tz="UTC"))
    return Stamps(np.asarray(whole.astype(np.int64), np.int64), there, note, period), wrong


def digits_of_dates(values: "pd.Series", numbers: NDArray[np.float64]) -> "pd.Series | None":
    """Return numbers as texts, where most of them are digits of a date and a time in a row."""
    import pandas as pd

    known = numbers[np.isfinite(numbers)]
    if not len(known) or len(f"{abs(np.median(known)):.0f}") not in COMPACT_SIZES:
        return None
    texts = [
        str(value).strip().removesuffix(".0") if there else None
        for value, there in zip(values, values.notna(), strict=True)
    ]
    found = sum(text is not None and bool(COMPACT.fullmatch(text)) for text in texts)
    return (
        pd.Series(texts, values.index, dtype=object) if found > values.notna().sum() / 2 else None
    )


def unclear_digits(values: "pd.Series") -> str:
    """Return why numbers are refused that may all be dates and times in a row; "" for others."""
    words = [str(value).strip() for value in values[values.notna()]]
    if words and all(map(COMPACT_POWERED.fullmatch, words)):
        form, better = "with an exponent", "all its digits"
    elif words and all(short := list(map(COMPACT_SHORT.fullmatch, words))) and short[0]:
        year, month, day, hour, minute, second = short[0].groups()
        form = "with a year of two digits"
        better = f"20{year}-{month}-{day} {hour}:{minute}:{second}"
    else:
        return ""
    return (
        f"may be a date and a time in digits {form}: write {better}, or say --time-unit if it "
        "counts a unit"
    )


def _iso(word: object, assumed: str = "2001") -> object:
    """Return a time in ISO 8601, or the word as it is when it has no known form.

    >>> _iso("04/Mar/2026:09:00:00 +0000")
    '2026-03-04T09:00:00+00:00'
    >>> _iso("2026-03-04 09:00:00.195657 +0000 UTC")
    '2026-03-04T09:00:00.195657+00:00'
    >>> _iso("09:00:00,5")
    '2001-01-01T09:00:00.5+00:00'
    >>> _iso("20260304090000")
    '2026-03-04T09:00:00.0+00:00'
    """
    if not isinstance(word, str):
        return word
    parts = _parts(word)
    if not parts:
        return word
    month = parts.get("month") or "1"
    if not month.isdigit():
        if month[:3].lower() not in MONTHS:
            return word
        month = str(MONTHS[month[:3].lower()])
    zone = _offset(parts.get("offset"), parts.get("zone"))
    if zone is None:
        return word
    date = f"{parts.get('year') or assumed}-{int(month):02}-{int(parts.get('day') or 1):02}"
    clock = str(parts["clock"]).replace(",", ".").zfill(5)
    clock = clock if clock[2] == ":" else f"0{clock}"
    whole, dot, rest = clock.partition(".")
    return f"{date}T{whole}{dot}{rest[:9]}{zone}"


def _parts(word: str) -> dict[str, str | None]:
    """Return the parts of a time, as year, month and clock, or nothing when it has no known form.

    >>> _parts("12-31 23:59:00.2000")["clock"]
    '23:59:00.2000'
    """
    if compact := COMPACT.fullmatch(word):
        year, month, day, hour, minute, second, fraction = (
            part or "0" for part in compact.groups()
        )
        word = f"{year}-{month}-{day} {hour}:{minute}:{second.zfill(2)}.{fraction}"
    for pattern in (*PATTERNS, ASCTIME):
        if match := pattern.fullmatch(word):
            return match.groupdict()
    return {}


def _one_zone(words: "pd.Series") -> str | None:
    """Return the end of all times that names one zone which is not known: gaps do not depend on it.

    AM and PM are none.
    """
    found = set(words.str.extract(r"(\s\(?[A-Za-z]{3,5}\)?)$")[0])
    if len(found) != 1 or not isinstance(zone := found.pop(), str):
        return None
    return None if zone.strip(" ()").upper() in ZONES else zone


def _offset(offset: str | None, zone: str | None) -> str | None:
    """Return an offset in ISO 8601; a name beside a number says nothing more."""
    if offset:
        digits = offset.replace(":", "").ljust(5, "0")
        return f"{digits[:3]}:{digits[3:]}"
    hours = 0 if not zone else ZONES.get(zone.upper())
    if hours is None:
        return None
    minutes = round(abs(hours) * 60)
    return f"{'-' if hours < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def _completed(
    read: "pd.Series", plain: "pd.Series", there: NDArray[np.bool_], name: str, leap: bool
) -> tuple["pd.Series", str, int]:
    """Return times that have no date, or no year, in order, what that assumes, and their period."""
    first = _parts(str(plain[there].iloc[0]))
    if first and not first.get("day"):
        note = f"{name} has no dates: "
        if (days := _periods(read[there], DAY)).any():
            note += "a step of more than half a day passes midnight"
        else:
            note += "all times are taken to be of one day"
        return _moved(read, there, days * DAY), note, DAY
    if first and not first.get("year"):
        _, year = CALENDARS[leap]
        kind = "a leap year" if leap else "a year of 365 days (no time is of 29 February)"
        if (years := _periods(read[there], year)).any():
            note = f"a step of more than half a year passes the end of {kind}"
        else:
            note = f"all times are taken to be of {kind}"
        return _moved(read, there, years * year), f"{name} has no year: {note}", year
    return read, "", 0


def _periods(known: "pd.Series", period: int) -> IntArray:
    """Return the number of periods that each time is after the first one.

    A step of more than half a period passes an end of a period, forwards or back. Times in order
    are of one period.
    """
    steps = np.diff(known.dt.as_unit("ns").astype("int64").to_numpy(), prepend=known.iloc[0].value)
    if not (steps < 0).any():
        return np.zeros(len(steps), np.int64)
    ahead, back = steps < -period // 2, steps > period // 2
    return np.cumsum(ahead.astype(np.int64) - back)


def _moved(read: "pd.Series", there: NDArray[np.bool_], moves: IntArray) -> "pd.Series":
    """Return times, with the moves in nanoseconds added to the times that are there."""
    import pandas as pd

    nanoseconds = read.dt.as_unit("ns").astype("int64").to_numpy().copy()
    nanoseconds[there] += moves
    moved = pd.Series(pd.to_datetime(nanoseconds, utc=True), index=read.index)
    return moved.where(pd.Series(there, index=read.index))


def _local(values: "pd.Series", name: str, there: NDArray[np.bool_]) -> "pd.Series":
    """Return dates as people write them, in the one form of `FORMS` that reads all of them."""
    import pandas as pd

    read = {form: pd.to_datetime(values, utc=True, format=form, errors="coerce") for form in FORMS}
    whole = {form: dates for form, dates in read.items() if dates[there].notna().all()}
    if len(whole) > 1:
        ordered = {form: d for form, d in whole.items() if d[there].is_monotonic_increasing}
        since = [(d - d.min())[there] for d in whole.values()]
        if all(each.equals(since[0]) for each in since[1:]):
            ordered = dict([next(iter(whole.items()))])  # all of one day: gaps are the same
        if len(ordered) != 1:
            raise ValueError(
                f"{name}: {shown(values[there].iloc[0])} may begin with the day or with the month: "
                "write dates as 2023-11-16 18:15:46"
            )
        whole = ordered
    if not whole:  # told with the first that the best form does not read
        return max(read.values(), key=lambda dates: int(dates.notna().sum()))
    return next(iter(whole.values()))
