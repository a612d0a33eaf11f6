"""Every known layout reads the same requests: a file for each stands in `known_logs`.

The requests, as (arrival, prompt, output, TTFT, latency), beside one that failed at 1.5 s where the
layout can say so. The files were made by hand in the form that each source documents.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from read_logs import read

from ratiolab.workloads.layouts import LAYOUTS, known_layout
from ratiolab.workloads.status import served
from ratiolab.workloads.traces import Trace, read_trace

FOLDER = Path(__file__).parent / "known_logs"
FILES = sorted(FOLDER.iterdir())

REQUESTS = np.array(
    [
        (0.0, 100, 11, 0.25, 0.75),
        (0.5, 200, 21, 0.5, 1.5),
        (1.25, 50, 5, 0.125, 0.325),
        (2.0, 400, 2, 1.0, 1.1),
    ]
)
ARRIVAL, PROMPT, OUTPUT, TTFT, LATENCY = REQUESTS.T

NO_ARRIVAL = {"lengths", "llmperf"}
NO_LATENCY = {"azure", "lengths", "mooncake", "qwen_bailian", "vidur_requests"}
NO_TTFT = NO_LATENCY | {"burstgpt"}
WITH_FAILURE = {
    *("aiperf", "blis_trace", "guidellm", "inference_perf", "langfuse", "litellm", "llmperf"),
    *("sglang_bench", "sglang_exporter", "vllm_bench"),
}


def after_arrival(trace: Trace, instant: str) -> np.ndarray:
    times = getattr(trace, instant)
    return times if trace.seconds is None else times - trace.seconds


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_known_layout_reads_every_request_and_what_was_observed(file):
    trace = read_trace(file)
    assert trace.prompt.tolist() == PROMPT.tolist()
    assert trace.output.tolist() == OUTPUT.tolist()
    if file.stem in NO_ARRIVAL:
        assert trace.seconds is None
    else:
        assert trace.seconds is not None
        assert trace.seconds == pytest.approx(ARRIVAL, abs=1e-6)
    for instant, durations, without in (
        ("finish", LATENCY, NO_LATENCY),
        ("first", TTFT, NO_TTFT),
    ):
        if file.stem in without:
            assert getattr(trace, instant) is None
        else:
            assert after_arrival(trace, instant) == pytest.approx(durations, abs=1e-6)
    assert sum(trace.dropped.values()) == (file.stem in WITH_FAILURE)
    assert all("not served" in why for why in trace.dropped)


def test_every_layout_has_a_file_and_a_source():
    read = {read_trace(file).layout for file in FILES}
    assert read == {layout.name for layout in LAYOUTS}
    assert len(FILES) == len(LAYOUTS)
    assert all(layout.source for layout in LAYOUTS)


def test_no_two_layouts_claim_the_same_columns():
    """The widest layout that fits is taken, so none may be as wide as another one on its file."""
    for layout in LAYOUTS:
        names = [*layout.columns.values(), *layout.marks]
        header = {each if isinstance(each, str) else each[0] for each in names}
        assert known_layout(header) == layout
        rivals = [each for each in LAYOUTS if each.fits(header) and each.width == layout.width]
        assert rivals == [layout]


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
def test_words_of_success_in_every_dialect(name, values):
    found = served(pd.Series(values, dtype=object), name)
    assert found.served.all()
    assert found.words == []


@pytest.mark.parametrize(("name", "values", "expected"), SOME_FAILED.values(), ids=SOME_FAILED)
def test_requests_that_failed_are_told_apart(name, values, expected):
    found = served(pd.Series(values, dtype=object), name)
    assert found.served.tolist() == [bool(each) for each in expected]
    assert sum(count for _, count in found.words) == expected.count(0)


def test_the_words_of_what_is_left_out_are_named_the_most_frequent_first():
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
def test_rows_of_impossible_times_are_left_out_and_counted(rows, reason, tmp_path):
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
def test_columns_that_are_impossible_in_most_rows_are_refused(rows, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, f"a,p,o,f,e\n{rows}", columns=COLUMNS)


def test_times_may_be_rounded_and_ends_are_no_first_tokens(tmp_path):
    rows = "10.0005,5,6,10,12\n11,5,6,13,13\n12,5,1,13,13\n"
    trace = read(tmp_path, f"a,p,o,f,e\n{rows}", columns=COLUMNS)
    assert trace.first[0] == 0  # half a millisecond before the arrival
    assert [bool(x == x) for x in trace.first] == [True, False, True]  # one token: first is last
    assert "1 of 2 requests are those of the end, not used" in trace.notes[0]


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
def test_durations_may_be_written_with_their_units(one, two, tmp_path):
    text = f"p,o,l\n5,6,{one}\n5,6,{two}\n"
    trace = read(tmp_path, text, columns="prompt=p,output=o,latency=l")
    assert trace.finish.tolist() == [2.5, 3]


def test_durations_count_without_arrivals_and_arrivals_are_ends_less_latencies(tmp_path):
    trace = read(tmp_path, "p,o,l\n5,6,2\n5,6,3\n", columns="prompt=p,output=o,latency=l")
    assert trace.seconds is None
    assert trace.finish.tolist() == [2, 3]
    text = "p,o,l,e\n5,6,2,12\n5,6,3,14\n"
    trace = read(tmp_path, text, columns="prompt=p,output=o,latency=l,finish=e")
    assert trace.seconds.tolist() == [0, 1]
    assert "arrivals are the finish times less the latencies" in trace.notes
