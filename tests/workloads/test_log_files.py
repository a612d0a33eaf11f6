"""Files as they come: packed, in any encoding, nested, with comments, through a pipe."""

import bz2
import gzip
import io
import json
import lzma
import re
import subprocess
import tarfile
import zipfile
from subprocess import PIPE

import pandas as pd
import pytest
from command_line import COMMAND, run_json
from read_logs import read

from ratiolab.model import FormatError
from ratiolab.report.tables import description_table
from ratiolab.workloads.description import Description
from ratiolab.workloads.traces import Trace

COLUMNS = "arrival=ts,prompt=n_in,output=n_out"
TEXT = "ts,n_in,n_out,note\n0,3,5,a\n1.5,4,6,b\n"
ROWS = [{"ts": 0, "n_in": 3, "n_out": 5}, {"ts": 1.5, "n_in": 4, "n_out": 6}]


def is_whole(trace: Trace) -> bool:
    numbers = (trace.seconds.tolist(), trace.prompt.tolist(), trace.output.tolist())
    return numbers == ([0, 1.5], [3, 4], [5, 6])


def zipped(*names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as pack:
        for name in names:
            pack.writestr(name, TEXT)
    return held.getvalue()


def tarred() -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as pack:
        member = tarfile.TarInfo("log.csv")
        member.size = len(TEXT)
        pack.addfile(member, io.BytesIO(TEXT.encode()))
    return held.getvalue()


PACKED = {
    "gzip": gzip.compress(TEXT.encode()),
    "gzip of two parts": gzip.compress(TEXT[:20].encode()) + gzip.compress(TEXT[20:].encode()),
    "bzip2": bz2.compress(TEXT.encode()),
    "xz": lzma.compress(TEXT.encode()),
    "zip": zipped("log.csv"),
    "zip of a Mac": zipped("log.csv", "__MACOSX/._log.csv"),
    "tar": tarred(),
    "tar in gzip": gzip.compress(tarred()),
    "UTF-8 with a mark": TEXT.encode("utf-8-sig"),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16, big end first": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "UTF-32": TEXT.encode("utf-32"),
    "Windows-1252": TEXT.replace("a\n", "caf\u00e9\n").encode("cp1252"),
    "lines of Windows": TEXT.replace("\n", "\r\n").encode(),
    "lines of old Macs": TEXT.replace("\n", "\r").encode(),
    "separators of Unicode": TEXT.replace("a\n", "a\u2028b\u2029c\x85\x0b\x0c\x1cd\n").encode(),
    "comments above": b"# made by a tool, 0.1\n#\n" + TEXT.encode(),
    "a commented header": b"# made by a tool\n#" + TEXT.encode(),
    "a hint for spreadsheets": b"sep=;\n" + TEXT.replace(",", ";").encode(),
    "decimal commas": b"ts;n_in;n_out\n0,0;3;5\n1,5;4;6\n",
    "separated thousands": b'ts,n_in,n_out\n"1,762,000,000",3,5\n"1,762,000,001.5",4,6\n',
    "spaces between": TEXT.replace(",", "  ").encode(),
    "a name twice, with equal values": TEXT.replace(",", ",n_in,", 1)
    .replace("0,3", "0,3,3")
    .replace("1.5,4", "1.5,4,4")
    .encode(),
    "empty columns at the end": TEXT.replace("\n", ",,\n").encode(),
    "comments below": TEXT.encode() + b"# 2 requests in all\n\n",
}


@pytest.mark.parametrize("content", PACKED.values(), ids=PACKED)
def test_a_log_is_read_whatever_packs_it(content, tmp_path):
    assert is_whole(read(tmp_path, content, columns=COLUMNS))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped("a.csv", "b.csv"), r"packs 2 files \(a.csv, b.csv\): unpack the one to read"),
        (zipped("xl/workbook.xml", "x"), "is an Excel workbook: save the sheet as CSV"),
        (b"\x28\xb5\x2f\xfd rest", "zstd"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"<!DOCTYPE html><html></html>", "is a web page, not a log"),
        (TEXT.replace("note", "n_in").encode(), r"no column 'n_in', only ts, n_in \(1\), n_in"),
        (b"ts n_in n_out\n2026-03-04 09:00 3 5\n", "there is no column 'ts', only ts n_in n_out"),
        (b"\x04\x22\x4d\x18 rest", r"is packed by lz4: .* ratiolab COMMAND -"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (bz2.compress(TEXT.encode())[:-9], "is not a whole bzip2 file"),
        (lzma.compress(TEXT.encode())[:-9], "is not a whole xz file"),
        (zipped("log.csv")[:-30], "is not a whole zip file"),
        (b"\x80\x81\xfe\xff" * 50, "is not UTF-8 text"),
        (b"1,2,3\n4,5,6\n", "line 1: has numbers, where the names of the columns must be"),
        (b"# nothing\n", "holds comments alone"),
    ],
)
def test_what_cannot_be_opened_is_named_with_what_to_do(content, message, tmp_path):
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, content, columns=COLUMNS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("delimiter", "values", "gap", "note"),
    [
        (";", ("5,072", "6,135"), 1.063, "'5,072' is read as 5.072: the comma is its decimal sign"),
        (";", ("1.762.000,5", "1.762.001,25"), 0.75, "'1.762.000,5' is read as 1762000.5: the c"),
        ("\t", ("1762000000,072", "1762000001,135"), 1.063, "'1762000000,072' is read as 1762"),
        ("\t", ("5,072", "6,135"), 1063, "'5,072' is read as 5072: .* decimal sign, write 5.072"),
        ("\t", ("5,072", "6,135.5"), 1063.5, None),
        (";", ("5 072", "6 135"), 1063, None),
        (";", ("0.5", "1,250"), 1249.5, None),
    ],
)
def test_a_comma_in_times_is_decimal_where_the_file_says_so(delimiter, values, gap, note, tmp_path):
    rows = [("ts", "n_in", "n_out"), *((value, "3", "5") for value in values)]
    trace = read(tmp_path, "\n".join(map(delimiter.join, rows)), columns=COLUMNS)
    assert trace.seconds[-1] == pytest.approx(gap)
    told = [each for each in trace.notes if "is read as" in each]
    assert len(told) == (note is not None)
    assert note is None or re.search(note, told[0])


FRAME = pd.DataFrame(ROWS)
NESTED = [
    {"t": {"at": r["ts"]}, "usage": {"in": {"value": r["n_in"]}, "out": r["n_out"]}} for r in ROWS
]
JSON = {
    "lines": "\n".join(map(json.dumps, ROWS)),
    "lines with separators of Unicode": "\n".join(
        json.dumps(row | {"text": "a\u2028b\x85c"}, ensure_ascii=False) for row in ROWS
    ),
    "objects one after another": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "one list": json.dumps(ROWS),
    "data": json.dumps({"object": "list", "data": ROWS}),
    "deep": json.dumps({"a": {"b": [{"c": ROWS}]}, "n": 2}),
    "lists": json.dumps({"ts": [0, 1.5], "n_in": [3, 4], "n_out": [5, 6], "rate": 2.0}),
    "lists inside": json.dumps({"run": {"ts": [0, 1.5], "n_in": [3, 4], "n_out": [5, 6]}}),
    **{
        f"pandas, {orient}": FRAME.to_json(orient=orient)
        for orient in ("records", "columns", "index", "split", "table")
    },
    "lists below their names": json.dumps([["ts", "n_in", "n_out"], [0, 3, 5], [1.5, 4, 6]]),
    "pandas with names of rows": FRAME.set_index(pd.Index(["a", "b"])).to_json(orient="index"),
}


@pytest.mark.parametrize("text", JSON.values(), ids=JSON)
def test_requests_are_found_wherever_they_are_in_json(text, tmp_path):
    assert is_whole(read(tmp_path, text, columns=COLUMNS))


def test_fields_inside_objects_are_named_with_dots(tmp_path):
    columns = "arrival=t.at,prompt=usage.in,output=usage.out"  # in: the object of a value
    assert is_whole(read(tmp_path, json.dumps(NESTED), columns=columns))
    cells = "ts,usage\n" + "\n".join(
        '{},"{}"'.format(
            row["ts"], json.dumps({"in": row["n_in"], "out": row["n_out"]}).replace('"', '""')
        )
        for row in ROWS
    )
    columns = "arrival=ts,prompt=usage.in,output=usage.out"
    assert is_whole(read(tmp_path, cells, columns=columns))


def test_of_several_runs_one_is_named_and_lists_of_one_run_are_read_together(tmp_path):
    runs = json.dumps({"runs": [{"requests": ROWS}, {"requests": ROWS[:1]}]})
    with pytest.raises(FormatError, match=r"holds 2 tables of requests .* --rows runs.0"):
        read(tmp_path, runs, columns=COLUMNS)
    assert is_whole(read(tmp_path, runs, columns=COLUMNS, rows="runs.0"))
    with pytest.raises(FormatError, match=r"rows 'x': there is no table, only runs"):
        read(tmp_path, runs, columns=COLUMNS, rows="x")
    lists = json.dumps({"requests": {"good": ROWS[:1], "bad": ROWS[1:]}})
    assert is_whole(read(tmp_path, lists, columns=COLUMNS))


def test_lines_of_results_are_runs_of_which_one_is_named(tmp_path):
    run = {"input_lens": [3, 4], "output_lens": [5, 6], "start_times": [0, 1.5], "rate": 2.0}
    lines = f"{json.dumps(run)}\n{json.dumps(run)}\n"
    with pytest.raises(FormatError, match=r"holds 2 tables of requests \(0, 1\).*--rows 0"):
        read(tmp_path, lines)
    assert is_whole(read(tmp_path, lines, rows="1"))
    assert is_whole(read(tmp_path, json.dumps(run)))


def test_an_unknown_log_is_refused_with_the_place_of_its_rows(tmp_path):
    with pytest.raises(FormatError, match=r"of the rows at data.*perhaps --columns arrival=ts"):
        read(tmp_path, JSON["data"])
    with pytest.raises(FormatError, match="holds no list of requests"):
        read(tmp_path, '{"a": {"b": 1}}')


@pytest.mark.long
def test_a_log_comes_through_a_pipe_by_any_name(tmp_path, capsys):
    packed = gzip.compress(TEXT.encode())
    (tmp_path / "log.gz").write_bytes(packed)
    asked = ["--describe", "--columns", COLUMNS, "--json"]
    expected = run_json(capsys, "trace", tmp_path / "log.gz", *asked)
    done = subprocess.run([*COMMAND, "trace", "-", *asked], input=packed, stdout=PIPE, check=True)
    found = json.loads(done.stdout)
    assert {name: found[name] for name in expected} == {**expected, "trace": found["trace"]}
    evaluated = ["evaluate", "/dev/stdin", "--memory", "53,760", "--clock", "llama3-8b-a100"]
    done = subprocess.run(
        [*COMMAND, *evaluated, "--policies", "fcfs", *asked[1:]],
        input=packed,
        stdout=PIPE,
        check=True,
    )
    assert json.loads(done.stdout)["memory"] == 53_760


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\n".join([*map(json.dumps, ROWS), '{"ts": 2, "n_']), "line 3, the last, is not whole"),
        (TEXT + "2,5", "the last row is not whole"),
        (TEXT.replace("note", "ts"), "the header has ts 2 times: ts (1), ts (2)"),
        (json.dumps({"data": ROWS[:1], "more": ROWS[1:]}), "the rows of data (1) and more (1) are"),
    ],
)
def test_what_is_left_out_or_put_together_is_told(text, told, tmp_path):
    names = COLUMNS.replace("=ts,", '="ts (1)",') if "ts (1)" in told else COLUMNS
    trace = read(tmp_path, text, columns=names)
    assert is_whole(trace)
    assert any(note.startswith(told) for note in trace.notes)


def test_arrow_streams_zstd_and_the_index_of_parquet_are_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    table = pyarrow.Table.from_pandas(FRAME)
    with pyarrow.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    assert is_whole(read(tmp_path, stream.getvalue(), columns=COLUMNS))
    packed = pyarrow.compress(TEXT.encode(), codec="zstd", asbytes=True)
    assert is_whole(read(tmp_path, packed, columns=COLUMNS))
    FRAME.set_index("ts").to_parquet(tmp_path / "indexed")
    assert is_whole(read(tmp_path, (tmp_path / "indexed").read_bytes(), columns=COLUMNS))
    spans = FRAME.assign(l=pd.to_timedelta([4, 9], unit="s"))
    spans.to_parquet(tmp_path / "spans")
    read_spans = read(tmp_path, (tmp_path / "spans").read_bytes(), columns=COLUMNS + ",latency=l")
    assert read_spans.finish.tolist() == [4, 10.5]
    dated = FRAME.assign(ts=pd.to_datetime([1_762_000_000_000_000_001, 1_762_000_001_500_000_001]))
    dated.to_parquet(tmp_path / "dated")
    read_dates = read(tmp_path, (tmp_path / "dated").read_bytes(), columns=COLUMNS)
    assert is_whole(read_dates)
    assert read_dates.units == "arrival as dates"


@pytest.mark.parametrize("ends", [("[", ", ", "]"), ("", "\n", "\n"), ("", "\n\n ", "")])
def test_a_name_twice_in_an_object_is_told_when_its_values_differ(tmp_path, ends):
    first, between, last = ends
    row = '{"ts": 0, "n_in": 3, "n_out": 5}'
    for other, told in (('{"ts": 9, "ts": 1.5,', True), ('{"ts": 1.5, "ts": 1.5,', False)):
        text = first + row + between + other + ' "n_in": 4, "n_out": 6}' + last
        trace = read(tmp_path, text, columns=COLUMNS)
        assert is_whole(trace)
        assert ("some objects have two values of 'ts': the last one counts" in trace.notes) == told


def test_a_description_says_how_many_requests_an_instance_leaves_out_and_why(tmp_path):
    trace = read(tmp_path, TEXT + "2,4,0,c\n3,90,9,d\n", "log.csv", columns=COLUMNS)
    for memory, words in (
        (None, "1 of the requests: 1 without output"),
        (50, "2 of the requests: 1 without output, 1 above memory 50"),
    ):
        lines = description_table(Description(trace, memory, 1.0))
        assert f"an instance leaves out {words}" in lines
    served = read(tmp_path, TEXT, "log.csv", columns=COLUMNS)
    lines = description_table(Description(served, None, 1.0))
    assert not any("leaves out" in line for line in lines if isinstance(line, str))
