"""Logs in every layout, by their own rules: each row here is written as its source writes it."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import ended_with
from read_logs import read

from ratiolab.model import FormatError, read_instance
from ratiolab.workloads.traces import instance_from_trace, read_trace, select

BLIS = (
    "request_id,client_id,tenant_id,slo_class,session_id,round_index,prefix_group,prefix_length,"
    "streaming,input_tokens,output_tokens,text_tokens,image_tokens,audio_tokens,video_tokens,"
    "reason_ratio,model,deadline_us,server_input_tokens,arrival_time_us,send_time_us,"
    "first_chunk_time_us,last_chunk_time_us,num_chunks,status,error_message,finish_reason\n"
    "0,c1,t1,standard,s1,0,,0,true,10,5,10,0,0,0,0.0,,0,10,0,1000,5000,10000,5,ok,,stop\n"
    "1,c1,t1,standard,s1,0,,0,true,20,6,10,0,0,0,0.0,,0,10,100000,101000,0,0,5,error,x,\n"
    "2,c1,t1,standard,s1,0,,0,true,30,7,10,0,0,0,0.0,,0,10,200000,201000,0,0,5,ok,,stop\n"
)
VLLM = {
    "date": "20260102-030405",
    "completed": 2,
    "input_lens": [100, 200, 300],
    "output_lens": [3, 2, 0],
    "ttfts": [0.1, 0.2, 0.0],
    "itls": [[0.05, 0.07], [0.1], []],
    "start_times": [10.0, 11.5, 12.0],
    "generated_texts": ["a", "b", ""],
    "errors": ["", "", "timed out"],
}
VIDUR = (
    "Request Id,request_e2e_time,request_scheduling_delay,prefill_e2e_time,"
    "request_inter_arrival_delay,request_num_prefill_tokens,request_num_decode_tokens\n"
    "0,2.5,0.25,0.5,,30.0,4\n1,1.5,0.125,0.25,2.0,40.0,5\n"
)
BURST = (
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,"
    "Log Type\n5,1,2.5,ChatGPT,472,18,490,Conversation log\n"
    "45,,7,GPT-4,1087,230,1317,API log\n"
)


def test_what_a_log_observed_is_in_seconds_after_the_first_arrival(tmp_path):
    blis = read(tmp_path, BLIS)
    # chunks count from the sending; 0 was not recorded
    assert blis.first.tolist() == pytest.approx([0.004, np.nan], nan_ok=True)
    assert blis.finish.tolist() == pytest.approx([0.009, np.nan], nan_ok=True)
    assert blis.dropped == {"not served ('error' 1)": 1}
    vllm = read(tmp_path, json.dumps(VLLM))
    assert vllm.first.tolist() == pytest.approx([0.1, 1.7])
    assert vllm.finish.tolist() == pytest.approx([0.22, 1.8])
    assert vllm.dropped == {"not served ('timed out' 1)": 1}
    vidur = read(tmp_path, VIDUR)
    for found, expected in (
        (vidur.start, [0.25, 2.125]),
        (vidur.first, [0.5, 2.25]),
        (vidur.finish, [2.5, 3.5]),
    ):
        assert found.tolist() == expected
    burst = read(tmp_path, BURST)
    assert burst.finish.tolist() == [2.5, 47]


DATES = (
    *("2026-01-01T00:00:10Z", "2026-01-01T00:00:12.5Z", "2026-01-01 00:00:10.5"),
    *("2026-01-01 00:00:13", "2026-01-01 00:00:11", "2026-01-01 00:00:14"),
)
OTHER = "ts,n_in,n_out,done\n{},7,3,{}\n{},9,4,{}\n{},,4,{}\n"


@pytest.mark.parametrize(
    ("stamps", "unit"),
    [
        (("10", "12.5", "10.5", "13", "11", "14"), None),
        (("10000", "12500", "10500", "13000", "11000", "14000"), "ms"),
        (("10000000000", "12500000000", "10500000000", "13000000000", "1", "2"), "ns"),
        (DATES, None),
    ],
    ids=["seconds", "milliseconds", "nanoseconds", "dates"],
)
def test_columns_of_any_other_layout_are_named(tmp_path, stamps, unit):
    columns = "arrival=ts,prompt=n_in,output=n_out,finish=done"
    trace = read_trace(_other(tmp_path, stamps), columns=columns, time_unit=unit)
    assert trace.dropped == {"without prompt": 1}
    assert trace.seconds.tolist() == [0, 0.5]
    assert trace.finish.tolist() == [2.5, 3]


def _other(folder: Path, stamps: tuple[str, ...]) -> Path:
    path = folder / "other.csv"
    path.write_text(OTHER.format(*stamps))
    return path


PROMISES = """ts,n_in,n_out,priority,due,first_due
12.0,3,4,2,20.04,
10.0,5,6,1,12.5,10.5
13.0,5,6,7,,12
14.0,5,6,,15,15
"""


def test_promises_of_a_log_reach_the_instance(tmp_path):
    (tmp_path / "p.csv").write_text(PROMISES)
    columns = "arrival=ts,prompt=n_in,output=n_out,weight=priority,deadline=due,first_by=first_due"
    trace = read_trace(tmp_path / "p.csv", columns=columns)
    assert dict(trace.dropped) == {"without weight": 1}
    promises = {name: column.tolist() for name, column in trace.promises.items()}
    assert promises["weight"] == [1, 2, 7]
    assert promises["deadline"] == pytest.approx([2.5, 8.04, np.inf])
    assert promises["first_by"] == pytest.approx([0.5, np.inf, -1])
    made = instance_from_trace(trace, memory=99, rounds_per_second=10)
    assert made.arrival.tolist() == [0, 20, 30]
    assert made.weight.tolist() == [1, 2, 7]
    assert made.deadline.tolist()[:2] == [25, 100]  # rounded down
    assert made.first_by.tolist()[::2] == [5, 20]  # the last one is before its arrival
    assert min(made.deadline[2], made.first_by[1]) > 10**11  # no date
    last = trace.take(np.array([2]))
    assert instance_from_trace(last, memory=99, arrivals="zero").first_by.tolist() == [1]
    (tmp_path / "p.csv").write_text(PROMISES.replace(",2,", ",0,"))
    with pytest.raises(ValueError, match="priority '0' must be between 1 and"):
        read_trace(tmp_path / "p.csv", columns=columns)


@pytest.mark.parametrize(
    ("columns", "unit", "message"),
    [
        ("arrival", None, "columns 'arrival' must be role=column"),
        ("born=ts", None, "'born' is no role; roles are arrival"),
        ("arrival=when", None, "there is no column 'when', only ts, n_in, n_out, done"),
        ("arrival=ts,arrival=done", None, "'arrival' is named twice"),
        ("arrival=ts,prompt=n_in", None, "'output' is missing"),
        ("prompt=n_in,output=n_out", "w", "time unit 'w' must be one of s, ms, us"),
        ("prompt=n_in,output=n_out", "born=ms", "'born' is neither a role nor a column"),
    ],
)
def test_named_columns_are_checked(tmp_path, columns, unit, message):
    with pytest.raises(ValueError, match=message):
        read_trace(_other(tmp_path, ("1",) * 6), columns=columns, time_unit=unit)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1nonsense", "is not Parquet"),
        (b'{"input_length": 1}\nx', "line 2: is not JSON"),
        (
            b'{"input_length": 1}\n{"input_length": 1%05000d}\n' % 0,
            "line 2: has a number of more dig",
        ),
        (b'{"input_length": 1}\n' + b"[" * 10**5, "line 2: is nested too deeply"),
        (b"[1, 2]", r"row 0: 1 must be a JSON object"),
        (b'{"timestamp": true, "input_length": 1, "output_length": 2}', "must be a time"),
        (b'{"timestamp": 0, "input_length": 1%0400d, "output_length": 2}' % 0, "must be between"),
        (b'{"timestamp": -1%0400d, "input_length": 1, "output_length": 2}' % 0, "must be between"),
        (b'{"input_lens": [1], "output_lens": [2], "ttfts": [1], "itls": [3]}', "itls must be"),
        (b"\x1f\x8bnonsense", "is not a whole gzip file"),
    ],
)
def test_files_that_are_none_are_refused_in_one_line(tmp_path, content, message):
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_half_a_character_in_a_status_is_a_word_like_any_other(tmp_path):
    """JSON may escape one surrogate of two, where a tool cut a text."""
    row = '{"ts": %d, "n_in": %s, "n_out": 5, "end": "%s"}\n'
    columns = "arrival=ts,prompt=n_in,output=n_out,status=end"
    trace = read(tmp_path, row % (0, 3, "ok") + row % (1, 3, r"cut \ud83d"), columns=columns)
    assert (len(trace), trace.dropped) == (1, {"not served ('cut ?' 1)": 1})
    with pytest.raises(FormatError, match=r"line 2: n_in '\?' must be an integer"):
        read(tmp_path, row % (0, 3, "ok") + row % (1, r'"\ud83d"', "ok"), columns=columns)


def test_what_is_dropped_is_told_loudly_and_strict_refuses(tmp_path, capsys):
    (tmp_path / "log.csv").write_text(BLIS)
    asked = ["trace", tmp_path / "log.csv", "--memory", "20", "-o", tmp_path / "i.json"]
    assert ended_with(*asked) == 0
    said = capsys.readouterr().err
    assert "2 of 3 requests dropped (66.67%): 1 not served ('error' 1), 1 above memory 20" in said
    assert read_instance(tmp_path / "i.json").source.startswith(
        "trace log: 3 requests; 1 dropped not served ('error' 1); 1 dropped above memory 20"
    )
    assert ended_with(*asked, "--strict") == 2
    assert (
        "--strict refuses a log with requests 1 not served ('error' 1)" in capsys.readouterr().err
    )
    trace = read_trace(tmp_path / "log.csv")
    assert select(trace, memory=20).dropped == {
        "not served ('error' 1)": 1,
        "above memory 20": 1,
    }


def test_a_log_is_described_in_words_numbers_and_a_picture(tmp_path, capsys):
    (tmp_path / "log.csv").write_text(VIDUR)
    picture = tmp_path / "log.svg"
    asked = ["trace", tmp_path / "log.csv", "--describe", "--memory", "100"]
    assert ended_with(*asked, "--plot", picture) == 0
    assert "2 requests; layout: Vidur request metrics" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"<?xml")
    assert ended_with(*asked, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["requests"], found["span_seconds"], found["rate"]) == (2, 2.0, 1.0)
    assert found["observed"] == ["start", "first", "finish"]
    # (30 * 4 + 10) + (40 * 5 + 15) token-rounds over 100 tokens, 2 seconds, 20 rounds a second
    assert found["load"] == pytest.approx((130 + 215) / (100 * 2 * 20))
    assert ended_with("trace", tmp_path / "log.csv") == 2
    assert "--memory is missing" in capsys.readouterr().err


@pytest.mark.parametrize("speed", ["0", "1e-300", "1e7"])
def test_a_log_is_neither_cut_nor_described_at_a_speed_that_is_none(speed, tmp_path, capsys):
    (tmp_path / "log.csv").write_text(VIDUR)
    for more in ((), ("--describe",)):
        asked = ["trace", tmp_path / "log.csv", "--memory", "99", "--rounds-per-second", speed]
        assert ended_with(*asked, *more) == 2
        assert "must be between 0.000001 and 1000000" in capsys.readouterr().err


@pytest.mark.parametrize("arrivals", [("zero",), ("poisson", "--rate", "1")])
def test_a_speed_without_times_is_refused(arrivals, tmp_path, capsys):
    (tmp_path / "log.csv").write_text(VIDUR)
    asked = ["trace", "--memory", "99", "--arrivals", *arrivals, "--rounds-per-second", "4"]
    assert ended_with(*asked, tmp_path / "log.csv") == 2
    assert "rounds_per_second 4 is for arrivals 'trace' and promised" in capsys.readouterr().err
    (tmp_path / "log.csv").write_text(PROMISES)
    columns = "arrival=ts,prompt=n_in,output=n_out,deadline=due"
    made = tmp_path / "i.json"
    assert ended_with(*asked, tmp_path / "log.csv", "--columns", columns, "-o", made) == 0
