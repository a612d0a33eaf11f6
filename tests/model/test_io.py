"""Files: what is written is read back, and whatever else is read gives one line for people."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ratiolab.model import (
    FormatError,
    Instance,
    files,
    read_instance,
    write_instance,
)
from ratiolab.model.instance import LARGEST

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
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
    "number": ("5", "must be a JSON object, not int"),
    "null": ("null", "must be a JSON object, not NoneType"),
    "deep": ("[" * 10**5, "is not JSON of this format (nested too deeply)"),
    "NaN": (json.dumps(GOOD | {"memory": float("nan")}), "NaN is not a number of JSON"),
    "Infinity": (
        json.dumps(GOOD | {"output": [3, float("-inf")]}),
        "-Infinity is not a number of JSON",
    ),
    "duplicate": ('{"format": "x", "name": "a", "name": "b"}', "key 'name' stands there twice"),
    "digits": ('{"memory": ' + "9" * 10**5 + "}", "an integer has thousands of digits"),
    "no format": ("{}", "format None must be 'ratiolab-instance/1'"),
}


@pytest.mark.parametrize(("content", "start"), CONTENT.values(), ids=CONTENT)
def test_files_that_are_not_an_instance(tmp_path, content, start):
    assert message(write(tmp_path, content)).startswith(start)


CHANGES = {
    "version": (
        {"format": "ratiolab-instance/2"},
        "format 'ratiolab-instance/2' must be 'ratiolab-instance/1'",
    ),
    "unknown key": (
        {"colour": 1},
        "unknown key 'colour'; known are name, memory, tick_seconds, arrival, prompt, output, "
        "lower, upper, predicted, location, scale, freedom, weight, deadline, first_by, source",
    ),
    "column of text": ({"output": "34"}, "output '34' must be a list"),
    "column null": ({"lower": None}, "lower None must be a list"),
    "memory float": ({"memory": 10.0}, "memory 10.0 must be an integer"),
    "memory bool": ({"memory": True}, "memory True must be an integer"),
    "memory huge": (
        {"memory": 10**25},
        f"memory {10**25} must be at most 1000000000",
    ),
    "name": ({"name": None}, "name None must be a string"),
    "output float": ({"output": [3, 4.0]}, "request 1: output 4.0 must be an integer"),
    "output bool": ({"output": [True, 4]}, "request 0: output True must be an integer"),
    "output null": ({"output": [3, None]}, "request 1: output None must be an integer"),
    "output 0": ({"output": [3, 0]}, "request 1: output 0 must be at least 1"),
    "output -1": ({"output": [-1, 4]}, "request 0: output -1 must be at least 1"),
    "output huge": (
        {"output": [3, 10**25]},
        f"request 1: output {10**25} must be at most 1000000000",
    ),
    "too big": ({"memory": 5}, "request 1: prompt+output 6 exceeds memory 5"),
    "lower": ({"lower": [1, 5]}, "request 1: lower 5 exceeds output 4"),
    "upper": ({"upper": [2, 4]}, "request 0: upper 2 is below output 3"),
    "ragged": (
        {"prompt": [1]},
        "prompt has 1 values but arrival has 2: columns must have the same length",
    ),
    "no requests": (
        {"arrival": [], "prompt": [], "output": []},
        "arrival is empty: an instance must have at least one request",
    ),
}


@pytest.mark.parametrize(("changes", "expected"), CHANGES.values(), ids=CHANGES)
def test_each_broken_rule_of_a_json_instance_is_named(tmp_path, changes, expected):
    assert message(changed(tmp_path, **changes)) == expected


@pytest.mark.parametrize("key", ["name", "memory", "arrival", "prompt", "output"])
def test_missing_keys_are_named(tmp_path, key):
    content = {name: value for name, value in GOOD.items() if name != key}
    assert message(write(tmp_path, json.dumps(content))) == f"{key} is missing"


ROWS = {
    "header only": ("arrival,prompt,output", "arrival is empty: "),
    "no header": ("0,1,3\n1,2,4\n", "arrival is missing"),
    "column missing": ("arrival,prompt\n0,1\n", "output is missing"),
    "column unknown": ("arrival,prompt,output,x\n0,1,3,4\n", "unknown key 'x'; known are"),
    "column twice": (
        "arrival,prompt,output,output\n",
        "line 1: 'output' stands in the header twice",
    ),
    "short row": (CSV + "2,1\n", "line 4: has 2 values, the header 3"),
    "long row": (CSV + "2,1,1,1\n", "line 4: has 4 values, the header 3"),
    "blank row": (CSV + "\n2,1,1\n", "line 4: has 0 values, the header 3"),
    "float": (CSV + "2,1,3.0\n", "line 4: output '3.0' must be an integer"),
    "empty cell": (CSV + "2,,3\n", "line 4: prompt '' must be an integer"),
    "nan": (CSV + "nan,1,3\n", "line 4: arrival 'nan' must be an integer"),
    "words": (CSV + "true,1,3\n", "line 4: arrival 'true' must be an integer"),
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


def read_or_format_error(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            outcome = read_instance(path, memory=10)
        except FormatError as error:
            outcome = str(error)
    assert isinstance(outcome, Instance) or "\n" not in outcome


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.sampled_from(["x.json", "x.csv", "x"]))
def test_any_bytes_give_an_instance_or_a_format_error(content, name):
    read_or_format_error(content, name)


@settings(max_examples=150, deadline=None)
@given(JSON | ALMOST)
def test_any_json_gives_an_instance_or_a_format_error(data):
    read_or_format_error(json.dumps(data).encode(), "x.json")


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from('0123-.,\r\n\t "\x1c\u2028xe'), max_size=40))
def test_any_table_gives_an_instance_or_a_format_error(rows):
    read_or_format_error(("arrival,prompt,output\n" + rows).encode(), "x.csv")
