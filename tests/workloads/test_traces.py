"""Trace files: written by hand here, and three real ones where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratiolab.model import FormatError
from ratiolab.workloads.traces import Trace, instance_from_trace, read_trace

AZURE = (
    b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    b"2023-11-16 18:15:46.6805900,374,44\r\n"
    b"2023-11-16 18:15:50.9951690,396,109\r\n"
    b"2023-11-16 18:15:51.2224671,879,55"
)
PREFILL = b"num_prefill_tokens,num_decode_tokens,pd_ratio\n3772,54,69.85\n2015,156,12.9\n"


def write(folder: Path, content: str | bytes, name: str = "trace.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_azure_files_have_crlf_no_last_newline_and_seven_decimals(tmp_path):
    trace = read_trace(write(tmp_path, AZURE))
    assert (trace.name, len(trace)) == ("trace", 3)
    assert trace.prompt.tolist() == [374, 396, 879]
    assert trace.output.tolist() == [44, 109, 55]
    # 50.9951690 - 46.6805900 and 51.2224671 - 46.6805900, the seventh decimal kept
    assert trace.seconds.tolist() == [0.0, 4.314579, 4.5418771]


def test_columns_may_stand_in_any_order(tmp_path):
    content = "x,GeneratedTokens,TIMESTAMP,ContextTokens\n?,1,2023-01-01 00:00:00,2\n"
    trace = read_trace(write(tmp_path, content))
    assert (trace.prompt.tolist(), trace.output.tolist()) == ([2], [1])


def test_rows_are_sorted_by_time_and_equal_times_keep_their_order(tmp_path):
    rows = ["00:00:02,1,1", "00:00:01.5,2,2", "00:00:02.0,3,3", "00:00:00,4,4"]
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens", *(f"2024-02-29T{row}" for row in rows)]
    trace = read_trace(write(tmp_path, "\n".join(lines)))
    assert trace.seconds.tolist() == [0, 1.5, 2, 2]
    assert trace.prompt.tolist() == [4, 2, 1, 3]
    many = [f"2024-02-29 00:00:0{i % 2},{i},1" for i in range(200)]
    trace = read_trace(write(tmp_path, "\n".join([lines[0], *many])))
    assert trace.prompt.tolist() == [*range(0, 200, 2), *range(1, 200, 2)]


def test_offsets_of_timestamps_are_respected(tmp_path):
    stamps = ["2024-05-10 01:00:00+01:00", "2024-05-10 00:00:01Z", "2024-05-10 00:00:02"]
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens", *(f"{stamp},1,1" for stamp in stamps)]
    assert read_trace(write(tmp_path, "\n".join(lines))).seconds.tolist() == [0, 1, 2]


HEAD = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
NOON = "2023-11-16 12:00:00"
A_TIME = "must be a time of the years 1970 to 2099 like 2023-11-16 18:15:46.6805900"
BROKEN = {
    "empty": ("", "is empty"),
    "binary": (b"\xff\xfe\x00", "is not UTF-8 text"),
    "header only": (HEAD, "has no requests below its header"),
    "other header": ("a,b\n1,2\n", "no known layout has its columns, which are a, b; name them"),
    "column twice": ("a,a\n1,2\n", "no known layout has its columns, which are a (1), a (2);"),
    "short row": (HEAD + f"{NOON},1\n", "line 2: has 2 values, the header 3"),
    "no day": (HEAD + "2023-02-30 12:00:00,1,1\n", "line 2: TIMESTAMP '2023-02-30 12:00:00' "),
    "long ago": (HEAD + "0001-01-01 00:00:00,1,1\n", "line 2: TIMESTAMP '0001-01-01 00:00:00' "),
    "seconds and words": (HEAD + "12.5,1,1\nx,1,1\n", f"line 2: TIMESTAMP '12.5' {A_TIME}"),
    "negative": (
        HEAD + f"{NOON},1,1\n{NOON},1,-3\n",
        "line 3: GeneratedTokens '-3' must be between 0 and 1000000000",
    ),
    "float": (HEAD + f"{NOON},1.5,3\n", "line 2: ContextTokens '1.5' must be an integer"),
    "no number": (HEAD + f"{NOON},x,3\n", "line 2: ContextTokens 'x' must be an integer"),
    "infinite": (HEAD + f"{NOON},inf,3\n", "line 2: ContextTokens 'inf' must be between 0 and"),
    "huge": (HEAD + f"{NOON},3,1{'0' * 400}\n", "line 2: GeneratedTokens '1000"),
    "huge time": (HEAD + "1e300,1,1\n", "line 2: TIMESTAMP '1e300' must be between -1e+20 and"),
    "missing": (HEAD + f"{NOON},,3\n", "has no requests left: 1 without prompt"),
}


@pytest.mark.parametrize(("content", "start"), BROKEN.values(), ids=BROKEN)
def test_each_broken_rule_is_named_with_file_line_column_and_value(tmp_path, content, start):
    path = write(tmp_path, content)
    with pytest.raises(FormatError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path}: {start}")
    assert "\n" not in str(caught.value)


def test_a_directory_and_a_missing_file_are_named(tmp_path):
    with pytest.raises(FormatError, match=r"is a directory, not a file$"):
        read_trace(tmp_path)
    with pytest.raises(FormatError, match=r"no\.csv: No such file or directory$"):
        read_trace(tmp_path / "no.csv")


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('0129-: .TZ+,\r\n"x'), max_size=50))
def test_any_rows_give_a_trace_or_a_format_error(tmp_path_factory, rows):
    path = write(tmp_path_factory.getbasetemp(), HEAD + rows)
    try:
        outcome = read_trace(path)
    except FormatError as error:
        outcome = str(error)
    assert isinstance(outcome, Trace) or "\n" not in outcome


# instances out of traces

TEN = Trace(
    "ten",
    np.arange(10) / 2,
    np.array([10, 200, 30, 0, 50, 60, 70, 80, 90, 5]),
    np.array([1, 2, 3, 4, 0, 6, 7, 8, 90, 20]),
)


def test_all_requests_with_output_are_kept_and_arrive_in_the_round_after_their_time():
    instance = instance_from_trace(TEN, memory=1000, rounds_per_second=3)
    assert instance.prompt.tolist() == [10, 200, 30, 0, 60, 70, 80, 90, 5]
    # 3 t / 2 for t = 0, 1, 2, 3, 5, ..., 9, rounded up
    assert instance.arrival.tolist() == [0, 2, 3, 5, 8, 9, 11, 12, 14]
    assert instance.source == (
        "trace ten: 10 requests; 1 dropped without output; arrivals of the trace, 3 rounds a second"
    )


def test_every_drop_is_counted_in_the_source():
    instance = instance_from_trace(TEN, memory=100, max_prompt=100, window=(0.5, 4.5), block=5)
    # the window holds requests 1 to 8; 4 has no output, 1 a prompt of 200, 8 needs 180 tokens
    assert instance.prompt.tolist() == [6, 0, 12, 14, 16]
    assert instance.output.tolist() == [1, 1, 2, 2, 2]
    assert instance.memory == 20
    # 20 rounds a second, 5 of them a round in blocks: times 0.5, 1, 2, 2.5, 3 after the window
    assert instance.arrival.tolist() == [2, 4, 8, 10, 12]
    assert instance.source == (
        "trace ten: 10 requests; 8 in seconds 0.5 to 4.5; 1 dropped without output; "
        "1 dropped with a prompt above 100 tokens; 1 dropped above memory 100; "
        "arrivals of the trace, 20 rounds a second; in blocks of 5 tokens"
    )


def test_a_whole_round_is_not_pushed_on_by_floating_point():
    seconds = np.array([0.1, 0.4, 0.6])
    trace = Trace("t", seconds, np.ones(3, np.int64), np.ones(3, np.int64))
    assert (0.4 - 0.1) * 10 > 3
    instance = instance_from_trace(trace, memory=9, window=(0.1, 1), rounds_per_second=10)
    assert instance.arrival.tolist() == [0, 3, 5]


def test_samples_keep_the_order_of_the_trace_and_depend_on_the_seed_alone():
    drawn = [instance_from_trace(TEN, memory=1000, sample=5, seed=seed) for seed in (0, 0, 1, 2)]
    assert drawn[0] == drawn[1]
    assert len({instance.digest for instance in drawn}) == 3
    everything = instance_from_trace(TEN, memory=1000).prompt.tolist()
    for instance in drawn:
        places = [everything.index(prompt) for prompt in instance.prompt.tolist()]
        assert len(places) == 5
        assert places == sorted(set(places))


def test_arrivals_may_be_zero_or_poisson():
    zero = instance_from_trace(TEN, memory=1000, arrivals="zero", name="mine")
    assert (zero.name, set(zero.arrival.tolist())) == ("mine", {0})
    long = Trace("long", None, np.ones(5000, np.int64), np.ones(5000, np.int64))
    poisson = instance_from_trace(long, memory=9, arrivals="poisson", rate=0.5, seed=1)
    # 5000 gaps of mean 2: the last arrival is 10000 +- 142
    assert poisson.arrival[-1] == pytest.approx(10_000, abs=700)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": 0}, "memory 0 must be at least one block of 1"),
        ({"memory": 9, "block": 10}, "memory 9 must be at least one block of 10"),
        ({"block": 0}, "block 0 must be at least 1 token"),
        ({"sample": 0}, "sample 0 must be at least 1 request"),
        ({"arrivals": "never"}, "arrivals 'never' must be 'trace', 'zero' or 'poisson'"),
        ({"arrivals": "poisson"}, "arrivals 'poisson' need a rate, requests a round"),
        ({"rate": 1.0}, "rate 1 is for arrivals 'poisson' only, not for 'trace'"),
        ({"arrivals": "poisson", "rate": -1.0}, "rate -1 must be positive, at most 1000000"),
        ({"window": (2, 2)}, "window 2..2 must have 0 <= start < end"),
        ({"window": (0, float("nan"))}, "window 0..nan must have 0 <= start < end"),
        ({"rounds_per_second": 0}, "rounds_per_second 0 must be between 0.000001 and 1000000"),
        ({"rounds_per_second": 1e-300}, "rounds_per_second 1e-300 must be between 0.000001 and"),
        ({"sample": 10}, "trace ten: 10 requests; 1 dropped without output; 9 are left, fewer"),
        ({"window": (100, 101)}, "trace ten: 10 requests; 0 in seconds 100 to 101; none is left"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError) as caught:
        instance_from_trace(TEN, **{"memory": 1000} | options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("options", [{}, {"arrivals": "zero", "window": (0, 1)}])
def test_a_trace_without_times_has_no_window_and_no_arrivals_of_its_own(tmp_path, options):
    trace = read_trace(write(tmp_path, PREFILL))
    with pytest.raises(ValueError, match="trace trace has no timestamps"):
        instance_from_trace(trace, memory=10_000, **options)


# the real files


def real(name: str) -> Path:
    beside = Path(__file__).parents[2].parent / "shared" / "traces"
    path = Path(os.environ.get("RATIOLAB_TRACES", beside)) / name
    if not path.is_file():
        pytest.skip(f"{name} is not at hand: set RATIOLAB_TRACES to a folder that holds it")
    return path


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("AzureLLMInferenceTrace_conv.csv", 19_366),
        ("AzureLLMInferenceTrace_code.csv", 8_819),
        ("arxiv_summarization.csv", 28_257),
    ],
)
def test_real_traces_are_read_whole_and_agree_with_pandas(name, rows):
    import pandas as pd

    path = real(name)
    trace, table = read_trace(path), pd.read_csv(path)
    assert len(trace) == rows
    if trace.seconds is None:
        prompt, output = "num_prefill_tokens", "num_decode_tokens"
    else:
        times = pd.to_datetime(table["TIMESTAMP"])
        table = table.assign(at=times).sort_values("at", kind="stable")
        seconds = (table["at"] - times.min()).dt.total_seconds()
        assert np.abs(trace.seconds - seconds.to_numpy()).max() <= 1e-6
        prompt, output = "ContextTokens", "GeneratedTokens"
    assert trace.prompt.tolist() == table[prompt].tolist()
    assert trace.output.tolist() == table[output].tolist()
