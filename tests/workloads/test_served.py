"""Which requests were served, by the words of engines, providers and protocols."""

import pandas as pd
import pytest
from read_logs import read

from ratiolab.workloads.status import served

ALL_SERVED = {
    "reasons of engines": ("finish_reason", ["stop", "length", "eos_token", "tool_calls"]),
    "reasons of providers": ("stop_reason", ["end_turn", "max_tokens", "tool_use", "STOP"]),
    "enums": ("status", ["FINISHED_STOPPED", "RequestStatus.FINISHED_LENGTH_CAPPED"]),
    "HTTP": ("status", ["200 OK", "HTTP/1.1 200", 200, "204"]),
    "gRPC": ("status", ["OK", "0"]),
    "gRPC codes": ("grpc_code", ["0", "0"]),
    "a flag of errors": ("error", [False, "false", 0]),
    "a flag of errors by another name": ("status", ["False", "false", "0"]),
    "a flag of success": ("success", [True, "true", 1]),
    "cancellation": ("was_cancelled", [False, False]),
    "no error": ("error_code", [None, "", None]),
    "no exception": ("exception", ["", None]),
    "a list of one reason": ("finish_reasons", ["['stop']", '["length"]', ["stop"]]),
    "Gemini": ("finishReason", ["STOP", "MAX_TOKENS", "SAFETY", "RECITATION"]),
    "classes of HTTP": ("status", ["2xx", "HTTP 200 OK"]),
}
SOME_FAILED = {
    "words": ("status", ["ok", "timeout", "error", "timeout"], [1, 0, 0, 0]),
    "messages": ("errors", ["", "Traceback: ...", None], [1, 0, 1]),
    "HTTP": ("status", ["200", "429", "503 Service Unavailable"], [1, 0, 0]),
    "gRPC": ("status", ["0", "OK", "4"], [1, 1, 0]),
    "a flag of errors": ("is_error", [False, True, 0, 1], [1, 0, 1, 0]),
    "a flag of success": ("ok", [True, False], [1, 0]),
    "cancellation": ("was_cancelled", [False, True], [1, 0]),
    "codes of errors": ("error_code", [None, 429, 0], [1, 0, 1]),
    "letters": ("ok", ["Y", "n"], [1, 0]),
    "aborted": ("finish_reason", ["stop", "abort", "FINISHED_ABORTED"], [1, 0, 0]),
}


@pytest.mark.parametrize(("name", "values"), ALL_SERVED.values(), ids=ALL_SERVED)
def test_words_of_success_in_every_dialect(name: str, values: list[object]) -> None:
    found = served(pd.Series(values, dtype=object), name)
    assert found.served.all()
    assert found.words == []


@pytest.mark.parametrize(("name", "values", "expected"), SOME_FAILED.values(), ids=SOME_FAILED)
def test_requests_that_failed_are_told_apart(
    name: str, values: list[object], expected: list[int]
) -> None:
    found = served(pd.Series(values, dtype=object), name)
    assert found.served.tolist() == [bool(each) for each in expected]
    assert sum(count for _, count in found.words) == expected.count(0)


def test_the_words_of_what_is_left_out_are_named_the_most_frequent_first() -> None:
    words = ["ok", "late", "late", "gone", "lost", "torn", "late"]
    found = served(pd.Series(words, dtype=object), "status")
    assert found.reason.startswith("not served ('late' 3, ")
    assert found.reason.endswith(" and 1 more words)")


IMPOSSIBLE = {
    "first_before_arrival": ("10,5,6,8,12\n11,5,6,12,13\n", "first token before arrival (line 2)"),
    "finish_before_arrival": ("10,5,6,11,9\n11,5,6,12,13\n", "finish before arrival (line 2)"),
    "finish_before_first": ("10,5,6,13,12\n11,5,6,12,13\n", "finish before first token (line 2)"),
}
COLUMNS = "arrival=a,prompt=p,output=o,first=f,finish=e"


@pytest.mark.parametrize(("rows", "reason"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_rows_of_impossible_times_are_left_out_and_counted(
    rows: str, reason: str, tmp_path
) -> None:
    trace = read(tmp_path, f"a,p,o,f,e\n{rows}", columns=COLUMNS)
    assert trace.dropped == {reason: 1}
    assert trace.first.tolist() == [1]
    assert trace.finish.tolist() == [2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0.5,5,6,1762000001,1762000003\n1.5,5,6,1762000002,1762000004\n", "different origins"),
        ("10,5,6,8,12\n11,5,6,8,13\n", "line 2: first token before arrival in 2 of 2 requests"),
        ("10,5,6,11,1e8\n11,5,6,12,2e8\n", "line 2: finish more than a year after arrival in 2"),
    ],
)
def test_columns_that_are_impossible_in_most_rows_are_refused(
    rows: str, message: str, tmp_path
) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, f"a,p,o,f,e\n{rows}", columns=COLUMNS)


def test_times_may_be_rounded_and_ends_are_no_first_tokens(tmp_path) -> None:
    rows = "10.0005,5,6,10,12\n11,5,6,13,13\n12,5,1,13,13\n"
    trace = read(tmp_path, f"a,p,o,f,e\n{rows}", columns=COLUMNS)
    assert trace.first[0] == 0  # half a millisecond before the arrival
    assert [bool(x == x) for x in trace.first] == [True, False, True]  # one token: first is last
    assert "1 of 2 requests are those of the end, not used" in trace.notes[0]


def test_instants_that_are_those_of_the_arrival_are_not_used(tmp_path) -> None:
    trace = read(tmp_path, "a,p,o,f,e\n1,5,6,1,3\n2,5,6,2,5\n", columns=COLUMNS)
    assert trace.first is None
    assert trace.finish.tolist() == [2, 4]
    assert trace.notes == ("first-token times are those of the arrival: not used",)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("2500 ms", "3 s"),
        ("2.5s", "3s"),
        ("0m2.5s", "0m3s"),
        ("0:00:02.5", "0:00:03"),
        ("0 days 00:00:02.500000", "0 days 00:00:03"),
        ("PT2.5S", "PT3S"),
        ("2500000 µs", "3000000 µs"),
        ('"2,5"', '"3,0"'),
    ],
)
def test_durations_may_be_written_with_their_units(one: str, two: str, tmp_path) -> None:
    text = f"p,o,l\n5,6,{one}\n5,6,{two}\n"
    trace = read(tmp_path, text, columns="prompt=p,output=o,latency=l")
    assert trace.finish.tolist() == [2.5, 3]


def test_one_duration_that_is_impossible_does_not_change_the_unit_of_all(tmp_path) -> None:
    rows = "".join(f"{k},5,6,{9 if k == 7 else 0.1},3\n" for k in range(40))
    trace = read(
        tmp_path, f"a,p,o,t,l\n{rows}", columns="arrival=a,prompt=p,output=o,ttft=t,latency=l"
    )
    assert trace.dropped == {"finish before first token (line 9)": 1}
    assert trace.first[0] == 0.1


def test_durations_count_without_arrivals_and_arrivals_are_ends_less_latencies(tmp_path) -> None:
    trace = read(tmp_path, "p,o,l\n5,6,2\n5,6,3\n", columns="prompt=p,output=o,latency=l")
    assert trace.seconds is None
    assert trace.finish.tolist() == [2, 3]
    text = "p,o,l,e\n5,6,2,12\n5,6,3,14\n"
    trace = read(tmp_path, text, columns="prompt=p,output=o,latency=l,finish=e")
    assert trace.seconds.tolist() == [0, 1]
    assert "arrivals are the finish times less the latencies" in trace.notes
