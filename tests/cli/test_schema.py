"""The printed JSON Schemas accept every shipped file, and refuse what the readers refuse."""

import gzip
import json
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import run

from ratiolab.cli.schema import SCHEMAS
from ratiolab.model import Instance
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.model.fleet_io import write_fleet, write_fleet_schedule
from ratiolab.records.record import read_records

HERE = Path(__file__).parents[2]


@cache
def validator(name: str) -> Any:
    """Return what jsonschema makes of the schema that the command prints."""
    from ratiolab.cli.schema import schema_of

    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def content(path: Path) -> Any:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return tomllib.loads(raw.decode()) if path.suffix == ".toml" else json.loads(raw)


def shipped(name: str) -> Iterator[Path]:
    """Return the files of a format in the repository."""
    match name:
        case "instance":
            yield from (p for p in HERE.glob("instances/*/*.json") if p.parent.name != "witnesses")
        case "schedule":
            yield from HERE.glob("results/records/*/*.upper-*.json.gz")
        case "certificate":
            yield from HERE.glob("results/records/*/*.lower-*.json.gz")
        case "witness":
            yield from HERE.glob("instances/witnesses/*.json")
        case "game":
            yield from HERE.glob("results/games/*.json.gz")
        case "study":
            yield from HERE.glob("ratiolab/papers/*/experiments/[!_]*.toml")
            yield HERE / "ratiolab/studies/example.toml"
            yield HERE / "notebooks/my_study.toml"
        case "baseline":
            yield HERE / "results/baseline.json"


ONE_IN = {
    "certificate": 80,
    "game": 80,
    "instance": 10,
    "schedule": 20,
}  # jsonschema takes a third of a second for each


NOT_SHIPPED = ("record", "fleet", "fleet-schedule")  # of which the last two are written here


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name not in NOT_SHIPPED])
def test_shipped_files_are_of_their_schema(name):
    require_valid(name, sorted(shipped(name))[:: ONE_IN.get(name, 1)])


def test_written_fleets_and_their_schedules_are_of_their_schemas(tmp_path):
    fleet = Fleet(Instance("pair", 3, [0, 0], [1, 1], [2, 2], predicted=[2, 3]), 2)
    write_fleet(fleet, tmp_path / "fleet.json")
    schedule = FleetSchedule.from_starts(fleet, [0, 1], [0, 0])
    write_fleet_schedule(schedule, tmp_path / "schedule.json")
    require_valid("fleet", [tmp_path / "fleet.json"])
    require_valid("fleet-schedule", [tmp_path / "schedule.json"])
    one = content(tmp_path / "fleet.json") | {"replicas": 1}
    assert not validator("fleet").is_valid(one)


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_IN)
def test_every_shipped_file_is_of_its_schema(name):
    require_valid(name, sorted(shipped(name)))


def require_valid(name: str, paths: list[Path]) -> None:
    assert paths
    for path in paths:
        error = next(validator(name).iter_errors(content(path)), None)
        assert error is None, f"{path}: {error.message}"


def test_every_record_is_of_its_schema():
    for record in read_records(HERE / "results" / "records.csv"):
        validator("record").validate(asdict(record))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("instance", {"format": "ratiolab-instance/2"}),
        ("instance", {"memory": "10"}),
        ("instance", {"output": [0, 1]}),
        ("instance", {"lower": None}),
        ("instance", {"colour": 1}),
        ("baseline", {"entries": [{"kind": "verdict"}]}),
        ("baseline", {"entries": [{"kind": "rayleigh", "upper": 1.5}]}),
        ("study", {"study": {"name": "a/b"}}),
        ("study", {"fast": {}}),
        ("certificate", {"kind": "faith"}),
        ("schedule", {"start": [-1]}),
        ("witness", {"figures": {"x": 1.5}}),
    ],
)
def test_a_schema_refuses_what_the_reader_refuses(name, change):
    data = content(next(shipped(name)))
    assert validator(name).is_valid(data)
    assert not validator(name).is_valid(data | change)


def test_the_command_prints_a_schema_or_their_list(capsys):
    code, out, _ = run(capsys, "schema instance")
    assert code == 0
    schema = json.loads(out)
    assert schema["properties"]["prompt"]["description"] == "Prompt tokens."
    code, out, _ = run(capsys, "schema instance --json")
    assert (code, json.loads(out)["schema"]) == (0, schema)
    code, out, _ = run(capsys, "schema --json")
    listed = json.loads(out)
    assert listed["format"] == "ratiolab-schemas/1"
    assert [entry["name"] for entry in listed["schemas"]] == list(SCHEMAS)
    code, out, _ = run(capsys, "schema")
    assert code == 0
    assert all(name in out for name in SCHEMAS)
    code, out, err = run(capsys, "schema thing")
    assert (code, out) == (2, "")
    assert "schema 'thing' is unknown; did you mean" in err
