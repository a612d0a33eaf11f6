"""Logs of no known layout: spreadsheets, dates, guesses, and the options that read them."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from ratiolab.model import FormatError
from ratiolab.workloads.guess import guessed
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
def test_exports_of_spreadsheets_are_read(delimiter: str, form: str, tmp_path: Path) -> None:
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
    assert log.seconds is not None
    assert log.seconds[-1] == 29 * 60


def test_days_and_months_that_could_change_places_are_settled_by_the_order(tmp_path: Path) -> None:
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
    assert log.seconds is not None
    assert log.seconds.tolist() == [0, 86_400, 29 * 86_400]
    file.write_text("\n".join(rows[:2]))
    with pytest.raises(FormatError, match="may begin with the day or with the month"):
        read_trace(file, columns=asked)


LOG = """\
request_id,received_at_ms,inputTokens,generated_tokens,http_status,duration_ms
a,1762000000250,"1,186",20,200,900
b,1762000000000,12,0,429,3
c,1762000001000,7,"2,000",200,
d,1762000001500,9,,500,1
"""


def test_the_refusal_of_an_unknown_log_names_options_that_read_it(tmp_path: Path) -> None:
    """Milliseconds since 1970, separators of thousands, rows out of order, HTTP status."""
    file = tmp_path / "requests.csv"
    file.write_text(LOG)
    with pytest.raises(FormatError, match="no known layout") as refused:
        read_trace(file)
    columns = (
        "arrival=received_at_ms,prompt=inputTokens,output=generated_tokens,status=http_status,"
        "latency=duration_ms"
    )
    assert f"perhaps --columns {columns} --time-unit ms (" in str(refused.value)
    log = read_trace(file, columns=columns, time_unit="ms")
    assert log.seconds is not None
    assert log.seconds.tolist() == [0, 0.75]
    assert (log.prompt.tolist(), log.output.tolist()) == ([1186, 7], [20, 2000])
    assert log.dropped == {"without output": 1, "not served": 1}
    with pytest.raises(FormatError, match="too large for seconds since 1970: say --time-unit ms"):
        read_trace(file, columns=columns)


@pytest.mark.parametrize("wrong", ["1,18", "1,1865", "12.5", "1,186.5"])
def test_what_only_looks_like_separated_thousands_is_refused(wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "requests.csv"
    file.write_text(f'ts,p,o\n0,"{wrong}",1\n')
    with pytest.raises(FormatError, match="must be an integer"):
        read_trace(file, columns="arrival=ts,prompt=p,output=o")


def test_a_guess_is_made_only_where_arrival_prompt_and_output_are_found(tmp_path: Path) -> None:
    assert guessed(["start_time", "n_in", "n_out", "prompt_text", "end_time"]) == (
        "--columns arrival=start_time,prompt=n_in,output=n_out,finish=end_time"
    )
    assert guessed(["prompt_id", "input_hash", "time", "output_len"]) == ""
