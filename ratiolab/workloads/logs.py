"""Tables of requests read as columns of numbers: times in seconds, and tokens."""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import LARGEST, shown
from ratiolab.workloads.layout import DURATIONS, INSTANTS, PROMISED, TOKENS, UNITS, Layout
from ratiolab.workloads.prefixes import NOTE, Prefixes
from ratiolab.workloads.status import served
from ratiolab.workloads.tables import Table
from ratiolab.workloads.timestamps import (
    RULE,
    digits_of_dates,
    has_leap_day,
    stamps,
    unclear_digits,
)
from ratiolab.workloads.units import (
    LARGEST_TIME,
    LONG_WAIT,
    LONGEST,
    SERIAL_1970,
    SLOWEST,
    UNSTATED,
    Unit,
    arrival_unit,
    duration_unit,
    finer_unit,
    later_unit,
    require_quick_tokens,
    since_1970,
    stated,
    strays_since_1970,
    unit_of_comments,
)

if TYPE_CHECKING:
    import pandas as pd

NAMED = 3
"""Rows that a message names."""

Seconds = NDArray[np.float64]

ABSENT = ("", "nan", "null", "none", "na", "n/a", "#n/a", "nat", "-", "\\n")
"""Words, in small letters, of a value that is not there."""

SPACES = "' \u00a0\u2009\u202f"
"""Separators of thousands that no country has as its decimal sign."""

SEPARATED = re.compile(rf"[1-9]\d{{0,2}}([,{SPACES}]\d{{3}})+")
"""A whole number with separators of thousands."""

POINTED = re.compile(r"[1-9]\d{0,2}(\.\d{3})+")
COMMAED = re.compile(r"[1-9]\d{0,2}(,\d{3})+")
"""Whole numbers with separators of thousands that may be decimal signs, too."""

EXPONENT = r"([eE][+-]?\d+)?"

WITH_POINT = re.compile(
    rf"[+-]?(\d+(\.\d+)?{EXPONENT}|[1-9]\d{{0,2}}([,{SPACES}]\d{{3}})+(\.\d+)?)"
)
"""A number with a decimal point: ``1,218.5``."""

WITH_COMMA = re.compile(rf"[+-]?(\d+(,\d+)?{EXPONENT}|[1-9]\d{{0,2}}([.{SPACES}]\d{{3}})+(,\d+)?)")
"""A number with a decimal comma: ``1.218,5``."""

WHOLE = (*TOKENS, "weight")
"""Roles of whole numbers."""

ROUNDING = 1e-3
"""Seconds by which an instant may be before an earlier one: clocks and logs round."""

ORDER = (
    ("start", "arrival", "start before arrival"),
    ("first", "arrival", "first token before arrival"),
    ("finish", "arrival", "finish before arrival"),
    ("finish", "first", "finish before first token"),
)
"""Instants that cannot be before another one, and the message for rows that break the order."""


class Columns(NamedTuple):
    """Requests of a log in order of arrival.

    Parameters
    ----------
    times : the roles arrival, start, first and finish that the log tells, in seconds from the first
        arrival on, NaN where it does not know. Without arrivals: seconds after the arrival of each.
    prompt, output : tokens.
    dropped : how many rows were left out, by reason.
    notes : what was assumed or not used, sentences.
    units : units of the columns that have numbers of time, in words; "" without any.
    prefixes : blocks that prompts share; None where the log does not name them.
    promises : the roles weight, and deadline and first_by in seconds after the arrival, infinite
        where a request has none.
    """

    times: dict[str, Seconds]
    prompt: IntArray
    output: IntArray
    dropped: dict[str, int]
    notes: list[str]
    units: str
    prefixes: Prefixes | None = None
    promises: Mapping[str, Seconds] = {}


def columns_of(table: Table, layout: Layout, units: Mapping[str, str] | None = None) -> Columns:
    """Return the requests of a table of this layout.

    Rows that were not served, lack an arrival or tokens, or have impossible times are left out and
    counted. `units` of times that are numbers are by role or column; ``""`` stands for all others.
    Raise ValueError, one line that names line, column, value and rule.
    """
    return _Reading(table, layout, units or {}).columns()


class _Instants(NamedTuple):
    """Instants of one column: since 1970 in nanoseconds, or numbers that count from anywhere."""

    values: Seconds | IntArray
    there: NDArray[np.bool_]
    unit: str  # "date" for nanoseconds of dates
    absolute: bool
    period: int = 0  # nanoseconds after which dates without a day or a year repeat


class _Reading:
    """A table while it is read."""

    def __init__(self, table: Table, layout: Layout, units: Mapping[str, str]) -> None:
        if layout.derived is not None:
            table = table.with_columns(layout.derived(table.columns))
        self.table, self.layout, self.given = table, layout, units
        self.names = layout.within(table.columns)
        self.comments = unit_of_comments(table.comments)
        self.values = {role: _present(table.columns[name]) for role, name in self.names.items()}
        self.rows = len(self.values["prompt"])
        if self.rows == 0:
            raise ValueError("has no requests below its header")
        self.notes = list(table.notes)
        self.units: dict[str, Unit] = {}
        self.dates: set[str] = set()
        self.missing: dict[str, NDArray[np.bool_]] = {}
        self.output: Seconds = np.full(self.rows, np.nan)

    def columns(self) -> Columns:
        self._leave_out_unserved()
        tokens = {role: self._tokens(role) for role in TOKENS}
        self.output = tokens["output"]
        if "weight" in self.values:
            tokens["weight"] = self._tokens("weight", least=1)
        self.missing |= {f"without {role}": np.isnan(c) for role, c in tokens.items()}
        times = self._times(tokens["output"])
        if "arrival" in times:
            self.missing["without arrival"] = np.isnan(times["arrival"])
        self._require_order(times, tokens["output"])
        kept, dropped = np.arange(self.rows), {}
        for reason, wrong in self.missing.items():
            if count := int(wrong[kept].sum()):
                dropped[reason] = count
                kept = kept[~wrong[kept]]
        if not len(kept):
            reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
            if any(reason.startswith("not served") for reason in dropped):
                reasons += f"; --columns without status={self.names['status']} reads all rows"
            raise ValueError(f"has no requests left: {reasons}")
        if "arrival" in times:
            kept = kept[np.argsort(times["arrival"][kept], kind="stable")]
            first = times["arrival"][kept[0]]
            times = {role: column - first for role, column in times.items()}
        elif self.layout.without_arrival:
            self.notes.append(self.layout.without_arrival)
        prompt, output = (tokens[role][kept].astype(np.int64) for role in TOKENS)
        promises = {"weight": tokens["weight"][kept]} if "weight" in tokens else {}
        for role in PROMISED:
            if role in times:
                limit = (times.pop(role) - times["arrival"])[kept]
                promises[role] = np.where(np.isnan(limit), np.inf, limit)
        found = {role: t[kept] for role, t in times.items()}
        shared = self._prefixes(kept, prompt)
        told = self.notes, self._units_in_words(), shared, promises
        return Columns(found, prompt, output, dropped, *told)

    def _prefixes(self, kept: IntArray, prompt: IntArray) -> Prefixes | None:
        """Return the blocks that prompts share; a note says why where their names make no sense."""
        if "blocks" not in self.names:
            return None
        column = self.table.columns[self.names["blocks"]]
        try:
            found = Prefixes.of(self.layout.block, [column[k] for k in kept.tolist()], prompt)
        except ValueError as error:
            self.notes.append(f"{self.names['blocks']} are not used: {error}")
            return None
        self.notes.append(NOTE)
        return found

    def _leave_out_unserved(self) -> None:
        """Forget the values of requests that were not served: they are often no numbers."""
        if "status" not in self.values:
            return
        found = served(self.values["status"], self.names["status"], self.layout.served)
        if found.note:
            self.notes.append(found.note)
        if not found.served.all():
            self.missing[found.reason] = ~found.served
            gone = ~found.served
            self.values = {role: column.mask(gone, None) for role, column in self.values.items()}

    def _tokens(self, role: str, least: int = 0) -> Seconds:
        import pandas as pd

        name = self.names[role]
        self._settle_decimals(role, ".", POINTED)
        self._settle_decimals(role, ",", COMMAED)
        values = self.values[role]
        found, wrong = _numbers(values)
        if wrong.any():
            plain = [_without_separators(value, self._decimal) for value in values]
            found, wrong = _numbers(pd.Series(plain, values.index, dtype=object))
        most = f"must be between {least} and {LARGEST}"
        self._refuse((found < least) | (found > LARGEST), values, name, most)
        self._refuse(wrong | (found % 1 > 0), values, name, "must be an integer")
        return found

    @cached_property
    def _decimal(self) -> str:
        """The decimal sign of the file: a point, a comma, or "" where nothing tells it.

        Numbers tell it that can be read with one sign only. If there are none, tokens do that would
        not be whole with the other sign, then commas between the values: decimals have points.
        """
        texts = {
            role: [v.strip() for v in self.values[role] if isinstance(v, str) and {".", ","} & {*v}]
            for role in (*INSTANTS, "sent", *DURATIONS, *WHOLE)
            if role in self.values
        }
        read = [
            (bool(WITH_POINT.fullmatch(text)), bool(WITH_COMMA.fullmatch(text)))
            for text in chain(*texts.values())
        ]
        whole = [text for role in WHOLE for text in texts.get(role, ())]
        for signs in (
            {"." if point else "," for point, comma in read if point != comma},
            {"," if "." in text else "." for text in whole if not text.endswith("000")},
        ):
            if signs:
                return signs.pop() if len(signs) == 1 else ""
        return "." if self.table.delimiter == "," else ""

    def _settle_decimals(self, role: str, sign: str, form: re.Pattern[str]) -> None:
        """Take a sign out of tokens where it separates thousands; refuse where it may be decimal.

        The decimal sign of the file tells that, or else values below 1000 without the sign. Notes
        tell how it was read.
        """
        import pandas as pd

        values, name = self.values[role], self.names[role]
        marked = values.map(lambda value: isinstance(value, str) and sign in value).to_numpy(bool)
        texts = [text.strip() for text in values[marked]]
        if not texts or not all(form.fullmatch(text) for text in texts):
            return
        whole, _, rest = texts[0].partition(sign)
        word = "point" if sign == "." else "comma"
        if self._decimal == sign:
            told = f"{name} {shown(texts[0])} is read as {whole}.{rest}"
            self.notes.append(f"{told}: the {word} is its decimal sign")
            return
        others, strange = _numbers(values[~marked & values.notna()])
        below = len(others) > 0 and not strange.any() and bool((others < 1000).all())
        if not self._decimal and not below and (sign == "." or self.table.delimiter == ";"):
            either = f"{whole} or {whole}{rest}"
            rule = f"may have decimals or a separator of thousands: write it as {either}"
            self._refuse(marked, values, name, rule)
        if sign == ".":
            plain = [v.replace(sign, "") if isinstance(v, str) else v for v in values]
            self.values[role] = pd.Series(plain, values.index, dtype=object)
            told = f"{shown(texts[0])} is read as {texts[0].replace(sign, '')}"
            self.notes.append(f"{name} {told}: the point separates thousands")

    def _time_numbers(self, role: str) -> tuple[Seconds, NDArray[np.bool_]]:
        """Return numbers of time, NaN where there is none, and which values are something else."""
        import pandas as pd

        values, name = self.values[role], self.names[role]
        found, wrong = _numbers(values)
        strange = [str(value).strip() for value in values[wrong]]
        if sign := self._time_sign(values, strange):
            plain = [_without_thousands(v, sign) if isinstance(v, str) else v for v in values]
            again, still_wrong = _numbers(pd.Series(plain, values.index, dtype=object))
            if not still_wrong.any():
                found, wrong = again, still_wrong
                if note := _told(values, strange, sign):
                    self.notes.append(f"{name} {note}")
        rule = f"must be between {-LARGEST_TIME:g} and {LARGEST_TIME:g}"
        self._refuse(np.abs(found) > LARGEST_TIME, values, name, rule)
        return found, wrong

    def _time_sign(self, values: "pd.Series", strange: Sequence[str]) -> str:
        """Return the decimal sign of numbers of time that have separators or commas; "" for others.

        A comma is the decimal sign where it cannot separate thousands, and where the file says so.
        Spreadsheets that write semicolons between values write decimal commas.
        """
        texts = [value.strip() for value in values if isinstance(value, str)]
        point = all(WITH_POINT.fullmatch(text) for text in strange)
        if not strange:
            separated = any("." in text for text in texts) and all(map(WITH_COMMA.fullmatch, texts))
            return "," if separated and self._decimal == "," else ""
        if not all(map(WITH_COMMA.fullmatch, texts)):
            return "." if point else ""
        if not point:
            return ","
        return self._decimal or ("," if self.table.delimiter == ";" else ".")

    def _times(self, output: Seconds) -> dict[str, Seconds]:
        """Return the instants that a table tells, in seconds from some moment on."""
        spans = self._spans(output)
        found = self._instants(spans)
        if "gap" in spans:
            gaps = np.nan_to_num(spans["gap"][1:])
            found["arrival"] = np.cumsum(np.concatenate([[0.0], gaps]))
        if "arrival" not in found and "finish" in found and "latency" in spans:
            found["arrival"] = found["finish"] - spans["latency"]
            self.notes.append("arrivals are the finish times less the latencies")
        for role, instant in (("wait", "start"), ("ttft", "first"), ("latency", "finish")):
            if role in spans:
                known = found.get("arrival", 0.0) + spans[role]
                other = found.get(instant)
                found[instant] = known if other is None else np.where(np.isnan(known), other, known)
        return found

    def _spans(self, output: Seconds) -> dict[str, Seconds]:
        found: dict[str, Seconds] = {}
        for role in ("latency", *(each for each in DURATIONS if each != "latency")):
            if role not in self.values:
                continue
            values, name = self.values[role], self.names[role]
            read, wrong = self._time_numbers(role)
            if wrong.any() and (written := _written(values)) is not None:
                self._refuse(written < 0, values, name, "must be a time of at least 0")
                found[role] = written
                continue
            self._refuse(wrong | (read < 0), values, name, "must be a number, at least 0")
            told, documented = self._stated(role), self._documented(role)
            unit = duration_unit(role, read, told, documented, output, found.get("latency"))
            self.units[role] = unit
            found[role] = read / UNITS[unit.key]
        return found

    def _instants(self, spans: Mapping[str, Seconds]) -> dict[str, Seconds]:
        """Return instants in seconds from some moment on."""
        roles = [role for role in (*INSTANTS, "sent") if role in self.values]
        if "arrival" not in roles and not ("finish" in roles and "latency" in spans):
            if unused := [self.names[role] for role in roles]:
                self.notes.append(f"without arrivals, {' and '.join(unused)} are not used")
            return {}
        lead = "arrival" if "arrival" in roles else "finish"
        read = {lead: self._instant(lead, None, spans)}
        known = read[lead].values[read[lead].there]
        if not len(known):
            return {lead: np.full(self.rows, np.nan)}
        for role in roles:
            if role != lead:
                read[role] = self._instant(role, read[lead], spans)
        for role, each in list(read.items()):
            if each.absolute != read[lead].absolute and each.there.any():
                self._two_origins(role, lead, read)
        if "finish" in read and lead == "arrival" and self.units.get(lead) == UNSTATED:
            latency = _seconds(read["finish"], read[lead]) - _seconds(read[lead], read[lead])
            require_quick_tokens(latency, self.output, self.names[lead])
        sent = read.pop("sent", None)
        if sent is not None:  # chunks count from the sending; 0 was not recorded
            for role in ("first", "finish"):
                if role in read:
                    each = read[role]
                    moment = read["arrival"].values + each.values - sent.values
                    there = each.there & (each.values > 0)
                    read[role] = each._replace(values=moment, there=there)
        return {role: _seconds(each, read[lead]) for role, each in read.items()}

    def _instant(
        self, role: str, lead: _Instants | None, spans: Mapping[str, Seconds]
    ) -> _Instants:
        values, name = self.values[role], self.names[role]
        numbers, wrong = self._time_numbers(role)
        there = np.isfinite(numbers)
        if self._stated(role) is None:
            if (digits := digits_of_dates(values, numbers)) is not None:
                return self._dates(role, digits, lead)
            if rule := unclear_digits(values):
                self._refuse(values.notna().to_numpy(bool), values, name, rule)
        if wrong.any():
            if lead is not None and not lead.absolute:
                self._refuse(wrong, values, name, "must be a number, as arrivals are")
            if there.sum() > wrong.sum():
                self._refuse(wrong, values, name, "must be a number, as most are")
            return self._dates(role, values, lead)
        if lead is not None and lead.absolute and role != "sent":
            there &= numbers != 0  # nothing happens in 1970: 0 was not recorded
        known = np.where(there, numbers, np.nan)
        unit = self._instant_unit(role, known, lead, spans)
        self.units[role] = unit
        if lead is None and (finer := finer_unit(known, unit)) is not None:
            self.notes.append(
                f"{name} has whole numbers, read in {unit.key} ({unit.why}): if they are in "
                f"{finer}, say --time-unit {finer}"
            )
        elif unit == UNSTATED and name.lower().endswith("min"):
            self.notes.append(
                f"{name} is read in s (no unit is stated): if it counts minutes, say "
                "--time-unit min"
            )
        if unit.key == "d":
            return _Instants((known - SERIAL_1970), there, "d", True)
        return _Instants(known, there, unit.key, since_1970(known) == unit.key)

    def _dates(self, role: str, values: "pd.Series", lead: _Instants | None) -> _Instants:
        """Return dates; those without a day or a year are the nearest ones to the lead."""
        name = self.names[role]
        found, broken = stamps(values, name, self._leap)
        self._refuse(broken, values, name, RULE)
        if found.note:
            self.notes.append(found.note)
        self.dates.add(role)
        moments, period = found.nanoseconds, found.period
        if lead is not None and 0 < period == lead.period:
            away = np.rint((moments - lead.values) / period).astype(np.int64)
            moments = np.where(lead.there, moments - away * period, moments)
        return _Instants(moments, found.there, "date", True, period)

    @cached_property
    def _leap(self) -> bool:
        """Whether times without a year are of a leap year: those of all columns, or of none."""
        return any(has_leap_day(self.values[each]) for each in INSTANTS if each in self.values)

    def _instant_unit(
        self, role: str, values: Seconds, lead: _Instants | None, spans: Mapping[str, Seconds]
    ) -> Unit:
        told, documented = self._stated(role), self._documented(role)
        name = self.names[role]
        if lead is None:
            longest = max(
                (float(np.nanmax(s)) for s in spans.values() if not np.isnan(s).all()), default=0.0
            )
            try:
                return arrival_unit(values, told, documented, name, longest)
            except ValueError:
                self._refuse_strays(role, values)
                raise
        if told is not None and told.why == "--time-unit":
            return told
        if lead.absolute:
            epoch = since_1970(values)
            return Unit(epoch, "times since 1970") if epoch else told or Unit("s", "")
        if told or documented or role not in ("first", "finish"):
            return told or documented or Unit(lead.unit, "as arrivals are")
        most = np.full(self.rows, LONG_WAIT) if role == "first" else SLOWEST * self.output
        arrival = np.where(lead.there, lead.values, np.nan) / UNITS[lead.unit]
        return later_unit(values, arrival, lead.unit, np.where(most > 0, most, np.nan))

    def _refuse_strays(self, role: str, values: Seconds) -> None:
        """Refuse values that are no times since 1970 where most are, with the rows they are in."""
        found = strays_since_1970(values)
        if found is None:
            return
        unit, strays = found
        rows = np.flatnonzero(strays)
        own = since_1970(values[rows[:1]])
        known = int(np.isfinite(values).sum())
        places = ", ".join(self.table.where(row) for row in rows[:NAMED])
        more = len(rows) - NAMED
        raise ValueError(
            f"{self.table.where(rows[0])}: {self.names[role]} "
            f"{shown(self.values[role].iloc[rows[0]])} is "
            f"{f'in {own} since 1970' if own else 'no time since 1970'}, but {known - len(rows):,} "
            f"of {known:,} values are in {unit} since 1970: mend or leave out {places}"
            f"{f' and {more:,} more' if more > 0 else ''}, or say --time-unit if all values "
            "count from another moment"
        )

    def _two_origins(self, role: str, lead: str, read: dict[str, _Instants]) -> None:
        """Refuse instants that count from 1970 beside others that do not, or leave them out."""
        words = (
            f"{self.names[role]} and {self.names[lead]} count from different origins: one since "
            "1970, the other not"
        )
        if self.layout.given or role == "sent":
            row = int(read[role].there.argmax())
            raise ValueError(
                f"{self.table.where(row)}: {words} ({shown(self.values[role].iloc[row])} beside "
                f"{shown(self.values[lead].iloc[row])})"
            )
        del read[role]
        self.notes.append(f"{words}; {self.names[role]} is not used")

    def _require_order(self, times: dict[str, Seconds], output: Seconds) -> None:
        """Leave out rows of impossible times; refuse a column that has them in most rows."""
        if "arrival" not in times:
            times = times | {"arrival": np.zeros(self.rows)}
        with np.errstate(invalid="ignore"):
            for later, earlier, words in ORDER:
                if later not in times or earlier not in times:
                    continue
                both = np.isfinite(times[later]) & np.isfinite(times[earlier])
                wrong = both & (times[later] < times[earlier] - ROUNDING)
                self._impossible(times, later, earlier, wrong, both, words)
                if later in times:
                    times[later] = np.where(
                        both & ~wrong, np.maximum(times[later], times[earlier]), times[later]
                    )
            for role in ("first", "finish"):
                if role in times:
                    both = np.isfinite(times[role]) & np.isfinite(times["arrival"])
                    wrong = both & (times[role] - times["arrival"] > LONGEST)
                    words = f"{role} more than a year after arrival"
                    self._impossible(times, role, "arrival", wrong, both, words)
            for role, words in (("first", "first-token"), ("finish", "finish")):
                if role in times and self._is_another(times, role):
                    del times[role]
                    self.notes.append(f"{words} times are those of the arrival: not used")
            if "first" in times and "finish" in times:
                both = np.isfinite(times["first"]) & np.isfinite(times["finish"]) & (output > 1)
                for wrong in self.missing.values():
                    both &= ~wrong
                whole = both & (times["finish"] - times["first"] < 1e-6)
                if whole.any():
                    times["first"][whole] = np.nan
                    self.notes.append(
                        f"first-token times of {int(whole.sum()):,} of {int(both.sum()):,} "
                        "requests are those of the end, not used (their output was not streamed)"
                    )
                    if np.isnan(times["first"]).all():
                        del times["first"]

    def _is_another(self, times: dict[str, Seconds], role: str) -> bool:
        """Return whether an instant is the arrival in every row that has it."""
        known = np.isfinite(times[role]) & np.isfinite(times["arrival"])
        return bool(known.any() and (times[role] == times["arrival"])[known].all())

    def _impossible(
        self,
        times: dict[str, Seconds],
        later: str,
        earlier: str,
        wrong: NDArray[np.bool_],
        both: NDArray[np.bool_],
        words: str,
    ) -> None:
        count, known = int(wrong.sum()), int(both.sum())
        if not count:
            return
        row = int(wrong.argmax())
        if count > known / 2:
            names = [self._origin(each) for each in (later, earlier)]
            told = f"{words} in {count:,} of {known:,} requests"
            if not self.layout.given and later != "finish":
                del times[later]
                self.notes.append(f"{names[0]} is not used: {told}")
                return
            seconds = times[later][row] - times[earlier][row]
            raise ValueError(
                f"{self.table.where(row)}: {told}: {names[0]} is {seconds:,.6g} s after {names[1]}"
                "; are these the columns, units and origins of time that you mean?"
            )
        self.missing[f"{words} ({self.table.where(row)})"] = wrong

    def _origin(self, role: str) -> str:
        """Return the name of the column that tells an instant."""
        durations = {"start": "wait", "first": "ttft", "finish": "latency", "arrival": "gap"}
        return self.names.get(role, self.names.get(durations[role], role))

    def _stated(self, role: str) -> Unit | None:
        name = self.names[role]
        inner = self.table.columns.get(name.removesuffix(".value") + ".unit", ())
        beside = next((str(each) for each in inner if each), None)
        return stated(role, name, self.given, beside, self.comments)

    def _documented(self, role: str) -> Unit | None:
        key = self.layout.units.get(role, self.layout.unit)
        return None if key is None else Unit(key, "as the layout documents")

    def _units_in_words(self) -> str:
        by_unit: dict[Unit, list[str]] = {}
        for role, unit in self.units.items():
            if role != "sent":
                by_unit.setdefault(unit, []).append(role)
        dates = [role for role in INSTANTS if role in self.dates]
        parts = [f"{', '.join(dates)} as dates"] * bool(dates)
        parts += [f"{', '.join(roles)} in {u.key} ({u.why})" for u, roles in by_unit.items()]
        return "; ".join(parts)

    def _refuse(self, wrong: NDArray[np.bool_], values: "pd.Series", name: str, rule: str) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            value = shown(values.iloc[row])
            raise ValueError(f"{self.table.where(row)}: {name} {value} {rule}")


def _seconds(each: _Instants, lead: _Instants) -> Seconds:
    """Return instants in seconds from the earliest one of the lead on."""
    earliest = lead.values[lead.there].min()
    if each.unit == lead.unit == "date":
        return np.where(each.there, (each.values - int(earliest)) / 1e9, np.nan)
    if each.unit == lead.unit:
        return np.where(each.there, (each.values - earliest) / UNITS[each.unit], np.nan)
    origin = earliest / (1e9 if lead.unit == "date" else UNITS[lead.unit])
    values = each.values / (1e9 if each.unit == "date" else UNITS[each.unit])
    return np.where(each.there, values - origin, np.nan)


def _present(column: Sequence[Any]) -> "pd.Series":
    """Return a column in which None stands for each value that is not there."""
    import pandas as pd

    values = pd.Series([_encodable(value) for value in column], dtype=object)
    texts = values.map(lambda value: value.strip().lower() if isinstance(value, str) else "x")
    return values.where(~texts.isin(ABSENT) & values.notna(), None)


def _encodable(value: Any) -> Any:
    """Return a text with ``?`` for lone surrogates, which JSON may have and pandas refuses."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def _numbers(values: "pd.Series") -> tuple[Seconds, NDArray[np.bool_]]:
    """Return numbers, NaN where there is none, and which values are something else.

    Numbers that a float cannot hold are infinite.
    """
    import pandas as pd

    plain = pd.Series([_within_floats(value) for value in values], values.index, dtype=object)
    found = pd.to_numeric(plain, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    booleans = values.map(lambda value: isinstance(value, (bool, np.bool_))).to_numpy(bool)
    wrong = (values.notna().to_numpy(bool) & np.isnan(found)) | booleans
    return found, wrong


def _within_floats(value: Any) -> Any:
    """Return a value, or infinity for an integer that a float cannot hold: JSON may have one."""
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return math.inf if value > 0 else -math.inf
    return value


def _told(values: "pd.Series", strange: Sequence[str], sign: str) -> str:
    """Return how numbers of time with a comma or with separators were read; "" if that is clear."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    example = next((text for text in strange or texts if "," in text or "." in text), "")
    if not example or not all(map(WITH_COMMA.fullmatch, texts)):
        return ""
    note = f"{shown(example)} is read as {_without_thousands(example, sign)}: "
    if sign == ".":
        other = _without_thousands(example, ",")
        return f"{note}the comma separates thousands; if it is the decimal sign, write {other}"
    return note + (
        "the comma is its decimal sign" if "," in example else "the point separates thousands"
    )


def _without_thousands(text: str, sign: str) -> str:
    """Return a number without its separators of thousands and with a decimal point."""
    separators = "." if sign == "," else ","
    return re.sub(f"[{separators}{SPACES}]", "", text.strip()).replace(",", ".")


def _written(values: "pd.Series") -> Seconds | None:
    """Return durations that are written with their units, as 149.9 ms, 1m2.5s, 0:00:04.3."""
    import pandas as pd

    there = values.notna().to_numpy(bool)
    texts = values.where(values.notna(), None).map(_duration_text)
    try:
        found = pd.to_timedelta(texts, errors="coerce")
    except (ValueError, OverflowError):
        return None
    if found[there].isna().any():
        return None
    seconds = found.dt.total_seconds().to_numpy(np.float64)
    return np.where(there, seconds, np.nan)


def _duration_text(value: Any) -> Any:
    """Return a written duration with the units that pandas knows, or a duration of Parquet."""
    if not isinstance(value, str):
        return value if isinstance(value, timedelta) else None
    return re.sub(r"(?i)\b(m|u|n)?secs?\b", r"\1s", value.strip().replace("µ", "u"))


def _without_separators(value: Any, sign: str) -> Any:
    """Return a text without the separators of thousands that spreadsheets write: ``1,186``.

    `sign` is the decimal sign of the file, "" if that is not known.
    """
    if isinstance(value, str):
        if sign == "," and WITH_COMMA.fullmatch(value.strip()):
            return _without_thousands(value, sign)
        whole, point, rest = value.strip().partition(".")
        if SEPARATED.fullmatch(whole) and (rest.isdigit() or not point):
            return re.sub(r"\D", "", whole) + point + rest
    return value
