"""Units of the times of a log: stated, written in names, or inferred from the values.

A unit is believed in this order: what the user says; the time since 1970 that all values of a
column can be in one unit only; what the name of the column, a comment or the log itself says; what
the layout documents; seconds. It must be plausible then: at most `MOST_RATE` requests a second,
within `LONGEST`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.workloads.layout import UNITS

Numbers = NDArray[np.float64]

MOST_RATE = 1000.0
"""Requests a second of a log; more are asked about."""

LONGEST = 366 * 86_400.0
"""Seconds of a log; more are asked about."""

FEWEST = 1 / 60
"""Requests a second of a log; fewer, at whole numbers, may be in a finer unit."""

ENOUGH = 10
"""Requests that have a rate; fewer may come in a burst."""

EPOCH = (9.4e8, 4.1e9)
"""Seconds from 1970 to 1999 and to 2099."""

SERIAL = (36_500.0, 73_000.0)
"""Days of spreadsheets, from 1900 to 1999 and to 2099."""

SERIAL_1970 = 25_569
"""The day of spreadsheets on which 1970 began."""

TICKS = ((1.2e17, 1.6e17), (6.2e17, 6.6e17))
"""Hundreds of nanoseconds since 1601 and since the year 1, from 1980 to 2099."""

FAR = 100.0
"""Factor between times since 1970 and a value that is far from all of them."""

LARGEST_TIME = 1e20
"""Most that a number of time can be: nanoseconds since the year 1 reach 6.6e19 by 2099."""

LONG_WAIT = 60.0
"""Seconds after which a first token is late enough to ask whether its unit is right."""

SLOWEST, QUICKEST = 5.0, 2e-4
"""Seconds that a token may take in the mean."""

MOST = 0.95
"""Part of the durations that are within the latency in the right unit; others are impossible."""

WHOLE = 50.0
"""Median of durations that are all whole numbers from which on they are no seconds."""

WORDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(
        ("ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"), "ms"
    ),
    **dict.fromkeys(("us", "usec", "usecs", "micros", "microsecond", "microseconds", "µs"), "us"),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("minute", "minutes", "mins"), "min"),  # min may be a minimum
    **dict.fromkeys(("hour", "hours", "hrs"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
"""Words for units, in small letters."""


class Unit(NamedTuple):
    """A unit and why it is believed, in words."""

    key: str
    why: str


UNSTATED = Unit("s", "no unit is stated")


def unit_of_name(name: str) -> str | None:
    """Return the unit that the name of a column ends in.

    >>> [unit_of_name(n) for n in ("durationMs", "start_ns", "latency (s)", "ts", "requests")]
    ['ms', 'ns', 's', None, None]
    """
    words = re.findall(r"[a-zµ]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return WORDS.get(words[-1]) if len(words) > 1 else None


def unit_of_comments(comments: Sequence[str]) -> str | None:
    """Return the unit of times that a comment states, as in ``units: seconds``."""
    for comment in comments:
        if match := re.search(r"\b(?:time[ _-]?)?units?\b\s*[:=]?\s*([a-zµ]+)", comment.lower()):
            return WORDS.get(match[1])
    return None


def stated(
    role: str,
    name: str,
    given: Mapping[str, str],
    inner: str | None,
    comments: str | None,
) -> Unit | None:
    """Return the unit of a column that the user, its name or the log states.

    `given` has units by role and by name of a column, ``""`` for all. `inner` is the unit that
    stands beside the values, `comments` that of a comment.
    """
    for key in (role, name, ""):
        if key in given:
            return Unit(given[key], "--time-unit")
    if inner is not None and inner.lower() in WORDS:
        return Unit(WORDS[inner.lower()], "the log says so")
    if (own := unit_of_name(name)) is not None:
        return Unit(own, "by its name")
    return None if comments is None else Unit(comments, "a comment says so")


def since_1970(values: Numbers) -> str | None:
    """Return the unit in which all values are moments from 1999 to 2099; only one can be that.

    Values that begin near 0 are none, whatever they reach.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    for unit in ("s", "ms", "us", "ns"):
        if EPOCH[0] <= low / UNITS[unit] and high / UNITS[unit] <= EPOCH[1]:
            return unit
    return None


def strays_since_1970(values: Numbers) -> tuple[str, NDArray[np.bool_]] | None:
    """Return the unit in which most values are since 1970, and which values are far from all these.

    Return None where all values are near: such a column counts from another moment.
    """
    known = np.isfinite(values)
    within = {
        unit: known & (values / UNITS[unit] >= EPOCH[0]) & (values / UNITS[unit] <= EPOCH[1])
        for unit in ("s", "ms", "us", "ns")
    }
    unit = max(within, key=lambda each: int(within[each].sum()))
    strays = known & ~within[unit]
    if not strays.any() or 2 * strays.sum() > known.sum():
        return None
    low, high = values[within[unit]].min(), values[within[unit]].max()
    far = (values < low / FAR) | (values > high * FAR)
    return (unit, strays) if far[strays].all() else None


def serial_days(values: Numbers) -> bool:
    """Return whether all values can be days of a spreadsheet with times of the day."""
    known = values[np.isfinite(values)]
    if not len(known) or not (known % 1 > 0).any():
        return False
    return bool(SERIAL[0] <= known.min() and known.max() <= SERIAL[1])


def is_plausible(requests: int, seconds: float) -> bool:
    """Return whether this number of requests can arrive within these seconds."""
    if requests < ENOUGH or seconds == 0:
        return seconds <= LONGEST
    return seconds <= LONGEST and (requests - 1) / seconds <= MOST_RATE


def arrival_unit(
    values: Numbers, told: Unit | None, documented: Unit | None, name: str, longest: float = 0.0
) -> Unit:
    """Return the unit of arrivals that are numbers.

    `told` is the unit that the user, the name or the log states, `documented` that of the layout.
    Requests that come in one burst and take `longest` seconds are plausible in such a unit. Raise
    ValueError when no unit is plausible, or none is better than another: it names those to say.
    """
    known = values[np.isfinite(values)]
    count, span = len(known), float(np.ptp(known)) if len(known) else 0.0

    def plausible(unit: str) -> bool:
        return is_plausible(count, span / UNITS[unit])

    epoch = since_1970(values)
    if told is not None and told.why == "--time-unit":
        return told
    if epoch is not None and plausible(epoch):
        same = (told or documented or Unit(epoch, "")).key == epoch
        why = "times since 1970" if same else "times since 1970 in no other unit"
        return Unit(epoch, why)
    believed = told or documented
    if believed is not None and (
        plausible(believed.key) or is_plausible(count, span / UNITS[believed.key] + longest)
    ):
        broken = bool((known % 1 > 0).mean() > 0.5) if count else False
        if told is None and believed.key != "s" and broken and plausible("s"):
            return Unit("s", f"whole numbers would be {believed.key}, {believed.why}")
        return believed
    if serial_days(values) and plausible("d"):
        return Unit("d", "days of a spreadsheet")
    if believed is None and plausible("s"):
        return UNSTATED
    finer, coarser = ["s", "ms", "us", "ns"], ["min", "h", "d"]
    if count and any(low <= known.min() and known.max() <= high for low, high in TICKS):
        finer = ["100ns"]
    others = [u for u in finer if plausible(u)] or [u for u in coarser if plausible(u)]
    rates = {unit: count / max(span / UNITS[unit], 1e-12) for unit in others}
    likely = min(others, key=lambda unit: abs(np.log(rates[unit])), default=None)
    if told is None and documented is not None and likely == "s" and (known % 1 > 0).any():
        return Unit("s", f"in {documented.key}, {_rate(count, span / UNITS[documented.key])}")
    raise ValueError(_question(name, count, span, believed, likely))


def finer_unit(values: Numbers, unit: Unit) -> str | None:
    """Return a finer unit that arrivals may have: they are whole, and come hardly once a minute."""
    known = values[np.isfinite(values)]
    span = float(np.ptp(known)) if len(known) else 0.0
    if unit.why == "--time-unit" or len(known) < ENOUGH or span == 0:
        return None
    if (known % 1 > 0).any() or since_1970(values) is not None:
        return None
    rates = {each: len(known) / span * UNITS[each] for each in ("s", "ms", "us", "ns")}
    if unit.key not in rates or rates[unit.key] >= FEWEST:
        return None
    finer = [u for u in rates if UNITS[u] > UNITS[unit.key] and rates[u] <= MOST_RATE]
    return min(finer, key=lambda each: abs(np.log(rates[each])), default=None)


def _question(name: str, count: int, span: float, believed: Unit | None, likely: str | None) -> str:
    unit = "s" if believed is None else believed.key
    seconds = span / UNITS[unit]
    why = "no unit is stated" if believed is None else believed.why
    words = f"{name} in {unit} ({why}) would be {_rate(count, seconds)}"
    if likely is None:
        return f"{words}: if that is so, say --time-unit {unit}"
    words += f": say --time-unit {likely} ({_rate(count, span / UNITS[likely])}), or {unit}"
    return f"{words} if that is so"


def _rate(count: int, seconds: float) -> str:
    years = seconds / LONGEST
    if years > 1e6:
        return "a log of more than a million years"
    if years > 1:
        return f"a log of {years:,.0f} years"
    return f"{(count - 1) / seconds:,.3g} requests a second" if seconds else "all at once"


def duration_unit(
    role: str,
    values: Numbers,
    told: Unit | None,
    documented: Unit | None,
    output: Numbers,
    latency: Numbers | None,
) -> Unit:
    """Return the unit of durations: as stated, or else the first in which they make sense.

    A latency makes sense when a token takes between `QUICKEST` and `SLOWEST` in the mean; any other
    duration when it is within the latency. Whole numbers of `WHOLE` and more are no seconds.
    """
    if told is not None or documented is not None:
        return told or documented or Unit("s", "")
    given = values[np.isfinite(values)]
    whole = len(given) > 0 and bool((given % 1 == 0).all()) and float(np.median(given)) >= WHOLE
    for unit in ("s", "ms", "us", "ns"):
        seconds = values / UNITS[unit]
        if role == "latency":
            with np.errstate(divide="ignore", invalid="ignore"):
                each = seconds / np.where(output > 0, output, np.nan)
            each = each[np.isfinite(each)]
            fits = not len(each) or QUICKEST <= float(np.median(each)) <= SLOWEST
        elif latency is not None:
            both = np.isfinite(seconds) & np.isfinite(latency)
            within = seconds[both] <= latency[both] * 1.001 + 1e-3
            fits = not both.any() or float(within.mean()) >= MOST
        else:
            known = seconds[np.isfinite(seconds)]
            fits = not len(known) or float(np.median(known)) <= 60
        if fits and not (whole and unit == "s"):
            why = "no unit is stated" if unit == "s" else "inferred: no other unit makes sense"
            return Unit(unit, why)
    return Unit("s", "no unit is stated")


def require_quick_tokens(latency: Numbers, output: Numbers, name: str) -> None:
    """Refuse instants in seconds, a unit that nothing states, when tokens would take too long."""
    known = np.isfinite(latency) & (output > 0)
    if known.sum() < ENOUGH:
        return
    each = float(np.median(latency[known] / output[known]))
    likely = next((u for u in ("ms", "us", "ns") if each / UNITS[u] <= SLOWEST), None)
    if each > SLOWEST and likely is not None:
        raise ValueError(
            f"{name} and its finish in s (no unit is stated) would be {each:,.3g} s a token: say "
            f"--time-unit {likely} ({each / UNITS[likely]:.3g} s), or s if that is so"
        )


def later_unit(values: Numbers, arrival: Numbers, unit: str, most: Numbers) -> Unit:
    """Return the unit of instants after the arrivals, where nothing states it.

    It is that of the arrivals, unless most requests would take too long and another unit fits. Few
    requests, or times since 1970 beside arrivals that are none, do not tell. `most` are the seconds
    after the arrival that are plausible for each request.
    """

    def fits(key: str) -> bool:
        after = values / UNITS[key] - arrival
        known = np.isfinite(after) & np.isfinite(most)
        if not known.any():
            return True
        within = (after[known] >= -1e-3).mean() >= MOST
        return bool(within and np.median(after[known] / most[known]) <= 1)

    told = np.isfinite(values).sum() >= ENOUGH and since_1970(values) is None
    for key in ("s", "ms", "us", "ns"):
        if told and key != unit and not fits(unit) and fits(key):
            return Unit(key, f"inferred: not in {unit}, as arrivals are")
    return Unit(unit, "as arrivals are")
