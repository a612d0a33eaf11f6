"""Files: what is written is read back, in one step; whatever else is read gives one line."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import PATIENCE

from ratiolab.model import FormatError, Instance, files, read_instance, write_instance, write_text
from ratiolab.model.instance import LARGEST
from ratiolab.model.validation import Strict, read_file
from ratiolab.papers.witness import read_witness

GOOD = {
    "format": "ratiolab-instance/1",
    "name": "good",
    "memory": 10,
    "arrival": [0, 1],
    "prompt": [1, 2],
    "output": [3, 4],
}
CSV = "arrival,prompt,output\n0,1,3\n1,2,4\n"


def message(path: Path, **options) -> str:
    with pytest.raises(FormatError) as caught:
        read_instance(path, **options)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert len(text) < 500
    return text.removeprefix(f"{path}: ")


def write(folder: Path, content: str | bytes, name: str = "x.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def changed(folder: Path, **changes) -> Path:
    return write(folder, json.dumps(GOOD | changes))


INSTANCES = st.integers(1, 5).flatmap(
    lambda n: st.builds(
        lambda name, source, arrival, pairs, interval, predicted, law: Instance(
            name,
            40,
            arrival,
            [s for s, _ in pairs],
            [o for _, o in pairs],
            [1] * n if interval else None,
            [o + 3 for _, o in pairs] if interval else None,
            predicted,
            source,
            **dict.fromkeys(("location", "scale", "freedom"), law),
        ),
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])),
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])),
        st.lists(st.integers(0, LARGEST), min_size=n, max_size=n),
        st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=n, max_size=n),
        st.booleans(),
        *[st.none() | st.lists(st.integers(1, LARGEST), min_size=n, max_size=n)] * 2,
    )
)
FEW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@FEW
@given(INSTANCES)
def test_json_keeps_everything(tmp_path, instance):
    write_instance(instance, tmp_path / "x.json")
    assert read_instance(tmp_path / "x.json") == instance


@FEW
@given(INSTANCES)
def test_csv_keeps_every_column(tmp_path, instance):
    write_instance(instance, tmp_path / "named.csv")
    again = read_instance(tmp_path / "named.csv", memory=instance.memory)
    assert (again.digest, again.name) == (instance.digest, "named")


def test_csv_may_have_crlf_a_byte_order_mark_spaces_and_any_column_order(tmp_path):
    path = write(tmp_path, "\ufeffoutput, prompt ,arrival\r\n3, 1,0\r\n4,2,1", "x.csv")
    assert list(read_instance(path, memory=10).requests) == [(0, 1, 3), (1, 2, 4)]


def test_a_given_memory_replaces_that_of_the_file(tmp_path):
    assert read_instance(changed(tmp_path), memory=6).memory == 6
    assert message(changed(tmp_path), memory=5) == "request 1: prompt+output 6 exceeds memory 5"


CONTENT = {
    "empty": ("", "is empty"),
    "blank": (" \n\t\n", "is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\xff\xfe", "is not UTF-8 text"),
    "prose": ("hello", "line 1: is not JSON (Expecting value)"),
    "cut short": ('{\n"name": "x",\n', "line 3: is not JSON "),
    "two objects": ("{} {}", "line 1: is not JSON (Extra data)"),
    "array": ("[1, 2]", "must be a JSON object, not list"),
    "deep": ("[" * 10**5, "is not JSON of this format (nested too deeply)"),
    "NaN": (json.dumps(GOOD | {"memory": float("nan")}), "NaN is not a number of JSON"),
    "duplicate": ('{"format": "x", "name": "a", "name": "b"}', "key 'name' stands there twice"),
    "digits": ('{"memory": ' + "9" * 10**5 + "}", "an integer has thousands of digits"),
    "no format": ("{}", "format None must be 'ratiolab-instance/1'"),
}


@pytest.mark.parametrize(("content", "start"), CONTENT.values(), ids=CONTENT)
def test_files_that_are_not_an_instance(tmp_path, content, start):
    assert message(write(tmp_path, content)).startswith(start)


CHANGES = {
    "version": ({"format": "ratiolab-instance/2"}, "format 'ratiolab-instance/2' must be 'ratio"),
    "unknown key": ({"colour": 1}, "unknown key 'colour'; known are name, memory, tick_seconds, "),
    "column of text": ({"output": "34"}, "output '34' must be a list"),
    "column null": ({"lower": None}, "lower None must be a list"),
    "memory bool": ({"memory": True}, "memory True must be an integer"),
    "memory huge": ({"memory": 10**25}, f"memory {10**25} must be at most 1000000000"),
    "name": ({"name": None}, "name None must be a string"),
    "output float": ({"output": [3, 4.0]}, "request 1: output 4.0 must be an integer"),
    "output 0": ({"output": [3, 0]}, "request 1: output 0 must be at least 1"),
    "output huge": ({"output": [3, 10**25]}, f"request 1: output {10**25} must be at most 1000"),
    "too big": ({"memory": 5}, "request 1: prompt+output 6 exceeds memory 5"),
    "lower": ({"lower": [1, 5]}, "request 1: lower 5 exceeds output 4"),
    "no requests": ({"arrival": [], "prompt": [], "output": []}, "arrival is empty: an instance"),
}


@pytest.mark.parametrize(("changes", "expected"), CHANGES.values(), ids=CHANGES)
def test_each_broken_rule_of_a_json_instance_is_named(tmp_path, changes, expected):
    assert message(changed(tmp_path, **changes)).startswith(expected)


@pytest.mark.parametrize("key", ["name", "memory", "arrival", "prompt", "output"])
def test_missing_keys_are_named(tmp_path, key):
    content = {name: value for name, value in GOOD.items() if name != key}
    assert message(write(tmp_path, json.dumps(content))) == f"{key} is missing"


ROWS = {
    "header only": ("arrival,prompt,output", "arrival is empty: "),
    "no header": ("0,1,3\n1,2,4\n", "arrival is missing"),
    "column missing": ("arrival,prompt\n0,1\n", "output is missing"),
    "column unknown": ("arrival,prompt,output,x\n0,1,3,4\n", "unknown key 'x'; known are"),
    "column twice": ("arrival,prompt,output,output\n", "line 1: 'output' stands in the header"),
    "short row": (CSV + "2,1\n", "line 4: has 2 values, the header 3"),
    "long row": (CSV + "2,1,1,1\n", "line 4: has 4 values, the header 3"),
    "blank row": (CSV + "\n2,1,1\n", "line 4: has 0 values, the header 3"),
    "float": (CSV + "2,1,3.0\n", "line 4: output '3.0' must be an integer"),
    "empty cell": (CSV + "2,,3\n", "line 4: prompt '' must be an integer"),
    "underscore": (CSV + "1_0,1,3\n", "line 4: arrival '1_0' must be an integer"),
    "other digits": (CSV + "١,1,3\n", "line 4: arrival '١' must be an integer"),
    "huge": (CSV + f"1,1,{10**30}\n", "line 4: output '1000"),
    "out of range": (CSV + "1,1,0\n", "request 2: output 0 must be at least 1"),
    "negative": (CSV + "-1,1,3\n", "request 2: arrival -1 must be at least 0"),
    "NUL": (CSV + "1,\0,3\n", "holds a NUL byte: is not CSV"),
    "open quote": (CSV + '1,1,"3\n', "line 4: is not CSV ("),
}


@pytest.mark.parametrize(("content", "start"), ROWS.values(), ids=ROWS)
def test_each_broken_rule_of_a_csv_instance_is_named(tmp_path, content, start):
    assert message(write(tmp_path, content, "x.csv"), memory=10).startswith(start)


def test_csv_needs_a_memory(tmp_path):
    path = write(tmp_path, CSV, "x.csv")
    assert message(path) == "memory is missing: a CSV file needs --memory"


def test_ten_million_rows_are_refused_without_parsing_them(tmp_path, monkeypatch):
    path = write(tmp_path, b"arrival,prompt,output\n" + b"0\n" * 10**7, "x.csv")
    monkeypatch.setattr(files.csv, "reader", None)
    assert message(path, memory=5) == "has more than 1000000 rows, the most that are read"


def test_files_of_more_bytes_than_allowed_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILE", 50)
    assert message(changed(tmp_path)) == "has more than 50 bytes, the most that are read"


def test_paths_that_are_no_readable_file(tmp_path):
    assert message(tmp_path) == "is a directory, not a file"
    assert message(tmp_path / "missing.json") == "No such file or directory"
    assert message(write(tmp_path, "x", "file") / "below.json") == "Not a directory"
    assert message(tmp_path / ("long" * 100)) == "File name too long"
    with pytest.raises(FormatError, match="null byte"):
        read_instance("a\0b")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
ALMOST = st.fixed_dictionaries(
    {key: st.just(value) | JSON for key, value in GOOD.items()},
    optional={key: st.lists(st.integers(), max_size=3) | JSON for key in ("lower", "predicted")},
)


TABLES = st.text(st.sampled_from('0123-.,\r\n\t "\x1c\u2028xe'), max_size=40)
FILES = [
    (st.binary(max_size=60), "x"),
    ((JSON | ALMOST).map(lambda data: json.dumps(data).encode()), "x.json"),
    (TABLES.map(lambda rows: ("arrival,prompt,output\n" + rows).encode()), "x.csv"),
]


@pytest.mark.parametrize(("contents", "name"), FILES, ids=["bytes", "json", "table"])
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_file_gives_an_instance_or_a_format_error(contents, name, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data.draw(contents))
        try:
            outcome = read_instance(path, memory=10)
        except FormatError as error:
            outcome = str(error)
    assert isinstance(outcome, Instance) or "\n" not in outcome


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    write_instance(Instance("old", 2, [0], [1], [1]), path)
    old = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_instance(Instance("new", 2, [0], [1], [1]), path)
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]


def test_a_write_creates_its_folder_and_leaves_one_readable_file(tmp_path):
    path = tmp_path / "new" / "folder" / "x.json"
    write_instance(Instance("a", 2, [0], [1], [1]), path)
    write_instance(Instance("b", 2, [0], [1], [1]), path)
    assert list(path.parent.iterdir()) == [path]
    assert read_instance(path).name == "b"
    assert path.stat().st_mode & 0o444 == 0o444


def test_what_is_no_regular_file_is_written_to_and_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_instance(Instance("x", 2, [0], [1], [1]), pipe)
    assert b"ratiolab-instance/1" in os.read(reader, 1000)
    os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError):
        write_instance(Instance("x", 2, [0], [1], [1]), tmp_path)


def test_a_link_keeps_pointing_where_it_did(tmp_path):
    (tmp_path / "target.json").write_text("old")
    (tmp_path / "link.json").symlink_to("target.json")
    write_instance(Instance("new", 2, [0], [1], [1]), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read_instance(tmp_path / "target.json").name == "new"


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_written_file_has_the_permissions_that_it_had_or_that_the_umask_leaves(tmp_path):
    (tmp_path / "old").write_text("secret")
    (tmp_path / "old").chmod(0o640)
    before = os.umask(0o077)
    try:
        write_text(tmp_path / "new", "secret")
        write_text(tmp_path / "old", "secret")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"new": 0o600, "old": 0o640}


def test_a_path_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "x.json"
    with pytest.raises(OSError) as caught:
        write_instance(Instance("x", 2, [0], [1], [1]), path)
    assert caught.value.filename == str(path)


def test_compressed_text_is_told_by_its_content_not_by_its_name(tmp_path):
    path = tmp_path / "instance.csv"
    path.write_bytes(gzip.compress(b"arrival,prompt,output\n0,1,2\n"))
    assert read_instance(path, 5).output.tolist() == [2]


class House(Strict):
    format: Literal["house/1"]
    mood: Literal["calm", "loud"] = "calm"


def test_a_file_is_named_before_what_is_wrong_with_it(tmp_path):
    path = tmp_path / "house.json"
    path.write_text('{"format": "house/1", "mood": "x\\ny"}')
    with pytest.raises(FormatError) as caught:
        read_file(path, "house/1", House)
    assert str(caught.value) == f"{path}: mood 'x\\ny' must be one of calm, loud"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "line 1: is not JSON"),
        ('{"format": "ratiolab-witness/1", "claim": "a", "claim": "b"}', "key 'claim' stands"),
        ('{"format": "ratiolab-witness/1", "claim": NaN}', "NaN is not a number of JSON"),
        ('{"format": "ratiolab-witness/1"}', "claim is missing"),
        ('{"format": "ratiolab-witness/1", "claim": 5}', "claim 5 must be a string"),
    ],
)
def test_a_broken_witness_is_named(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr("ratiolab.papers.witness.folder", lambda: tmp_path)
    (tmp_path / "w.json").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_witness("w")
    assert str(caught.value).startswith(f"{tmp_path / 'w.json'}: {message}")


def test_the_library_is_imported_by_readers_alone():
    code = (
        "import sys, ratiolab.model, ratiolab.studies, ratiolab.hindsight, ratiolab.papers.witness;"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE).returncode == 0
