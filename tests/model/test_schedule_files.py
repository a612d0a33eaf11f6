"""Files of schedules: read back as they were, and each broken rule is named."""

import json
from pathlib import Path

import pytest

from ratiolab.model import (
    FormatError,
    Instance,
    Schedule,
    read_schedule,
    write_schedule,
)


def schedule_message(folder: Path, **changes) -> str:
    instance = Instance("two", 9, [0, 1], [1, 2], [3, 2])
    path = folder / "schedule.json"
    write_schedule(Schedule.from_starts(instance, [0, 1]), path)
    data = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in data.items() if v is not None}))
    with pytest.raises(FormatError) as caught:
        read_schedule(path, instance)
    return str(caught.value).removeprefix(f"{path}: ")


def test_schedules_are_read_back(tmp_path):
    instance = Instance("two", 9, [0, 1], [1, 2], [3, 2])
    schedule = Schedule.from_runs(instance, [(0, 0, 2), (0, 2, 5), (1, 3, 5)])
    write_schedule(schedule, tmp_path / "s.json")
    again = read_schedule(tmp_path / "s.json", instance)
    assert list(again.runs) == list(schedule.runs)
    assert "preemption" not in (tmp_path / "s.json").read_text(), "as it was before there were two"
    assert again.preemption == "restart"


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_schedules_that_keep_tokens_are_read_back_as_such(tmp_path, preemption):
    instance = Instance("two", 9, [0, 1], [1, 2], [3, 2])
    schedule = Schedule.from_runs(instance, [(0, 0, 2), (0, 2, 3), (1, 3, 5)], preemption)
    write_schedule(schedule, tmp_path / "s.json")
    again = read_schedule(tmp_path / "s.json", instance)
    assert list(again.runs) == list(schedule.runs)
    assert (again.preemption, again.total_latency) == (preemption, 3 + 4)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"start": None}, "start is missing"),
        ({"start": 5}, "start 5 must be a list"),
        ({"start": [0, 1.0]}, "run 1: start 1.0 must be an integer"),
        ({"stop": [3, True]}, "run 1: stop True must be an integer"),
        (
            {"stop": [10**30, 3]},
            f"run 0: stop {10**30} must be at most 1000000000000",
        ),
        ({"request": [0]}, "request, start and stop must have one value for each run"),
        ({"total_latency": 6}, "total_latency 6 is not that of the runs, 5"),
        ({"total_latency": 5.0}, "total_latency 5.0 must be an integer"),
        (
            {"preemption": "kill"},
            "preemption 'kill' must be one of restart, recompute, swap, pause",
        ),
        ({"release": [2, 3]}, "release belongs to preemption pause, not restart"),
        ({"preemption": ["swap"]}, "preemption ['swap'] must be one of restart, recompute, swap"),
        ({"extra": 1}, "unknown key 'extra'; known are instance, digest, request, start, stop, "),
        ({"digest": "0" * 12}, "digest '000000000000' is not that of instance two, "),
        ({"format": 7}, "format 7 must be 'ratiolab-schedule/1'"),
    ],
)
def test_each_broken_rule_of_a_schedule_is_named(tmp_path, changes, expected):
    assert schedule_message(tmp_path, **changes).startswith(expected)


def test_a_missing_schedule_is_named_once(tmp_path):
    with pytest.raises(FormatError) as caught:
        read_schedule(tmp_path / "no.json", Instance("a", 2, [0], [1], [1]))
    assert str(caught.value) == f"{tmp_path / 'no.json'}: No such file or directory"
