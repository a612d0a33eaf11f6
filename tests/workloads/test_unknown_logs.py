"""Logs of no known layout: spreadsheets, dates, guesses, and the options that read them."""

import json
import random
import shlex
from datetime import datetime, timedelta

import pytest

from ratiolab.model import FormatError
from ratiolab.workloads.guess import guessed
from ratiolab.workloads.tables import Table
from ratiolab.workloads.traces import read_trace


@pytest.mark.parametrize(
    ("delimiter", "form"),
    [
        (";", "%d/%m/%Y %H:%M:%S.%f"),
        ("\t", "%m/%d/%Y %I:%M:%S %p"),
        ("|", "%d.%m.%Y %H:%M:%S"),
        (",", "%Y/%m/%d %H:%M:%S"),
        (",", "%d %b %Y %H:%M"),
    ],
)
def test_exports_of_spreadsheets_are_read(delimiter, form, tmp_path):
    """A byte order mark, any delimiter, dates as people write them, and cells without a value."""
    start = datetime(2024, 10, 27, 11, 58, 30)
    lines = [delimiter.join(("When", "Input tokens", "Output tokens"))]
    for minute in range(30):
        when = (start + timedelta(minutes=minute)).strftime(form)
        prompt = "N/A" if minute == 7 else "12"
        lines.append(delimiter.join((when if minute != 9 else "", prompt, str(minute + 1))))
    file = tmp_path / "requests.csv"
    file.write_text("\n".join(lines), encoding="utf-8-sig")
    asked = "arrival=When,prompt=Input tokens,output=Output tokens"
    log = read_trace(file, columns=asked)
    assert len(log) == 28
    assert sum(log.dropped.values()) == 2
    assert log.seconds[-1] == 29 * 60


def test_days_and_months_that_could_change_places_are_settled_by_the_order(tmp_path):
    file = tmp_path / "requests.csv"
    asked = "arrival=ts,prompt=p,output=o"
    rows = [
        "ts,p,o",
        "01/02/2024 10:00:00,1,1",
        "02/02/2024 10:00:00,1,1",
        "01/03/2024 10:00:00,1,1",
    ]
    file.write_text("\n".join(rows))
    log = read_trace(file, columns=asked)  # days first: 1 and 2 February, 1 March
    assert log.seconds.tolist() == [0, 86_400, 29 * 86_400]
    file.write_text("\n".join([rows[0], rows[1], rows[3]]))  # 1 February, or 2 January
    with pytest.raises(FormatError, match="may begin with the day or with the month"):
        read_trace(file, columns=asked)


LOG = """\
request_id,received_at_ms,inputTokens,generated_tokens,http_status,duration_ms
a,1762000000250,"1,186",20,200,900
b,1762000000000,12,0,429,3
c,1762000001000,7,"2,000",200,
d,1762000001500,9,,500,1
"""


def test_the_refusal_of_an_unknown_log_names_options_that_read_it(tmp_path):
    """Milliseconds since 1970, separators of thousands, rows out of order, HTTP status."""
    file = tmp_path / "requests.csv"
    file.write_text(LOG)
    with pytest.raises(FormatError, match="no known layout") as refused:
        read_trace(file)
    columns = (
        "arrival=received_at_ms,prompt=inputTokens,output=generated_tokens,latency=duration_ms,"
        "status=http_status"
    )
    assert f"perhaps --columns {columns} (" in str(refused.value)
    log = read_trace(file, columns=columns)  # each column has the unit of its own name
    assert log.seconds.tolist() == [0, 0.75]
    assert (log.prompt.tolist(), log.output.tolist()) == ([1186, 7], [20, 2000])
    assert log.dropped == {"not served ('429' 1, '500' 1)": 2}
    assert log.finish[0] == 0.9


@pytest.mark.parametrize(
    ("delimiter", "values", "found"),
    [
        (",", ("500", "1.000", "12.250"), [500, 1000, 12_250]),
        (";", ("1.234.567", "2.000", "1500"), [1_234_567, 2000, 1500]),
        (";", ("1,186", "2,000"), [1186, 2000]),
        (";", ("500", "2,000"), [500, 2000]),
        (",", ("500.0", "1.000"), [500, 1]),
        (",", ("2.000", "12.000"), [2, 12]),
        (",", ("1500", "2.000"), [1500, 2]),
        (",", ("512.000", "100"), [512, 100]),
        ("\t", ("2.000", "12.000"), "'2.000' may have decimals .*: write it as 2 or 2000"),
        (";", ("1500", "2.000"), "'2.000' may have decimals .*: write it as 2 or 2000"),
        (";", ("2,000", "12,000"), "'2,000' may have decimals .*: write it as 2 or 2000"),
        (",", ("1.186",), [1186]),
        (";", ("100,0", "12"), [100, 12]),
        (",", ("0,186",), "must be an integer"),
    ],
)
def test_a_point_in_tokens_separates_thousands_where_it_is_no_decimal_sign(
    delimiter, values, found, tmp_path
):
    file = tmp_path / "requests.csv"
    lines = (delimiter.join((str(k), f'"{value}"', "1")) for k, value in enumerate(values))
    file.write_text("\n".join((delimiter.join("tpo"), *lines)))
    if isinstance(found, str):
        with pytest.raises(FormatError, match=found):
            read_trace(file, columns="arrival=t,prompt=p,output=o")
        return
    log = read_trace(file, columns="arrival=t,prompt=p,output=o")
    assert log.prompt.tolist() == found
    separated = any("the point separates thousands" in note for note in log.notes)
    assert separated == any("." in v and int(v.replace(".", "")) in found for v in values)


@pytest.mark.parametrize(
    ("text", "seconds", "prompt", "output"),
    [
        ("t;p;o\n0,5;1.621;150\n1,5;2.247;260\n", [0, 1], [1621, 2247], [150, 260]),
        ("t;p;o\n0,5;1.000;150\n1,5;2.000;260\n", [0, 1], [1000, 2000], [150, 260]),
        ("t;p;o\n5;1.621;9.000\n6;2.247;8.000\n", [0, 1], [1621, 2247], [9000, 8000]),
        ("t\tp\to\n0.5\t100.000\t10.000\n1.5\t120.000\t9.000\n", [0, 1], [100, 120], [10, 9]),
        ("t;p;o\n0.5;2,000;150\n1.5;3,000;260\n", [0, 1], [2000, 3000], [150, 260]),
        ("t;p;o\n5.000;1,0;2,0\n6.000;1,0;2,0\n", [0, 1000], [1, 1], [2, 2]),
        ("t;p;o\n5;1.100,0;9\n6;1.200;8\n", [0, 1], [1100, 1200], [9, 8]),
        ("t;p;o\n+0,5;1,0;2,0\n1,50e+00;1,0;2,0\n", [0, 1], [1, 1], [2, 2]),
    ],
)
def test_the_decimal_sign_is_that_of_the_whole_file(text, seconds, prompt, output, tmp_path):
    file = tmp_path / "requests.csv"
    file.write_text(text)
    log = read_trace(file, columns="arrival=t,prompt=p,output=o")
    assert log.seconds.tolist() == seconds
    assert (log.prompt.tolist(), log.output.tolist()) == (prompt, output)


@pytest.mark.parametrize("prompt", ["1.621", "12.5"])
def test_tokens_with_decimals_beside_decimals_of_times_are_refused(prompt, tmp_path):
    file = tmp_path / "requests.csv"
    file.write_text(f"t,p,o\n0.5,{prompt},1\n1.5,{prompt},1\n")
    with pytest.raises(FormatError, match=f"line 2: p '{prompt}' must be an integer"):
        read_trace(file, columns="arrival=t,prompt=p,output=o")


@pytest.mark.parametrize("wrong", ["1,18", "1,1865", "12.5", "1,186.5"])
def test_what_only_looks_like_separated_thousands_is_refused(wrong, tmp_path):
    file = tmp_path / "requests.csv"
    file.write_text(f'ts,p,o\n0,"{wrong}",1\n')
    with pytest.raises(FormatError, match="must be an integer"):
        read_trace(file, columns="arrival=ts,prompt=p,output=o")


def suggestion(columns: dict[str, list[object]]) -> str:
    return guessed(Table(columns))


TOKENS: dict[str, list[object]] = {"input_tokens": [7, 8, 9], "output_tokens": [20, 30, 40]}


def test_a_guess_is_made_only_where_prompt_and_output_are_found():
    columns = {"start_time": [1, 2, 3], "n_in": [7, 8, 9], "n_out": [2, 3, 4]}
    more = {"prompt_text": ["a", "b", "c"], "end_time": [2, 3, 4]}
    expected = "--columns arrival=start_time,prompt=n_in,output=n_out,finish=end_time"
    assert suggestion(columns | more) == expected
    assert suggestion({"prompt_id": [1], "input_hash": [2], "time": [3], "output_len": [4]}) == ""


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        # the earliest instant is the arrival, whatever the order of the columns
        (
            {"completionStartTime": [1.5, 2.5, 3.5], "startTime": [1, 2, 3], "endTime": [4, 5, 6]},
            "arrival=startTime,finish=endTime,first=completionStartTime",
        ),
        ({"created": [2, 3, 4], "arrived": [1, 2, 3]}, "arrival=arrived"),
        # words that are near a role are not it
        (
            {"max_output_tokens": [99, 99, 99], "input_cost": [1, 1, 1], "ts": [1, 2, 3]},
            "arrival=ts",
        ),
        ({"queue_time": [0.1, 0.1, 0.2], "request_time": [1, 2, 3]}, "arrival=request_time"),
        # a status that would leave out all requests is not suggested, nor a finish before arrival
        ({"ts": [1, 2, 3], "status": ["x", "y", "z"]}, "arrival=ts"),
        ({"ts": [11, 12, 13], "end": [1, 2, 3]}, "arrival=ts"),
        # each duration in its own unit
        (
            {"ts": [1, 2, 3], "ttft_ms": [100, 200, 300], "latency": [1.5, 2.5, 3.5]},
            "arrival=ts,latency=latency,ttft=ttft_ms",
        ),
        ({"latency_s": [1.5, 2.5, 3.5]}, "latency=latency_s"),  # without arrivals
        ({"my ts": [1, 2, 3]}, "arrival=my ts"),
        ({"time, s": [1, 2, 3]}, 'arrival="time, s"'),
    ],
)
def test_what_is_suggested_was_tried_on_the_rows(columns, expected, tmp_path):
    told = suggestion(columns | TOKENS)
    words = shlex.split(told)
    tokens = "prompt=input_tokens,output=output_tokens"
    first, *rest = expected.split(",") if '"' not in expected else [expected]
    arrival = [first] if first.startswith("arrival") else []
    others = rest if arrival else [first, *rest]
    assert words[:2] == ["--columns", ",".join([*arrival, tokens, *others])]
    file = tmp_path / "log.json"
    file.write_text(json.dumps(columns | TOKENS))
    assert len(read_trace(file, columns=words[1])) == 3


def test_a_unit_that_nothing_states_is_suggested_with_the_columns():
    rng = random.Random(5)
    arrival = sorted(rng.randrange(23 * 10**9) for _ in range(60))
    columns = {"arrival": arrival, "n_in": [5] * 60, "n_out": [7] * 60}
    told = "--columns arrival=arrival,prompt=n_in,output=n_out --time-unit ns"
    assert suggestion(columns) == told
