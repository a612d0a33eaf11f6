"""Units of time: stated ones are believed, others inferred, implausible ones asked about."""

import json
import random
import re
from datetime import UTC, datetime, timedelta

import pytest
from read_logs import read

from ratiolab.model import FormatError
from ratiolab.workloads.traces import Trace

RANDOM = random.Random(11)
ARRIVALS = [0.0, *sorted(RANDOM.uniform(0, 20) for _ in range(38)), 20.0]
COLUMNS = "arrival=ts,prompt=n_in,output=n_out"
ENDS = "first=first,finish=end"


def log(values: list[str], name: str = "ts", comment: str = "") -> str:
    rows = "\n".join(f'"{value}",7,3' for value in values)
    return f"{comment}{name},n_in,n_out\n{rows}\n"


def span(trace: Trace) -> float:
    return float(trace.seconds[-1])


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([repr(a) for a in ARRIVALS], "s"),
        ([repr(1.762e9 + a) for a in ARRIVALS], "s"),
        ([str(int(1.762e12 + 1000 * a)) for a in ARRIVALS], "ms"),
        ([str(int(1.762e15 + 10**6 * a)) for a in ARRIVALS], "us"),
        ([str(1762 * 10**15 + int(10**9 * a)) for a in ARRIVALS], "ns"),
        ([f"{46085.375 + a / 86_400:.9f}" for a in ARRIVALS], "d"),
    ],
    ids=["from 0", "since 1970", "ms since 1970", "us since 1970", "ns since 1970", "spreadsheet"],
)
def test_the_unit_of_arrivals_is_inferred_where_they_can_be_in_one_only(values, unit, tmp_path):
    trace = read(tmp_path, log(values), columns=COLUMNS)
    assert span(trace) == pytest.approx(20, abs=0.001)
    assert trace.units.startswith(f"arrival in {unit} (")


@pytest.mark.parametrize("factor", [10**6, 10**9])
def test_an_implausible_unit_is_asked_about_with_one_that_is_plausible(factor, tmp_path):
    """Microseconds from 0 on are a log of half a year in seconds; nanoseconds of centuries."""
    text = log([str(int(2 * factor * a)) for a in ARRIVALS])
    unit = {10**6: "us", 10**9: "ns"}[factor]
    with pytest.raises(FormatError, match=rf"no unit is stated.* say --time-unit {unit} \("):
        read(tmp_path, text, columns=COLUMNS)
    assert span(read(tmp_path, text, columns=COLUMNS, time_unit=unit)) == pytest.approx(40)


@pytest.mark.parametrize(
    ("stray", "told"),
    [
        (lambda a: 0, "line 2: ts '0' is no time since 1970, but 30 of 40 values are in s"),
        (lambda a: int(1000 * (1.762e9 + a)), r"line 2: ts '1762000000000' is in ms since 1970, b"),
        (lambda a: int(1e15 * a + 1), "line 2: ts '1' is no time since 1970"),
    ],
    ids=["0 where not recorded", "two units", "nonsense"],
)
def test_rows_that_are_no_times_since_1970_are_named_where_most_are(stray, told, tmp_path):
    values = [str(stray(a) if k % 4 == 0 else 1.762e9 + a) for k, a in enumerate(ARRIVALS)]
    with pytest.raises(FormatError, match=told) as caught:
        read(tmp_path, log(values), columns=COLUMNS)
    assert "or leave out line 2, line 6, line 10 and 7 more, or say --time" in str(caught.value)


def test_a_log_of_weeks_in_milliseconds_is_no_time_since_1970(tmp_path):
    text = log([str(int(1e8 * a)) for a in ARRIVALS])
    with pytest.raises(FormatError, match=r"no unit is stated.* say --time-unit \w+ \("):
        read(tmp_path, text, columns=COLUMNS)


def test_an_impossible_log_is_told_without_its_digits(tmp_path):
    text = log([f"{1e18 * a:.0f}" for a in ARRIVALS])
    with pytest.raises(FormatError, match=r"in s .* a log of more than a million years: if that"):
        read(tmp_path, text, columns=COLUMNS)


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([repr(2440587.5 + (1.762e9 + a) / 86_400) for a in ARRIVALS], "d"),
        ([str(int((1.762e9 + 11_644_473_600 + a) * 1e7)) for a in ARRIVALS], "100ns"),
        ([repr(a / 3600) for a in ARRIVALS], "h"),
    ],
    ids=["Julian days", "ticks of Windows", "hours"],
)
def test_rare_units_are_suggested_and_read(values, unit, tmp_path):
    text = log(values)
    with pytest.raises(FormatError, match=rf"say --time-unit {unit} \("):
        read(tmp_path, text, columns=COLUMNS)
    assert span(read(tmp_path, text, columns=COLUMNS, time_unit=unit)) == pytest.approx(
        20, rel=1e-3
    )


def rows_of(*columns: list[float]) -> str:
    rows = "\n".join(",".join(map(repr, row)) for row in zip(*columns, strict=True))
    return f"ts,n_in,n_out,first,end\n{rows}\n"


@pytest.mark.parametrize("factor", [1e3, 1e6])
def test_ends_in_another_unit_than_the_arrivals_are_told_by_their_sizes(factor, tmp_path):
    """Every request waits 0.25 s and takes 4 s for 100 tokens."""
    first, end = ([factor * (a + more) for a in ARRIVALS] for more in (0.25, 4.0))
    tokens: list[list[float]] = [[7] * len(ARRIVALS), [100] * len(ARRIVALS)]
    trace = read(tmp_path, rows_of(ARRIVALS, *tokens, first, end), columns=f"{COLUMNS},{ENDS}")
    assert trace.first[0] == pytest.approx(0.25)
    assert trace.finish[-1] == pytest.approx(24)
    assert "inferred" in trace.units


def test_seconds_in_which_a_token_takes_too_long_are_asked_about(tmp_path):
    """Whole milliseconds without a word on it: 4,000 s for 100 tokens would be 40 s a token."""
    whole = [[float(int(1000 * (a + more))) for a in ARRIVALS] for more in (0.0, 0.25, 4.0)]
    tokens: list[list[float]] = [[7] * len(ARRIVALS), [100] * len(ARRIVALS)]
    text = rows_of(whole[0], *tokens, *whole[1:])
    with pytest.raises(FormatError, match=r"would be 40 s a token: say --time-unit ms \(0.04 s\)"):
        read(tmp_path, text, columns=f"{COLUMNS},{ENDS}")
    trace = read(tmp_path, text, columns=f"{COLUMNS},{ENDS}", time_unit="ms")
    assert span(trace) == pytest.approx(20)


def test_a_rate_above_a_thousand_a_second_is_asked_about_and_may_be_said_to_be_right(tmp_path):
    text = log([repr(a / 1000) for a in ARRIVALS])
    with pytest.raises(FormatError, match=r"would be 1.95e\+03 requests a second"):
        read(tmp_path, text, columns=COLUMNS)
    assert span(read(tmp_path, text, columns=COLUMNS, time_unit="s")) == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("name", "comment", "unit"),
    [
        ("arrived_ms", "", "ms"),
        ("arrivedMs", "", "ms"),
        ("arrived (us)", "", "us"),
        ("time_ns", "", "ns"),
        ("ts", "# time unit: milliseconds\n", "ms"),
        ("ts", "# a log\n# units = s\n", "s"),
    ],
)
def test_names_and_comments_state_units(name, comment, unit, tmp_path):
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    text = log([str(int(factor * a)) for a in ARRIVALS], name, comment)
    trace = read(tmp_path, text, columns=COLUMNS.replace("ts", name))
    assert span(trace) == pytest.approx(20, abs=1)


def test_each_column_has_a_unit_of_its_own_and_may_be_told_it(tmp_path):
    rows = "\n".join(f"{a},7,100,{200},{2}" for a in ARRIVALS)
    text = f"ts,n_in,n_out,x,y\n{rows}\n"
    columns = f"{COLUMNS},ttft=x,latency=y"
    trace = read(tmp_path, text, columns=columns)
    assert trace.finish[0] == 2  # 20 ms a token: seconds
    assert trace.first[0] == 0.2  # within the latency: milliseconds
    whole = read(tmp_path, text.replace(",2\n", ",236\n"), columns=columns)
    assert whole.finish[0] == 0.236  # 236 s would be written with a fraction
    told = read(tmp_path, text, columns=columns, time_unit="ttft=us,y=s")
    assert told.first[0] == pytest.approx(0.0002)


def test_a_known_layout_may_be_told_units_and_a_fraction_of_whole_units_is_seconds(tmp_path):
    def mooncake(values: list[float]) -> str:
        rows = ({"timestamp": v, "input_length": 7, "output_length": 3} for v in values)
        return "\n".join(map(json.dumps, rows))

    assert span(read(tmp_path, mooncake([int(1000 * a) for a in ARRIVALS]))) == 20
    assert span(read(tmp_path, mooncake(ARRIVALS))) == pytest.approx(20)  # no whole milliseconds
    since_1970 = mooncake([int(1.762e9 + a) for a in ARRIVALS])
    assert span(read(tmp_path, since_1970)) == 20
    slow = mooncake([1000 * a + 0.25 for a in ARRIVALS])
    assert span(read(tmp_path, slow, time_unit="ms")) == pytest.approx(20)
    azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(
        f"{int(10**6 * 3 * a)},1,2" for a in ARRIVALS
    )
    with pytest.raises(FormatError, match=r"TIMESTAMP in s .* say --time-unit us"):
        read(tmp_path, azure)
    assert span(read(tmp_path, azure, time_unit="us")) == pytest.approx(60, abs=0.001)


def test_whole_seconds_at_a_very_low_rate_may_be_milliseconds_and_the_log_says_so(tmp_path):
    whole = [str(int(1000 * a)) for a in ARRIVALS]
    trace = read(tmp_path, log(whole), columns=COLUMNS)
    assert span(trace) == 20_000
    assert "if they are in ms, say --time-unit ms" in trace.notes[0]
    assert not read(tmp_path, log(whole), columns=COLUMNS, time_unit="s").notes
    vidur = log(whole, "arrived_at").replace("n_in", "num_prefill_tokens")
    noted = read(tmp_path, vidur.replace("n_out", "num_decode_tokens")).notes
    assert "if they are in ms" in noted[0]
    micros = [
        {"timestamp": int(10**6 * a), "input_length": 7, "output_length": 3} for a in ARRIVALS
    ]
    (note,) = read(tmp_path, "\n".join(map(json.dumps, micros))).notes
    assert "read in ms (as the layout documents): if they are in us, say --time-unit us" in note


START = datetime(2026, 3, 4, 9, 0, 0, tzinfo=UTC)
FORMS = {
    "BigQuery": "%Y-%m-%d %H:%M:%S.%f UTC",
    "Go": "%Y-%m-%d %H:%M:%S.%f +0000 UTC",
    "Go, monotonic": "%Y-%m-%d %H:%M:%S.%f +0000 UTC m=+0.012345",
    "Python logging": "%Y-%m-%d %H:%M:%S,%f",
    "Postgres": "%Y-%m-%d %H:%M:%S.%f+00",
    "Postgres, west": "%Y-%m-%d %H:%M:%S.%f-07",
    "ISO 8601": "%Y-%m-%dT%H:%M:%S.%fZ",
    "basic ISO 8601": "%Y%m%dT%H%M%SZ",
    "digits": "%Y%m%d%H%M%S",
    "digits with microseconds": "%Y%m%d%H%M%S.%f",
    "8 and 6 digits": "%Y%m%d %H%M%S",
    "8 and 6 digits with a hyphen": "%Y%m%d-%H%M%S.%f",
    "Apache": "%d/%b/%Y:%H:%M:%S +0000",
    "Apache, in brackets": "[%d/%b/%Y:%H:%M:%S -0530]",
    "RFC 2822": "%a, %d %b %Y %H:%M:%S GMT",
    "RFC 2822, offset": "%a, %d %b %Y %H:%M:%S +0200",
    "RFC 850": "%A, %d-%b-%Y %H:%M:%S GMT",
    "asctime": "%a %b %d %H:%M:%S %Y",
    "date": "%a %b %d %H:%M:%S UTC %Y",
    "syslog": "%b %d %H:%M:%S",
    "vLLM": "%m-%d %H:%M:%S",
    "Go log": "%Y/%m/%d %H:%M:%S.%f",
    "zone by name": "%Y-%m-%d %H:%M:%S PST",
    "time only": "%H:%M:%S.%f",
    "small letters": "%Y-%m-%dt%H:%M:%S.%fz",
    "in words": "%B %d, %Y %H:%M:%S",
    "a browser in America": "%m/%d/%Y, %I:%M:%S\u202f%p",
    "day or month first, on one day": "%d/%m/%Y %H:%M:%S",
    "a zone that is not known": "%Y-%m-%d %H:%M:%S XYZ",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_times_are_read_as_programs_write_them(form, tmp_path):
    moments = [START + timedelta(seconds=a) for a in ARRIVALS]
    trace = read(tmp_path, log([m.strftime(form) for m in moments]), columns=COLUMNS)
    assert span(trace) == pytest.approx(20, abs=1e-6)


@pytest.mark.parametrize("form", ["%b %d %H:%M:%S", "%m-%d %H:%M:%S"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3)])
def test_times_without_a_year_go_past_new_year(form, order, tmp_path):
    """Also where the newest is first, or lines of two years change places."""
    eve = datetime(2025, 12, 31, 23, 59, 50, tzinfo=UTC)
    values = [(eve + timedelta(seconds=s)).strftime(form) for s in (0, 4, 10, 86_410)]
    trace = read(tmp_path, log([values[k] for k in order]), columns=COLUMNS)
    assert trace.seconds.tolist() == [0, 4, 10, 86_410]
    assert "a step of more than half a year passes the end of a year of 365 days" in trace.notes[0]


def test_digits_of_a_fraction_are_no_year(tmp_path):
    values = ["12-31 23:59:00.200013", "12-31 23:59:59", "01-01 00:00:01"]
    trace = read(tmp_path, log(values), columns=COLUMNS)
    assert trace.seconds.tolist() == pytest.approx([0, 58.799987, 60.799987])


@pytest.mark.parametrize("form", ["%b %d %H:%M:%S", "%m-%d %H:%M:%S"])
@pytest.mark.parametrize(("year", "kind"), [(2023, "a year of 365 days"), (2024, "a leap year")])
def test_february_has_29_days_where_a_time_without_a_year_is_of_the_29th(
    form, year, kind, tmp_path
):
    eve = datetime(year, 2, 28, 23, 59, 58, tzinfo=UTC)
    values = [(eve + timedelta(seconds=s)).strftime(form) for s in (0, 5, 86_410)]
    trace = read(tmp_path, log(values), columns=COLUMNS)
    assert trace.seconds.tolist() == [0, 5, 86_410]
    assert kind in trace.notes[0]


def test_a_leap_day_of_an_end_makes_a_leap_year_of_the_arrivals(tmp_path):
    text = "ts,n_in,n_out,end\n02-28 23:59:50,7,3,02-28 23:59:53\n02-28 23:59:58,7,3,02-29 00:00:01"
    trace = read(tmp_path, text, columns=f"{COLUMNS},finish=end")
    assert trace.finish.tolist() == [3, 11]


@pytest.mark.parametrize("order", [(0, 1, 3, 2, 4, 5), (5, 4, 3, 2, 1, 0), (0, 3, 1, 2, 4, 5)])
def test_times_without_dates_go_past_midnight_and_back(order, tmp_path):
    times = ["23:59:50", "23:59:58", "23:59:59", "00:00:01", "00:00:02", "00:00:05"]
    trace = read(tmp_path, log([times[k] for k in order]), columns=COLUMNS)
    assert trace.seconds.tolist() == [0, 8, 9, 11, 12, 15]
    assert "a step of more than half a day passes midnight" in trace.notes[0]
    quiet = read(tmp_path, log(["01:00:00", "14:00:00"]), columns=COLUMNS)
    assert quiet.seconds.tolist() == [0, 13 * 3600]  # in order: of one day


@pytest.mark.parametrize("form", ["%b %d %H:%M:%S", "%H:%M:%S"])
def test_the_end_of_a_request_passes_midnight_where_its_arrival_does_not(form, tmp_path):
    eve = datetime(2025, 12, 31, 23, 59, 58, tzinfo=UTC)
    rows = [(0, 3), (1, 2), (4, 8)]
    moments = [[(eve + timedelta(seconds=s)).strftime(form) for s in row] for row in rows]
    text = "ts,n_in,n_out,end\n" + "\n".join(f"{a},7,3,{end}" for a, end in moments)
    trace = read(tmp_path, text, columns=f"{COLUMNS},finish=end")
    assert trace.finish.tolist() == [3, 2, 8]


def test_digits_of_dates_are_dates_unless_a_unit_is_stated(tmp_path):
    values = ["20250228235959", "20250301000001", "20250301000101"]
    assert read(tmp_path, log(values), columns=COLUMNS).seconds.tolist() == [0, 2, 62]
    for form in ("{}000", "{}000000", "{}.0"):
        written = log([form.format(value) for value in values])
        assert read(tmp_path, written, columns=COLUMNS).seconds.tolist() == [0, 2, 62]
    minutes = log([value[:12] for value in values])
    assert read(tmp_path, minutes, columns=COLUMNS).seconds.tolist() == [0, 60, 120]
    stated = read(tmp_path, log(values), columns=COLUMNS, time_unit="us")
    assert stated.seconds.tolist() == pytest.approx([0, 72.764042, 72.764142])
    rows = [{"ts": int(value), "n_in": 7, "n_out": 3} for value in values]
    assert read(tmp_path, json.dumps(rows), columns=COLUMNS).seconds.tolist() == [0, 2, 62]
    some = read(tmp_path, log([values[0], "", *values[1:]]), columns=COLUMNS)
    assert (some.seconds.tolist(), some.dropped) == ([0, 2, 62], {"without arrival": 1})
    with pytest.raises(FormatError, match="line 5: ts '20251301000000' must be a time"):
        read(tmp_path, log([*values, "20251301000000"]), columns=COLUMNS)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("250228235900", "250301000001", "a year of two digits: write 2025-02-28 23:59:00, or say"),
        ("2.0250228235900e+13", "2.0250301e+13", "an exponent: write all its digits, or say"),
        ("2,03E+13", "2,03E+13", "an exponent: write all its digits, or say"),
    ],
)
def test_digits_that_may_be_dates_are_refused_with_their_form(first, second, told, tmp_path):
    with pytest.raises(FormatError, match=f"line 2: ts '{re.escape(first)}' may be .* {told}"):
        read(tmp_path, log([first, second]), columns=COLUMNS)
    if "," not in first:
        assert len(read(tmp_path, log([first, second]), columns=COLUMNS, time_unit="us")) == 2


def test_offsets_may_differ_and_times_without_dates_go_past_midnight(tmp_path):
    mixed = ["2026-03-04T09:00:00+00:00", "2026-03-04 11:00:05 CEST", "2026-03-04T01:00:09-08"]
    trace = read(tmp_path, log(mixed), columns=COLUMNS)
    assert trace.seconds.tolist() == [0, 5, 9]
    night = read(tmp_path, log(["23:59:58", "23:59:59.5", "00:00:01"]), columns=COLUMNS)
    assert night.seconds.tolist() == [0, 1.5, 3]
    assert "has no dates" in night.notes[0]
    with pytest.raises(FormatError, match="line 3: ts 'soon' must be a time"):
        read(tmp_path, log(["09:00:00", "soon"]), columns=COLUMNS)
